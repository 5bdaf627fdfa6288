#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsd as a service: its configuration file, what a reload changes and what it does not, the notifications to the service
# manager, and the limit on repeated messages.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
file=$(capture cooked-refused.pcap) || skip_all "no capture"
conf=$tmp/netobs.conf
pid=

# configure LINE...
configure() {
	rm -f "$conf" # it may not be writable
	printf '%s\n' "$@" >"$conf"
	chmod 644 "$conf" # a reload reads it as another user
}

# complains NAME PATTERN ARGUMENT...: status 1, nothing printed, one line that matches
complains() {
	complains_name=$1 complains_pattern=$2
	shift 2
	"$netobsd" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$complains_name: status" "$?, $(wc -l <"$tmp/err" | tr -d ' ') line, $(wc -c <"$tmp/out" | tr -d ' ') bytes" \
		"1, 1 line, 0 bytes"
	check "$complains_name: message" grep -qE "^netobsd: $complains_pattern" "$tmp/err"
}

chmod 755 "$tmp"

# ----------------------------------------------------------------------------------------------------- configuration

configure 'interface = {"lo", "eth7"}' 'filter = "tcp or udp"' 'time-wait = 2.5'
"$netobsd" -c "$conf" --check-config >"$tmp/out" 2>&1
is "--check-config: a good file" "$? $(cat "$tmp/out")" "0 "
"$netobsd" -c "$conf" --print-config >"$tmp/printed"
is "--print-config: status" $? 0
check "--print-config: the file's" grep -qx 'filter = "tcp or udp"' "$tmp/printed"
"$netobsd" -c "$tmp/printed" --print-config >"$tmp/again"
check "--print-config can be read again" diff -u "$tmp/printed" "$tmp/again"
"$netobsd" -c "$conf" -i veth1 --time-wait 9 --print-config udp >"$tmp/printed"
is "the command line wins" "$(grep -E '^(interface|filter|time-wait)' "$tmp/printed")" 'interface = {"veth1"}
filter = "udp"
time-wait = 9'
"$netobsd" -c "$conf" -r "$file" --summary >"$tmp/out" 2>"$tmp/err"
is "-r replaces the interfaces of the configuration file" "$?" 0
check "-r: the filter of the configuration file applies" grep -qE '^capture.filtered ' "$tmp/err"

configure 'interface = lo' '' 'max-flows = 3'
complains "a value out of range" "$conf:3: max-flows = 3: " -c "$conf"
complains "--check-config: a value out of range" "$conf:3: max-flows = 3: " -c "$conf" --check-config
complains "a bad value that the command line overrides" "$conf:3: max-flows = 3: " -c "$conf" --max-flows 100
configure 'interface = lo' 'colour = blue'
complains "an unknown setting" "$conf:2: .*colour" -c "$conf"
configure 'strict = 2'
complains "a wrong type" "$conf:1: strict = 2: expected true or false" -c "$conf" -i lo
configure 'strict = true'
complains "a missing file" "cannot read $tmp/none: No such file" -c "$tmp/none"
complains "nothing to observe" "nothing to observe" -c "$conf" --check-config
if [ "$(id -u)" -eq 0 ]; then
	chmod 666 "$conf"
	complains "root: a file that every user can write" \
		"cannot read $conf: $conf is writable by every user \(mode 0666\); chmod o-w $conf\$" -c "$conf" -i lo
	chmod 644 "$conf"
	mkdir -m 777 "$tmp/shared"
	cp -- "$conf" "$tmp/shared/netobs.conf"
	complains "root: a file in a directory that every user can write" \
		"cannot read $tmp/shared/netobs.conf: $tmp/shared is writable by every user" -c "$tmp/shared/netobs.conf" -i lo
	ln -s shared/netobs.conf "$tmp/link.conf"
	complains "root: a link to such a file" "cannot read $tmp/link.conf: $tmp/shared is writable by every user" \
		-c "$tmp/link.conf" --check-config
	chown 65533 "$tmp/shared/netobs.conf" && chmod 755 "$tmp/shared"
	complains "root: a file of another user" "cannot read .*: $tmp/shared/netobs.conf belongs to user 65533; chown root " \
		-c "$tmp/shared/netobs.conf" -i lo
	chown 65533 "$tmp/shared"
	copy=$(private_netobsd) || exit 99
	setpriv --reuid 65533 --clear-groups "$copy" -c "$tmp/shared/netobs.conf" -i lo --check-config 2>"$tmp/err"
	is "another user: any file" "$(cat "$tmp/err")" ""
