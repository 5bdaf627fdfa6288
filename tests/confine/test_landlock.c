/* SPDX-License-Identifier: BSD-2-Clause */
/* Access to files under Landlock: the configuration can be read again, and other files can be neither read nor written.
 * Each call is tried in a process of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confine/sandbox.h"
#include "tests/lib/scratch_dir.h"

#define DONE	   0
#define NOT_INSIDE 77

static int abi;
static char config_path[PATH_MAX];
static const char *no_names[] = {NULL}, *an_interface[] = {"lo", NULL};
static int listening; /* at an abstract address */
static struct sockaddr_un abstract = {.sun_family = AF_UNIX};
static struct sockaddr_in tcp = {.sin_family = AF_INET};

static int
set_up(void **state)
{
	socklen_t size = sizeof abstract;
	const char *directory;

	(void)state;
	umask(022);
	directory = scratch_dir_make("landlock");
	if (directory == NULL || mkdir("conf", 0755) != 0 || mkdir("target", 0755) != 0 || mkdir("other", 0755) != 0)
		return -1;
	close(open("target/netobs.conf", O_WRONLY | O_CREAT, 0644));
	close(open("conf/beside", O_WRONLY | O_CREAT, 0644));
	close(open("other/file", O_WRONLY | O_CREAT, 0644));
	snprintf(config_path, sizeof config_path, "%s/conf/netobs.conf", directory);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tcp.sin_port = htons(9);
	if (bind(listening, (struct sockaddr *)&abstract, sizeof(sa_family_t)) != 0 || listen(listening, 1) != 0 ||
	    getsockname(listening, (struct sockaddr *)&abstract, &size) != 0)
		return -1;
	return symlink("../target/netobs.conf", "conf/netobs.conf");
}

static int
tear_down(void **state)
{
	(void)state;
	return scratch_dir_remove();
}

/* The calls: -1 with errno if refused. */

static int
read_config(void)
{
	return open(config_path, O_RDONLY);
}

static int
read_beside(void)
{
	return open("conf/beside", O_RDONLY);
}

static int
read_etc(void)
{
	return open("/etc/passwd", O_RDONLY);
}

static int
read_other(void)
{
	return open("other/file", O_RDONLY);
}

static int
read_proc(void)
{
	return open("/proc/self/environ", O_RDONLY);
}

static int
read_sys(void)
{
	return open("/sys/class/net/lo/mtu", O_RDONLY);
}

static int
list_root(void)
{
	return open("/", O_RDONLY | O_DIRECTORY);
}

static int
write_config(void)
{
	return open(config_path, O_WRONLY);
}

static int
create_file(void)
{
	return open("conf/new", O_WRONLY | O_CREAT, 0600);
}

static int
remove_file(void)
{
	return unlink("conf/beside");
}

static int
make_directory(void)
{
	return mkdir("conf/new", 0700);
}

static int
make_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "conf/socket"};

	return bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}

static int
connect_abstract(void)
{
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&abstract, sizeof(sa_family_t) + 6);
}

static int
connect_tcp(void)
{
	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&tcp, sizeof tcp);
}

static int
read_descriptor_of_parent(void)
{
	char path[64], target[PATH_MAX];

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), listening);
	return (int)readlink(path, target, sizeof target);
}

/* A thread that exists before the restriction, like those that look up processes. */
static pthread_barrier_t entered;

static void *
read_in_older_thread(void *context)
{
	(void)context;
	pthread_barrier_wait(&entered);
	errno = 0;
	_exit(read_descriptor_of_parent() != -1 ? DONE : errno);
}

static int
read_descriptor_from_older_thread(void)
{
	pthread_barrier_wait(&entered);
	return pause(); /* the other thread ends the process */
}

/* In a child: restricts it and makes the call.  Its exit status: DONE, or the error of the call. */
static int
result_with(const char *path, int (*make)(void), bool live)
{
	const struct config config = {.config_path = path,
				      .interface_names = live ? an_interface : no_names,
				      .capture_paths = no_names};
	pid_t child = fork();
	pthread_t older;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		pthread_barrier_init(&entered, NULL, 2);
		if (make == read_descriptor_from_older_thread)
			pthread_create(&older, NULL, read_in_older_thread, NULL);
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !landlock_prepare(&config) || !landlock_enter())
			_exit(NOT_INSIDE);
		errno = 0;
		_exit(make() != -1 ? DONE : errno);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
result_of(int (*make)(void), bool live)
{
	return result_with(config_path, make, live);
}

/* The root directory, however it is written, is not allowed with the configuration file in it. */
static void
test_root_directory(void **state)
{
	(void)state;
	assert_int_equal(result_with("/netobs.conf", read_other, true), EACCES);
	assert_int_equal(result_with("//netobs.conf", read_other, true), EACCES);
	assert_int_equal(result_with("/tmp/../netobs.conf", read_other, true), EACCES);
	assert_int_equal(result_with("/proc/self/root/netobs.conf", read_other, true), EACCES);
}

static void
test_files(void **state)
{
	(void)state;
	assert_int_equal(result_of(read_config, false), DONE);
	assert_int_equal(result_of(read_config, true), DONE);
	assert_int_equal(result_of(read_beside, true), DONE); /* an editor may rename it */
	assert_int_equal(result_of(read_etc, true), DONE);
	assert_int_equal(result_of(read_sys, true), DONE);
	assert_int_equal(result_of(read_sys, false), EACCES);
	assert_int_equal(result_of(read_other, true), EACCES);
	assert_int_equal(result_of(read_other, false), EACCES);
	assert_int_equal(result_of(read_proc, true), EACCES);
	assert_int_equal(result_of(list_root, true), EACCES);
	assert_int_equal(result_of(write_config, true), EACCES);
	assert_int_equal(result_of(create_file, true), EACCES);
	assert_int_equal(result_of(remove_file, true), EACCES);
	assert_int_equal(result_of(make_directory, true), EACCES);
	assert_int_equal(result_of(make_socket, true), EACCES);
}

static void
test_sockets(void **state)
{
	(void)state;
	assert_int_equal(connect_abstract(), 0); /* without a restriction */
	if (abi >= 6)
		assert_int_equal(result_of(connect_abstract, true), EPERM);
	if (abi >= 4)
		assert_int_equal(result_of(connect_tcp, true), EACCES);
}

/* Why the threads that look up processes are created before. */
static void
test_processes(void **state)
{
	(void)state;
	assert_int_equal(result_of(read_descriptor_of_parent, true), EACCES);
	assert_int_equal(result_of(read_descriptor_from_older_thread, true), DONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_root_directory),
	    cmocka_unit_test(test_sockets),
	    cmocka_unit_test(test_processes),
	};

	abi = (int)syscall(444, NULL, 0, 1); /* landlock_create_ruleset(), which answers with its version */
	if (abi < 1 || sandbox_instrumentation.count > 0) {
		printf("1..0 # SKIP %s\n",
		       abi < 1 ? "the kernel has no Landlock" : "Landlock is off in instrumented builds");
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
