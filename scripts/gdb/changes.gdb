# SPDX-License-Identifier: BSD-2-Clause
#
# Prints every change of a TCP state with gdb:
#
#	gdb -batch -x scripts/gdb/changes.gdb --args netobsd -r trace.pcap
#
# gdb knows the structs only if netobsd was built with debugging information.
set pagination off
set breakpoint pending off
break -probe-stap netobs:tcp__state__change
commands
	silent
	printf "%lu %s -> %s\n", ((struct csinfo *)$_probe_arg1)->cs_cid, ((struct tcpsinfo *)$_probe_arg2)->tcps_statestr, ((struct tcpnsinfo *)$_probe_arg3)->tcps_statestr
	continue
end
run
