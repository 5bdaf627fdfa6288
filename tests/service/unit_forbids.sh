#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Where a setting of the installed unit is the reason that netobsd or write --on fails, the message names the setting and
# the section of the manual; where it is not, the message does not.  systemd's part is imitated: its filters by
# unit_filter.py, its directories by mounts, and its packet filter by a route.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

unit=$build/conf/netobs.service
[ -e "$unit" ] || skip_all "the unit is not made"
built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "observing an interface needs root"
have ip setpriv python3 unshare mount systemd-analyze || skip_all "ip, setpriv, python3, unshare, mount or systemd-analyze is not installed"
if "$netobsd" --version | grep -q '^instrumented'; then
	skip_all "sanitizers and gcov make calls that the unit forbids"
fi
space=netobs-forbids-$$
namespaces "$space" || skip_all "$kernel_refusal"
unshare -m true 2>/dev/null || skip_all "no mount namespace can be made"
ip -n "$space" link set lo up

user=$(id -u nobody) group=$(id -g nobody)
ambient="setpriv --reuid $user --regid $group --clear-groups --inh-caps -all,+net_raw --ambient-caps -all,+net_raw
	--bounding-set -all,+net_raw --no-new-privs"
python=
for candidate in python3 /usr/bin/python3; do # one that another user may run
	# shellcheck disable=SC2086 # words
	[ -n "$python" ] || ! $ambient "$candidate" -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || skip_all "no python3 that every user may run, or no libseccomp"

copy=$(private_netobsd) || exit 99
cp -- "$unit" "$tmp/shipped.service" && cp -- "$build/conf/netobs-write@.service" "$tmp/write.service" &&
	cp -- "$top/tests/service/unit_filter.py" "$build/netobsctl" "$tmp" || exit 99
