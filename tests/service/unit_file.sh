#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The unit that the package installs: systemd reads it without a warning, its exposure is low, and it has the settings that
# netobsd needs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

unit=$build/conf/netobs.service
[ -e "$unit" ] || skip_all "the unit is not made"
have systemd-analyze systemd-sysusers || skip_all "no systemd"
[ "$(id -u)" -eq 0 ] || [ -d /run/systemd ] || skip_all "systemd-analyze cannot make /run/systemd, as root it can"

# 13 is an exposure of 1.3 on systemd's scale of 10.
if systemd-analyze security --offline=true --threshold=13 --no-pager "$unit" >"$tmp/exposure" 2>&1; then
	ok "exposure, limit 1.3"
	note "$(grep 'exposure level' "$tmp/exposure")"
else
	not_ok "exposure, limit 1.3" "$tmp/exposure"
fi

# With a program that exists and without the manual: neither is part of the unit.
sed -e '/^Documentation=/d' -e 's|^\(Exec[A-Za-z]*\)=[^ ]*/netobsd|\1=/bin/true|' "$unit" >"$tmp/netobs.service"
systemd-analyze verify --recursive-errors=no "$tmp/netobs.service" >"$tmp/out" 2>&1
is "systemd reads the unit without a warning" "$? $(grep -v -e 'Failed to connect' "$tmp/out")" "0 "

has_setting() {
	check "the unit has $1" grep -qx "$1" "$unit"
}

has_setting Type=notify
has_setting User=netobs
has_setting AmbientCapabilities=CAP_NET_RAW
has_setting CapabilityBoundingSet=CAP_NET_RAW
has_setting MemoryDenyWriteExecute=yes
has_setting LimitCORE=0
has_setting "SystemCallFilter=capset landlock_create_ruleset landlock_add_rule landlock_restrict_self"

# ------------------------------------------------------------------------------------------------------ write --on

write_on=$build/conf/netobs-write@.service
# 10 is an exposure of 1.0.
if systemd-analyze security --offline=true --threshold=10 --no-pager "$write_on" >"$tmp/exposure" 2>&1; then
	ok "write --on: exposure, limit 1.0"
	note "$(grep 'exposure level' "$tmp/exposure")"
else
	not_ok "write --on: exposure, limit 1.0" "$tmp/exposure"
fi
sed -e '/^Documentation=/d' -e 's|^\(Exec[A-Za-z]*\)=[^ ]*/netobsctl|\1=/bin/true|' "$write_on" >"$tmp/netobs-write@.service"
ln -s "netobs-write@.service" "$tmp/netobs-write@slow-handshake.service"
SYSTEMD_UNIT_PATH=$tmp: systemd-analyze verify --recursive-errors=no "$tmp/netobs-write@slow-handshake.service" >"$tmp/out" 2>&1
is "write --on: systemd reads the unit without a warning" "$? $(grep -v -e 'Failed to connect' "$tmp/out")" "0 "
for setting in User=netobs CapabilityBoundingSet= RestrictAddressFamilies=AF_UNIX PrivateNetwork=yes ProtectSystem=strict \
	StateDirectory=netobs/write/%i BindsTo=netobs.service After=netobs.service Restart=always KillMode=mixed; do
	check "write --on has $setting" grep -qx "$setting" "$write_on"
done
is "write --on can write no other directory" "$(grep -cE '^(ReadWrite|Runtime|Cache|Logs|Configuration|Ambient)' "$write_on")" 0
# shellcheck disable=SC2016 # systemd expands the variable
is "write --on: its command" "$(sed -n 's|^ExecStart=/[^ ]*/||p' "$write_on")" \
	'netobsctl write --on %i --dir /var/lib/netobs/write/%i $WRITE_OPTIONS'

# ----------------------------------------------------------------------------------------------------------- reload

# reload LINE...: the commands of ExecReload with a configuration of these lines, one after the other until one fails, for
# the process $main.  Prints the number of the first command that failed, and its messages.
reload() {
	printf '%s\n' "$@" >"$tmp/netobs.conf"
	reload_number=0
	while IFS= read -r reload_command; do
		reload_number=$((reload_number + 1))
		MAINPID=$main sh -c "$reload_command" 2>&1 || {
			echo "command $reload_number"
			return
		}
	done <"$tmp/reload"
}

sed -n -e "s|/[^ ]*/netobs\.conf|$tmp/netobs.conf|" -e "s|^ExecReload=/[^ ]*/netobsd|ExecReload='$netobsd'|" \
	-e 's|^ExecReload=||p' "$unit" >"$tmp/reload"
is "a reload with a bad configuration fails with a message" "$(main=none reload 'interface = {"lo"}' 'time-wait = forever' |
	sed "s|$tmp/||")" "netobsd: netobs.conf:2: time-wait = forever: expected a time from 1ms to 365d: seconds, or with a unit as in 500ms, 90s, 5m, 1h
command 1"
space=netobs-unit-$$ why=''
if [ "$(id -u)" -ne 0 ]; then
	why="capture needs root"
