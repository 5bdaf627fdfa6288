#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas are defined and removed by several netobsctl while bpftrace attaches and detaches: a formula that stays loses
# no firing and no count, afterwards all semaphores are 0 and all slots free.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

reason=$(tracing_refused)
[ -z "$reason" ] || skip_all "$reason"
file=$tmp/run/formulas.so
rounds=6 # tracers that attach and detach

# stays KEY: a number of the formula that stays
stays() {
	ctl formulas stays --json | sed "s/.*\"$1\":\\([0-9]*\\),.*/\\1/"
}

stays_is() {
	[ "$(stays "$1")" = "$2" ]
}

start --immediate --formula-file "$file" --formula 'stays = tcp-connect-refused'
begin_traffic

# storm NAME: defines and removes a formula; it may keep its default name while bpftrace is attached there.
storm() {
	round=0
	while [ ! -e "$tmp/enough" ] && [ "$round" -lt 2000 ] || [ "$round" -lt 50 ]; do
		round=$((round + 1))
		ctl define "$1-$((round % 3)) = tcp-connect-refused, tcp-connect-request" >/dev/null || [ $? -eq 2 ] || echo "define $round"
		ctl undefine "$1-$((round % 3))" || [ $? -eq 2 ] || echo "undefine $round"
	done
	echo "$round" >"$tmp/rounds.$1"
}

storms=''
for name in one two three; do
	storm "$name" >"$tmp/storm.$name" 2>"$tmp/storm.$name.err" &
	storms="$storms $!"
done

# One tracer stays, others attach to names that come and go.
bpftrace -B line -e "BEGIN { printf(\"attached\\n\"); } usdt:$file:netobs:stays { @firings = count(); }" >"$tmp/stays" 2>&1 &
staying=$!
wait_while "$staying" grep -q attached "$tmp/stays"
connected=0
for _ in $(seq "$rounds"); do
	tracer "$tmp/bpf" "usdt:$file:netobs:stays { @firings = count(); }"
	traffic refused 9 5
	connected=$((connected + 5))
	wait_for stays_is matched "$connected"
	tracer_end
	[ "$(sed -n 's/^@firings: //p' "$tmp/bpf")" = 5 ] || echo "of 5: $(cat "$tmp/bpf")" >>"$tmp/lost"
	# Whichever names are in the file now.
	bpftrace -e "BEGIN { exit(); } usdt:$file:netobs:one* { @ = count(); }" >/dev/null 2>&1
	bpftrace -e "BEGIN { exit(); } usdt:$file:netobs:formula__0* { @ = count(); }" >/dev/null 2>&1
done
: >"$tmp/enough"
for storm in $storms; do
	wait "$storm"
done
note "$(cat "$tmp"/rounds.* | paste -s -d +) formulas, $connected firings"
is "every definition and removal succeeds" "$(cat "$tmp"/storm.one "$tmp"/storm.two "$tmp"/storm.three)" ""
check "no tracer of the formula that stays loses a firing" test ! -e "$tmp/lost"
tracer=$staying
tracer_end
is "nor does one that is attached all the time" "$(sed -n 's/^@firings: //p' "$tmp/stays")" "$connected"
is "the counts are exact" "$(stays seen) $(stays matched)" "$connected $connected"
untraced() {
	! ctl sites --json | grep -q '"traced":true'
}
check "the semaphores are 0" wait_for untraced
ctl define 'last = tcp-send' >"$tmp/reply" 2>&1
is "the next request succeeds" $? 0
ctl undefine last
is "only one slot is in use" "$(ctl sites | sed 1,2d | awk '{ print $2, $3, $4 }')" "stays stays no"
is "only one name is in the file" "$(readelf -n "$file" | sed -n 's/^ *Name: //p' | uniq | grep -v '^formula__[0-9][0-9]$')" stays
for i in $(seq 63); do
	ctl define "f$i = tcp-send" >/dev/null 2>"$tmp/reply" || break
done
is "all 63 others can be named" "$i $(cat "$tmp/reply")" "63 "
end_traffic
stop
is "netobsd warns of nothing" "$(grep -v 'memory reserved' "$tmp/err")" ""
tap_done
