#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What code in netobsd can and cannot do after an error in a parser: netobsd(8) says it line by line, and gdb makes the
# calls in running processes.  A line of the manual without a call, and a call without a line, are failures.
#
# A table of calls has one on each line: the name that the manual has beside the statement, what the call must do, and
# the call as an expression of gdb.  "refused" is EPERM or EACCES, "enclosed" the same if the kernel has Landlock.
# shellcheck disable=SC2016 # $e, $m and $r are variables of gdb
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
have gdb ip setpriv python3 readelf || skip_all "gdb, ip, setpriv, python3 or readelf is not installed"
python3 -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null || skip_all "no libseccomp"
nm "$netobsd" 2>/dev/null | grep -qE '__(asan|ubsan|gcov)_' && skip_all "instrumented builds have a wider filter"
[ "$(getconf LONG_BIT)" -eq 64 ] || skip_all "the structures below have 64-bit pointers"
file=$(capture cooked-refused.pcap) || skip_all "no capture"
space=netobs-intruder-$$
namespaces "$space" || skip_all "$kernel_refusal"
ip -n "$space" link set lo up
chmod 755 "$tmp"
netobsd=$(private_netobsd) || exit 99
cp -- "$file" "$tmp/file.pcap" && chmod 644 "$tmp/file.pcap" || exit 99
file=$tmp/file.pcap
python3 -c 'import ctypes; raise SystemExit(ctypes.CDLL(None).syscall(444, None, 0, 1) < 1)'
landlock=$?
bpf=$(python3 -c 'import ctypes; print(ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name(b"bpf"))')
: >"$tmp/tried"
socket=$(mktemp -u /tmp/XXXX) # of as many bytes as fit into an address that may be bound
at_end "rm -f '$socket'"

# observe COMMAND...: netobsd on the loopback interface in the background, $pid, confined; its socket is $high
observe() {
	ip netns exec "$space" "$@" -i lo >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_while "$pid" observes || not_ok "netobsd observes" "$tmp/err"
	high=$(find "/proc/$pid/fd" -mindepth 1 -printf '%f\n' | sort -n | tail -n 1)
}

# A capture on demand is suspended, with another protocol.
observes() {
	observing "$pid" 1 || grep -q ' 88b5 ' "/proc/$pid/net/packet"
}

# replay OPTION...: netobsd, confined, before the first frame of the file
replay() {
	high=0
	"$netobsd" -r "$file" --wait-tracer "$@" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_while "$pid" filtered || not_ok "netobsd waits for a tracer" "$tmp/err"
}

filtered() {
	grep -q '^Seccomp:[[:blank:]]*2' "/proc/$pid/status"
}

finish() {
	kill -INT "$pid" 2>/dev/null
	wait "$pid"
}