elif ! have ip; then
	why="ip is not installed"
elif ! namespaces "$space"; then
	why=$kernel_refusal
fi
if [ -z "$why" ]; then
	ip -n "$space" link set lo up
	echo 'interface = {"lo"}' >"$tmp/netobs.conf"
	chmod 755 "$tmp" # a reload reads the file as another user
	ip netns exec "$space" "$netobsd" -c "$tmp/netobs.conf" 2>"$tmp/err" &
	main=$!
	wait_for observing "$main" 1
	is "a reload with a good configuration succeeds" "$(reload 'interface = {"lo"}' 'time-wait = 30')" ""
	check "a reload with a good configuration is applied" wait_for grep -q 'netobs\.conf reloaded$' "$tmp/err"
	kill "$main"
	wait "$main"
else
	skip "a reload with a good configuration succeeds" "$why"
	skip "a reload with a good configuration is applied" "$why"
fi

# --------------------------------------------------------------------------------------------------------- formulas

# Under the unit's umask, as the service manager runs it.
sed -n -e "s|/[^ ]*/netobs\.conf|$tmp/netobs.conf|" -e "s|/var/lib|$tmp|" \
	-e "s|^ExecStartPre=-+/[^ ]*/netobsd|umask 0077; '$netobsd'|p" "$unit" >"$tmp/prepare"
echo 'interface = {"lo"}' >"$tmp/netobs.conf"
is "the unit installs the formulas" "$(sh "$tmp/prepare" 2>&1)" ""
is "the directory of the formulas belongs to the one that installs them" "$(stat -c '%u %a' "$tmp/netobs")" "$(id -u) 755"
if [ "$(id -u)" -eq 0 ]; then
	group=$(id -g netobs 2>/dev/null || id -g nobody)
	is "netobsd can only read the formulas" "$(stat -c '%u %g %a' "$tmp/netobs/formulas.so")" "0 $group 640"
else
	skip "netobsd can only read the formulas" "needs root"
fi
inode=$(stat -c %i "$tmp/netobs/formulas.so")
sh "$tmp/prepare" 2>"$tmp/err"
is "the next start keeps the file" "$(stat -c %i "$tmp/netobs/formulas.so")" "$inode"
chmod 777 "$tmp/netobs"
is "a directory that others can write to is refused" "$(sh "$tmp/prepare" 2>&1)" \
	"netobsd: cannot install the formulas: $tmp/netobs: is writable by others; chmod go-w"

# ------------------------------------------------------------------------------------------------- system-call filter

ambient="setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all,+net_raw --ambient-caps -all,+net_raw
	--bounding-set -all,+net_raw --no-new-privs"
python=
for candidate in python3 /usr/bin/python3; do # one that another user may run
	[ -n "$python" ] || ! $ambient "$candidate" -c 'import ctypes' 2>/dev/null || python=$candidate
done
if [ -n "$why" ]; then
	skip "netobsd runs under the unit's filter" "$why"
elif [ -z "$python" ]; then
	skip "netobsd runs under the unit's filter" "needs setpriv and python3"
elif "$netobsd" --version | grep -q '^instrumented'; then
	skip "netobsd runs under the unit's filter" "sanitizers and gcov make other calls"
else
	copy=$(private_netobsd) || exit 99
	cp -- "$unit" "$tmp/filter.service" && cp -- "$top/tests/service/unit_filter.py" "$tmp" || exit 99
	chmod 644 "$tmp/filter.service"
	mkdir "$tmp/run" && chown nobody "$tmp/run"
	echo 'interface = {"lo"}' >"$tmp/netobs.conf"
	# The capability makes netobsd check its files, as root does.
	# shellcheck disable=SC2086 # words
	ip netns exec "$space" $ambient "$python" "$tmp/unit_filter.py" "$tmp/filter.service" "$copy" -c "$tmp/netobs.conf" --workers 2 \
		--control "$tmp/run/control" --debug confine 2>"$tmp/err" &
	main=$!
	check "netobsd starts under the unit's filter" wait_for "$build/netobsctl" -s "$tmp/run/control" status
	check "netobsd under the unit's filter: a reload" "$build/netobsctl" -s "$tmp/run/control" reload
	kill "$main"
	wait "$main"
	is "netobsd under the unit's filter: status" $? 0
	is "netobsd under the unit's filter: the debug messages of its confinement" \
		"$(sed -n 's/.*debug confine: //p' "$tmp/err" | grep -cE 'no Landlock|system-call filter of (workers|owner threads) is active')" \
		"$(python3 -c 'import ctypes; print(3 + (ctypes.CDLL(None).syscall(444, None, 0, 1) < 1))')"
	is "netobsd under the unit's filter: no error" "$(grep -vE 'debug confine|memory reserved|reloaded$' "$tmp/err")" ""
fi

systemd-sysusers --dry-run "$top/conf/netobs.sysusers" >"$tmp/out" 2>&1
is "systemd-sysusers accepts the user" "$?" 0

tap_done
