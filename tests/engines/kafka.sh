#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# conf/engines/kafka: kcat produces record lines to librdkafka's own mock cluster and consumes them again; jq answers the
# questions.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/engines/records.sh
. "$(dirname "$0")/records.sh"

{ have kcat jq && broker_possible; } || unavailable "kcat, jq or librdkafka-dev"

answer() {
	jq -s -r -f "$samples/kafka/$1.jq" "$tmp/consumed"
}

require "records of two hosts" make_records
require "a broker runs" start_broker
for host in alpha beta; do
	with_host "$host" <"$records/$host.jsonl" | tee -a "$tmp/produced" | kcat -b "$broker" -P -t netobs -k "$host" || echo failed
done >"$tmp/kcat.out" 2>&1
is "kcat produces" "$(cat "$tmp/kcat.out")" ""
consume >"$tmp/consumed" 2>"$tmp/kcat.err"
check "kcat consumes every line, unchanged" cmp "$tmp/produced" "$tmp/consumed"
is "each line has its host as key" "$(keys)" "$(expected_keys)"
check_answers answer
end_broker
is "the broker ends" "$?" 0

tap_done
