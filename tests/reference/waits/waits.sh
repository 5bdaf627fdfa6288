#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# waits.sh NETOBSD [DIRECTORY]: makes the traffic, in DIRECTORY unless it is there already, and judges it.  Needs root.
set -eu
here=$(dirname "$0")
directory=${2:-$(mktemp -d)}
[ -d "$directory/near" ] || "$here/traffic.py" "$directory"
status=0
"$here/judge.py" "$1" "$directory" || status=$?
[ $# -gt 1 ] || rm -r "$directory"
exit "$status"
