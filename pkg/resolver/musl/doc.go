// Package musl follows getaddrinfo of musl, query by query, over a resolver.Network.
//
// It is written from the behaviour of musl 1.1.24, 1.2.3 and 1.2.5, observed and read in its source; what the versions do
// differently is listed in version.go. Comments name the C function that a part follows. Its oddities are kept on purpose: they
// are what people see in their pods.
package musl
