#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Timeout: 7200
#
# Runs DTrace: the example of netobs(7) against the built-in printer, and every D script on the capture of its sample
# against the sample, which is the answer of bpftrace and of the printer (tests/scripts/scripts.sh).  DTrace comes from
# /vm/extra, netobsd from /vm/dof.  $DTRACE_SCRIPTS: names of the scripts to run, default all.  $DTRACE_LIBRARY: D
# library of the example, default that of the package.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

for archive in /vm/extra/*.tar; do
	tar -C / -xf "$archive"
done
ldconfig
if ! have dtrace; then
	skip_all "the archive of DTrace has no dtrace"
fi
systemctl daemon-reload
modprobe cuse
check "dtprobed starts" systemctl start dtprobed
note "$(dtrace -V), Linux $(uname -r)"

export NETOBSD=/vm/dof/netobsd
captures=$top/tests/captures
library=${DTRACE_LIBRARY:-/usr/share/netobs/dtrace}

# The example, typed, with the number of the process as a pattern.
home=$captures/home-network.pcap
"$NETOBSD" -r "$home" --print=tcp-receive --format json |
	sed -n 's/.*"ip_saddr":"\([^"]*\)".*/\1/p' | sort | uniq -c | awk '{ print $2, $1 }' | sort >"$tmp/wanted"
"$NETOBSD" -r "$home" --wait-tracer=600 2>"$tmp/err" &
observer=$!
# registered: whether dtprobed knows the process
registered() {
	[ -e "/run/dtrace/probes/$observer" ]
}
check "dtprobed reads the probes of netobsd" wait_for registered
dtrace -L "$library" -l -P "netobs$observer" 2>>"$tmp/err" | awk 'NR > 1 { print $NF }' | sort >"$tmp/listed"
"$NETOBSD" --list-probes --format json | tr '{' '\n' | sed -n 's/^"name":"\([a-z-]*\)","c_name".*/\1/p' | sort >"$tmp/probes"
check "dtrace -l lists each probe once" diff -u "$tmp/probes" "$tmp/listed"
dtrace -q -L "$library" -p "$observer" -n 'netobs*:::tcp-receive { @[args[2]->ip_saddr] = count(); }' 2>>"$tmp/err" |
	awk 'NF { print $1, $2 }' | sort >"$tmp/counted"
check "netobs*:::tcp-receive counts by args[2]->ip_saddr as the printer does" diff -u "$tmp/wanted" "$tmp/counted"
[ ! -s "$tmp/err" ] || note "$(cat "$tmp/err")"
kill "$observer" 2>/dev/null
wait "$observer"

grep -v '^#' "$top/scripts/examples/LIST" >"$tmp/list"
while read -r name capture arguments; do
	case " ${DTRACE_SCRIPTS:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	# shellcheck disable=SC2086
	netobs "$name" -r "$captures/$capture" -t dtrace $arguments >"$tmp/out" 2>"$tmp/err" </dev/null ||
		echo "netobs failed with status $?" >>"$tmp/out"
	if python3 "$top/tests/scripts/d_same.py" "$top/scripts/examples/$name.txt" <"$tmp/out" >"$tmp/differ"; then
		ok "$name on $capture"
	else
		not_ok "$name on $capture" "$tmp/differ" "$tmp/err"
	fi
done <"$tmp/list"
is "no netobsd is left" "$(pidof netobsd)" ""
systemctl stop dtprobed

tap_done
