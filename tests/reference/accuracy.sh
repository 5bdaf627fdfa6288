#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The tables of accuracy in README.md and in README.md here have the counts of accuracy.expected, which truth.sh, tshark.sh and
# tshark_whole.sh compare with the captures of the source tree.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
is "the tables have the counts of accuracy.expected" "$("$top/tests/reference/accuracy.py" 2>&1)" ""
tap_done
