#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Tracers attach and detach while a replay runs, at either kind of probe site: the replay prints the bytes that it prints
# untraced, a tracer that stays attached counts every firing, and no probe stays enabled after a tracer is killed.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cycles=${SITE_LIVE_CYCLES:-30}
printed=tcp-receive,tcp-state-change
tracefs=/sys/kernel/tracing
event=netobs$$

refused=$(tracing_refused)
[ -z "$refused" ] || skip_all "$refused"
program=$(private_netobsd) || exit 99
capture=$tmp/capture.pcap
"$build/bench/gentrace" -n 100000 -c 2000 "$capture" || exit 99
"$program" -r "$capture" --print=$printed >"$tmp/wanted" || exit 99

kinds='plain fast'
"$program" -r "$capture" --probe-site=fast 2>/dev/null || kinds=plain

# offset ADDRESS SECTION: offset in the file of an address
offset() {
	readelf -SW "$program" | sed 's/^ *\[ *[0-9]*\]//' | awk -v section="$2" '
		$1 == section { print "0x" $3, "0x" $4 }' | {
		read -r start at
		printf '0x%x' $(($1 - start + at))
	}
}

# add_event PROBE: a kernel event that has all the sites of the probe
add_event() {
	readelf -nW "$program" | awk -v probe="$1" '
		$1 == "Name:" { name = $2 }
		$1 == "Location:" && name == probe { gsub(/,/, ""); print $2, $NF }' | while read -r site semaphore; do
		echo "p:$event/$1 $program:$(offset "$site" .text)($(offset "$semaphore" .probes))" \
			>>$tracefs/uprobe_events || return 1
	done
}

remove_event() {
	echo 0 >"$tracefs/events/$event/enable"
	echo "-:$event/$1" >>$tracefs/uprobe_events
} 2>/dev/null
at_end 'remove_event tcp__receive'

# counter NAME: in the summary of the last replay
counter() {
	sed -n "s/^$1 //p" "$tmp/summary" | tail -n 1
}

# counter_now NAME: its present value in the running replay
counter_now() {
	: >"$tmp/summary"
	summary_of $replay "$tmp/summary" || return 1
	counter "$1"
}

# same_output NAME PRINTED WANTED
same_output() {
	if cmp "$3" "$2" >"$tmp/cmp" 2>&1; then
		ok "$1: prints what it prints untraced"
	else
		not_ok "$1: prints what it prints untraced" "$tmp/cmp" "$tmp/summary"
	fi
}

# printed_more BYTES: whether it has printed more by now
printed_more() {
	[ "$(wc -c <"$tmp/printed")" -gt "$1" ]
}

# leaves_nothing: whether the probe of the killed tracer is disabled, which the kernel does some time after the kill
leaves_nothing() {
	leaves_before=$(counter_now probe.gld-receive) || return 1
	leaves_printed=$(wc -c <"$tmp/printed")
	wait_up_to 5 printed_more "$leaves_printed"
	[ "$leaves_before" -gt 0 ] && [ "$(counter_now probe.gld-receive)" -eq "$leaves_before" ]
}

