#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""How much does each host send?  Sums the payload of TCP segments by sender, with bcc.

If the running kernel has no headers installed, set BCC_KERNEL_SOURCE to those of another kernel.
"""
import argparse
import os
import shutil
import subprocess
import time

from bcc import BPF, USDT

PROGRAM = r"""
#include "netobs.h"

struct sender {
	char address[46];
};

BPF_HASH(bytes, struct sender, u64);
BPF_ARRAY(loss, u64, 2); /* missed firings, number of the last firing */

int tcp_send(struct pt_regs *ctx)
{
	u64 pkt = 0, ip = 0, tcp = 0, seq = 0; /* read from the registers of the site that fired */
	u32 payload = 0;
	struct sender sender = {};
	int missed = 0, last = 1;

	bpf_usdt_readarg(1, ctx, &pkt); /* arguments are counted from 1 */
	bpf_usdt_readarg(3, ctx, &ip);
	bpf_usdt_readarg(5, ctx, &tcp);
	bpf_probe_read_user(&sender.address, sizeof(sender.address), &((struct ipinfo *)ip)->ip_saddr);
	bpf_probe_read_user(&payload, sizeof(payload), &((struct tcpinfo *)tcp)->tcp_payload);
	bpf_probe_read_user(&seq, sizeof(seq), &((struct pktinfo *)pkt)->pkt_seq);
	bytes.increment(sender, payload);

	u64 *missed_at = loss.lookup(&missed), *last_at = loss.lookup(&last);
	if (missed_at && last_at) {
		if (*last_at)
			*missed_at += seq - *last_at - 1;
		*last_at = seq;
	}
	return 0;
}
"""


def wait_until_loaded(process):
    """Waits until a new process has its program mapped, where bcc searches for probes."""
    while process.poll() is None:
        with open("/proc/%d/maps" % process.pid) as maps:
            if os.readlink("/proc/%d/exe" % process.pid) in maps.read():
                return
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("-p", dest="pid", type=int, help="attach to the netobsd with this process id, until it exits or is interrupted")
    source.add_argument("-r", dest="file", help="replay this capture file with a new netobsd")
    parser.add_argument("-n", dest="netobsd", default="netobsd", help="path of that netobsd")
    parser.add_argument("-I", dest="headers", default="/usr/include", help="directory of netobs.h")
    options = parser.parse_args()

    # bcc enables a probe long before it attaches, so the file is sent to netobsd only after that.
    observer = options.file and subprocess.Popen([options.netobsd, "-r", "-"], stdin=subprocess.PIPE)
    if observer:
        wait_until_loaded(observer)
    pid = options.pid or observer.pid
    probes = USDT(pid=pid)
    probes.enable_probe(probe="netobs:tcp__send", fn_name="tcp_send")
    bpf = BPF(text=PROGRAM, cflags=["-I" + os.path.abspath(options.headers)], usdt_contexts=[probes])
    try:
        if observer:
            with open(options.file, "rb") as capture:
                shutil.copyfileobj(capture, observer.stdin)
            observer.stdin.close()
            observer.wait()
        while os.path.exists("/proc/%d" % pid):
            time.sleep(0.1)
    except KeyboardInterrupt:
        pass
    for sender, count in sorted(bpf["bytes"].items(), key=lambda item: item[1].value):
        print("%s %d" % (sender.address.decode(), count.value))
    print("missed %d firings" % bpf["loss"][0].value)


main()
