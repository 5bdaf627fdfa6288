# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Test Anything Protocol for shell tests.  Source it, call ok/not_ok/skip/is/check for every point, end with tap_done.
# What it gives:
#   $top      the source tree            $shared  further captures ($NETOBS_SHARED), perhaps absent
#   $netobsd  the program under test     $tmp     a scratch directory, removed at the end
set -u
umask 022 # netobsd and other users read files of a test
PATH=$PATH:/usr/sbin:/sbin # of root without a login, and of other users

# tests/ROOM/NAME.sh or deeper: up to where configure.ac is
top=${top_srcdir:-$(cd "$(dirname "$0")" && while [ ! -e configure.ac ] && [ "$PWD" != / ]; do cd ..; done && pwd)}
build=${top_builddir:-$PWD}
# shellcheck disable=SC2034 # some tests use it
shared=${NETOBS_SHARED:-$top/../shared}
netobsd=${NETOBSD:-$build/netobsd}
# Another user reads files of a test of root, and cannot enter a private $TMPDIR.
[ -z "${TMPDIR:-}" ] || [ "$(id -u)" -ne 0 ] || ! namei -m "$(realpath "$TMPDIR")" | grep -q '^ d........[-T] ' || TMPDIR=/tmp
tmp=$(mktemp -d "${TMPDIR:-/tmp}/netobs-test.XXXXXX") || exit 99
tap_at_end=''
trap tap_end EXIT
trap 'exit 99' HUP INT TERM
# tshark must not use the preferences of the user who runs the tests.
export LC_ALL=C TZ=UTC WIRESHARK_CONFIG_DIR="$tmp"

tap_count=0
tap_failed=0

# at_end COMMAND: evaluates the command at the end of the test, also of one that is interrupted or skipped; the latest first.
# Every process that the test has left in the background has ended then.
at_end() {
	tap_at_end="$1
$tap_at_end"
}

tap_end() {
	# A background process that a signal meets before it has become its program gets here, too.
	read -r tap_self _ </proc/self/stat
	[ "$tap_self" -eq $$ ] || return
	jobs -p >"$tmp/jobs" # not in $(), where dash has no jobs
	while read -r tap_job; do
		! tap_gone "$tap_job" || continue
		kill -TERM "$tap_job" && kill -CONT "$tap_job"
		wait_up_to 10 tap_gone "$tap_job" || kill -KILL "$tap_job"
		wait "$tap_job"
	done <"$tmp/jobs" 2>/dev/null
	eval "$tap_at_end"
	rm -rf "$tmp"
}

# tap_gone PID: whether the process, a child of this shell, has ended; another process may have its number since then
tap_gone() {
	! awk -v parent=$$ '$1 == "State:" { state = $2 } $1 == "PPid:" { exit !(state !~ /[ZX]/ && $2 == parent) }' \
		"/proc/$1/status" 2>/dev/null
}

# ok NAME
ok() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s\n' "$tap_count" "$1"
}

# not_ok NAME [FILE...]: the content of the FILEs is printed as diagnostics
not_ok() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$1"
	shift
	[ $# -eq 0 ] || head -n 60 -- "$@" | sed 's/^/# /'
}

# skip NAME REASON
skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_all REASON: ends the test, which counts as one skipped point
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# built PROGRAM: ends the test as failed if the program is not built
built() {
	[ -x "$1" ] || {
		not_ok "$1 is built"
		tap_done
	}
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		printf 'got    %s\nwanted %s\n' "$2" "$3" >"$tmp/is"
		not_ok "$1" "$tmp/is"
	fi
}

# check NAME COMMAND...: ok if the command succeeds; its output explains a failure
check() {
	check_name=$1
	shift
	if "$@" >"$tmp/check" 2>&1; then
		ok "$check_name"
	else
		not_ok "$check_name" "$tmp/check"
	fi
}

# measured NAME COMMAND...: for limits of time and speed: ok if one of three runs of the command, which notes its figure,
# succeeds, because other load only slows down.  It is a skipped point if other programs keep the processors busy.
measured() {
	measured_name=$1
	shift
	for _ in 1 2 3; do
		if ! quiet; then
			skip "$measured_name" "other programs keep the processors $quiet_busy % busy"
			return
		elif "$@"; then
			ok "$measured_name"
			return
		fi
	done
	not_ok "$measured_name"
}