sed 's/^RestrictAddressFamilies=.*/& AF_INET AF_INET6/' "$unit" >"$tmp/families.service"
chmod 755 "$tmp" "$tmp/netobsctl" && chmod 644 "$tmp"/*.service "$tmp/unit_filter.py"
mkdir -m 700 "$tmp/run" "$tmp/fixed" && chown nobody "$tmp/run" "$tmp/fixed"

# The file systems of the unit: $tmp/fixed cannot be written, /home cannot be entered, /var/tmp is empty.
cat >"$tmp/mounts" <<END
set -e
mount --bind "$tmp/fixed" "$tmp/fixed"
mount -o remount,bind,ro "$tmp/fixed"
mount -t tmpfs -o mode=0 none /home
mount -t tmpfs -o mode=1777 none /var/tmp
exec "\$@"
END
cat >"$tmp/no-ipv6" <<'END'
mount -t tmpfs none /proc/$$/net || exit 77
exec "$@"
END

# in_unit UNIT COMMAND...: runs it as the unit would, in place of the shell
in_unit() {
	in_unit_file=$1
	shift
	# shellcheck disable=SC2086 # words
	exec timeout 300 ip netns exec "$space" unshare -m sh "$tmp/mounts" $ambient "$python" "$tmp/unit_filter.py" \
		"$tmp/$in_unit_file.service" "$@"
}

manual=" (systemctl edit can permit it: netobsd(8), What the unit forbids)"

# refused NAME MESSAGE ARGUMENT...: netobsd does not start in the unit, with this message
refused() {
	refused_name=$1 refused_message=$2
	shift 2
	(in_unit shipped "$copy" "$@") >"$tmp/out" 2>"$tmp/err"
	is "$refused_name" "$? $(cat "$tmp/err")" "1 netobsd: $refused_message"
}

check "netobsd(8) has the section that the messages name" grep -qx '\.Ss What the unit forbids' "$top/man/netobsd.8"

# --------------------------------------------------------------------------------------------------------- addresses

forbidden="Address family not supported by protocol; RestrictAddressFamilies= and IPAddressDeny= of the unit forbid IP$manual"
refused "metrics at an address" "cannot serve metrics at 127.0.0.1:9819: $forbidden" -i lo --metrics 127.0.0.1:9819
if [ -e /proc/self/net/if_inet6 ]; then
	refused "metrics at an IPv6 address" "cannot serve metrics at [::1]:9819: $forbidden" -i lo --metrics '[::1]:9819'
else
	skip "metrics at an IPv6 address" "the kernel has no IPv6"
fi
(in_unit shipped env -u SYSTEMD_EXEC_PID "$copy" -i lo --metrics 127.0.0.1:9819) 2>"$tmp/err"
is "metrics at an address, without a unit" "$(cat "$tmp/err")" \
	"netobsd: cannot serve metrics at 127.0.0.1:9819: Address family not supported by protocol"

# The mount hides what tells the kernel's IPv6, and the filter refuses its sockets, as such a kernel does.
for started in "" "env -u SYSTEMD_EXEC_PID"; do
	name="metrics at an IPv6 address, a kernel without IPv6${started:+, without a unit}"
	# shellcheck disable=SC2086 # words
	timeout 300 ip netns exec "$space" unshare -m sh "$tmp/no-ipv6" $ambient "$python" "$tmp/unit_filter.py" \
		"$tmp/shipped.service" $started "$copy" -i lo --metrics '[::1]:9819' 2>"$tmp/err"
	if [ $? -eq 77 ]; then
		skip "$name" "the kernel permits no mount in /proc"
	else
		is "$name" "$(cat "$tmp/err")" "netobsd: cannot serve metrics at [::1]:9819: \
Address family not supported by protocol; the kernel has no IPv6, use an IPv4 address"
	fi
done

# served ARGUMENT...: starts netobsd with the families permitted, and prints its warnings when it serves requests
served() {
	(in_unit families "$copy" -i lo --control "$tmp/run/control" "$@") 2>"$tmp/err" &
	served_pid=$!
	wait_while "$served_pid" "$build/netobsctl" -s "$tmp/run/control" status
	kill "$served_pid"
	wait "$served_pid"
	grep -v 'memory reserved' "$tmp/err"
}
is "metrics at an address that the unit permits" "$(served --metrics 127.0.0.1:9819)" ""
ip -n "$space" rule add pref 1 lookup local
ip -n "$space" rule add pref 0 to 127.0.0.1 prohibit
ip -n "$space" rule del pref 0 lookup local
is "metrics at an address whose packets are rejected" "$(served --metrics 127.0.0.1:9819)" \
	"netobsd: no client can reach the metrics at 127.0.0.1:9819: Permission denied; IPAddressDeny= of the unit may forbid it$manual"

names="RestrictAddressFamilies= of the unit may forbid to look up names$manual"
refused "a filter with a host name" "bad filter \"host nowhere.invalid\" for lo: unknown host 'nowhere.invalid'; \
pcap-filter(7) describes filters; $names" -i lo host nowhere.invalid
echo 'filter = "host nowhere.invalid"' >"$tmp/netobs.conf"
refused "a filter of the configuration with a host name" "$tmp/netobs.conf:1: filter = host nowhere.invalid: \
unknown host 'nowhere.invalid'; $names" -c "$tmp/netobs.conf"

# ------------------------------------------------------------------------------------------------------------- files

read_only="Read-only file system; ProtectSystem= of the unit may forbid to write there$manual"
no_home="Permission denied; ProtectHome= of the unit may hide it$manual"
refused "records where the unit may not write" "cannot write records to $tmp/fixed/records: $read_only" \
	-i lo --records="$tmp/fixed/records"
refused "records below /home" "cannot write records to /home/a/records: $no_home" -i lo --records=/home/a/records
refused "records in a directory that the unit hides" "cannot write records to /var/tmp/a/records: \
No such file or directory; PrivateTmp= of the unit may hide it$manual" -i lo --records=/var/tmp/a/records
refused "the control socket where the unit may not write" "cannot create the control socket $tmp/fixed/control: $read_only" \
	-i lo --control "$tmp/fixed/control"
refused "the control socket below /home" "cannot create the control socket /home/a/control: /home/a: $no_home" \
	-i lo --control /home/a/control
refused "a capture below /home" "cannot read /home/a/file.pcap: $no_home" -r /home/a/file.pcap
refused "a configuration below /home" "cannot read /home/a/netobs.conf: $no_home" -c /home/a/netobs.conf
refused "an output that is not a file of the unit" "cannot write records to /none/records: No such file or directory" \
	-i lo --records=/none/records
(in_unit write "$tmp/netobsctl" -s "$tmp/run/control" write --on tcp-send --dir "$tmp/fixed") 2>"$tmp/err"
is "write --on where its unit may not write" "$? $(cat "$tmp/err")" "3 netobsctl: $tmp/fixed: $read_only"

# -------------------------------------------------------------------------------------------------------------- users

refused "another user" "cannot switch to user bin: netobsd was not started as root; User= of the unit is to name the user instead$manual" \
	-i lo -u bin
refused "a control socket of another group" "cannot set owner and mode of the control socket $tmp/run/control (user $user, \
group $(getent group bin | cut -d : -f 3)): Operation not permitted; \
User=, Group= and SystemCallFilter= of the unit may forbid another owner$manual" \
	-i lo --control "$tmp/run/control" --control-group bin
lookup="netobsd: --all-owners: processes of other users cannot be looked up without"
limit="AmbientCapabilities= of the unit may lack it$manual"
is "processes of all users" "$(served --all-owners)" "$lookup sys_ptrace; $limit
$lookup dac_read_search; $limit"

tap_done
