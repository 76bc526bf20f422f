package diagnose

import "testing"

func TestClientQueueVerdicts(t *testing.T) {
	other, unknown, quick := slowInNode(), slowInNode(), input(kubernetes(5), classic())
	other.Run.Resolver.Runtime, unknown.Run.Resolver.Runtime, quick.Run.Resolver.Runtime = "jvm", "", "node"
	own := slowInNode()
	own.Run.Resolver.Caller = callerNodeResolve
	checkVerdicts(t, map[string]judged{
		"a slow lookup in Node":        {slowInNode(), "client-queue"},
		"in a JVM":                     {other, ""},
		"in nobody knows what":         {unknown, ""},
		"a quick lookup in Node":       {quick, "search-walk healthy"},
		"c-ares does not use the pool": {own, ""},
	})
}