# commands: gdb's, for the table at standard input.  $m is memory for arguments: the address of an interface (0), a filter of
# frames (64), what is sent (128), a name of a Unix socket (400), a message that passes the descriptor (500), all
# capabilities (700).
commands() {
	cat <<-EOF
		set confirm off
		set language c
		set var \$e = (int *)((long (*)())__errno_location)()
		set var \$m = ((long (*)())malloc)(1024)
		call ((long (*)())memset)(\$m, 0, (long)1024)
		set {short}\$m = 17
		set {short}(\$m + 2) = 0x300
		set {int}(\$m + 4) = 1
		set {short}(\$m + 64) = 1
		set {long}(\$m + 72) = \$m + 96
		set {short}(\$m + 96) = 6
		set {int}(\$m + 100) = -1
		set {long}(\$m + 128) = \$m + 300
		set {long}(\$m + 136) = 40
		set {long}(\$m + 160) = \$m + 128
		set {long}(\$m + 168) = 1
		set {short}(\$m + 400) = 1
		set {char}(\$m + 300) = 10
		set {short}(\$m + 440) = 1
		set {char[10]}(\$m + 442) = "$socket"
		set {int}(\$m + 403) = $$
		set {long}(\$m + 516) = \$m + 128
		set {long}(\$m + 524) = 1
		set {long}(\$m + 532) = \$m + 600
		set {long}(\$m + 540) = 24
		set {long}(\$m + 600) = 20
		set {int}(\$m + 608) = 1
		set {int}(\$m + 612) = 1
		set {int}(\$m + 616) = ${high:-0}
		set {int}(\$m + 700) = 0x20080522
		set {long}(\$m + 708) = -1
		set {long}(\$m + 716) = -1
		set {long}(\$m + 724) = -1
	EOF
	while read -r commands_name commands_wanted commands_call; do
		[ "$commands_name" != thread ] || { # the one that looks up processes
			printf 'thread 2\nset var $e = (int *)((long (*)())__errno_location)()\n'
			continue
		}
		commands_function=${commands_call%%(*}
		printf 'set var $r = ((int (*)())%s)(%s\nprintf "tried %s %s %%d %%d %s\\n", $r, *$e\n' "$commands_function" \
			"${commands_call#*(}" "$commands_name" "$commands_wanted" "$commands_function"
	done
}

# judge WAY: compares what gdb has written to $tmp/gdb with the table
judge() {
	while read -r _ judge_name judge_wanted judge_result judge_error judge_function; do
		judge_point="$1: $judge_name: $judge_function"
		echo "$judge_name" >>"$tmp/tried"
		[ "$judge_wanted" != enclosed ] || [ "$landlock" -eq 0 ] || {
			skip "$judge_point" "the kernel has no Landlock"
			continue
		}
		case "$judge_wanted $judge_result $judge_error" in
		"allowed -1 "* | "reached -1 1" | "reached -1 13") not_ok "$judge_point: errno $judge_error" ;;
		"allowed "* | "reached "*) ok "$judge_point" ;;
		"refused -1 1" | "refused -1 13" | "enclosed -1 1" | "enclosed -1 13") ok "$judge_point" ;;
		*) not_ok "$judge_point: result $judge_result, errno $judge_error" ;;
		esac
	done <"$tmp/judged"
}

# intrude WAY: makes the calls of the table at standard input in $pid
intrude() {
	cat >"$tmp/table"
	commands <"$tmp/table" >"$tmp/commands"
	gdb -nx -batch -p "$pid" -x "$tmp/commands" >"$tmp/gdb" 2>&1
	grep '^tried ' "$tmp/gdb" >"$tmp/judged"
	is "$1: all calls were made" "$(wc -l <"$tmp/judged")" "$(grep -vc '^thread' "$tmp/table")"
	[ "$(wc -l <"$tmp/judged")" -gt 0 ] || not_ok "$1: gdb" "$tmp/gdb"
	judge "$1"
}

# sent: frames that the loopback interface has sent
sent() {
	ip netns exec "$space" awk '$1 == "lo:" { print $11 }' /proc/net/dev
}

# sending_calls NAME WANTED: calls that send through a socket that captures
sending_calls() {
	cat <<-EOF
		$1 $2 write($high, \$m + 300, (long)40)
		$1 $2 writev($high, \$m + 128, 1)
		$1 $2 send($high, \$m + 300, (long)40, 0)
		$1 $2 sendto($high, \$m + 300, (long)40, 0, \$m, 20)
		$1 $2 sendmsg($high, \$m + 144, 0)
		$1 $2 sendmmsg($high, \$m + 144, 1, 0)
	EOF
}

# ------------------------------------------------------------------------------------------ interfaces, started by root

