package diagnose

// pathRules judge the way from the pod to the servers.
var pathRules = []rule{tcp53Blocked, deadNameserver}
