#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Records of connections on an interface: a line when a connection ends, appended to the file; with --records-sort and
# --records-limit at the end; of several workers each connection once.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

# lines FILE COUNT: whether the file has so many lines
lines() {
	[ "$(wc -l <"$1" 2>/dev/null)" -eq "$2" ]
}

observe "$near" 1 -i near0 --records --records-where 'protocol == 6'
converse "$far" "$near" 10.77.0.2 7301
check "the table has a line when a connection ends, while netobsd runs" wait_for lines "$tmp/out" 2
converse "$near" "$far" fd77::1 7302
check "and for the next" wait_for lines "$tmp/out" 3
finish
is "netobsd ends without an error" "$? $(cat "$tmp/err")" "0 "
is "client and server, and the end" "$(sed -n 's/.* TCP *\([^ ]*\):[0-9]* *\([^ ]*\) .* \([a-z-]*\)$/\1 \2 \3/p' "$tmp/out" | tr '\n' ' ')" \
	"10.77.0.1 10.77.0.2:7301 fin [fd77::2] [fd77::1]:7302 fin "

for port in 7303 7307; do
	printf '{"torn":' >>"$tmp/file"
	observe "$near" 1 -i near0 --records="$tmp/file" --records-where 'protocol == 6'
	converse "$far" "$near" 10.77.0.2 "$port"
	finish
done
is "a line that a full disk has cut is ended first" "$(grep -c '^{"torn":$' "$tmp/file")" 2
is "a file is appended to, run by run" "$(grep -cE '"cr_server_port":730[37],.*"cr_reason":"fin"' "$tmp/file")" 2
rm "$tmp/file"

observe "$near" 1 -i near0 --records="$tmp/file" --records-sort server_port --records-limit 2
for port in 7304 7306 7305; do
	converse "$far" "$near" 10.77.0.2 "$port"
done
finish
is "sorted at the end, with a limit" "$(sed 's/.*"cr_server_port":\([0-9]*\),.*/\1/' "$tmp/file" | tr '\n' ' ')" "7306 7305 "

observe "$near" 2 -i near0 --workers 2 --records="$tmp/workers" --records-where 'protocol == 6'
for port in 7310 7311 7312 7313 7314 7315; do
	converse "$far" "$near" 10.77.0.2 "$port"
done
finish
is "several workers write each connection once" \
	"$(sed 's/.*"cr_server_port":\([0-9]*\),.*/\1/' "$tmp/workers" | sort | tr '\n' ' ')" "7310 7311 7312 7313 7314 7315 "

# The disk is full, then it has space again: whole lines, and netobsd runs on.
mkdir "$tmp/small"
if mount -t tmpfs -o size=16k none "$tmp/small" 2>"$tmp/err"; then
	at_end "umount '$tmp/small'"
	head -c 13000 /dev/zero | tr '\0' x >"$tmp/small/ballast"
	observe "$near" 1 -i near0 --records="$tmp/small/file" --records-where 'protocol == 6'
	for port in 7320 7321 7322 7323; do
		converse "$far" "$near" 10.77.0.2 "$port"
	done
	check "a full disk is logged" wait_for grep -q "cannot write records: No space left on device; lines are dropped" "$tmp/err"
	rm "$tmp/small/ballast"
	converse "$far" "$near" 10.77.0.2 7324
	finish
	is "the rest is written when there is space" \
		"$(grep -c '^{"end":.*}$' "$tmp/small/file") $(wc -l <"$tmp/small/file" | tr -d ' ')" "5 5"
else
	skip "a full disk" "no tmpfs here"
fi

tap_done