# replay_traced KIND PACE: runs a slow replay, attaches to it and detaches again and again while one tracer stays attached,
# and ends the replay.  Fails if the replay ended before.
replay_traced() {
	rm -f "$tmp/printed" "$tmp/summary"
	tracer "$tmp/stays" "usdt:$program:netobs:tcp__receive { @ = count(); }"
	stays=$tracer
	"$program" -r "$capture" --pace="$2" --print=$printed --summary --probe-site="$1" \
		>"$tmp/printed" 2>>"$tmp/summary" &
	replay=$!
	wait_for test -s "$tmp/printed" # the replay has begun
	tracer "$tmp/killed" "usdt:$program:netobs:tcp__receive { @tcp = count(); }
		usdt:$program:netobs:gld__receive { @gld = count(); if (@seen == 0) { @seen = 1; printf(\"seen\\n\"); } }"
	killed=$tracer
	: >"$tmp/err"
	add_event tcp__receive || echo 'no event' >>"$tmp/err"
	done_cycles=0
	while [ "$done_cycles" -lt "$cycles" ] && kill -0 $replay; do
		echo 1 >"$tracefs/events/$event/enable" || break
		echo 0 >"$tracefs/events/$event/enable" || break
		done_cycles=$((done_cycles + 1))
		[ $done_cycles -ne $((cycles / 2)) ] || { wait_for grep -q '^seen$' "$tmp/killed" && kill -9 $killed; }
	done 2>>"$tmp/err"
	left=1
	while [ $left -ne 0 ] && kill -0 $replay 2>>"$tmp/err"; do
		leaves_nothing && left=0
	done
	over=0 bytes=$(wc -c <"$tmp/printed") # without what the end of a replay adds
	kill -INT $replay 2>>"$tmp/err" || over=1
	remove_event tcp__receive
	wait $replay
	status=$?
	kill -9 $killed 2>/dev/null
	wait $killed 2>/dev/null
	tracer=$stays
	tracer_end
	return $over
}

# come_and_go KIND: tries slower replays on a busy machine
come_and_go() {
	for pace in 0.025 0.005 0.001; do
		! replay_traced "$1" $pace || break
	done
	[ "$over" -eq 0 ] || done_cycles="$done_cycles, but the replay was over by then"
	for part in printed wanted; do
		head -c "$bytes" "$tmp/$part" >"$tmp/$part.part"
	done
	is "$1 site, attached again and again: exit status" "$status $(counter probe-site)" "0 $1"
	is "$1 site: times attached" "$done_cycles" "$cycles"
	same_output "$1 site, attached again and again" "$tmp/printed.part" "$tmp/wanted.part"
	is "$1 site: the tracer that stays attached counts every firing" "$(sed -n 's/^@: //p' "$tmp/stays")" \
		"$(counter probe.tcp-receive)"
	if [ "$left" -eq 0 ]; then
		ok "$1 site: the probe of a killed tracer is disabled again"
	else
		not_ok "$1 site: the probe of a killed tracer is disabled again" "$tmp/summary" "$tmp/err"
	fi
}

# flat_out KIND: every probe traced, at full speed
flat_out() {
	rm -f "$tmp/printed" "$tmp/summary"
	bpftrace -o "$tmp/all" -e "usdt:$program:netobs:* { @[probe] = count(); }" \
		-c "$program -r $capture --print=$printed --summary --probe-site=$1" 2>"$tmp/summary" |
		sed '/^$/d' >"$tmp/printed" # the empty lines are bpftrace's
	same_output "$1 site, every probe traced" "$tmp/printed" "$tmp/wanted"
	sed -n 's/^@\[usdt:.*:netobs:\(.*\)\]: /\1 /p' "$tmp/all" | sed 's/__/-/g' | sort >"$tmp/counted"
	sed -n 's/^probe\.//p' "$tmp/summary" | sort >"$tmp/fired"
	check "$1 site, every probe traced: counts" diff "$tmp/fired" "$tmp/counted"
	check "$1 site, every probe traced: there are firings" test -s "$tmp/fired"
}

# bcc_reads KIND: bcc sums up the destination ports of a process that it attaches to by its id
bcc_reads() {
	"$program" --wait-tracer=120 -r "$capture" --summary --probe-site="$1" 2>"$tmp/summary" &
	replay=$!
	wait_for begun $replay
	/usr/bin/python3 "$top/tests/tracers/bcc_ports.py" "$program" $replay >"$tmp/bcc" 2>"$tmp/err"
	kill -KILL $replay 2>/dev/null # still waiting if bcc has failed
	wait $replay
}

for kind in $kinds; do
	come_and_go "$kind"
	flat_out "$kind"
done

ports=$("$program" -r "$capture" --print=tcp-receive --format=json |
	sed -n 's/.*"tcp_dport":\([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { printf "%d %.0f\n", NR, sum }')
for kind in $kinds; do
	name="bcc reads an argument of every firing, $kind site"
	if ! /usr/bin/python3 -c 'import bcc' 2>/dev/null; then
		skip "$name" "bcc for python3 is not installed"
	elif ! kernel_headers 2>/dev/null; then
		skip "$name" "bcc needs the headers of a kernel"
	else
		bcc_reads "$kind"
		if [ "$(tail -n 1 "$tmp/bcc")" = "$ports" ]; then
			ok "$name"
		else
			not_ok "$name" "$tmp/bcc" "$tmp/err" "$tmp/summary"
		fi
	fi
done
tap_done
