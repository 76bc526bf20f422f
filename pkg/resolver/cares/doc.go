// Package cares follows ares_getaddrinfo of c-ares, made with ares_init: 1.34 as it was observed, and 1.18, which Debian 12 and
// older images have. The two share a name and little else: how queries are sent and tried again is in modern.go and old.go,
// what is asked for in getaddrinfo.go.
//
// What c-ares decides by chance comes from Network.Random16: message ids, the server of a query under `rotate`, how much of a
// timeout is waited from the second round over the servers on, whether a failed server is tried again, cookies. A channel
// made by ares_init has no response cache; applications that make theirs with ares_init_options can have one.
package cares