else
	skip "files that others can write" "this is not root"
fi
# A container of an ordinary user: the host's root is not one of its users, and owns the directories above.
if [ "$(id -u)" -eq 0 ]; then ordinary="setpriv --reuid 65533 --regid 65533 --clear-groups"; else ordinary=; fi
# shellcheck disable=SC2086
if ! $ordinary unshare -Ur true 2>/dev/null; then
	skip "a user namespace without the host's root" "an ordinary user may not create one"
else
	copy=$(private_netobsd) && chmod 755 "$tmp" && mkdir "$tmp/container" || exit 99
	echo 'interface = {"lo"}' >"$tmp/container/netobs.conf"
	[ -z "$ordinary" ] || chown -R 65533:65533 "$tmp/container"
	# shellcheck disable=SC2086
	$ordinary unshare -Ur "$copy" -c "$tmp/container/netobs.conf" --check-config 2>"$tmp/err"
	is "a user namespace without the host's root: a file of its root" "$? $(cat "$tmp/err")" "0 "
	# shellcheck disable=SC2086
	$ordinary unshare -Ur "$copy" -c /etc/passwd --check-config 2>"$tmp/err"
	check "a user namespace without the host's root: a file of a user outside" \
		grep -q '^netobsd: cannot read /etc/passwd: /etc/passwd belongs to user ' "$tmp/err"
fi
chmod 0 "$conf"
if [ "$(id -u)" -ne 0 ]; then
	complains "a file that cannot be read" "cannot read $conf: Permission denied" -c "$conf"
else
	setpriv --reuid nobody --regid nogroup --clear-groups "$copy" -i lo -c "$conf" 2>"$tmp/err"
	is "a file that cannot be read" "$? $(cat "$tmp/err")" "1 netobsd: cannot read $conf: Permission denied"
fi

# ----------------------------------------------------------------------------------------------------------- reload

# The replay of a pipe waits while nothing is written, so that the position of a reload is known.
mkfifo "$tmp/pipe"
size=$(wc -c <"$file" | tr -d ' ')
half=$((size / 2))

# drained: whether the pipe is empty
drained() {
	python3 "$top/tests/service/drained.py" <&3
}

# handled: whether no SIGHUP (number 1) is pending for $pid; libevent counts those that its handler received
handled() {
	! grep -qE '^S(ig|hd)Pnd:.*[13579bdf]$' "/proc/$pid/status"
}

# replay: starts a replay, $pid, and returns when it has read the first half of the file
replay() {
	"$netobsd" -c "$conf" -r "$tmp/pipe" --summary --print --format json >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	exec 3<>"$tmp/pipe"
	head -c "$half" "$file" >&3
	wait_for drained
}

# reload PATTERN: until a message matches
reload() {
	kill -HUP "$pid"
	wait_for grep -qE "$1" "$tmp/err"
}

# rest: writes the second half and waits for the end of the replay
rest() {
	tail -c "+$((half + 1))" "$file" >&3
	exec 3>&-
	wait "$pid"
}

configure 'strict = false'
replay
rest
cp "$tmp/out" "$tmp/whole"
is "without a reload: status" $? 0

configure 'strict = false'
replay
configure 'strict = false' 'time-wait = forever'
reload "reload failed"
check "a bad file: message" grep -qE "^netobsd: $conf:2: time-wait = forever: expected a time" "$tmp/err"
rest
is "a bad file changes nothing: status" $? 0
check "a bad file changes nothing" cmp "$tmp/whole" "$tmp/out"

configure 'strict = false'
replay
configure 'strict = true' 'time-wait = 30'
reload "reloaded"
rest
is "a good file: status" $? 0
check "a good file: every connection is kept" cmp "$tmp/whole" "$tmp/out"

configure 'max-flows = 1000' 'flight-memory = 1M'
replay
configure 'max-flows = 2000' 'flight-memory = 2M' 'filter = "tcp port 1"'
reload "reloaded"
check "a setting that needs a restart: a message" grep -qE "^netobsd: $conf: the change of max-flows needs a restart" "$tmp/err"
check "flight-memory needs one, too" grep -qE "^netobsd: $conf: the change of flight-memory needs a restart" "$tmp/err"
rest
check "a new filter applies at once" test "$(wc -l <"$tmp/out")" -lt "$(wc -l <"$tmp/whole")"
check "a new filter: filtered frames are counted" grep -qE '^capture.filtered [1-9]' "$tmp/err"

