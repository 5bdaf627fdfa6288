#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The privileges of netobsd while it parses, read from the kernel: user, capabilities, no_new_privs, the system-call filter;
# what the filter does to a running process; and that tracers can attach.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
file=$(capture cooked-refused.pcap) || skip_all "no capture"
# Copies that another user may read wherever this tree lies.
chmod 755 "$tmp"
netobsd=$(private_netobsd) || exit 99
cp -- "$file" "$tmp/file.pcap" && chmod 644 "$tmp/file.pcap" || exit 99
file=$tmp/file.pcap
pid=

# begin COMMAND...: starts it in the background, $pid, and waits until the system-call filter is in force or, with
# $unfiltered, until it may not gain privileges
begin() {
	"$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	if [ -n "${unfiltered:-}" ]; then begin_wanted="NoNewPrivs 1"; else begin_wanted="Seccomp 2"; fi
	# After exec: the sanitizers' start is slow.
	wait_for begin_reached
}

begin_reached() {
	[ "$(field "${begin_wanted% *}")" = "${begin_wanted#* }" ]
}

# field NAME: a field of /proc/PID/status of $pid, with single blanks
field() {
	sed -n "s/^$1:[[:blank:]]*//p" "/proc/$pid/status" 2>/dev/null | tr -s '\t ' '  ' | sed 's/ *$//'
}

finish() {
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
}

none=0000000000000000
raw=0000000000002000 # CAP_NET_RAW

# dumps: whether $pid may dump core: its limit, and the owner of its directory in /proc, which is root unless it may
dumps() {
	echo "$(awk '/^Max core file size/ { print $5, $6 }' "/proc/$pid/limits"), $(stat -c %u "/proc/$pid/mem")"
}

# opened: the number of descriptors of the inherited file that netobsd still has
opened() {
	find "/proc/$pid/fd" -lname "$tmp/inherited" | wc -l
}

