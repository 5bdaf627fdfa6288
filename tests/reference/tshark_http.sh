#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The http probes against tshark's HTTP dissector, message by message, over all captures that have HTTP/1;
# tests/reference/tshark_http.tsv explains each difference.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have tshark python3 || skip_all "tshark or python3 is not installed"

# captures DIRECTORY...: those in which the http probes fire or tshark finds HTTP on TCP
captures() {
	find "$@" -type f ! -name '*.md' ! -name '*.tsv' ! -name '*.gz' | sort | while read -r file; do
		if [ -n "$(tshark -r "$file" -n -c 20000 -Y 'tcp and http' -T fields -e frame.number 2>/dev/null | head -n 1)" ]; then
			echo "$file"
		fi
	done
}

if [ -d "$shared/captures" ]; then
	captures "$shared/captures" "$shared/cases" >"$tmp/captures"
	# shellcheck disable=SC2046
	check "the http probes over $(wc -l <"$tmp/captures") shared captures" \
		python3 "$top/tests/apps/http/http_messages.py" "$netobsd" "$top/tests/reference/tshark_http.tsv" $(cat "$tmp/captures")
	note "$(tail -n 1 "$tmp/check")"
else
	skip "the http probes over shared captures" "there is no $shared/captures"
fi
tap_done
