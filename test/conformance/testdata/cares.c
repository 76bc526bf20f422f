/*
 * Calls ares_getaddrinfo for every name in one channel and prints what it returned, for comparison with our resolver.
 *
 * usage: cares PAUSE_MS (FLAGS NAME)...
 *
 * FLAGS is a word of letters: 4 AF_INET, 6 AF_INET6, c ARES_AI_CANONNAME, - nothing; others are passed over. One line a call,
 * written at once:
 *
 *   START_NS END_NS STATUS ADDRESS... [=CANONICAL]
 *
 * With the single argument "version" it prints the version of c-ares.
 */
#define _GNU_SOURCE
#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

struct result {
	int done, status;
	char text[1 << 17];
};

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void returned(void *arg, int status, int timeouts, struct ares_addrinfo *list)
{
	struct result *r = arg;
	char address[INET6_ADDRSTRLEN];
	size_t used = 0;

	(void)timeouts;
	r->done = 1;
	r->status = status;
	for (struct ares_addrinfo_node *n = list ? list->nodes : NULL; n != NULL; n = n->ai_next) {
		const void *bytes = n->ai_family == AF_INET ? (void *)&((struct sockaddr_in *)n->ai_addr)->sin_addr
							    : (void *)&((struct sockaddr_in6 *)n->ai_addr)->sin6_addr;
		if (used + INET6_ADDRSTRLEN + 2 > sizeof r->text || inet_ntop(n->ai_family, bytes, address, sizeof address) == NULL)
			break;
		used += (size_t)sprintf(r->text + used, " %s", address);
	}
	if (list != NULL)
		ares_freeaddrinfo(list);
}

static void call(ares_channel channel, const char *flags, const char *name)
{
	static struct result r;
	struct ares_addrinfo_hints hints;
	long long start, end;

	memset(&r, 0, sizeof r);
	memset(&hints, 0, sizeof hints);
	hints.ai_family = strchr(flags, '4') ? AF_INET : strchr(flags, '6') ? AF_INET6 : AF_UNSPEC;
	hints.ai_flags = strchr(flags, 'c') ? ARES_AI_CANONNAME : 0;
	start = now();
	ares_getaddrinfo(channel, name, NULL, &hints, returned, &r);
	while (!r.done) {
		fd_set readable, writable;
		struct timeval left, *wait;
		int most;

		FD_ZERO(&readable);
		FD_ZERO(&writable);
		most = ares_fds(channel, &readable, &writable);
		wait = ares_timeout(channel, NULL, &left);
		select(most, &readable, &writable, NULL, wait);
		ares_process(channel, &readable, &writable);
	}
	end = now();
	printf("%lld %lld %d%s\n", start, end, r.status, r.text);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct timespec pause;
	ares_channel channel;
	long ms;

	if (argc == 2 && strcmp(argv[1], "version") == 0) {
		printf("%s\n", ares_version(NULL));
		return 0;
	}
	if (argc < 4 || argc % 2 != 0) {
		fprintf(stderr, "usage: cares PAUSE_MS (FLAGS NAME)...\n");
		return 2;
	}
	if (ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS || ares_init(&channel) != ARES_SUCCESS) {
		fprintf(stderr, "c-ares does not start\n");
		return 1;
	}
	ms = atol(argv[1]);
	pause.tv_sec = ms / 1000;
	pause.tv_nsec = ms % 1000 * 1000000;
	for (int i = 2; i < argc; i += 2) {
		if (i > 2 && ms > 0)
			nanosleep(&pause, NULL);
		call(channel, argv[i], argv[i + 1]);
	}
	ares_destroy(channel);
	return 0;
}