# quiet: waits up to two minutes until other programs leave the processors idle, and fails if they do not
quiet() {
	for _ in $(seq 120); do
		quiet_before=$(sed -n 's/^cpu //p' /proc/stat)
		sleep 1 # no event: the interval of the measurement
		# user, nice, system, idle and waiting for a disk; the rest is small
		quiet_busy=$(sed -n 's/^cpu //p' /proc/stat | awk -v before="$quiet_before" '{
			split(before, b, " ")
			busy = $1 + $2 + $3 - b[1] - b[2] - b[3]
			idle = $4 + $5 - b[4] - b[5]
			print int(100 * busy / (busy + idle + 1))
		}')
		[ "$quiet_busy" -gt 10 ] || return 0
	done
	return 1
}

# accept FILE EXPECTATION: makes FILE the expectation.  An identical expectation is not written.
accept() {
	if ! cmp -s "$1" "$2"; then
		cat "$1" >"$2" && echo "accepted ${2#"$top"/}"
	fi
}

# relay FILE: repeats the points of another producer, with the numbers of this test.  One that is skipped as a whole is a
# skipped point, and one without points a failed one.
relay() {
	while IFS= read -r relay_line; do
		case $relay_line in
		"ok "*) ok "${relay_line#* - }" ;;
		"not ok "*) not_ok "${relay_line#* - }" ;;
		"1..0 # SKIP"*) skip "all relayed points" "${relay_line#*SKIP }" ;;
		"1..0"*) not_ok "there are points to relay" ;;
		"1.."*) ;;
		*) printf '%s\n' "$relay_line" ;;
		esac
	done <"$1"
}

# note TEXT
note() {
	printf '# %s\n' "$1"
}

# have COMMAND...: whether all of them are installed
have() {
	for have_command in "$@"; do
		command -v "$have_command" >/dev/null 2>&1 || return 1
	done
}

# capture NAME: prints the path of a capture of the source tree; fails if there is no such capture
capture() {
	[ -r "$top/tests/captures/$1" ] && printf '%s\n' "$top/tests/captures/$1"
}

# private_netobsd: a copy of the program with an inode of its own, so that a tracer attached to it by path sees no
# replay of another test, and that other users may run wherever this tree lies.  Prints its path.
private_netobsd() {
	cp -- "$netobsd" "$tmp/netobsd" && chmod 755 "$tmp/netobsd" && printf '%s\n' "$tmp/netobsd"
}

# permitted COMMAND...: runs a command of root.  Fails, with its message in $kernel_refusal, if the kernel refuses or lacks what
# the command needs; any other error ends the test as failed.
permitted() {
	kernel_refusal=$("$@" 2>&1) && return
	case $kernel_refusal in
	*"not permitted"* | *"Permission denied"* | *"not implemented"* | *"not supported"* | *"namespace"*"Invalid argument"* | *"Unknown device type"*)
		kernel_refusal=$(printf '%s\n' "$kernel_refusal" | head -n 1)
		return 1
		;;
	esac
	note "$kernel_refusal"
	not_ok "$*"
	tap_done
}

# namespaces NAME...: makes network namespaces, which are removed at the end.  Fails, like permitted, if the kernel refuses.
namespaces() {
	for namespaces_name; do
		permitted ip netns add "$namespaces_name" || return 1
		at_end "ip netns del '$namespaces_name'"
	done
}

# wait_up_to SECONDS COMMAND...: repeats the command until it succeeds; fails when the time is over.  Tests wait for an
# event and never for a time, so every wait uses this function; tests/source/lint.sh rejects other sleeps.
wait_up_to() {
	wait_tries=$(($1 * 10))
	shift
	for _ in $(seq "$wait_tries"); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1 # no event: the interval between two tries
	done
	return 1
}

# wait_for COMMAND...: wait_up_to a minute, which is enough for a busy machine; it is not a measurement.
wait_for() {
	wait_up_to 60 "$@"
}

# wait_while PID COMMAND...: like wait_for, but not longer than the process, a child of this shell, runs.
wait_while() {
	wait_for succeeds_or_gone "$@"
	return "$succeeds_status"
}

# succeeds_or_gone PID COMMAND...: the command runs once more after the process has ended, for its last output.
succeeds_or_gone() {
	succeeds_process=running
	kill -0 "$1" 2>/dev/null || succeeds_process=gone
	shift
	succeeds_status=0
	"$@" || succeeds_status=$?
	[ "$succeeds_status" -eq 0 ] || [ "$succeeds_process" = gone ]
}

# let_deliver: returns when a running netobsd can read every frame captured so far.
let_deliver() {
	sleep 0.3 # no event: the kernel delivers a block of frames when it is full or 10 ms old, and gives no sign of it
}

# begun PID: whether netobsd handles signals.  Before that the process is still a shell, or a signal ends it.  The handler
# of SIGUSR1 (number 10) is installed last.
begun() {
	grep -q '^SigCgt:.*[2367abef]..$' "/proc/$1/status"
}