configure 'filter = "tcp port 1"'
replay
configure 'strict = false'
reload "reloaded"
rest
check "a removed filter" test -s "$tmp/out"

# The test may run with SIGHUP ignored (nohup), which netobsd would inherit.
env --default-signal=HUP "$netobsd" -r "$tmp/pipe" >"$tmp/out" 2>"$tmp/err" &
pid=$!
exec 3<>"$tmp/pipe"
wait_for grep -q '^SigCgt:.*[2367abef].[13579bdf]$' "/proc/$pid/status" # netobsd's handler, not the shell's
kill -HUP "$pid"
wait "$pid"
is "SIGHUP without a file ends as SIGTERM does" "$? $(cat "$tmp/err")" "0 "
exec 3>&-

# --------------------------------------------------------------------------------------------- the service manager

# manage SOCKET: starts a stand-in for the service manager
manage() {
	rm -f "$tmp/notified"
	python3 "$top/tests/service/listen_notify.py" "$1" "$tmp/notified" &
	manager=$!
	wait_for grep -q listening "$tmp/notified"
}

# notified PATTERN: whether a matching notification was received
notified() {
	grep -qE "$1" "$tmp/notified"
}

# ready_again: whether netobsd is ready after the reload
ready_again() {
	[ "$(grep -A 1 RELOADING "$tmp/notified" | tail -n 1)" = READY=1 ]
}

if have python3; then
	configure 'strict = false'
	manage "$tmp/socket"
	NOTIFY_SOCKET=$tmp/socket WATCHDOG_USEC=400000 replay
	check "notification: ready" wait_for notified '^READY=1$'
	check "notification: the watchdog, packets and drops" wait_for notified \
		'^WATCHDOG=1 STATUS=[0-9]+ packets observed, 0 dropped by the kernel, 0 by interfaces; [0-9]+ connections now$'
	reload "reloaded"
	check "notification: reloading" wait_for notified '^RELOADING=1 MONOTONIC_USEC=[0-9]+$'
	check "notification: ready after the reload" wait_for ready_again
	rest
	wait "$manager"
	is "notification: stopping" "$(tail -1 "$tmp/notified")" STOPPING=1

	manage "@netobs-test-$$"
	NOTIFY_SOCKET=@netobs-test-$$ replay
	check "an abstract name: ready" wait_for notified '^READY=1$'
	rest
	wait "$manager"
	is "an abstract name: stopping" "$(tail -1 "$tmp/notified")" STOPPING=1

	manage "$tmp/socket2"
	NOTIFY_SOCKET=$tmp/socket2 "$netobsd" -i no-such-interface 2>"$tmp/err"
	is "a failed start: no notification" "$? $(cat "$tmp/notified")" "1 listening"
	kill "$manager"
	wait "$manager" 2>/dev/null
	NOTIFY_SOCKET=$tmp/gone "$netobsd" -r "$file" --print=tcp-send >"$tmp/out" 2>"$tmp/err"
	is "a missing service manager" "$? $(cat "$tmp/err")" \
		"0 netobsd: cannot notify the service manager through $tmp/gone: No such file or directory"
else
	skip "notifications" "no python3"
fi

# ------------------------------------------------------------------------------------------------------------- floods

configure 'max-flows = 1'
sed -i 's/1/1000/' "$conf"
replay
configure 'max-flows = 1'
begin=$(date +%s)
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	kill -HUP "$pid"
	wait_for handled
done
kill -USR1 "$pid" # which is handled after them
wait_for grep -q '^probe-site' "$tmp/err"
rest
took=$(($(date +%s) - begin))
suppressed=$(sed -n 's/^netobsd: \([0-9]*\) more messages like ".*max-flows = 1: .*" suppressed$/\1/p' "$tmp/err" | paste -s -d +)
logged=$(grep -v ' more messages like ' "$tmp/err" | grep -c ':1: max-flows = 1: ')
is "a repeated message: each is logged, or counted in another one" "$((logged + ${suppressed:-0}))" 12
# Five lines in ten seconds: more only on a machine that needs longer for the twelve.
note "$logged lines in $took s"
check "a repeated message: five lines" test "$logged" -ge 5 -a "$logged" -le "$((5 * (1 + (took + 1) / 10)))"
is "a repeated message: the number of suppressed ones is logged" "${suppressed:+yes}" "$([ "$logged" -eq 12 ] || echo yes)"

tap_done
