#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The guest script dtrace_replays.sh fails if DTrace prints something else, and if it has nothing to compare.  Stand-ins take the
# place of DTrace, netobs(1) and the services of the guest; netobsd is the real one.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"

top=$(cd "$top" && pwd)
netobsd=$(readlink -f "$netobsd")
tree=$tmp/tree
mkdir -p "$tree/tests/captures" "$tree/tests/vm" "$tree/scripts/d" "$tree/scripts/examples" "$tmp/bin"
for part in tests/lib tests/scripts tests/vm/guest tests/captures/home-network.pcap tests/captures/icmp.pcapng \
	tests/captures/dns-tcp.pcap tests/captures/iscsi.pcap tests/captures/http.pcap tests/captures/smb.pcap \
	scripts/d/hosts.d scripts/d/tcpio.d; do
	ln -s "$top/$part" "$tree/$part"
done
for name in hosts tcpio; do
	grep "^$name " "$top/scripts/examples/LIST" >>"$tree/scripts/examples/LIST"
	cp "$top/scripts/examples/$name.txt" "$tree/scripts/examples"
done
ln -s /bin/true "$tmp/bin/pidof"

# stand_in NAME: writes a program, its standard input
stand_in() {
	cat >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}
stand_in bpftrace <<'END'
#!/bin/sh
echo "bpftrace v0.0"
END
# It computes with the printer what DTrace prints.
stand_in dtrace <<'END'
#!/bin/sh
after=''
# fields NAME...: how often the printer prints each value
fields() {
	for name; do
		"$NETOBSD" -r "$captures/$capture" --print="$probe" --format json | sed -n "s/.*\"$name\":\"\([^\"]*\)\".*/\1/p" |
			sort | uniq -c | awk -v before="$before$name " -v after="$after" '{ print (after ? before : "") $2 after, $1 }'
	done
}
case $* in
-V) echo "dtrace: D 2.0" ;;
*icmp-receive*)
	capture=icmp.pcapng probe=icmp-receive after='|'
	fields icmp_codestr icmp_redirect_gateway icmp6_nd_target icmp_error_saddr icmp_error_daddr
	;;
*iscsi-*)
	probe=$(echo "$*" | sed 's/.*-n //; s/ {.*//; s/netobs\*::://g')
	for capture in iscsi.pcap http.pcap smb.pcap; do
		fields ci_remote
	done | awk '{ count[$1] += $2 } END { for (name in count) print name, count[name] }'
	;;
*) capture=home-network.pcap probe=tcp-receive && fields ip_saddr ;;
esac
END
stand_in netobs <<'END'
#!/bin/sh
case $1 in
timeline) echo "no segment has port 9" ;;
*) sed 1d "$samples/$1.txt" ;;
esac
END

# run [VARIABLE=VALUE]...: runs dtrace_replays.sh; $status and $tmp/out
run() {
	env -u DTRACE_SCRIPTS PATH="$tmp/bin:$PATH" "$@" top_srcdir="$tree" captures="$tree/tests/captures" \
		samples="$top/scripts/examples" NETOBSD="${NETOBSD_OF_GUEST:-$netobsd}" DTRACE_PROCESSES=/proc \
		timeout 120 sh "$tree/tests/vm/guest/dtrace_replays.sh" >"$tmp/out" 2>&1
	status=$?
}

# fails NAME POINT: the last run failed, at the point with this name
fails() {
	if [ "$status" -ne 0 ] && grep -q "^not ok [0-9]* - $2\$" "$tmp/out"; then
		ok "$1"
	else
		not_ok "$1" "$tmp/out"
	fi
}

run
if [ "$status" -eq 0 ] && grep -q '^ok [0-9]* - tcpio on dns-tcp.pcap$' "$tmp/out"; then
	ok "right answers pass"
else
	not_ok "right answers pass" "$tmp/out"
fi
run DTRACE_SCRIPTS=hosts
is "one script" "$status $(grep -c ' on dns-tcp.pcap$\| on home-network.pcap$' "$tmp/out")" "0 1"
run DTRACE_SCRIPTS='hosts nonsense'
fails "a script that does not exist" "every script was run once"

mv "$tree/scripts/examples/LIST" "$tmp/LIST"
: >"$tree/scripts/examples/LIST"
run
fails "an empty list of scripts" "every script was run once"
mv "$tmp/LIST" "$tree/scripts/examples/LIST"

sed -i 1q "$tree/scripts/examples/hosts.txt"
run DTRACE_SCRIPTS=hosts samples="$tree/scripts/examples"
fails "a sample and a DTrace without output" "hosts on home-network.pcap"

mv "$tmp/bin/dtrace" "$tmp/dtrace"
stand_in dtrace <<'END'
#!/bin/sh
END
NETOBSD_OF_GUEST=/bin/true
run
fails "a netobsd and a DTrace without firings" "netobs.*tcp-receive counts by .*"
fails "a netobsd and a DTrace without firings, of one process" "netobs.*tcp-receive counts the same"
fails "a netobsd and a DTrace without application protocols" "iSCSI, HTTP and SMB by .*"
fails "a netobsd and a DTrace without texts" "texts that may be empty: .*"
tap_done
