package diagnose

// pathRules judge the way from the pod to the servers.
var pathRules = []rule{
	meshDNS, nodeLocalBlocked, noEndpoints, egressBlocked, egressBlockedUDP, tcp53Blocked, deadNameserver, deadBackend, rolloutWindow, conntrackFull,
	overlayUDP, halfPairLoss, largeUDPLost, truncatedNoTC, ednsRejected,
}
