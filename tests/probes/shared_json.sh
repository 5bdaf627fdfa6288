#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# json.sh over the captures of $NETOBS_SHARED.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -d "$shared/captures" ] || skip_all "there is no $shared/captures"
rm -rf "$tmp"
exec sh "$top/tests/probes/json.sh" "$shared/captures"