# threads: of each thread of $pid its name, capabilities and number of filters, sorted
threads() {
	cat "/proc/$pid/task"/*/status | awk '{ of[$1] = $2 }
		$1 == "Seccomp_filters:" { print of["Name:"], of["CapPrm:"], $2 }' | sort | tr '\n' ','
}

# threads_are NAME WANTED: waits until threads prints this
threads_are() {
	threads_wanted=$2
	wait_for threads_as_wanted
	is "$1" "$(threads)" "$2"
}

threads_as_wanted() {
	[ "$(threads)" = "$threads_wanted" ]
}

# confined NAME UID CAPABILITIES
confined() {
	is "$1: user" "$(field Uid)" "$2 $2 $2 $2"
	is "$1: capabilities in force" "$(field CapEff)" "$3"
	is "$1: capabilities permitted" "$(field CapPrm)" "$3"
	is "$1: capabilities that a program could inherit" "$(field CapAmb)$(field CapInh)" "$none$none"
	is "$1: no new privileges" "$(field NoNewPrivs)" 1
	is "$1: system calls are filtered" "$(field Seccomp)" 2
}

# ------------------------------------------------------------------------------------------------- as any user

if [ "$(id -u)" -ne 0 ]; then
	begin "$netobsd" -r "$file" --wait-tracer
	confined "a replay" "$(id -u)" $none
	is "a replay of an ordinary user may dump core" "$(stat -c %u "/proc/$pid/mem")" "$(id -u)"
	finish
	is "a replay: ends well" $? 0
	skip "as root" "this is not root"
	tap_done
fi

user=nobody
getent passwd netobs >/dev/null && user=netobs
uid=$(id -u $user) gid=$(id -g $user)

begin "$netobsd" -r "$file" --wait-tracer
confined "a replay started by root" "$uid" $none
is "a replay started by root: groups" "$(field Gid), $(field Groups)" "$gid $gid $gid $gid, "
is "a replay started by root: bounding set" "$(field CapBnd)" $none
is "a replay started by root dumps no core" "$(dumps)" "0 0, 0"
finish
is "a replay started by root: ends well" $? 0

# A pipe without a writer: nothing has been read when the privileges are dropped.
mkfifo "$tmp/pipe"
begin "$netobsd" -r "$tmp/pipe" --summary
confined "before the first byte is read" "$uid" $none
cat "$file" >"$tmp/pipe"
wait "$pid"
is "after the first byte is read: status and frames" "$?, $(grep '^frames' "$tmp/err")" \
	"0, $("$netobsd" -r "$file" --summary 2>&1 | grep '^frames')"

begin "$netobsd" -u bin -r "$file" --wait-tracer
is "-u USER: user" "$(field Uid)" "$(id -u bin) $(id -u bin) $(id -u bin) $(id -u bin)"
finish

unfiltered=1
begin "$netobsd" --no-seccomp -r "$file" --wait-tracer
is "--no-seccomp: no filter, and all else" "$(field Seccomp) $(field CapEff) $(field NoNewPrivs)" "0 $none 1"
finish
unfiltered=

# Descriptors that the caller left open are closed, except one that an option names.
cp -- "$file" "$tmp/inherited"
begin "$netobsd" -r "$file" --wait-tracer 3<"$tmp/inherited" 4<"$tmp/inherited" 9<"$tmp/inherited"
is "inherited descriptors are closed" "$(opened)" 0
finish
begin "$netobsd" -r /dev/fd/4 --wait-tracer 3<"$tmp/inherited" 4<"$tmp/inherited" 9<"$tmp/inherited"
is "the others are closed if an option names one, which is opened again" "$(opened)" 2
is "a descriptor that an option names stays open" "$(readlink "/proc/$pid/fd/4")" "$tmp/inherited"
finish
is "a descriptor that an option names is read" "$("$netobsd" -r /dev/fd/7 --summary 7<"$file" 2>&1 | grep '^frames')" \
	"$("$netobsd" -r "$file" --summary 2>&1 | grep '^frames')"

# A file that only root may read, and output that only root may write, are opened before privileges are dropped.
cp -- "$file" "$tmp/private.pcap"
chmod 600 "$tmp/private.pcap"
"$netobsd" -r "$tmp/private.pcap" --print >"$tmp/private.out" 2>"$tmp/err"
is "a private file can be replayed" "$? $(cat "$tmp/err")" "0 "
check "a private file can be replayed: output" test -s "$tmp/private.out"

# ------------------------------------------------------------------------------------------------------- interfaces

space=netobs-confined-$$
if ! have ip setpriv python3; then
	skip "observing" "ip, setpriv or python3 is not installed"
elif ! namespaces "$space"; then
	skip "observing" "$kernel_refusal"
else
	ip -n "$space" link set lo up
	begin ip netns exec "$space" "$netobsd" -i lo --promiscuous --print --summary
	confined "observation started by root" "$uid" $none
	echo brief 9 | ip netns exec "$space" python3 "$top/tests/service/traffic.py" >"$tmp/answer"
	wait_for grep -q 'udp-send' "$tmp/out"
	finish
	is "observation started by root: ends well" $? 0
	check "observation started by root: frames are observed" grep -q 'udp-send' "$tmp/out"

	# As the unit does it: one ambient capability, nothing else.
	ambient="setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all,+net_raw
		--ambient-caps -all,+net_raw --bounding-set -all,+net_raw --no-new-privs"
	# shellcheck disable=SC2086
	begin ip netns exec "$space" $ambient "$netobsd" -i lo --promiscuous --print --summary
	confined "observing with one ambient capability" "$(id -u nobody)" $raw
	is "observing with one ambient capability dumps no core" "$(dumps)" "0 0, 0"
	threads_are "observing with one ambient capability: threads" "netobs-owner $none 2,netobsd $raw 1,"
	finish
	is "observing with one ambient capability: ends well" $? 0
	# With --all-owners only the threads that look up processes keep its capabilities.
	three="-all,+net_raw,+sys_ptrace,+dac_read_search"
	begin ip netns exec "$space" setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps "$three" \
		--ambient-caps "$three" --bounding-set "$three" --no-new-privs "$netobsd" -i lo --all-owners --workers 2
	threads_are "--all-owners: threads" \
		"netobs-owner 0000000000080004 2,netobs-owner 0000000000080004 2,netobsd $raw 1,netobsd $raw 2,"
	finish
	is "--all-owners: ends well" $? 0
	# shellcheck disable=SC2086
	begin $ambient "$netobsd" -r "$file" --wait-tracer
	confined "a replay needs no capability" "$(id -u nobody)" $none
	finish
	begin setpriv --reuid nobody --regid nogroup --clear-groups "$netobsd" -r "$file" --wait-tracer
	is "a replay of an ordinary user may dump core" "$(stat -c %u "/proc/$pid/mem")" "$(id -u nobody)"
	finish

	setpriv --reuid nobody --regid nogroup --clear-groups "$netobsd" -u bin -r "$file" 2>"$tmp/err"
	is "-u without root: status" $? 1
	is "-u without root: message" "$(cat "$tmp/err")" \
		"netobsd: cannot switch to user bin: netobsd was not started as root"
fi

# ---------------------------------------------------------------------------------- what the filter does when it runs

instrumented() {
	nm "$netobsd" 2>/dev/null | grep -qE '__(asan|ubsan|gcov)_'
}

# inject CALL: makes the running netobsd make a call
inject() {
	gdb -nx -batch -p "$pid" -ex "$1" 2>&1
}

if ! have gdb; then
	skip "a forbidden call fails" "no gdb"
elif instrumented; then
	skip "a forbidden call fails" "instrumented builds have a wider filter"
else
	begin "$netobsd" -r "$file" --wait-tracer
	inject 'print ((int (*)(int, int, int))socket)(2, 1, 0)' >"$tmp/gdb"
	check "a forbidden call fails in the running process" grep -q '^[$]1 = -1$' "$tmp/gdb"
	inject "print ((int (*)(const char *, int))open)(\"$file\", 0)" >"$tmp/gdb"
	if python3 -c 'import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)'; then
		check "a file that netobsd does not need cannot be opened" grep -q '^[$]1 = -1$' "$tmp/gdb"
	else
		skip "a file that netobsd does not need cannot be opened" "the kernel has no Landlock"
	fi
	inject 'print ((int (*)(void))getpid)()' >"$tmp/gdb"
	check "an allowed call succeeds" grep -q "^[$]1 = $pid\$" "$tmp/gdb"
	finish
	is "a forbidden call fails: netobsd continues" $? 0
	begin "$netobsd" -r "$file" --wait-tracer
	inject 'print ((int (*)(char *, char **, char **))execve)(0, 0, 0)' >"$tmp/gdb"
	wait "$pid" 2>/dev/null
	is "running a program kills netobsd" $? $((128 + 31)) # SIGSYS
fi

# ---------------------------------------------------------------------------------------------------------- tracers

# traced NAME COMMAND...: compares the count of a tracer with the printed firings of a replay that waits for the tracer while
# it is confined.  It is stopped until both probes are attached, because it waits for the first one only.
traced() {
	traced_name=$1
	shift
	begin "$@" -r "$file" --wait-tracer=120 --print
	kill -STOP "$pid"
	tracer "$tmp/bpftrace" "usdt:$netobsd:netobs:ip__receive { @n = count(); }
		usdt:$netobsd:netobs:tcp__state__change { @n = count(); }"
	kill -CONT "$pid"
	wait "$pid"
	is "$traced_name: status" "$? $(cat "$tmp/err")" "0 "
	tracer_end
	is "$traced_name: as many firings counted as printed" "$(sed -n 's/^@n: //p' "$tmp/bpftrace")" \
		"$(grep -cE ' (ip-receive|tcp-state-change) ' "$tmp/out")"
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "tracers with the filter on" "$refused"
else
	traced "tracers with the filter on" "$netobsd"
	# MemoryDenyWriteExecute= of systemd: first as the kernel does it, which survives exec.
	if python3 "$top/tests/service/no_exec_memory.py" /bin/true; then
		traced "tracers while no memory may become executable" python3 "$top/tests/service/no_exec_memory.py" "$netobsd"
	else
		skip "tracers while no memory may become executable" "the kernel has no PR_SET_MDWE"
	fi
fi

tap_done
