#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# truth.sh over the folders of $NETOBS_SHARED/truth whose record is not in the source tree.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shipped FOLDER: whether the source tree has the same record
shipped() {
	for ours in "$top"/tests/truth/scripted "$top"/tests/truth/crafted "$top"/tests/truth/live/*; do
		! cmp -s "$ours/truth.tsv" "$1/truth.tsv" || return 0
	done
	return 1
}

set --
for folder in "$shared/truth/scripted" "$shared"/truth/live/*; do
	[ ! -e "$folder/truth.tsv" ] || shipped "$folder" || set -- "$@" "$folder"
done
[ $# -gt 0 ] || skip_all "$shared/truth has no record that the source tree lacks"
rm -rf "$tmp"
exec sh "$top/tests/reference/truth.sh" "$@"
