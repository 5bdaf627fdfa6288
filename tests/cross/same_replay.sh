#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A replay prints the same bytes on every machine: the program under test, built for another processor, against that of
# this host ($HOST_NETOBSD), for every capture in tests/captures, in text and in JSON, with summary and exit status.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -n "${HOST_NETOBSD:-}" ] || skip_all 'make check-cross runs this'

# replay PROGRAM CAPTURE: prints the transcript, without the path of the program and the line that depends on the kernel
replay() {
	for format in text json; do
		"$1" --no-seccomp -r "$2" --print --format "$format" --summary 2>"$tmp/err"
		replay_status=$?
		sed -e '/^probe-site /d' -e 's|^[^ ]*/netobsd: |netobsd: |' "$tmp/err"
		echo "exit $replay_status"
	done
}

find "$top/tests/captures" -type f ! -name '*.md' | sort >"$tmp/captures"
is 'there are captures' "$([ "$(wc -l <"$tmp/captures")" -gt 200 ] && echo many)" many
while read -r file; do
	replay "$HOST_NETOBSD" "$file" >"$tmp/here"
	replay "$netobsd" "$file" >"$tmp/there"
	if cmp -s "$tmp/here" "$tmp/there"; then
		ok "the same replay of ${file#"$top/tests/captures/"}"
	else
		diff "$tmp/here" "$tmp/there" >"$tmp/diff"
		not_ok "the same replay of ${file#"$top/tests/captures/"}" "$tmp/diff"
	fi
done <"$tmp/captures"
tap_done
