// Package scenario holds what a run on modelled servers needs: settings, servers, names, facts. It reads the scenario files
// that people write, the built-in ones, and the recorded behaviour of real libcs that our resolvers are compared with.
package scenario
