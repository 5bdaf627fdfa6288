#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# test_tcp_exhaustive with four faults at once instead of three.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

program=$build/tests/flow/tcp/test_tcp_exhaustive
built "$program"
NETOBS_FAULTS=4 CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$tmp/points" 2>"$tmp/err"
is "test_tcp_exhaustive ends well" "$?" 0
sed -e '/^1[.][.]/d' -e 's/^[0-9]/# &/' "$tmp/points" >"$tmp/tap" # the counts
relay "$tmp/tap"
tap_done
