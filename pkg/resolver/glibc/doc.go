// Package glibc follows getaddrinfo of the GNU C library, query by query, over a resolver.Network.
//
// It is written from the behaviour of glibc 2.36 as Debian 12 builds it, observed and read in its source; what other versions
// do differently is listed in version.go. Comments name the C function that a part follows. Its oddities are kept on purpose:
// they are what people see in their pods.
package glibc