observe "$netobsd"
before=$(sent)
user=$(awk '$1 == "Uid:" { print $2 }' "/proc/$pid/status")
group=$(awk '$1 == "Gid:" { print $2 }' "/proc/$pid/status")
setpriv --reuid "$user" --regid "$group" --clear-groups tail -f /dev/null &
victim=$!
at_end "kill $victim"
begun_victim() {
	[ "$(cat "/proc/$victim/comm")" = tail ]
}
wait_for begun_victim
{
	sending_calls send refused
	cat <<-EOF
		rebind refused bind($high, \$m, 20)
		rebind refused bind($high, \$m, 12)
		rebind refused connect($high, \$m, 20)
		rebind refused setsockopt($high, 263, 13, \$m + 128, 16)
		rebind refused setsockopt($high, 263, 1, \$m, 16)
		rebind refused setsockopt($high, 1, 25, "lo", 3)
		rebind refused ioctl($high, 0x8914, \$m)
		duplicate refused dup($high)
		duplicate refused dup2($high, 1)
		duplicate refused dup3($high, 1, 0)
		duplicate refused fcntl($high, 0, 0)
		duplicate refused fcntl($high, 1030, 0)
		duplicate refused sendmsg(1, \$m + 500, 0)
		around refused splice(0, (long)0, $high, (long)0, (long)1, 0)
		around refused sendfile($high, 0, (long)0, (long)1)
		around refused tee(0, $high, (long)1, 0)
		around refused vmsplice($high, \$m + 128, (long)1, 0)
		around refused pwrite($high, \$m + 300, (long)40, (long)0)
		around refused copy_file_range(0, (long)0, $high, (long)0, (long)1, 0)
		socket refused socket(17, 3, 0)
		socket refused socket(2, 1, 0)
		socket refused socket(10, 2, 0)
		socket refused socket(1, 1, 0)
		socket refused socket(16, 3, 16)
		socket refused connect(1, \$m + 400, 12)
		change-file refused open("$tmp/new", 0x41, 0600)
		change-file refused open("$tmp/file.pcap", 1)
		change-file refused open("/dev/null", 2)
		change-file refused unlink("$tmp/file.pcap")
		change-file refused rename("$tmp/file.pcap", "$tmp/other")
		change-file refused link("$tmp/file.pcap", "$tmp/other")
		change-file refused symlink("/etc", "$tmp/other")
		change-file refused mkdir("$tmp/other", 0700)
		change-file refused chmod("$tmp/file.pcap", 0666)
		change-file refused chown("$tmp/file.pcap", 0, 0)
		change-file refused truncate("$tmp/file.pcap", (long)0)
		change-file enclosed bind(((int (*)())socket)(1, 0x80002, 0), \$m + 440, 12)
		read-private refused open("/etc/shadow", 0)
		read-private refused open("/root/.ssh/id_rsa", 0)
		read-private refused open("/root/.ssh", 0)
		signal refused kill($$, 0)
		signal refused kill(-1, 0)
		signal refused tgkill($$, $$, 0)
		signal refused sigqueue($$, 0, 0)
		execute refused mmap((long)0, (long)4096, 5, 0x22, -1, (long)0)
		execute refused mprotect(\$m & ~4095L, (long)4096, 5)
		execute refused memfd_create("a", 0)
		regain refused capset(\$m + 700, \$m + 708)
		regain refused setrlimit(7, \$m)
		regain refused prctl(4, 1, 0, 0, 0)
		regain refused setgroups((long)0, (long)0)
		see-frames allowed setsockopt($high, 1, 26, \$m + 64, 16)
		write-open allowed write(1, \$m + 300, (long)1)
		write-open allowed fcntl(1, 4, 0)
		read-allowed allowed open("/etc/passwd", 0)
		read-allowed allowed open("/sys/class/net/lo/mtu", 0)
		read-allowed enclosed open("/usr/bin/env", 0)
		read-allowed enclosed open("/proc/$victim/environ", 0)
		look allowed access("/usr/bin/env", 0)
		ask allowed socket(16, 3, 0)
		ask allowed socket(16, 3, 4)
		name-socket allowed bind(((int (*)())socket)(1, 0x80002, 0), \$m + 400, 12)
		thread
		read-by-thread allowed open("/usr/bin/env", 0)
		read-by-thread allowed open("/proc/$victim/environ", 0)
		read-by-thread refused open("/etc/shadow", 0)
		read-by-thread refused write($high, \$m + 300, (long)40)
	EOF
} >"$tmp/calls"
intrude "started by root" <"$tmp/calls"
is "started by root: no frame was sent" "$(sent)" "$before"
check "started by root: what is written to standard output arrives" test -s "$tmp/out"
check "started by root: nothing was removed" test -s "$file"
printf 'call ((void (*)())_exit)(9)\n' >"$tmp/commands"
gdb -nx -batch -p "$pid" -x "$tmp/commands" >"$tmp/gdb" 2>&1
echo end-itself >>"$tmp/tried"
wait "$pid"
is "started by root: end-itself" $? 9

# Each of these calls ends a netobsd of its own.
while read -r call; do
	replay
	printf 'call ((int (*)())%s)(%s\n' "${call%%(*}" "${call#*(}" >"$tmp/commands"
	gdb -nx -batch -p "$pid" -x "$tmp/commands" >"$tmp/gdb" 2>&1
	wait "$pid" 2>/dev/null
	is "kills: ${call%%(*}" $? $((128 + 31)) # SIGSYS
