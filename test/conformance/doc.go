// Package conformance compares our resolvers with the real libcs, packet by packet.
//
// A Case is run twice, each time in a fresh network, mount, UTS and PID namespace with scripted DNS servers on its loopback:
// once by a C program that calls the machine's own getaddrinfo, once by our resolver over real sockets. A packet socket on the
// loopback sees what each of them sends. Equal means: the same queries in the same order to the same servers over the same
// transports, with the same header bits, EDNS, sizes, sharing of sockets and ids, at the same times within a tolerance, and the
// same results.
//
// Cases are the recorded scenarios, what once differed (testdata/regressions), and random ones: a number and a seed give the same
// case for ever. A random case is left out, with its reason counted, where a few milliseconds or dice decide what a library does.
// Every library's test prints one line of what it compared, and how often what our resolver did over sockets was then the same as
// what it does on the model (pkg/simnet).
//
//	go test ./test/conformance -run 'TestMusl$' -random 10000 -seed 2       more of them
//	go test ./test/conformance -run 'TestMusl$' -seed 2 -from 1787 -random 1   one of them
//
// It needs Linux, root and gcc; for musl its compiler musl-gcc, for c-ares its headers, for dns.lookup Node.
package conformance
