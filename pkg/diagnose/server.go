package diagnose

// serverRules judge the servers and those that they ask.
var serverRules = []rule{upstreamInconsistent, upstreamServFail}
