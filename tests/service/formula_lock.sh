#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The names of formulas in a file that a reader keeps locked: netobsctl, as root, waits for 20 seconds.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

file=$tmp/run/formulas.so
start --formula-file "$file"
mkfifo "$tmp/hold"
python3 "$top/tests/service/hold_lock.py" "$file" <"$tmp/hold" >"$tmp/locked" &
locker=$!
exec 3>"$tmp/hold"
wait_while "$locker" grep -q locked "$tmp/locked"
ctl define 'waiting = tcp-send' >"$tmp/waiting" 2>"$tmp/message" 3>&-
is "a file that a reader keeps locked" "$? $(cat "$tmp/message")" \
	"2 netobsctl: tracers see waiting as formula__01: $file: another process has locked it"
exec 3>&-
wait "$locker"
ctl define 'other = tcp-send' >"$tmp/reply"
is "a file that is not locked any more" $? 0
stop
tap_done
