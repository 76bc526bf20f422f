package caller

import (
	"time"

	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/probe"
	"github.com/kubectl-dnsprobe/kubectl-dnsprobe/pkg/resolver"
)

// both is one call for both families.
var both = []Step{{Family: resolver.Unspec, When: Always}}

// What was run.
const (
	jdk17    = "OpenJDK 17.0.15"
	node20   = "Node 20.20.2"
	python3  = "CPython 3.11.7"
	getent2  = "getent of glibc 2.36"
	dig918   = "BIND dig 9.18.49"
	busybox1 = "busybox 1.35.0"
	grpcGo   = "grpc-go 1.84.0, internal/resolver/dns/dns_resolver.go"
	envoyDoc = "Envoy's documentation of dns_lookup_family"
	nginxSrc = "nginx src/core/ngx_inet.c, ngx_inet_resolve_host"
)

// What both ways of Node do with a host.
const (
	nodeLetters  = "the host is asked for in small letters, one outside of ASCII in punycode"
	nodePunycode = "Node turns such a host into punycode, which is not followed: give the host in punycode (xn--...)"
)

var callers = []Caller{
	{
		Word: "jvm", What: "InetAddress of the JVM", CanonName: true, OnlyIPv4Without: true, Steps: both, Search: true,
		Statements: []Statement{
			{Observed, "getaddrinfo of the libc for both families, with AI_CANONNAME", jdk17},
			{Observed, "A only where the pod has no IPv6 address at all, not even a link-local one, or with -Djava.net.preferIPv4Stack=true (--type A)", jdk17},
			{Observed, "negative answers are cached for 10 s, EAI_AGAIN among them; positive ones for 30 s", jdk17},
			{Documented, "networkaddress.cache.stale.ttl keeps old answers from JDK 21 on", "the JDK's net.properties"},
		},
		Missing: []string{"the cache of the JVM: every run is a first lookup"},
	},
	{
		Word: "node", What: "dns.lookup of Node", SmallLetters: true, Steps: both, Search: true,
		Statements: []Statement{
			{Observed, "getaddrinfo of the libc for both families, without AI_ADDRCONFIG; net and http add it (--addrconfig)", node20},
			{Observed, "2 lookups at a time, the others wait; no cache", node20},
			{Observed, nodeLetters, node20},
		},
		RefuseNonASCII: nodePunycode,
		Missing:        []string{"the wait for one of two lookups at a time: every run has a place at once"},
	},
	{
		Word: "node-resolve", What: "dns.resolve4 of Node (--type AAAA: dns.resolve6)", Libc: probe.CAres, Walk: WalkQuery, SmallLetters: true,
		Steps: []Step{{Family: resolver.Inet, When: Always}},
		Statements: []Statement{
			{Observed, "one query for the name as it is: no search list, no ndots, no hosts file", node20},
			{Observed, "no OPT record, and SERVFAIL is an answer: no other server is asked", node20},
			{Observed, "the timeout of resolv.conf counts, its attempts do not: 4 tries", node20},
			{Observed, nodeLetters, node20},
		},
		RefuseNonASCII: nodePunycode,
	},
	{
		Word: "python", What: "socket.getaddrinfo of CPython", Steps: both, Search: true,
		Statements: []Statement{
			{Observed, "getaddrinfo of the libc for both families without any flag; gethostbyname asks for A only (--type A)", python3},
			{Observed, "names outside of ASCII are turned into punycode by Python itself", python3},
			{Documented, "asyncio makes the same call in a pool of threads", "the documentation of asyncio"},
		},
		RefuseNonASCII: "Python turns such a host into punycode by IDNA 2003, which is not followed: give the host in punycode (xn--...)",
	},
	{
		Word: "envoy", What: "Envoy with its default resolver and dns_lookup_family AUTO", Libc: probe.CAres, Search: true,
		Steps: []Step{{Family: resolver.Inet6, When: Always}, {Family: resolver.Inet, When: IfNone}},
		Statements: []Statement{
			{Documented, "c-ares over the pod's resolv.conf: AAAA first, A only if that finds no address", envoyDoc},
			{Documented, "V4_ONLY and V6_ONLY ask for one family (--type A, --type AAAA)", envoyDoc},
		},
		Missing: []string{"V4_PREFERRED, ALL, no_default_search_domain and resolvers set in Envoy's own configuration"},
	},
	{
		Word: "grpc-go", What: "the resolver dns of gRPC-Go", Libc: probe.Go, Search: true, Within: 10 * time.Second,
		Steps: []Step{{Family: resolver.Unspec, When: Always}, {Record: probe.TypeTXT, Prefix: "_grpc_config.", When: IfAnswered}},
		Statements: []Statement{
			{Documented, "addresses as any Go program, then TXT of _grpc_config. and the host, unless the service config is turned off", grpcGo},
			{Documented, "the TXT query goes through the search list, too", grpcGo},
			{Documented, "a lookup is given up after 10 s in all; there is no TXT query after one that failed for now", grpcGo},
		},
		Missing: []string{"a program with cgo that leaves lookups to libc", "resolving again, at most every 30 s"},
	},
	{
		Word: "grpc-go-grpclb", What: "the resolver dns of gRPC-Go with the balancer grpclb linked in", Libc: probe.Go, Search: true, Within: 10 * time.Second,
		Steps: []Step{
			{Record: probe.TypeSRV, Prefix: "_grpclb._tcp.", When: Always},
			{Family: resolver.Unspec, When: Always},
			{Record: probe.TypeTXT, Prefix: "_grpc_config.", When: IfAnswered},
		},
		Statements: []Statement{
			{Documented, "SRV of _grpclb._tcp. and the host before everything else, through the search list, too; then as grpc-go", grpcGo},
		},
		Missing: []string{"the addresses of the balancers that an SRV answer names", "a program with cgo that leaves lookups to libc", "resolving again, at most every 30 s"},
	},
	{
		Word: "nginx", What: "nginx looking up a host of its configuration when it starts", AddrConfig: true, Steps: both, Search: true,
		Statements: []Statement{
			{Documented, "getaddrinfo of the libc for both families, with AI_ADDRCONFIG, once at the start and at a reload", nginxSrc},
		},
		Missing: []string{"the directive resolver, which has servers and a resolver of its own and looks at no resolv.conf"},
	},
	{
		Word: "dig", What: "dig HOST (--type AAAA: dig HOST AAAA)", Libc: Dig, Walk: WalkDig, Steps: []Step{{Family: resolver.Inet, When: Always}},
		Statements: append([]Statement{{Observed, "one query for the name as it is, A only: no search list, no hosts file", dig918}}, digStatements...),
		Missing:    digMissing,
	},
	{
		Word: "dig+search", What: "dig +search HOST", Libc: Dig, Walk: WalkDigSearch, Steps: []Step{{Family: resolver.Inet, When: Always}}, Search: true,
		Statements: append([]Statement{
			{Observed, "with fewer dots than ndots the search list, then the name as it is; else the name as it is and nothing more", dig918},
			{Observed, "only NXDOMAIN leads to the next name: NODATA and SERVFAIL end the walk", dig918},
		}, digStatements...),
		Missing: digMissing,
	},
	{
		Word: "nslookup-busybox", What: "nslookup of busybox", Libc: Busybox, Walk: WalkBusybox, Steps: both, Search: true,
		Statements: []Statement{
			{Observed, "a name with a dot is asked as it is, and nothing more; one without in all search domains, never as it is, without a stop at success", busybox1},
			{Observed, "A for all names, then AAAA for all, on one socket; no OPT record, no hosts file", busybox1},
			{Observed, "what is not answered is sent again after 2.5 s; after 5 s the next server is asked from another socket; timeout and attempts of resolv.conf do not count", busybox1},
			{Observed, "SERVFAIL is asked again at once, as long as a budget of twice the number of queries lasts; other rcodes are answers", busybox1},
			{Observed, "it says that it can't find the name if any of its queries found nothing, although others did", busybox1},
		},
		Missing: []string{"the exit code: a name that resolved counts as resolved here"},
	},
	{
		Word: "getent", What: "getent hosts", Libc: probe.Glibc, Search: true,
		Steps: []Step{{Family: resolver.Inet6, When: Always}, {Family: resolver.Inet, When: IfNone}},
		Statements: []Statement{
			{Observed, "gethostbyname2: AAAA through the whole search list, A only if there is no AAAA", getent2},
		},
		Missing:        []string{"what tells gethostbyname2 from getaddrinfo beyond that"},
		RefuseLiterals: "getent hosts asks for the name of an address (PTR), which is not followed: give a name",
	},
	{
		Word: "getent-ahosts", What: "getent ahosts", Libc: probe.Glibc, AddrConfig: true, Steps: both, Search: true,
		Statements: []Statement{
			{Observed, "getaddrinfo with AI_ADDRCONFIG: A only in a pod without IPv6 addresses, where most programs ask for both", getent2},
			{Documented, "--no-addrconfig is there from 2.37 on and in Debian 12", "glibc's NEWS"},
		},
	},
}

var digStatements = []Statement{
	{Observed, "an OPT record of 1232 bytes with a cookie, AD set; every try has a socket of its own and the id of the first", dig918},
	{Observed, "5 s for a try and 3 tries, or what timeout and attempts of resolv.conf say, with the first server; then one try with each of the others", dig918},
	{Observed, "SERVFAIL and REFUSED are answers: no other server is asked", dig918},
}

var digMissing = []string{"the retries of dig after FORMERR, BADCOOKIE and errors of TCP: they end the run with a note"}
