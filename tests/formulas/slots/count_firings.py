#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""count_firings.py PID FILE NAME: attaches bcc to netobs:NAME of the file in the process, prints "attached", and at the
end of its input the firings, and those whose first argument is a text that begins with "s"."""
import sys

from bcc import BPF, USDT

PROGRAM = r"""
BPF_ARRAY(fired_count, u64, 2);

int fired(struct pt_regs *ctx)
{
	u64 text = 0;
	char first = 0;
	int all = 0, right = 1;

	bpf_usdt_readarg(1, ctx, &text); /* arguments are counted from 1 */
	bpf_probe_read_user(&first, sizeof(first), (void *)text);
	fired_count.increment(all);
	if (first == 's')
		fired_count.increment(right);
	return 0;
}
"""

usdt = USDT(pid=int(sys.argv[1]), path=sys.argv[2])
usdt.enable_probe(probe="netobs:" + sys.argv[3], fn_name="fired")
bpf = BPF(text=PROGRAM, usdt_contexts=[usdt])
print("attached", flush=True)
sys.stdin.read()
print(bpf["fired_count"][0].value, bpf["fired_count"][1].value)