done <<-EOF
	execve("/bin/true", (long)0, (long)0)
	ptrace(16, 1, 0, 0)
	process_vm_readv(1, (long)0, (long)0, (long)0, (long)0, (long)0)
	syscall((long)$bpf, 0, (long)0, 0)
	syscall((long)425, 1, (long)0)
	pidfd_getfd(0, 0, 0)
	mount("a", "/", "tmpfs", (long)0, (long)0)
	unshare(0x10000000)
	setns(0, 0)
	chroot("/")
	setuid(0)
EOF
echo kills >>"$tmp/tried"

# --on-demand binds its sockets itself.
observe "$netobsd" --on-demand
intrude "--on-demand" <<-EOF
	rebind-on-demand allowed bind($high, \$m, 20)
	rebind-on-demand refused write($high, \$m + 300, (long)40)
EOF
finish

# --------------------------------------------------------------------------------------- interfaces, with the capability

observe setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps -all,+net_raw --ambient-caps -all,+net_raw \
	--bounding-set -all,+net_raw --no-new-privs "$netobsd"
{
	sending_calls service-send refused
	cat <<-EOF
		service-send refused fcntl($high, 1030, 0)
		service-send refused dup2($high, 1)
		service-open allowed socket(17, 3, 0)
		service-open allowed setsockopt($high, 263, 8, \$m + 600, 4)
		service-open allowed bind($high, \$m, 20)
	EOF
} >"$tmp/calls"
intrude "with the capability" <"$tmp/calls"
finish

# With all owners, a thread keeps two capabilities.
observe "$netobsd" --all-owners
intrude "--all-owners" <<-EOF
	read-all-owners refused open("/etc/shadow", 0)
	thread
	read-all-owners allowed open("/etc/shadow", 0)
	read-all-owners allowed open("/proc/$$/mem", 0)
	read-all-owners refused open("/proc/$$/mem", 2)
EOF
finish

# --------------------------------------------------------------------------------------------------- without a filter

observe "$netobsd" --no-seccomp
before=$(sent)
{
	echo "unfiltered-send allowed write($high, \$m + 300, (long)40)"
	cat <<-EOF
		unfiltered-send allowed bind($high, \$m, 20)
		unfiltered-user allowed open("/usr/bin/env", 0)
		unfiltered-user allowed open("/dev/null", 2)
		unfiltered-user allowed socket(2, 1, 0)
		unfiltered-user reached execve("$tmp/none", (long)0, (long)0)
		unfiltered-privileges refused socket(17, 3, 0)
		unfiltered-privileges refused setuid(0)
		unfiltered-privileges refused open("/etc/shadow", 0)
		unfiltered-privileges refused mount("a", "/", "tmpfs", (long)0, (long)0)
	EOF
} >"$tmp/calls"
intrude "--no-seccomp" <"$tmp/calls"
check "--no-seccomp: a frame was sent" test "$(sent)" -gt "$before"
finish

# ---------------------------------------------------------------------------------------------------- without Landlock

observe python3 "$top/tests/service/without_landlock.py" "$netobsd"
intrude "without Landlock" <<-EOF
	without-landlock allowed open("/usr/bin/env", 0)
	without-landlock allowed bind(((int (*)())socket)(1, 0x80002, 0), \$m + 440, 12)
	without-landlock refused open("/etc/shadow", 0)
	without-landlock refused open("/dev/null", 2)
	without-landlock refused kill($$, 0)
	without-landlock refused write($high, \$m + 300, (long)40)
EOF
finish

# ---------------------------------------------------------------------------------------------------------------- files

replay_calls() {
	cat <<-EOF
		$1 refused socket(17, 3, 0)
		$1 refused socket(16, 3, 0)
		$1 refused socket(1, 0x80002, 0)
		$1 refused socket(2, 1, 0)
		$1 refused open("$tmp/new", 0x41, 0600)
		$1 refused unlink("$file")
		$1 refused kill($$, 0)
		$1 refused bind(0, \$m, 12)
		$1 allowed open("/etc/passwd", 0)
		$1 enclosed open("/usr/bin/env", 0)
		$1 allowed write(1, \$m + 300, (long)1)
	EOF
}

