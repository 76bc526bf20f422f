/*
 * What getaddrinfo.c needs of glibc and musl does not have: its version, which it keeps to itself, and AI_IDN, which is no flag.
 */
#include <netdb.h>

#define AI_IDN 0

static inline const char *gnu_get_libc_version(void)
{
	return "unknown";
}
