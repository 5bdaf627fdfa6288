/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules for instrumented builds, which are for tests only: the leak sanitizer starts a process that traces this one,
 * and gcov writes files.  They open wide holes in the filter. */
#include <seccomp.h>

#include "confine/sandbox.h"

#define CALL(name) {.number = SCMP_SYS(name)}

static const struct sandbox_rule instruments[] = {
    CALL(open),
    CALL(openat),
    CALL(mkdir),
    CALL(ftruncate),
    CALL(fcntl),
    CALL(mmap),
    CALL(mprotect),
    CALL(prctl),
    CALL(clone),
    CALL(ptrace),
    CALL(wait4),
    CALL(tgkill),
    CALL(kill),
    CALL(gettid),
    CALL(getppid),
    CALL(prlimit64),
    CALL(personality),
    CALL(arch_prctl),
    CALL(rt_sigtimedwait),
    CALL(sched_getparam),
    CALL(sched_getscheduler),
    CALL(ioctl),
    CALL(getcwd),
    CALL(pipe2),
    CALL(pipe),
    CALL(setrlimit),
    CALL(getrlimit),
    CALL(mincore),
    CALL(rt_sigprocmask),
    CALL(process_vm_readv),
    CALL(msync),
    CALL(mlock),
    CALL(munlock),
    CALL(getdents),
    CALL(sigaltstack),
    CALL(readlink),
    CALL(sched_getaffinity),
};

const struct sandbox_table sandbox_instrumentation = {
    .purpose = "instrumentation",
    .roles = SANDBOX_REPLAY | SANDBOX_LIVE | SANDBOX_WORKER | SANDBOX_OWNER | SANDBOX_READER,
    .rules = instruments,
    .count = sizeof instruments / sizeof instruments[0],
};
