#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""bcc_ports.py PROGRAM PID: attaches bcc to netobs:tcp__receive in a process that waits for a tracer, and prints, when it has
ended, the firings and the sum of their destination ports.
"""
import os
import select
import signal
import sys

from bcc import BPF, USDT

program, pid = sys.argv[1], int(sys.argv[2])
# bcc raises the semaphore long before it attaches, and --wait-tracer waits for the semaphore only.
os.kill(pid, signal.SIGSTOP)
usdt = USDT(pid=pid, path=program)
usdt.enable_probe("tcp__receive", "hit")
bpf = BPF(usdt_contexts=[usdt], text="""
#include <uapi/linux/ptrace.h>
BPF_ARRAY(total, u64, 2);
int hit(struct pt_regs *ctx)
{
        u64 tcp = 0, *number, *sum;
        u16 port = 0;
        int zero = 0, one = 1;

        bpf_usdt_readarg(5, ctx, &tcp);
        bpf_probe_read_user(&port, sizeof port, (void *)(tcp + 2));
        number = total.lookup(&zero);
        sum = total.lookup(&one);
        if (number && sum) {
                __sync_fetch_and_add(number, 1);
                __sync_fetch_and_add(sum, port);
        }
        return 0;
}
""")
ended = select.poll()
ended.register(os.pidfd_open(pid), select.POLLIN)
os.kill(pid, signal.SIGCONT)
ended.poll()
print(bpf["total"][0].value, bpf["total"][1].value, flush=True)
os._exit(0)
