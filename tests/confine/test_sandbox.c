/* SPDX-License-Identifier: BSD-2-Clause */
/* The system-call filter: calls that netobsd needs succeed, others fail or kill.  Each call is tried in a
 * process of its own, by number, so that no C library is in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/high_sockets.h"
#include "confine/sandbox.h"
#include "usdt/dtprobed.h"

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

/* There is no such call. */
static long
wait_for_child(void)
{
	return syscall(SYS_wait4, -1, NULL, 0, NULL) == -1 && errno == ECHILD ? 0 : -1;
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
route_socket(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static long
diag_socket(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static long
generic_socket(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
}

static long
audit_socket(void)
{
	return syscall(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
}

static long
unix_socket(void)
{
	return syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* Before the filter: a pair of connected sockets, one of which has a high descriptor as well, as sockets have that
 * capture; one that is bound to an abstract address; a file; both ends of a pipe. */
static int pair[2], high, bound, file, tube[2];
static struct sockaddr_un bound_address = {.sun_family = AF_UNIX};

static void
open_descriptors(void)
{
	socklen_t size = sizeof bound_address;

	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(file >= 0);
	bound = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pipe2(tube, O_CLOEXEC), 0);
	assert_int_equal(write(tube[1], "a", 1), 1);
	assert_true(high_sockets_reserve(4, 60, 32));
	assert_int_equal(high_sockets_boundary(), 64);
	high = fcntl(pair[0], F_DUPFD_CLOEXEC, (int)high_sockets_boundary());
	assert_int_equal(high, 64);
	/* The kernel chooses the address. */
	assert_int_equal(bind(bound, (struct sockaddr *)&bound_address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(bound, (struct sockaddr *)&bound_address, &size), 0);
}

static long
send_connected(void)
{
	return syscall(SYS_sendto, pair[0], "a", 1, 0, NULL, 0);
}

static long
send_to_address(void)
{
	return syscall(SYS_sendto, pair[0], "a", 1, 0, &bound_address, sizeof bound_address);
}

static long
send_message(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};
	struct msghdr message = {
	    .msg_name = &bound_address, .msg_namelen = sizeof bound_address, .msg_iov = &piece, .msg_iovlen = 1};

	return syscall(SYS_sendmsg, pair[0], &message, 0);
}

static long
bind_unix(void)
{
	return syscall(SYS_bind, pair[0], &bound_address, sizeof bound_address);
}

static long
accept_client(void)
{
	return syscall(SYS_accept4, bound, NULL, NULL, 0) == -1 && errno == EOPNOTSUPP ? 0 : -1;
}

static long
filter_again(void)
{
	return sandbox_enter_thread(SANDBOX_OWNER) ? 0 : -1;
}

static long
filter_all_threads(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static long
packet_socket(void)
{
	/* An invalid type, which is not refused for want of CAP_NET_RAW first. */
	return syscall(SYS_socket, AF_PACKET, 99, 0) == -1 && errno != EPERM ? 0 : -1;
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
map_thread_memory(void)
{
	void *memory = malloc(1 << 20);

	free(memory);
	return memory != NULL ? 0 : -1;
}

static long
read_open_file(void)
{
	char byte;

	return syscall(SYS_read, file, &byte, 1) == 1 ? 0 : -1;
}

static long
read_directory(void)
{
	DIR *directory = opendir("/proc/self/fd");
	bool found = directory != NULL && readdir(directory) != NULL;

	if (directory != NULL)
		closedir(directory);
	return found ? 0 : -1;
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

/* ------------------------------------------------------------------------------------------------ high descriptors */

/* The kernel ignores the upper 32 bits of a descriptor. */
static long
with_upper_bits(int fd)
{
	return (long)(UINT64_C(0xdeadbeef00000000) | (unsigned)fd);
}

static long
write_high(void)
{
	return syscall(SYS_write, high, "a", 1);
}

static long
write_high_with_upper_bits(void)
{
	return syscall(SYS_write, with_upper_bits(high), "a", 1);
}

static long
write_low_with_upper_bits(void)
{
	return syscall(SYS_write, with_upper_bits(pair[0]), "a", 1);
}

/* As the boundary is a power of two, a test of only some of the upper bits would show. */
static long
write_far_higher(void)
{
	for (unsigned bit = 6; bit < 31; bit++)
		if (syscall(SYS_write, 1 << bit, "a", 1) != -1 || errno != EPERM)
			return 0;
	return -1;
}

static long
writev_high(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};

	return syscall(SYS_writev, high, &piece, 1);
}

static long
pwrite_high(void)
{
	return syscall(SYS_pwrite64, high, "a", 1, 0);
}

static long
pwritev_high(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};

	return syscall(SYS_pwritev2, high, &piece, 1, -1, -1, 0);
}

static long
send_high(void)
{
	return syscall(SYS_sendto, high, "a", 1, 0, NULL, 0);
}

static long
send_high_with_upper_bits(void)
{
	return syscall(SYS_sendto, with_upper_bits(high), "a", 1, 0, NULL, 0);
}

static long
send_message_high(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	return syscall(SYS_sendmsg, high, &message, 0);
}

static long
send_messages_high(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};
	struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};

	return syscall(SYS_sendmmsg, high, &message, 1, 0);
}

/* Through the sockets, to this process itself. */
static long
pass_high(void)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};
	struct msghdr message = {
	    .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};

	memcpy(CMSG_DATA(&control.header), &high, sizeof high);
	return syscall(SYS_sendmsg, pair[0], &message, 0);
}

static long
splice_to_high(void)
{
	return syscall(SYS_splice, tube[0], NULL, high, NULL, 1, 0);
}

static long
tee_to_high(void)
{
	return syscall(SYS_tee, tube[0], high, 1, 0);
}

static long
vmsplice_to_high(void)
{
	struct iovec piece = {.iov_base = (void *)(uintptr_t) "a", .iov_len = 1};

	return syscall(SYS_vmsplice, high, &piece, 1, 0);
}

static long
sendfile_to_high(void)
{
	return syscall(SYS_sendfile, high, file, NULL, 1);
}

static long
copy_to_high(void)
{
	return syscall(SYS_copy_file_range, file, NULL, high, NULL, 1, 0);
}

static long
dup_high(void)
{
	return syscall(SYS_dup, high);
}

static long
dup3_high(void)
{
	return syscall(SYS_dup3, high, 0, 0);
}

static long
fcntl_dup_high(void)
{
	return syscall(SYS_fcntl, high, F_DUPFD, 0);
}

static long
fcntl_dup_cloexec_high(void)
{
	return syscall(SYS_fcntl, with_upper_bits(high), F_DUPFD_CLOEXEC, 0);
}

static long
fcntl_dup_cloexec_low(void)
{
	return syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0);
}

