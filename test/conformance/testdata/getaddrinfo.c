/*
 * Calls getaddrinfo for every name and prints what it returned, for comparison with our resolver.
 *
 * usage: getaddrinfo PAUSE_MS (FLAGS NAME)...
 *
 * FLAGS is a word of letters: 4 AF_INET, 6 AF_INET6, a AI_ADDRCONFIG, c AI_CANONNAME, m AI_V4MAPPED, i AI_IDN, n no hints at
 * all, - nothing. One line a call, written at once, so that a call that never returns hides none before it:
 *
 *   START_NS END_NS RC ADDRESS... [=CANONICAL]
 *
 * White space and "%" in CANONICAL are written as "%" and two hexadecimal digits: musl takes any name.
 *
 * With the single argument "version" it prints the version of its libc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <gnu/libc-version.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void print_canonical(const char *name)
{
	printf(" =");
	for (; *name != 0; name++) {
		unsigned char c = *name;
		printf(c <= ' ' || c == '%' ? "%%%02x" : "%c", c);
	}
}

static void call(const char *flags, const char *name)
{
	struct addrinfo hints, *list = NULL;
	char text[NI_MAXHOST];
	long long start, end;
	int rc;

	memset(&hints, 0, sizeof hints);
	hints.ai_family = strchr(flags, '4') ? AF_INET : strchr(flags, '6') ? AF_INET6 : AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = (strchr(flags, 'a') ? AI_ADDRCONFIG : 0) | (strchr(flags, 'c') ? AI_CANONNAME : 0) |
			 (strchr(flags, 'm') ? AI_V4MAPPED : 0) | (strchr(flags, 'i') ? AI_IDN : 0);
	/* An errno from before would decide between some results (gethostbyname2_r returns it). */
	errno = 0;
	start = now();
	rc = getaddrinfo(name, NULL, strchr(flags, 'n') ? NULL : &hints, &list);
	end = now();
	printf("%lld %lld %d", start, end, rc);
	if (rc == 0) {
		for (struct addrinfo *a = list; a != NULL; a = a->ai_next) {
			/* Without hints every address comes once for each type of socket. */
			if (a->ai_socktype != SOCK_STREAM)
				continue;
			if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
				strcpy(text, "unprintable");
			printf(" %s", text);
		}
		if (list != NULL && list->ai_canonname != NULL)
			print_canonical(list->ai_canonname);
		freeaddrinfo(list);
	}
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct timespec pause;
	long ms;

	if (argc == 2 && strcmp(argv[1], "version") == 0) {
		printf("%s\n", gnu_get_libc_version());
		return 0;
	}
	if (argc < 4 || argc % 2 != 0) {
		fprintf(stderr, "usage: getaddrinfo PAUSE_MS (FLAGS NAME)...\n");
		return 2;
	}
	ms = atol(argv[1]);
	pause.tv_sec = ms / 1000;
	pause.tv_nsec = ms % 1000 * 1000000;
	for (int i = 2; i < argc; i += 2) {
		if (i > 2 && ms > 0)
			nanosleep(&pause, NULL);
		call(argv[i], argv[i + 1]);
	}
	return 0;
}
