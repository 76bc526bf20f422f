// Package resolvertest is what the tests of the libcs' resolvers share: calls on modelled servers told as one line of words,
// a check of the events of a call, and runs of the recorded scenarios. Only tests import it.
package resolvertest
