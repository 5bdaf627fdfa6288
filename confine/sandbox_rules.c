/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/sandbox.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "usdt/dtprobed.h"

#define CALL(name) {.number = SCMP_SYS(name)}
#define CALL_IF(name, which, bits, wanted) \
	{.number = SCMP_SYS(name), .conditions = {{.argument = (which), .mask = (bits), .value = (wanted)}}}
#define INT_ARG(name, which, wanted) CALL_IF(name, which, UINT32_MAX, wanted)
#define TWO_INT_ARGS(name, which, wanted, other, other_wanted) \
	{.number = SCMP_SYS(name), \
	 .conditions = {{.argument = (which), .mask = UINT32_MAX, .value = (wanted)}, \
			{.argument = (other), .mask = UINT32_MAX, .value = (other_wanted)}}}

/* A call on a low descriptor, its argument `which`, besides other conditions. */
#define LOW_FD(which)	      {.argument = (which), .operand = SANDBOX_LOW_DESCRIPTOR}
#define INT_IS(which, wanted) {.argument = (which), .mask = UINT32_MAX, .value = (wanted)}
#define LOW_CALL(name)	      {.number = SCMP_SYS(name), .conditions = {LOW_FD(1)}}
#define LOW_INT_ARG(name, which, wanted) \
	{.number = SCMP_SYS(name), .conditions = {LOW_FD(1), INT_IS(which, wanted)}}
#define LOW_OPTION(name, level, option) \
	{.number = SCMP_SYS(name), .conditions = {LOW_FD(1), INT_IS(2, level), INT_IS(3, option)}}

#define PROCESSES    (SANDBOX_REPLAY | SANDBOX_LIVE)
#define LIVE_THREADS (SANDBOX_WORKER | SANDBOX_OWNER)
#define ALL_ROLES    (PROCESSES | LIVE_THREADS | SANDBOX_READER)

#define FOR_WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

/* Flags of clone() that C libraries may add for a thread. */
#define THREAD_DETAILS (CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED)

static const struct sandbox_rule memory[] = {
    CALL(brk),
    CALL_IF(mmap, 3, PROT_EXEC, 0),
    CALL_IF(mprotect, 3, PROT_EXEC, 0),
    CALL(mremap),
    CALL(munmap),
    CALL(madvise),
};

/* Read access to files, of which Landlock allows some (landlock.c): /etc, /sys, the configuration file on a reload;
 * for the owner threads /proc. */
static const struct sandbox_rule reading[] = {
    CALL_IF(openat, 3, FOR_WRITING, 0),
    CALL(read),
    CALL(lseek),
    CALL(close),
    CALL(fstat),
    CALL(newfstatat),
    CALL(readlinkat),
    CALL(getdents64),
};

/* The files of a replay, which are open. */
static const struct sandbox_rule reading_open_files[] = {
    CALL(read),
};

/* Other calls for the same purpose, which libraries make. */
static const struct sandbox_rule library_reading[] = {
    CALL_IF(open, 2, FOR_WRITING, 0),
    CALL(readv),
    CALL(pread64),
    CALL(stat),
    CALL(lstat),
    CALL(statx),
    CALL(fstatfs),
    CALL(getcwd),
    CALL(access),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlink),
    CALL(fadvise64),
    INT_ARG(fcntl, 2, F_GETFD),
    INT_ARG(fcntl, 2, F_SETFD),
    INT_ARG(fcntl, 2, F_GETFL),
    INT_ARG(fcntl, 2, F_SETFL),
    LOW_INT_ARG(fcntl, 2, F_DUPFD_CLOEXEC),
    INT_ARG(ioctl, 2, TCGETS), /* isatty() */
};

/* Writing to open descriptors: standard output, the log, the service manager, sockets, but not those that capture,
 * which are high (high_sockets.h): calls that write, connect or duplicate are allowed with LOW_FD only.  Messages go to
 * connected sockets only: with an address, a datagram could reach any Unix socket.  sendmsg() has its address in
 * memory, which a filter cannot read, so it is missing here. */
static const struct sandbox_rule writing[] = {
    LOW_CALL(write),
    LOW_CALL(writev),
    {.number = SCMP_SYS(sendto),
     .conditions = {LOW_FD(1), {.argument = 5, .mask = UINT64_MAX, .value = 0}}},
    CALL(recvfrom),
    CALL(recvmsg),
};

static const struct sandbox_rule waiting[] = {
    CALL(epoll_create1),  CALL(epoll_ctl), CALL(epoll_wait),	 CALL(epoll_pwait),
    CALL(epoll_pwait2),	  CALL(select),	   CALL(pselect6),	 CALL(eventfd2),
    CALL(timerfd_create), CALL(timerfd_settime),
};

static const struct sandbox_rule sleeping[] = {
    CALL(poll),
    CALL(ppoll),
    CALL(nanosleep),
    CALL(clock_nanosleep),
    CALL(futex),
    CALL(sched_yield),
};

