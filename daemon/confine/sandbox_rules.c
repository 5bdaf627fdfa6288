/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/confine/sandbox_rules.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define CALL(name)			  {.number = SCMP_SYS(name)}
#define CALL_IF(name, which, bits, wanted) \
	{.number = SCMP_SYS(name), .argument = (which), .mask = (bits), .value = (wanted)}
#define CALL_ARG(name, which, wanted) CALL_IF(name, which, UINT64_MAX, wanted)
#define INT_ARG(name, which, wanted)  CALL_IF(name, which, UINT32_MAX, wanted)

#define FOR_WRITING (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND)

static const struct sandbox_rule memory[] = {
    CALL(brk),
    CALL_IF(mmap, 3, PROT_EXEC, 0),
    CALL_IF(mprotect, 3, PROT_EXEC, 0),
    CALL(mremap),
    CALL(munmap),
    CALL(madvise),
};

/* Read access to any file: captures, /proc, /sys, and the configuration file on a reload. */
static const struct sandbox_rule reading[] = {
    CALL_IF(open, 2, FOR_WRITING, 0),
    CALL_IF(openat, 3, FOR_WRITING, 0),
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(lseek),
    CALL(close),
    CALL(stat),
    CALL(lstat),
    CALL(fstat),
    CALL(newfstatat),
    CALL(statx),
    CALL(access),
    CALL(faccessat),
    CALL(faccessat2),
    CALL(readlink),
    CALL(readlinkat),
    CALL(getdents64),
    CALL(fadvise64),
    INT_ARG(fcntl, 2, F_GETFD),
    INT_ARG(fcntl, 2, F_SETFD),
    INT_ARG(fcntl, 2, F_GETFL),
    INT_ARG(fcntl, 2, F_SETFL),
    INT_ARG(fcntl, 2, F_DUPFD_CLOEXEC),
    INT_ARG(ioctl, 2, TCGETS), /* isatty() */
};

/* Writing to open descriptors: standard output, the log, the service manager, sockets. */
static const struct sandbox_rule writing[] = {
    CALL(write), CALL(writev), CALL(sendto), CALL(sendmsg), CALL(recvfrom), CALL(recvmsg), CALL(recvmmsg),
};

static const struct sandbox_rule waiting[] = {
    CALL(epoll_create1), CALL(epoll_ctl),  CALL(epoll_wait),	  CALL(epoll_pwait), CALL(epoll_pwait2),
    CALL(poll),		 CALL(ppoll),	   CALL(select),	  CALL(pselect6),    CALL(eventfd2),
    CALL(nanosleep),	 CALL(timerfd_create), CALL(timerfd_settime), CALL(clock_nanosleep),
};

/* Usually the vDSO answers without a system call. */
static const struct sandbox_rule clocks[] = {
    CALL(clock_gettime), CALL(clock_getres), CALL(gettimeofday), CALL(time),
};

static const struct sandbox_rule signals[] = {
    CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(sigaltstack), CALL(restart_syscall),
};

/* Threads but no processes.  clone3() passes its flags in memory, which a filter cannot read, so it fails with ENOSYS
 * (sandbox_enosys) and the C library uses clone(). */
static const struct sandbox_rule threads[] = {
    CALL_IF(clone, 1, CLONE_THREAD, CLONE_THREAD),
    CALL(futex),
    CALL(set_robust_list),
    CALL(rseq),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(membarrier),
    CALL(exit),
    INT_ARG(prctl, 1, PR_SET_NAME),
};

static const struct sandbox_rule process[] = {
    CALL(exit_group),
    CALL(getpid),
    CALL(gettid),
    CALL(getppid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(tgkill), /* abort() */
    CALL(getrandom),
    CALL(sysinfo),
    CALL(uname),
    CALL(getrusage),
    CALL_ARG(prlimit64, 3, 0), /* limits may be read, not changed */
    INT_ARG(prctl, 1, PR_GET_SECCOMP),
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
    CALL(shutdown),
    CALL(getpeername),
    CALL(getsockname),
    INT_ARG(getsockopt, 2, SOL_SOCKET),
    INT_ARG(ioctl, 2, FIONREAD),
};

/* libpcap: statistics, filters, and reopening an interface that has returned. */
static const struct sandbox_rule capturing[] = {
    INT_ARG(socket, 1, AF_PACKET),
    INT_ARG(setsockopt, 2, SOL_PACKET),
    INT_ARG(setsockopt, 2, SOL_SOCKET),
    INT_ARG(getsockopt, 2, SOL_PACKET),
    CALL(bind),
    INT_ARG(ioctl, 2, SIOCGIFNAME),
    INT_ARG(ioctl, 2, SIOCGIFINDEX),
    INT_ARG(ioctl, 2, SIOCGIFFLAGS),
    INT_ARG(ioctl, 2, SIOCGIFMTU),
    INT_ARG(ioctl, 2, SIOCGIFHWADDR),
    INT_ARG(ioctl, 2, SIOCGIFADDR),
    INT_ARG(ioctl, 2, SIOCETHTOOL),
    INT_ARG(ioctl, 2, FIONBIO),
    /* if_nametoindex() uses an arbitrary socket. */
    INT_ARG(socket, 1, AF_UNIX),
};

/* rtnetlink for addresses and interfaces; sock_diag for socket owners, together with /proc under `reading`. */
static const struct sandbox_rule kernel_queries[] = {
    INT_ARG(socket, 1, AF_NETLINK),
    INT_ARG(setsockopt, 2, SOL_NETLINK),
};

#define TABLE(what, whenever, table) \
	{.purpose = (what), .when = (whenever), .rules = (table), .count = sizeof(table) / sizeof((table)[0])}

const struct sandbox_table sandbox_allowed[] = {
    TABLE("memory, never to be executed", SANDBOX_ALWAYS, memory),
    TABLE("reading files", SANDBOX_ALWAYS, reading),
    TABLE("writing to what is open", SANDBOX_ALWAYS, writing),
    TABLE("waiting for events and timers", SANDBOX_ALWAYS, waiting),
    TABLE("clocks", SANDBOX_ALWAYS, clocks),
    TABLE("signals", SANDBOX_ALWAYS, signals),
    TABLE("threads", SANDBOX_ALWAYS, threads),
    TABLE("the process itself", SANDBOX_ALWAYS, process),
    TABLE("tracers on its probes", SANDBOX_ALWAYS, uprobe_calls),
    TABLE("serving bound sockets", SANDBOX_LIVE, serving),
    TABLE("capturing from interfaces", SANDBOX_LIVE, capturing),
    TABLE("asking the kernel about addresses and owners", SANDBOX_LIVE, kernel_queries),
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
};
const size_t sandbox_kill_count = sizeof sandbox_kill / sizeof sandbox_kill[0];
