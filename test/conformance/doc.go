// Package conformance compares our resolvers with the real libcs, packet by packet.
//
// A Case is run twice, each time in a fresh network, mount, UTS and PID namespace with scripted DNS servers on its loopback:
// once by a C program that calls the machine's own getaddrinfo, once by our resolver over real sockets. A packet socket on the
// loopback sees what each of them sends. Equal means: the same queries in the same order to the same servers over the same
// transports, with the same header bits, EDNS, sizes, sharing of sockets and ids, at the same times within a tolerance, and the
// same results.
//
// It needs Linux, root and gcc; for musl its compiler musl-gcc.
package conformance
