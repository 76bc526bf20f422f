package diagnose

import "slices"

// causes stand in the order of causes: a class explains those below it, so that the first finding is the cause. The class
// probe-not-allowed is not among them: without a probe there is no trace to judge, and whoever was refused says so.
var causes = []string{
	// What the pod was given to read.
	"stub-loopback", "resolvconf-invalid", "search-limit", "wrong-dns-policy", "kubelet-dns-config", "stale-resolvconf", "wrong-cluster-domain",
	"nameserver-limit",
	// The way to the servers.
	"mesh-dns", "nodelocal-blocked", "no-endpoints", "egress-blocked", "egress-blocked-udp", "tcp53-blocked", "dead-nameserver", "dead-backend",
	"rollout-window", "conntrack-full", "overlay-udp", "half-pair-loss", "large-udp-lost", "truncated-no-tc", "edns-rejected",
	// The servers and those behind them.
	"aaaa-blackhole", "upstream-rate-limit", "nodelocal-upstream", "server-overload", "upstream-inconsistent", "upstream-servfail", "aaaa-servfail",
	"lame-nodata", "multi-nameserver",
	// The walk.
	"timeout-in-search", "servfail-in-search", "refused-in-search", "nodata-in-search", "nxdomain-hijack", "wildcard-search", "namespace-shadow",
	"autopath-mismatch", "windows-names",
	// The name.
	"not-ready-endpoints", "external-name", "negative-cache", "client-library", "client-queue", "tool-artifact", "no-such-name", "ndots-too-low",
	"search-walk", "aaaa-nxdomain", "family-mismatch", "hosts-file", "healthy",
}

// rules are those of all groups, in the order of causes.
var rules = ordered(settingsRules, pathRules, serverRules, walkRules, nameRules)

func ordered(groups ...[]rule) []rule {
	all := slices.Concat(groups...)
	slices.SortStableFunc(all, func(a, b rule) int { return slices.Index(causes, a.class) - slices.Index(causes, b.class) })
	return all
}

// settingsRules judge what the pod was given to read.
var settingsRules = []rule{
	stubLoopback, resolvconfInvalid, searchLimit, wrongDNSPolicy, kubeletDNSConfig, staleResolvconf, wrongClusterDomain, nameserverLimit,
}

// walkRules judge what happens on the way through the search list.
var walkRules = []rule{
	timeoutInSearch, servFailInSearch, refusedInSearch, nodataInSearch, nxdomainHijack, wildcardSearch, namespaceShadow, autopathMismatch,
	windowsNames, ndotsTooLow, searchWalk,
}

// nameRules judge the name itself.
var nameRules = []rule{
	lameNodata, multiNameserver, notReadyEndpoints, externalName, negativeCache, clientLibrary, clientQueue, toolArtifact, noSuchName, aaaaNXDomain, familyMismatch,
	hostsFile, healthy,
}
