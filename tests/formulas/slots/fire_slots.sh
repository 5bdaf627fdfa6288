# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# For tests of slots, sourced after tap.sh: the program fire_slots in the background, and commands to it.

fire_slots=${FIRE_SLOTS:-$build/tests/formulas/slots/fire_slots}
file=$tmp/state/formulas.so
TMPDIR=$tmp
export TMPDIR
mkfifo "$tmp/commands"

# start KIND [FILE]: runs fire_slots in the background, its pid in $fire
start() {
	: >"$tmp/replies"
	"$fire_slots" "$@" <"$tmp/commands" >"$tmp/replies" 2>"$tmp/err" &
	fire=$!
	exec 3>"$tmp/commands"
}

# stop: ends it
stop() {
	exec 3>&-
	wait "$fire"
}

more_replies() {
	[ "$(wc -l <"$tmp/replies")" -gt "$replies" ]
}

# order COMMAND...: sends a command and waits for its reply
order() {
	replies=$(wc -l <"$tmp/replies")
	echo "$*" >&3
	wait_for more_replies
}

# reply_to COMMAND...: prints the reply
reply_to() {
	order "$@"
	tail -n 1 "$tmp/replies"
}