# observing PID COUNT: whether netobsd waits for frames on COUNT capture sockets, so that it observes every frame from now on.
observing() {
	observing_sockets=0
	# An inode is one word.
	# shellcheck disable=SC2013
	for observing_inode in $(awk '$4 == "0003" { print $NF }' "/proc/$1/net/packet"); do
		observing_fd=$(find "/proc/$1/fd" -lname "socket:?$observing_inode?" -printf '%f')
		[ -z "$observing_fd" ] || ! grep -q "^tfd: *$observing_fd " "/proc/$1/fdinfo"/* ||
			observing_sockets=$((observing_sockets + 1))
	done
	[ "$observing_sockets" -ge "$2" ]
} 2>/dev/null

# summary_of PID FILE: makes a running netobsd write its summary to FILE, its standard error, and waits for it.  netobsd has
# then handled every earlier event.
summary_of() {
	summaries=$(grep -c '^probe-site' "$2") # the last line of each
	kill -USR1 "$1" || return 1
	wait_for more_summaries_or_gone "$1" "$2" "$summaries"
	more_summaries "$2" "$summaries"
}

# more_summaries FILE COUNT: whether FILE has more than COUNT summaries
more_summaries() {
	[ "$(grep -c '^probe-site' "$1")" -gt "$2" ]
}

more_summaries_or_gone() {
	more_summaries "$2" "$3" || ! kill -0 "$1"
}

# tracing_refused: prints why this machine cannot attach a uprobe, or nothing
tracing_refused() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "tracing needs root"
	elif ! have bpftrace; then
		echo "bpftrace is not installed"
	elif [ ! -e /sys/kernel/tracing/uprobe_events ] && ! mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null; then
		echo "no tracefs"
	elif ! bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then # BEGIN is itself a uprobe
		echo "the kernel refuses BPF programs"
	fi
}

# kernel_headers: makes bcc compile against the headers of another kernel if those of the running one are missing.  Debian
# keeps headers in two directories; the programs of the tests compile with any.  Fails if there are no headers.
# $BCC_KERNEL_SOURCE is bcc's own variable.
kernel_headers() {
	[ -z "${BCC_KERNEL_SOURCE:-}" ] && [ ! -e "/lib/modules/$(uname -r)/build" ] || return 0
	for headers in /lib/modules/*/build; do
		[ -e "$headers/.config" ] || continue
		machine=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
		mkdir -p "$tmp/headers/include" "$tmp/headers/arch/$machine/include"
		for part in "$(dirname "$headers")/source" "$headers"; do
			part=$(readlink -f "$part")
			ln -s "$part/include"/* "$tmp/headers/include/"
			ln -s "$part/arch/$machine/include"/* "$tmp/headers/arch/$machine/include/"
		done
		BCC_KERNEL_SOURCE=$tmp/headers
		export BCC_KERNEL_SOURCE
		return 0
	done
	return 1
}

# tracer OUT PROGRAM: starts bpftrace in the background, its pid in $tracer, and returns when all probes are attached:
# bpftrace shows no output before that, and BEGIN prints first.  With $tracer_pid it traces this process only.
tracer() {
	: >"$1"
	bpftrace -B line ${tracer_pid:+-p "$tracer_pid"} --include "$top/probes/netobs.h" -e "BEGIN { printf(\"attached\\n\"); } $2" >"$1" 2>"$1.err" &
	tracer=$!
	wait_while "$tracer" grep -q '^attached$' "$1" || note "bpftrace does not attach"
}

# tracer_end: ends the tracer, which prints its maps.  An interrupted bpftrace does not read its printf buffers to the end:
# wait for the lines first.  A second interrupt while it prints the maps ends it without further output.
tracer_end() {
	kill -INT "$tracer"
	wait_up_to 120 tracer_ended # the kernel needs time for each of a hundred sites, more on a busy machine
	kill -KILL "$tracer" 2>/dev/null && note "bpftrace does not end"
	wait "$tracer"
}

# tracer_ended: whether $tracer has ended; interrupts it again if it ignored the interrupt.
tracer_ended() {
	kill -0 "$tracer" 2>/dev/null || return 0
	! ignored_interrupt "$tracer" || kill -INT "$tracer"
	return 1
}

# ignored_interrupt PID: whether bpftrace received an interrupt and ignored it, as it does if the interrupt arrives between
# two waits for firings; an interrupt that ends such a wait ends bpftrace.  First the check that no interrupt (the second
# bit) is pending, then the check that bpftrace waits; the other order would be a race.
ignored_interrupt() {
	grep -q '^ShdPnd:.*[014589cd]$' "/proc/$1/status" && grep -q epoll "/proc/$1/wchan"
} 2>/dev/null

# tap_done: the plan; call it last
tap_done() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