static long
own_signals_high(void)
{
	return syscall(SYS_fcntl, high, F_SETOWN, getppid());
}

static long
connect_high(void)
{
	return syscall(SYS_connect, high, &bound_address, sizeof bound_address);
}

static long
shut_down_high(void)
{
	return syscall(SYS_shutdown, high, SHUT_RDWR);
}

/* Of a Unix socket this fails; the filter must not be the reason. */
static long
bind_high_to_interface(void)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = 1};

	return syscall(SYS_bind, high, &address, sizeof address) == -1 && errno == EPERM ? -1 : 0;
}

static long
bind_high_with_upper_bits(void)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_ifindex = 1};

	long result = syscall(SYS_bind, with_upper_bits(high), &address, with_upper_bits(sizeof address));

	return result == -1 && errno == EPERM ? -1 : 0;
}

static long
bind_high_as_netlink(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK};

	return syscall(SYS_bind, high, &address, sizeof address);
}

static long
option_of_packets(void)
{
	int on = 1;

	long result = syscall(SYS_setsockopt, high, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on);

	return result == -1 && errno == EPERM ? -1 : 0;
}

static long
ring_to_send(void)
{
	struct tpacket_req ring = {4096, 1, 2048, 2};

	return syscall(SYS_setsockopt, high, SOL_PACKET, PACKET_TX_RING, &ring, sizeof ring);
}

