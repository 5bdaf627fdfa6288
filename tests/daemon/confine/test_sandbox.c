/* SPDX-License-Identifier: BSD-2-Clause */
/* The system-call filter: calls that netobsd needs succeed, others fail or kill.  Each call is tried in a
 * process of its own, by number, so that no C library stands between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/confine/sandbox.h"
#include "daemon/confine/sandbox_rules.h"

#define DONE	  0
#define NO_FILTER 77

struct attempt {
	const char *name;
	long (*make)(void); /* result of the call; the error is in errno */
};

static long
no_call(void)
{
	return 0;
}

static long
open_to_read(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY, 0);
}

static long
open_to_write(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/tmp/netobs-test-sandbox", O_WRONLY | O_CREAT, 0600);
}

static long
open_to_append(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_APPEND, 0);
}

static long
map_to_execute(void)
{
	return syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long
map_to_write(void)
{
	return syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == -1 ? -1 : 0;
}

static long
protect_to_execute(void)
{
	return syscall(SYS_mprotect, 0x10000, 4096, PROT_READ | PROT_EXEC);
}

static long
internet_socket(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

static long
netlink_socket(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0);
}

static long
connect_anywhere(void)
{
	return syscall(SYS_connect, 0, NULL, 0);
}

static long
fork_process(void)
{
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		_exit(0);
	return child;
}

static long
kill_other(void)
{
	return syscall(SYS_kill, getppid(), 0);
}

static long
unlink_file(void)
{
	return syscall(SYS_unlinkat, AT_FDCWD, "/tmp/netobs-test-sandbox-none", 0);
}

static long
become_dumpable(void)
{
	return syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static long
clone3_seems_absent(void)
{
	return syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS ? 0 : -1;
}

static void *
thread(void *context)
{
	return context;
}

static long
start_thread(void)
{
	pthread_t id;
	void *got = NULL;
	int mark;

	return pthread_create(&id, NULL, thread, &mark) == 0 && pthread_join(id, &got) == 0 && got == &mark ? 0 : -1;
}

static long
run_program(void)
{
	return syscall(SYS_execve, "/bin/true", NULL, NULL);
}

static long
trace_parent(void)
{
	return syscall(SYS_ptrace, 16, getppid(), NULL, NULL); /* PTRACE_ATTACH */
}

static long
load_bpf(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static long
set_user(void)
{
	return syscall(SYS_setuid, 0);
}

/* In a child: enters the sandbox and makes the call.  Its wait status: exit 0 if the call was granted, errno if it was
 * refused, or killed. */
static int
try_call(const struct attempt *attempt, bool live)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !sandbox_enter(live))
			_exit(NO_FILTER);
		errno = 0;
		_exit(attempt->make() != -1 ? DONE : errno);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
grants(const struct attempt *attempts, size_t count, bool live)
{
	for (size_t i = 0; i < count; i++) {
		int status = try_call(&attempts[i], live);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE)
			fail_msg("%s is not granted: wait status %x", attempts[i].name, (unsigned)status);
	}
}

static void
refuses(const struct attempt *attempts, size_t count, bool live)
{
	for (size_t i = 0; i < count; i++) {
		int status = try_call(&attempts[i], live);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != EPERM)
			fail_msg("%s is not refused: wait status %x", attempts[i].name, (unsigned)status);
	}
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void
test_granted(void **state)
{
	static const struct attempt attempts[] = {
	    {"nothing at all", no_call},	 {"opening a file to read", open_to_read},
	    {"mapping memory", map_to_write},	 {"a thread", start_thread},
	};

	(void)state;
	grants(attempts, COUNT(attempts), true);
	grants(attempts, COUNT(attempts), false);
}

static void
test_refused(void **state)
{
	static const struct attempt attempts[] = {
	    {"opening a file to write", open_to_write}, {"opening a file to append", open_to_append},
	    {"memory to execute", map_to_execute},	{"making memory executable", protect_to_execute},
	    {"a socket to the Internet", internet_socket}, {"connecting", connect_anywhere},
	    {"a process", fork_process},		{"a signal to another process", kill_other},
	    {"removing a file", unlink_file},		{"prctl() at will", become_dumpable},
	};

	(void)state;
	refuses(attempts, COUNT(attempts), true);
	refuses(attempts, COUNT(attempts), false);
}

/* A filter cannot check the flags of clone3(), so that the C library must use clone(). */
static void
test_clone3(void **state)
{
	static const struct attempt attempts[] = {{"clone3() seeming absent", clone3_seems_absent}};

	(void)state;
	grants(attempts, COUNT(attempts), true);
}

/* A replay needs less than a capture. */
static void
test_replay_is_narrower(void **state)
{
	static const struct attempt attempts[] = {{"netlink", netlink_socket}};

	(void)state;
	grants(attempts, COUNT(attempts), true);
	refuses(attempts, COUNT(attempts), false);
}

static void
test_deadly(void **state)
{
	static const struct attempt attempts[] = {
	    {"running a program", run_program},
	    {"tracing a process", trace_parent},
	    {"loading code into the kernel", load_bpf},
	    {"changing user", set_user},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(attempts); i++) {
		int status = try_call(&attempts[i], true);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s does not kill: wait status %x", attempts[i].name, (unsigned)status);
	}
}

int
main(void)
{
	const struct CMUnitTest granted[] = {cmocka_unit_test(test_granted)};
	const struct CMUnitTest all[] = {
	    cmocka_unit_test(test_granted),
	    cmocka_unit_test(test_clone3),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_replay_is_narrower),
	    cmocka_unit_test(test_deadly),
	};

	/* Instrumented builds have a wider filter. */
	if (sandbox_instrumentation.count > 0)
		return cmocka_run_group_tests(granted, NULL, NULL);
	return cmocka_run_group_tests(all, NULL, NULL);
}
