#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The flight memory of netobsd: what its counters say of a replay, and what happens without enough memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
capture=$top/tests/captures/home-network.pcap

# counters ARGUMENT...: the counters of a replay in $tmp/counters
counters() {
	"$netobsd" -r "$capture" --summary "$@" >/dev/null 2>"$tmp/counters"
}

# counter NAME: its value, empty if it is not listed
counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$tmp/counters"
}

counters
is "without a flight memory: no counters" "$(grep -c '^flight' "$tmp/counters")" 0
frames=$(counter frames)

counters --flight-memory 16M
is "every frame is kept" "$(counter flight.frames)" "$frames"
is "every frame is there" "$(counter flight.now) $(counter flight.overwritten)" "$frames 0"
bytes=$(counter flight.bytes) notes=$(counter flight.notes)
check "there are notes" test "$notes" -gt 100
check "the flight memory has more than a minute" test "$(counter flight.span-us)" -gt 60000000

counters --flight-memory 16M --print
is "traced: the same frames and notes" "$(counter flight.frames) $(counter flight.bytes) $(counter flight.notes)" \
	"$frames $bytes $notes"

counters --flight-memory 16M --flight-snap 60
check "cut frames are counted" test "$(counter flight.cut)" -gt 100
check "a cut frame has at most the bytes asked for" test "$(counter flight.bytes)" -le "$((frames * 60))"

counters --flight-memory 16M --flight-bytes 1K
is "frames beyond the limit are left out and counted" "$(($(counter flight.frames) + $(counter flight.left-out)))" \
	"$frames"
is "frames with notes are kept" "$(counter flight.notes)" "$notes"

# limited ARGUMENT...: a replay with a limit of the address space, because a machine may have as much memory as there is to
# ask for
limited() {
	prlimit --as=3000000000 "$netobsd" -r "$capture" "$@" >/dev/null 2>"$tmp/err"
}

if have prlimit && limited; then
	limited --flight-memory 8G
	is "not enough memory: status" $? 1
	is "not enough memory: the option is named" "$(cat "$tmp/err")" \
		"netobsd: not enough memory for the flight memory, 8192 MiB: Cannot allocate memory; reduce --flight-memory"
else
	skip "not enough memory" "netobsd does not run with 3 GB of address space here: prlimit is missing, or it has sanitizers"
fi
tap_done
