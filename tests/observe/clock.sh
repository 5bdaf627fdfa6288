#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Packet time follows steps of the clock and ignores lone time stamps: timers and round trips are those of a capture with
# regular time stamps.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"

make=$top/tests/observe/clock_captures.py

# replay KIND LEAD [OPTION...]: the capture's firings in $tmp/KIND.json, its counters in $tmp/KIND.err
replay() {
	kind=$1
	"$make" "$kind" "$2" "$tmp/$kind.pcap"
	shift 2
	"$netobsd" -r "$tmp/$kind.pcap" --time-wait 5 --view both --summary --print=tcp-state-change,tcp-receive \
		--format json "$@" >"$tmp/$kind.json" 2>"$tmp/$kind.err"
}

# facts FILE: the state changes and round trips (ms) in order, without times
facts() {
	grep -o '"probe":"[a-z-]*"\|"tcps_statestr":"[a-z0-9-]*"\|"tcps_srtt_us":[0-9]*\|"cs_cid":[0-9]*' "$1" |
		awk -F: '$1 == "\"tcps_srtt_us\"" { $2 = int($2 / 1000 + 0.5) } { print $1, $2 }'
}

# counter KIND NAME
counter() {
	awk -v name="$2" '$1 == name { print $2 }' "$tmp/$1.err"
}

# jumps KIND: how often the times of successive events are more than 3 s apart
jumps() {
	awk 'match($0, /"cs_ts":[0-9]*/) {
		ts = substr($0, RSTART + 8, RLENGTH - 8) / 1e9
		if (last && (ts - last > 3 || last - ts > 3))
			jumps++
		last = ts
	} END { print jumps + 0 }' "$tmp/$1.json"
}

replay even 0
is "regular: no step" "$(counter even clock.steps) $(counter even clock.ignored-stamps)" "0 0"
is "regular: TIME_WAIT ends, except for the last connections" "$(counter even flow.now)" 5
facts "$tmp/even.json" >"$tmp/even"

for kind in back forth past; do
	replay "$kind" 0
	facts "$tmp/$kind.json" >"$tmp/$kind"
	check "$kind: states and round trips as with regular time stamps" cmp "$tmp/even" "$tmp/$kind"
done
is "back: one step" "$(counter back clock.steps) $(counter back clock.ignored-stamps)" "1 0"
is "back: times of events are those of the new clock" "$(jumps back)" 1
is "back and forth: two steps" "$(counter forth clock.steps) $(counter forth clock.ignored-stamps)" "2 0"
is "back and forth: times of events follow" "$(jumps forth)" 2
is "past: the time stamp is ignored" "$(counter past clock.steps) $(counter past clock.ignored-stamps)" "0 1"
check "back: logged" grep -q 'the time stamps step by -3600.000 s' "$tmp/back.err"
check "past: logged" grep -q 'time stamp of a frame is ignored: it differs by -3600.0[0-9]* s' "$tmp/past.err"

# With a batch of 128 frames and an irregular frame at 185, these leads put it at the end and the beginning of a batch.
wrong=
for lead in 0 67 68 69 70 71 72; do
	replay even "$lead"
	facts "$tmp/even.json" >"$tmp/even"
	for kind in back future; do
		replay "$kind" "$lead"
		facts "$tmp/$kind.json" >"$tmp/$kind"
		cmp -s "$tmp/even" "$tmp/$kind" || wrong="$wrong $kind:$lead"
	done
	[ "$(counter future clock.ignored-stamps)" = 1 ] || wrong="$wrong ignored:$lead"
done
is "back, future: the same at every place of a batch" "$wrong" ""
check "future: logged" grep -q 'time stamp of a frame is ignored: it differs by +3600.0[0-9]* s' "$tmp/future.err"

replay future 0 --pace=100000
facts "$tmp/future.json" >"$tmp/paced"
replay future 0
facts "$tmp/future.json" >"$tmp/future"
check "future: the same at another speed" cmp "$tmp/future" "$tmp/paced"

replay even 0
replay gap 0
is "gap: no step, nothing ignored" "$(counter gap clock.steps) $(counter gap clock.ignored-stamps)" "0 0"
is "gap: the timers of an hour run before the next frame" \
	"$(facts "$tmp/gap.json" | grep -v srtt | sort | uniq -c | sort)" \
	"$(facts "$tmp/even.json" | grep -v srtt | sort | uniq -c | sort)"

replay blocks 0
is "blocks in turn: one step, and time does not run away" \
	"$(counter blocks clock.steps) $(counter blocks flow.now)" "1 6"

replay first 0
is "a first frame from the future: time follows the others" \
	"$(counter first clock.steps) $(counter first flow.now)" "1 5"

replay y2038 0
check "after 2038: the time of the packet" grep -q '"pkt_ts":2208988800' "$tmp/y2038.json"
gzip -k "$tmp/y2038.pcap"
"$netobsd" -r "$tmp/y2038.pcap" --print=tcp-receive --view both >"$tmp/plain.txt"
"$netobsd" -r "$tmp/y2038.pcap.gz" --print=tcp-receive --view both >"$tmp/gzip.txt"
check "after 2038: text has the year" grep -q '^2040-01-01T00:00:00' "$tmp/plain.txt"
check "after 2038: the same if libpcap reads the file" cmp "$tmp/plain.txt" "$tmp/gzip.txt"
replay y2038ng 0
"$netobsd" -r "$tmp/y2038ng.pcap" --print=tcp-receive --view both >"$tmp/ng.txt"
check "after 2038: the same as pcapng" cmp "$tmp/plain.txt" "$tmp/ng.txt"
tap_done
