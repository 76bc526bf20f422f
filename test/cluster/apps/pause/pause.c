/* pause: the sandbox process of every pod. It holds the pod's namespaces and, when a pod shares its
 * process namespace, collects the orphans. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void stop(int sig)
{
	(void)sig;
	_exit(0);
}

static void collect(int sig)
{
	(void)sig;
	while (waitpid(-1, 0, WNOHANG) > 0)
		;
}

int main(void)
{
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	signal(SIGCHLD, collect);
	for (;;)
		pause();
}
