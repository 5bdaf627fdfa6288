#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Tracers and the names of slots: each tracer attaches by a name that was written into the mapped file, by path and by
# process, reads the arguments and counts every firing; one that is attached counts on when the name changes; the semaphore
# then falls to 0.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
# shellcheck source=tests/formulas/slots/fire_slots.sh
. "$top/tests/formulas/slots/fire_slots.sh"
# shellcheck source=tests/tracers/perf_event.sh
. "$top/tests/tracers/perf_event.sh"

# ------------------------------------------------------------------------------------------------- lists of tracers

"$fire_slots" install "$file" slow-handshake >"$tmp/second" 2>&1
slot=$("$fire_slots" names "$file" | sed 's/ .*//')

if have tplist-bpfcc; then
	is "bcc lists the name once" "$(tplist-bpfcc -l "$file" 2>"$tmp/err" | grep -c 'netobs:slow__handshake$')" 1
	is "bcc lists all slots" "$(tplist-bpfcc -l "$file" 2>"$tmp/err" | grep -c 'netobs:')" 64
else
	skip "bcc lists the name once" "bcc is not installed"
	skip "bcc lists all slots" "bcc is not installed"
fi

kernel=
for headers in /lib/modules/*/build; do
	[ ! -e "$headers/.config" ] || kernel=$(basename "$(dirname "$headers")")
done
name="SystemTap finds the name and six arguments"
if ! have stap; then
	skip "$name" "stap is not installed"
elif [ -z "$kernel" ]; then
	skip "$name" "stap needs the headers of a kernel"
else
	is "$name" "$(stap -r "$kernel" -L "process(\"$file\").provider(\"netobs\").mark(\"slow*\")" 2>"$tmp/err" | grep -v '^Tip')" \
		"process(\"$file\").provider(\"netobs\").mark(\"slow__handshake\") \$arg1:long \$arg2:long \$arg3:long \$arg4:long \$arg5:long \$arg6:long"
fi

kinds='plain fast'
"$fire_slots" fast "$file" </dev/null 2>/dev/null || kinds=plain

# ---------------------------------------------------------------------------------------------------- attached tracers

is "bpftrace lists the name" "$(bpftrace -l "usdt:$file:netobs:slow*" 2>"$tmp/err")" "usdt:$file:netobs:slow__handshake"

# counted FILE: the counts of a tracer that has ended
counted() {
	sed -n 's/^@\[\(.*\)\]: /\1 /p' "$1"
}

# semaphore_is VALUE
semaphore_is() {
	[ "$(reply_to semaphore "$slot")" = "$1" ]
}

# By path and by process, for each kind of site; the name changes while a tracer is attached.
for kind in $kinds; do
	for how in path process; do
		start "$kind" "$file"
		order path
		order name "$slot" slow-handshake
		case $how in
		path)
			tracer_pid='' tracer "$tmp/bpf" "usdt:$file:netobs:slow__handshake { @[str(arg0), str(arg1), str(arg5), *(uint64 *)arg2 > 0] = count(); }"
			;;
		process)
			# All files of the process are searched for the name.
			tracer_pid=$fire tracer "$tmp/bpf" "usdt:*:netobs:slow__handshake { @[str(arg0), str(arg1), str(arg5), *(uint64 *)arg2 > 0] = count(); }"
			;;
		esac
		check "bpftrace by $how raises the semaphore, $kind site" test "$(reply_to semaphore "$slot")" -gt 0
		order fire "$slot" 100
		is "the name changes while bpftrace is attached, by $how, $kind site" "$(reply_to name "$slot" renamed)" named
		order confine
		order fire "$slot" 11
		tracer_end
		is "bpftrace by $how counts before and after it, $kind site" "$(counted "$tmp/bpf")" "slot $slot, second, sixth, 1 111"
		check "the semaphore falls to 0 when bpftrace by $how ends, $kind site" wait_for semaphore_is 0
		is "the name that the process reads is the new one" "$(reply_to name-of "$slot")" renamed
		stop
	done
done

# A tracer by path stays while one process ends and the next begins.
"$fire_slots" install "$file" slow-handshake
slot=$("$fire_slots" names "$file" | sed 's/ .*//')
tracer "$tmp/bpf" "usdt:$file:netobs:slow__handshake { @[str(arg0)] = count(); }"
for count in 3 4; do
	start auto "$file"
	order fire "$slot" $count
	stop
	"$fire_slots" install "$file" another slow-handshake # as the next start does, with one name more
done
tracer_end
is "bpftrace by path stays attached over a restart" "$(counted "$tmp/bpf")" "slot $slot 7"

# Other names change all the time while bpftrace attaches and detaches.
start auto "$file"
order path
while [ ! -e "$tmp/enough" ]; do
	"$fire_slots" install "$file" slow-handshake storm-one storm-two
	"$fire_slots" install "$file" slow-handshake a-b-c-d-e storm-two
done 2>"$tmp/storm" &
storm=$!
: >"$tmp/counts"
for _ in 1 2 3 4 5; do
	tracer "$tmp/bpf" "usdt:$file:netobs:slow__handshake { @[str(arg0)] = count(); }"
	order fire "$slot" 50
	tracer_end
	counted "$tmp/bpf" >>"$tmp/counts"
	wait_for semaphore_is 0
done
: >"$tmp/enough"
wait "$storm"
stop
is "other names change while bpftrace attaches and detaches" "$(sort "$tmp/counts" | uniq -c | sed 's/^ *//')" "5 slot $slot 50"
is "all of these changes succeed" "$(cat "$tmp/storm")" ""

# ------------------------------------------------------------------------------------------------------- perf, bcc

no_perf=$(perf_refused)
if [ -z "$no_perf" ]; then
	check "perf adds an event" perf_event "$file" slow__handshake
else
	skip "perf adds an event" "$no_perf"
fi
echo "fire $slot 7" >"$tmp/perf-commands"
for kind in $kinds; do
	if [ -z "$no_perf" ]; then
		perf_record "$tmp/perf.data" "$fire_slots" "$kind" "$file" <"$tmp/perf-commands"
		is "perf records every firing, $kind site" "$(perf_count "$tmp/perf.data" '.* arg1=[1-9]')" 7
	else
		skip "perf records every firing, $kind site" "$no_perf"
	fi
done

name="bcc attaches to the name in a process"
if ! /usr/bin/python3 -c 'import bcc' 2>/dev/null; then
	skip "$name" "bcc for python3 is not installed"
elif ! kernel_headers 2>/dev/null; then
	skip "$name" "bcc needs the headers of a kernel"
else
	start auto "$file"
	order path
	mkfifo "$tmp/end"
	/usr/bin/python3 "$top/tests/formulas/slots/count_firings.py" "$fire" "$file" slow__handshake <"$tmp/end" >"$tmp/bcc" 2>"$tmp/err" &
	bcc=$!
	exec 4>"$tmp/end"
	wait_for grep -q attached "$tmp/bcc"
	order fire "$slot" 9
	exec 4>&-
	wait "$bcc"
	stop
	is "$name" "$(tail -n 1 "$tmp/bcc")" "9 9"
fi

tap_done