/* Usually the vDSO answers without a system call. */
static const struct sandbox_rule clocks[] = {
    CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday), CALL(time),
};

static const struct sandbox_rule signals[] = {
    CALL(rt_sigaction),
    CALL(sigaltstack),
};

/* Threads but no processes.  clone3() passes its flags in memory, which a filter cannot read, so it fails with ENOSYS
 * (sandbox_enosys) and the C library uses clone(). */
static const struct sandbox_rule threads[] = {
    CALL_IF(clone, 1, ~(uint64_t)THREAD_DETAILS, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD),
};

/* A thread that begins, names itself, gives up more rights, and ends. */
static const struct sandbox_rule thread[] = {
    CALL(set_robust_list),
    CALL(rseq),
    CALL(sched_getaffinity),
    CALL(membarrier),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(restart_syscall),
    CALL(exit),
    INT_ARG(prctl, 1, PR_SET_NAME),
    INT_ARG(prctl, 1, PR_GET_SECCOMP),
    CALL(capget),
    CALL(capset),						/* can only drop: nothing is left to gain */
    TWO_INT_ARGS(seccomp, 1, SECCOMP_SET_MODE_FILTER, 2, 0), /* a further filter restricts further */
};

/* Before the first frame. */
static const struct sandbox_rule restricting_files[] = {
    {.number = SANDBOX_LANDLOCK_RESTRICT_SELF, .conditions = {{.argument = 2, .mask = UINT32_MAX, .value = 0}}},
};

static const struct sandbox_rule process[] = {
    CALL(exit_group), CALL(getpid),    CALL(gettid),  CALL(getppid),   CALL(getuid),
    CALL(geteuid),    CALL(getgid),    CALL(getegid), CALL(getrandom), CALL(sysinfo),
    CALL(uname),      CALL(getrusage),
    {.number = SCMP_SYS(tgkill), .conditions = {{.argument = 1, .operand = SANDBOX_OWN_PROCESS}}}, /* abort() */
    /* Own limits may be read, not changed. */
    {.number = SCMP_SYS(prlimit64),
     .conditions = {INT_IS(1, 0), {.argument = 3, .mask = UINT64_MAX, .value = 0}}},
};

/* The end of the process that keeps a file (base/output_file.c), the only child there can be. */
static const struct sandbox_rule reaping[] = {
    INT_ARG(wait4, 3, 0), /* waitpid() without options */
};

/* Calls made by the kernel's code for an optimised probe while a tracer is attached; some kernels filter them like any
 * other. */
static const struct sandbox_rule uprobe_calls[] = {
#ifdef __x86_64__
    {.number = 335}, /* uretprobe */
    {.number = 336}, /* uprobe */
#else
    CALL(exit_group),
#endif
};

/* Serving sockets that were bound earlier: the control socket and the metrics. */
static const struct sandbox_rule serving[] = {
    CALL(accept),
    CALL(accept4),
    LOW_CALL(shutdown),
    CALL(getpeername),
    INT_ARG(ioctl, 2, FIONREAD),
};

/* libpcap: statistics and filters. */
static const struct sandbox_rule capturing[] = {
    {.number = SCMP_SYS(setsockopt), .conditions = {INT_IS(2, SOL_SOCKET), INT_IS(3, SO_ATTACH_FILTER)}},
    {.number = SCMP_SYS(setsockopt), .conditions = {INT_IS(2, SOL_SOCKET), INT_IS(3, SO_DETACH_FILTER)}},
    INT_ARG(getsockopt, 2, SOL_PACKET),
    INT_ARG(getsockopt, 2, SOL_SOCKET),
    CALL(getsockname),
    /* if_nametoindex() uses an arbitrary socket. */
    TWO_INT_ARGS(socket, 1, AF_UNIX, 2, SOCK_DGRAM | SOCK_CLOEXEC),
    INT_ARG(ioctl, 2, SIOCGIFINDEX),
};

/* The address is in memory, which a filter cannot read: it may be that of another interface. */
static const struct sandbox_rule suspending[] = {
    INT_ARG(bind, 3, sizeof(struct sockaddr_ll)),
};

/* libpcap opens an interface that has returned.  A socket is low until socket() has moved it (high_sockets.c): with
 * the capability an intruder can send frames, despite the conditions for high descriptors. */
static const struct sandbox_rule opening[] = {
    INT_ARG(socket, 1, AF_PACKET),
    INT_ARG(socket, 1, AF_UNIX),
    INT_ARG(setsockopt, 2, SOL_PACKET),
    INT_ARG(setsockopt, 2, SOL_SOCKET),
    INT_ARG(bind, 3, sizeof(struct sockaddr_ll)),
    INT_ARG(ioctl, 2, SIOCGIFNAME),
    INT_ARG(ioctl, 2, SIOCGIFFLAGS),
    INT_ARG(ioctl, 2, SIOCGIFMTU),
    INT_ARG(ioctl, 2, SIOCGIFHWADDR),
    INT_ARG(ioctl, 2, SIOCGIFADDR),
    INT_ARG(ioctl, 2, SIOCETHTOOL),
    INT_ARG(ioctl, 2, FIONBIO),
};

