/* loop: what an ordinary service does all day. It resolves each NAME:PORT given and connects to
 * it, forever. The same source is built against glibc (image payments) and against musl (image
 * checkout), because only the libc's resolver shall differ.
 *
 *   loop [--once] NAME:PORT...
 *   loop --libc
 *
 * With --once it makes one round and exits 0 if every name could be resolved, else 1. With --libc it says
 * which libc it runs with; musl tells nobody (its loader does, when it is run as a program).
 * A line is printed only when the outcome for a name changes: the log must stay small for days. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define LIBC "glibc ", gnu_get_libc_version()
#else
#define LIBC "musl", ""
#endif

enum { MAX_TARGETS = 16, CONNECT_MS = 1000 };

struct target {
	char host[256];
	char port[16];
	char last[128];
};

static void stop(int sig)
{
	(void)sig;
	_exit(0);
}

/* connect_within returns 0 or an errno value; it never blocks longer than CONNECT_MS. */
static int connect_within(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err = 0;
	socklen_t len = sizeof err;

	if (fd < 0)
		return errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		err = errno;
		if (err == EINPROGRESS) {
			err = ETIMEDOUT;
			if (poll(&p, 1, CONNECT_MS) == 1)
				getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		}
	}
	close(fd);
	return err;
}

static int try_target(struct target *t)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list = NULL;
	char outcome[128];
	int resolved = getaddrinfo(t->host, t->port, &hints, &list);

	if (resolved != 0) {
		snprintf(outcome, sizeof outcome, "not resolved: %s", gai_strerror(resolved));
	} else {
		char text[64] = "?";
		int err = connect_within(list);

		getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
		snprintf(outcome, sizeof outcome, "%s %s", text, err ? strerror(err) : "connected");
		freeaddrinfo(list);
	}
	if (strcmp(outcome, t->last) != 0) {
		printf("%s:%s %s\n", t->host, t->port, outcome);
		strcpy(t->last, outcome);
	}
	return resolved;
}

static int parse_target(const char *arg, struct target *t)
{
	const char *colon = strrchr(arg, ':');

	if (!colon || colon == arg || (size_t)(colon - arg) >= sizeof t->host || strlen(colon + 1) >= sizeof t->port)
		return -1;
	memcpy(t->host, arg, colon - arg);
	strcpy(t->port, colon + 1);
	return 0;
}

int main(int argc, char **argv)
{
	static struct target targets[MAX_TARGETS];
	int count = 0, once = 0, failed = 0;
	struct timespec second = { .tv_sec = 1 };

	if (argc == 2 && strcmp(argv[1], "--libc") == 0) {
		printf("%s%s\n", LIBC);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--once") == 0) {
			once = 1;
		} else if (count == MAX_TARGETS || parse_target(argv[i], &targets[count++]) != 0) {
			fprintf(stderr, "loop: %s is no NAME:PORT, or more than %d are given\n", argv[i], MAX_TARGETS);
			return 2;
		}
	}
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	setvbuf(stdout, NULL, _IOLBF, 0);
	do {
		for (int i = 0; i < count; i++)
			failed |= try_target(&targets[i]) != 0;
		if (!once)
			nanosleep(&second, NULL);
	} while (!once);
	return failed;
}