replay
replay_calls replay >"$tmp/calls"
intrude "a replay" <"$tmp/calls"
finish

# The child of netobs-split, when it has confined itself and writes the first frame.
mkdir "$tmp/parts"
{
	printf 'set breakpoint pending on\nset follow-fork-mode child\nset startup-with-shell off\nbreak capture_writer_add_frame\nrun\n'
	replay_calls split | commands
	echo kill
} >"$tmp/commands"
(cd "$tmp/parts" && gdb -nx -batch -x "$tmp/commands" --args "$build/netobs-split" -n 2 -w "$tmp/parts/part" "$file") >"$tmp/gdb" 2>&1
grep '^tried ' "$tmp/gdb" >"$tmp/judged"
is "the child of netobs-split: all calls were made" "$(wc -l <"$tmp/judged")" "$(replay_calls split | wc -l)"
[ -s "$tmp/judged" ] || not_ok "the child of netobs-split: gdb" "$tmp/gdb"
judge "the child of netobs-split"

# The process that reads the packets of a connection, when it has the first row.
{
	printf 'set breakpoint pending on\nset follow-fork-mode child\nset startup-with-shell off\nbreak history_write_row\nrun\n'
	replay_calls history | commands
	echo kill
} >"$tmp/commands"
(cd "$tmp/parts" && gdb -nx -batch -x "$tmp/commands" "$build/tests/tools/test_history") >"$tmp/gdb" 2>&1
grep '^tried ' "$tmp/gdb" >"$tmp/judged"
is "the process of a history: all calls were made" "$(wc -l <"$tmp/judged")" "$(replay_calls history | wc -l)"
[ -s "$tmp/judged" ] || not_ok "the process of a history: gdb" "$tmp/gdb"
judge "the process of a history"
# The program of netobs report, when it has confined itself and counts the first frame.
{
	printf 'set breakpoint pending on\nset startup-with-shell off\nbreak report_volume_frame\nrun\n'
	replay_calls report | commands
	echo kill
} >"$tmp/commands"
gdb -nx -batch -x "$tmp/commands" --args "$build/netobs-report" "$file" >"$tmp/gdb" 2>&1
grep '^tried ' "$tmp/gdb" >"$tmp/judged"
is "netobs-report: all calls were made" "$(wc -l <"$tmp/judged")" "$(replay_calls report | wc -l)"
[ -s "$tmp/judged" ] || not_ok "netobs-report: gdb" "$tmp/gdb"
judge "netobs-report"

# ---------------------------------------------------------------------------------------------------- other processes

replay --records="$tmp/records"
keeper=$(pgrep -P "$pid" netobsd-keeper)
is "the process that keeps a file: user and filter" "$(awk '/^(Uid|Seccomp):/ { print $2 }' "/proc/$keeper/status" | paste -s -d ' ')" "0 0"
echo keeper >>"$tmp/tried"
finish
# When it asks netobsd.
is "netobsctl has no filter" "$(gdb -nx -batch -ex 'set breakpoint pending on' -ex 'set startup-with-shell off' -ex 'break connect' \
	-ex run -ex 'info proc status' --args "$build/netobsctl" -s "$socket" status 2>"$tmp/gdb" | awk '$1 == "Seccomp:" { print $2 }')" 0
echo tools >>"$tmp/tried"

# ----------------------------------------------------------------------------------------------------------- the manual

awk '/^\.Ss What an intruder can do/ { inside = 1; next } /^\.S[sh] / { inside = 0 } inside' "$top/man/netobsd.8" >"$tmp/section"
is "the manual: each statement has a name that is tried" \
	"$(awk '/^\.It/ && before !~ /^\.\\" tried as / { print NR ": " $0 } { before = $0 }' "$tmp/section")" ""
is "the manual: no comment is without a statement" \
	"$(awk 'before ~ /^\.\\" tried as / && !/^\.It/ { print NR ": " $0 } { before = $0 }' "$tmp/section")" ""
is "the manual states what is tried, and nothing else" "$(sed -n 's/^\.\\" tried as //p' "$tmp/section" | sort)" "$(sort -u "$tmp/tried")"
tap_done
