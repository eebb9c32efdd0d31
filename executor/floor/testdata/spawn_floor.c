// The floor that Executor.Run is measured against: the least that has to be done to run a command and to read what it
// prints. bench_test.go compiles it and drives it line by line on stdin:
//
//	s COMMAND   one run of /bin/sh -c COMMAND          -> nanoseconds, own CPU nanoseconds
//	p THREADS N as many runs, on THREADS threads       -> nanoseconds of all, then N lines with nanoseconds of each
//	d COMMAND   one run, its output read and dropped   -> nanoseconds, bytes
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
	perror(what);
	exit(1);
}

// run starts a command in its own session, reads both pipes to their end, waits for it, and returns the bytes read.
static long long run(const char *command, char *buffer, size_t size) {
	int out[2], err[2];
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) fail("pipe2");
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, err[1], 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
	char *argv[] = {"sh", "-c", (char *)command, NULL};
	pid_t pid;
	errno = posix_spawn(&pid, "/bin/sh", &actions, &attr, argv, environ);
	if (errno) fail("posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	close(out[1]);
	close(err[1]);
	struct pollfd fds[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
	long long total = 0;
	for (int open = 2; open;) {
		if (poll(fds, 2, -1) < 0) fail("poll");
		for (int i = 0; i < 2; i++) {
			if (!fds[i].revents) continue;
			ssize_t n = read(fds[i].fd, buffer, size);
			if (n > 0) {
				total += n;
				continue;
			}
			close(fds[i].fd);
			fds[i].fd = -1;
			open--;
		}
	}
	int status;
	if (waitpid(pid, &status, 0) != pid) fail("waitpid");
	return total;
}

static char *newBuffer(void) {
	char *b = malloc(64 << 10);
	if (!b) fail("malloc");
	return b;
}

struct work {
	pthread_mutex_t lock;
	int next, all;
	long long *took;
};

static void *worker(void *arg) {
	struct work *w = arg;
	char *buffer = newBuffer();
	for (;;) {
		pthread_mutex_lock(&w->lock);
		int i = w->next < w->all ? w->next++ : -1;
		pthread_mutex_unlock(&w->lock);
		if (i < 0) break;
		long long start = now(CLOCK_MONOTONIC);
		run("true", buffer, 64 << 10);
		w->took[i] = now(CLOCK_MONOTONIC) - start;
	}
	free(buffer);
	return NULL;
}

static void parallel(int threads, int all) {
	struct work w = {PTHREAD_MUTEX_INITIALIZER, 0, all, calloc(all, sizeof(long long))};
	pthread_t *ids = calloc(threads, sizeof(pthread_t));
	if (!w.took || !ids) fail("calloc");
	long long start = now(CLOCK_MONOTONIC);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, &w)) fail("pthread_create");
	for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
	printf("%lld\n", now(CLOCK_MONOTONIC) - start);
	for (int i = 0; i < all; i++) printf("%lld\n", w.took[i]);
	free(w.took);
	free(ids);
}

int main(void) {
	char line[4096], *buffer = newBuffer();
	int threads, all;
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		long long start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		if (line[0] == 's') {
			run(line + 2, buffer, 64 << 10);
			printf("%lld %lld\n", now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
		} else if (line[0] == 'd') {
			long long n = run(line + 2, buffer, 64 << 10);
			printf("%lld %lld\n", now(CLOCK_MONOTONIC) - start, n);
		} else if (sscanf(line, "p %d %d", &threads, &all) == 2) {
			parallel(threads, all);
		}
		fflush(stdout);
	}
	return 0;
}
