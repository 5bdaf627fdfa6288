#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Shares and files belong to a session: each of its connections has those of the others, and nobody else has.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
built "$netobsd"
python3 "$top/tests/apps/smb/channels.py" "$tmp/channels.pcap" "$tmp/expected"

for options in "" "--view monitor" "--local 192.0.2.1/32" "--local 192.0.2.8/29 --local 192.0.2.66/32"; do
	# shellcheck disable=SC2086
	"$netobsd" -r "$tmp/channels.pcap" --print=smb-op-* --format json $options |
		python3 "$top/tests/apps/smb/channels.py" >"$tmp/found"
	check "the names of each operation${options:+ ($options)}" diff "$tmp/expected" "$tmp/found"
done
tap_done