/* rtnetlink for addresses and interfaces; sock_diag for socket owners.  No other protocol of netlink. */
static const struct sandbox_rule kernel_queries[] = {
    TWO_INT_ARGS(socket, 1, AF_NETLINK, 3, NETLINK_ROUTE),
    TWO_INT_ARGS(socket, 1, AF_NETLINK, 3, NETLINK_SOCK_DIAG),
    LOW_INT_ARG(bind, 3, sizeof(struct sockaddr_nl)),
    LOW_INT_ARG(setsockopt, 2, SOL_NETLINK),
    LOW_OPTION(setsockopt, SOL_SOCKET, SO_RCVTIMEO),
};

/* netobsd hands over new names of formulas, and removes its probes at the end.  Every process that may open the device
 * can make these requests for its own probes. */
static const struct sandbox_rule dtrace_requests[] = {
    LOW_INT_ARG(ioctl, 2, DTPROBED_ADD),
    LOW_INT_ARG(ioctl, 2, DTPROBED_REMOVE),
};

#define TABLE_IF(in_case, what, whose, table) \
	{.purpose = (what), \
	 .roles = (whose), \
	 .when = (in_case), \
	 .rules = (table), \
	 .count = sizeof(table) / sizeof((table)[0])}
#define TABLE(what, whose, table) TABLE_IF(SANDBOX_ALWAYS, what, whose, table)

const struct sandbox_table sandbox_allowed[] = {
    TABLE("memory, never to be executed", ALL_ROLES, memory),
    TABLE("reading files", PROCESSES | LIVE_THREADS, reading),
    TABLE("reading open files", SANDBOX_READER, reading_open_files),
    TABLE("reading files by libraries", PROCESSES | SANDBOX_WORKER, library_reading),
    TABLE("writing to what is open", ALL_ROLES, writing),
    TABLE("waiting for events and timers", PROCESSES | SANDBOX_WORKER, waiting),
    TABLE("sleeping", ALL_ROLES, sleeping),
    TABLE("clocks", ALL_ROLES, clocks),
    TABLE("signals", PROCESSES, signals),
    TABLE("starting threads", PROCESSES, threads),
    TABLE("the thread itself", ALL_ROLES, thread),
    TABLE("restricting access to files", PROCESSES, restricting_files),
    TABLE("the process itself", ALL_ROLES, process),
    TABLE("waiting for the end of a child", PROCESSES, reaping),
    TABLE("tracers on its probes", ALL_ROLES, uprobe_calls),
    TABLE("serving bound sockets", SANDBOX_LIVE, serving),
    TABLE("capturing from interfaces", SANDBOX_LIVE | SANDBOX_WORKER, capturing),
    TABLE_IF(SANDBOX_IF_OPENING, "opening interfaces", SANDBOX_LIVE | SANDBOX_WORKER, opening),
    TABLE_IF(SANDBOX_IF_SUSPENDING, "suspending capture", SANDBOX_LIVE | SANDBOX_WORKER, suspending),
    TABLE("asking the kernel about addresses and owners", SANDBOX_LIVE, kernel_queries),
    TABLE_IF(SANDBOX_IF_DTRACE, "describing probes to DTrace", PROCESSES, dtrace_requests),
};
const size_t sandbox_allowed_count = sizeof sandbox_allowed / sizeof sandbox_allowed[0];

const int sandbox_enosys[] = {SCMP_SYS(clone3)};
const size_t sandbox_enosys_count = sizeof sandbox_enosys / sizeof sandbox_enosys[0];

const int sandbox_kill[] = {
    SCMP_SYS(execve),	       SCMP_SYS(execveat),    SCMP_SYS(fork),		 SCMP_SYS(vfork),
    SCMP_SYS(ptrace),	       SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(init_module),	 SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),   SCMP_SYS(kexec_load),  SCMP_SYS(kexec_file_load), SCMP_SYS(mount),
    SCMP_SYS(umount2),	       SCMP_SYS(pivot_root),  SCMP_SYS(chroot),		 SCMP_SYS(setns),
    SCMP_SYS(unshare),	       SCMP_SYS(keyctl),      SCMP_SYS(add_key),	 SCMP_SYS(request_key),
    SCMP_SYS(setuid),	       SCMP_SYS(setresuid),   SCMP_SYS(setreuid),	 SCMP_SYS(io_uring_setup),
    SCMP_SYS(pidfd_getfd),     SCMP_SYS(setgid),      SCMP_SYS(setresgid),	 SCMP_SYS(setregid),
};
const size_t sandbox_kill_count = sizeof sandbox_kill / sizeof sandbox_kill[0];