static long
option_of_sockets(void)
{
	int on = 1;

	return syscall(SYS_setsockopt, high, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

static long
filter_high(void)
{
	struct sock_filter reject = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {1, &reject};

	return syscall(SYS_setsockopt, with_upper_bits(high), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static long
receive_high(void)
{
	char byte;

	return syscall(SYS_recvfrom, high, &byte, 1, MSG_DONTWAIT, NULL, NULL) == -1 && errno == EAGAIN ? 0 : -1;
}

static long
close_high(void)
{
	return syscall(SYS_close, high);
}

/* From this process itself. */
static long
fetch_descriptor(void)
{
	return syscall(438, 0, high, 0); /* pidfd_getfd() */
}

static long
set_up_ring(void)
{
	return syscall(425, 1, NULL); /* io_uring_setup() */
}

/* --------------------------------------------------------------------------------------------------------- the rest */

static long
signal_other(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static long
signal_own(void)
{
	return syscall(SYS_tgkill, with_upper_bits(getpid()), syscall(SYS_gettid), 0);
}

static long
limit_other(void)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, NULL, &limit);
}

static long
limit_raised(void)
{
	struct rlimit limit = {1, 1};

	return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
}

/* Invalid in itself. */
static long
thread_in_namespace(void)
{
	return syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_NEWUSER,
		       NULL, NULL, NULL, NULL);
}

/* With the number of another table of calls, the 64-bit calls of 32-bit programs. */
#ifdef __x86_64__
static long
call_x32(void)
{
	return syscall(0x40000000 | SYS_getpid);
}

static long
call_32_bits(void)
{
	long result = 20; /* getpid() */

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result;
}
#endif

/* Of a descriptor that is not a device, which the kernel refuses in another way than the filter. */
static long
request_of_dtrace(unsigned long number)
{
	return syscall(SYS_ioctl, STDIN_FILENO, number, 0) == -1 && errno != EPERM ? 0 : -1;
}

static long
describe_probes(void)
{
	return request_of_dtrace(DTPROBED_ADD);
}

static long
remove_probes(void)
{
	return request_of_dtrace(DTPROBED_REMOVE);
}

/* Number 1 of the device is for DTrace itself. */
static long
other_request_of_dtrace(void)
{
	return request_of_dtrace(_IOC(_IOC_WRITE, 0xd8, 1, sizeof(int)));
}

struct thread_attempt {
	const struct attempt *attempt;
	enum sandbox_role role;
};

static void *
try_in_thread(void *context)
{
	const struct thread_attempt *in = context;

	if (!sandbox_enter_thread(in->role))
		_exit(NO_FILTER);
	errno = 0;
	_exit(in->attempt->make() != -1 ? DONE : errno);
}

/* Of the processes that observe interfaces. */
static struct sandbox_process live = {.live = true};

/* In a child: enters the sandbox, in a thread for the role of one, and makes the call.  Its wait status: exit 0 if the
 * call was granted, errno if it was refused, or killed. */
static int
try_call(const struct attempt *attempt, enum sandbox_role role)
{
	const struct sandbox_process replay = {.live = false, .dtrace = live.dtrace};
	bool of_files = role == SANDBOX_REPLAY || role == SANDBOX_READER;
	struct thread_attempt in = {attempt, role};
	pid_t child = fork();
	pthread_t id;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		open_descriptors();
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !sandbox_enter(of_files ? &replay : &live))
			_exit(NO_FILTER);
		if (role != SANDBOX_LIVE && role != SANDBOX_REPLAY) {
			if (pthread_create(&id, NULL, try_in_thread, &in) == 0)
				pthread_join(id, NULL);
			_exit(NO_FILTER);
		}
		errno = 0;
		_exit(attempt->make() != -1 ? DONE : errno);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
grants(const struct attempt *attempts, size_t count, enum sandbox_role role)
{
	for (size_t i = 0; i < count; i++) {
		int status = try_call(&attempts[i], role);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != DONE)
			fail_msg("%s is not granted to role %d: wait status %x", attempts[i].name, (int)role,
				 (unsigned)status);
	}
}

static void
refuses(const struct attempt *attempts, size_t count, enum sandbox_role role)
{
	for (size_t i = 0; i < count; i++) {
		int status = try_call(&attempts[i], role);

		if (!WIFEXITED(status) || WEXITSTATUS(status) != EPERM)
			fail_msg("%s is not refused to role %d: wait status %x", attempts[i].name, (int)role,
				 (unsigned)status);
	}
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const enum sandbox_role all_roles[] = {SANDBOX_LIVE, SANDBOX_REPLAY, SANDBOX_WORKER, SANDBOX_OWNER,
					      SANDBOX_READER};

static void
test_granted(void **state)
{
	static const struct attempt attempts[] = {
	    {"nothing at all", no_call},
	    {"reading an open file", read_open_file},
	    {"mapping memory", map_to_write},
	    {"memory of a thread", map_thread_memory},
	    {"sending on a connected socket", send_connected},
	    {"writing to a descriptor whatever the upper bits", write_low_with_upper_bits},
	    {"a signal to itself", signal_own},
	};
	static const struct attempt not_of_readers[] = {{"opening a file to read", open_to_read},
							{"reading a directory", read_directory}};
	static const struct attempt of_processes[] = {{"a thread", start_thread},
						      {"waiting for a child", wait_for_child}};

	(void)state;
	for (size_t i = 0; i < COUNT(all_roles); i++) {
		grants(attempts, COUNT(attempts), all_roles[i]);
		if (all_roles[i] != SANDBOX_READER)
			grants(not_of_readers, COUNT(not_of_readers), all_roles[i]);
	}
	grants(of_processes, COUNT(of_processes), SANDBOX_LIVE);
	grants(of_processes, COUNT(of_processes), SANDBOX_REPLAY);
}

static void
test_refused(void **state)
{
	static const struct attempt attempts[] = {
	    {"opening a file to write", open_to_write},
	    {"opening a file to append", open_to_append},
	    {"memory to execute", map_to_execute},
	    {"making memory executable", protect_to_execute},
	    {"a socket to the Internet", internet_socket},
	    {"netlink of another protocol", generic_socket},
	    {"netlink of the audit system", audit_socket},
	    {"connecting", connect_anywhere},
	    {"sending to an address", send_to_address},
	    {"sending a message", send_message},
	    {"binding a Unix socket", bind_unix},
	    {"a process", fork_process},
	    {"a signal to another process", kill_other},
	    {"removing a file", unlink_file},
	    {"prctl() at will", become_dumpable},
	    {"a filter for all threads", filter_all_threads},
	    {"a thread's signal to another process", signal_other},
	    {"limits of another process", limit_other},
	    {"another limit", limit_raised},
	    {"a thread in a namespace", thread_in_namespace},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(all_roles); i++)
		refuses(attempts, COUNT(attempts), all_roles[i]);
}

/* Threads need less than the process. */
static void
test_threads(void **state)
{
	static const struct attempt of_main[] = {
	    {"netlink for addresses", route_socket}, {"netlink for sockets", diag_socket},
	    {"accepting clients", accept_client},
	};
	static const struct attempt of_workers[] = {{"packet sockets", packet_socket}, {"a Unix socket", unix_socket}};
	static const struct attempt threads[] = {{"a filter of a thread", filter_again}};
	static const struct attempt of_files[] = {{"opening a file to read", open_to_read},
						  {"reading a directory", read_directory},
						  {"a thread", start_thread},
						  {"waiting for a child", wait_for_child}};

	(void)state;
	live.opens = true;
	grants(of_main, COUNT(of_main), SANDBOX_LIVE);
	grants(of_workers, COUNT(of_workers), SANDBOX_LIVE);
	grants(of_workers, COUNT(of_workers), SANDBOX_WORKER);
	refuses(of_main, COUNT(of_main), SANDBOX_WORKER);
	refuses(of_main, COUNT(of_main), SANDBOX_OWNER);
	refuses(of_workers, COUNT(of_workers), SANDBOX_OWNER);
	refuses(of_main, COUNT(of_main), SANDBOX_READER);
	refuses(of_workers, COUNT(of_workers), SANDBOX_READER);
	grants(of_files, COUNT(of_files), SANDBOX_REPLAY);
	refuses(of_files, COUNT(of_files), SANDBOX_READER);
	grants(threads, COUNT(threads), SANDBOX_LIVE);
	live.opens = false;
}

/* Nothing is sent through sockets that capture, and they stay where they are. */
static void
test_high_descriptors(void **state)
{
	static const struct attempt refused[] = {
	    {"write()", write_high},
	    {"write() with upper bits", write_high_with_upper_bits},
	    {"write() to any high descriptor", write_far_higher},
	    {"writev()", writev_high},
	    {"pwrite()", pwrite_high},
	    {"pwritev2()", pwritev_high},
	    {"send()", send_high},
	    {"send() with upper bits", send_high_with_upper_bits},
	    {"sendmsg()", send_message_high},
	    {"sendmmsg()", send_messages_high},
	    {"splice()", splice_to_high},
	    {"tee()", tee_to_high},
	    {"vmsplice()", vmsplice_to_high},
	    {"sendfile()", sendfile_to_high},
	    {"copy_file_range()", copy_to_high},
	    {"passing it on", pass_high},
	    {"dup()", dup_high},
	    {"dup3()", dup3_high},
	    {"fcntl(F_DUPFD)", fcntl_dup_high},
	    {"fcntl(F_DUPFD_CLOEXEC)", fcntl_dup_cloexec_high},
	    {"fcntl(F_SETOWN)", own_signals_high},
	    {"connect()", connect_high},
	    {"shutdown()", shut_down_high},
	    {"bind() as netlink", bind_high_as_netlink},
	};
	static const struct attempt refused_unless_opening[] = {
	    {"an option of packet sockets", option_of_packets},
	    {"a ring to send from", ring_to_send},
	    {"an option of sockets", option_of_sockets},
	    {"bind() to an interface", bind_high_to_interface},
	    {"bind() with upper bits", bind_high_with_upper_bits},
	    {"a packet socket", packet_socket},
	};
	static const struct attempt granted[] = {
	    {"receiving", receive_high}, {"a filter of frames", filter_high}, {"closing", close_high}};
	static const struct attempt opening[] = {{"an option of packet sockets", option_of_packets},
						 {"bind() to an interface", bind_high_to_interface},
						 {"duplicating a low one", fcntl_dup_cloexec_low}};
	static const struct attempt suspending[] = {{"bind() to an interface", bind_high_to_interface}};

	(void)state;
	for (size_t i = 0; i < COUNT(all_roles); i++) {
		refuses(refused, COUNT(refused), all_roles[i]);
		refuses(refused_unless_opening, COUNT(refused_unless_opening), all_roles[i]);
	}
	grants(granted, COUNT(granted), SANDBOX_LIVE);
	grants(granted, COUNT(granted), SANDBOX_WORKER);
	live.opens = true;
	refuses(refused, COUNT(refused), SANDBOX_LIVE);
	refuses(refused, COUNT(refused), SANDBOX_WORKER);
	grants(opening, COUNT(opening), SANDBOX_LIVE);
	grants(opening, COUNT(opening), SANDBOX_WORKER);
	live = (struct sandbox_process){.live = true, .suspends = true};
	refuses(refused, COUNT(refused), SANDBOX_LIVE);
	grants(suspending, COUNT(suspending), SANDBOX_LIVE);
	live = (struct sandbox_process){.live = true};
}

/* A filter cannot check the flags of clone3(), so that the C library must use clone(). */
static void
test_clone3(void **state)
{
	static const struct attempt attempts[] = {{"clone3() seeming absent", clone3_seems_absent}};

	(void)state;
	grants(attempts, COUNT(attempts), SANDBOX_LIVE);
}

/* A replay needs less than a capture. */
static void
test_replay_is_narrower(void **state)
{
	static const struct attempt attempts[] = {
	    {"netlink", route_socket},
	    {"netlink for sockets", diag_socket},
	    {"a Unix socket", unix_socket},
	    {"accepting clients", accept_client},
	};

	(void)state;
	grants(attempts, COUNT(attempts), SANDBOX_LIVE);
	refuses(attempts, COUNT(attempts), SANDBOX_REPLAY);
}

/* Only the main thread of a process that has opened DTrace's device makes its requests. */
static void
test_dtrace(void **state)
{
	static const struct attempt requests[] = {{"describing probes", describe_probes},
						  {"removing probes", remove_probes}};
	static const struct attempt others[] = {{"another request of DTrace", other_request_of_dtrace}};

	(void)state;
	for (size_t i = 0; i < COUNT(all_roles); i++)
		refuses(requests, COUNT(requests), all_roles[i]);
	live.dtrace = true;
	grants(requests, COUNT(requests), SANDBOX_LIVE);
	grants(requests, COUNT(requests), SANDBOX_REPLAY);
	refuses(others, COUNT(others), SANDBOX_LIVE);
	refuses(requests, COUNT(requests), SANDBOX_WORKER);
	refuses(requests, COUNT(requests), SANDBOX_OWNER);
	refuses(requests, COUNT(requests), SANDBOX_READER);
	live = (struct sandbox_process){.live = true};
}

/* A kernel, or what it runs on, may have no calls of 32 bits: then the instruction itself ends a process. */
static bool
kernel_makes_call(const struct attempt *attempt)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		attempt->make();
		_exit(DONE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status);
}

static void
test_deadly(void **state)
{
	static const struct attempt attempts[] = {
	    {"running a program", run_program},
	    {"tracing a process", trace_parent},
	    {"loading code into the kernel", load_bpf},
	    {"changing user", set_user},
	    {"fetching a descriptor", fetch_descriptor},
	    {"asynchronous calls", set_up_ring},
#ifdef __x86_64__
	    {"a call of x32", call_x32},
	    {"a call of 32 bits", call_32_bits}, /* the last */
#endif
	};
	size_t count = COUNT(attempts);

	(void)state;
#ifdef __x86_64__
	if (!kernel_makes_call(&attempts[count - 1])) {
		print_message("no calls of 32 bits here\n");
		count--;
	}
#endif
	for (size_t i = 0; i < count * COUNT(all_roles); i++) {
		const struct attempt *attempt = &attempts[i % count];
		int status = try_call(attempt, all_roles[i / count]);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s does not kill: wait status %x", attempt->name, (unsigned)status);
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
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_high_descriptors),
	    cmocka_unit_test(test_dtrace),
	    cmocka_unit_test(test_deadly),
	};

	/* Instrumented builds have a wider filter. */
	if (sandbox_instrumentation.count > 0)
		return cmocka_run_group_tests(granted, NULL, NULL);
	return cmocka_run_group_tests(all, NULL, NULL);
}
