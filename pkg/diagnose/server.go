package diagnose

// serverRules judge the servers and those that they ask.
var serverRules = []rule{
	aaaaBlackhole, upstreamRateLimit, nodeLocalUpstream, serverOverload, upstreamInconsistent, upstreamServFail, aaaaServFail,
}
