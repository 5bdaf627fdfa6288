#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page of the metrics address in a browser: connections that come and go.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/../service/running.sh"
# shellcheck source=tests/page/live_page.sh
. "$(dirname "$0")/live_page.sh"

have chromium || skip_all "chromium is not installed"
begin_netobsd "$address"
make_traffic
timeout 200 ip netns exec "$space" python3 "$top/tests/page/live.py" "$tmp" "http://$address/" "$pid" \
	"$netobsd" -i lo -i '"}<b>x\1' -f 'port 7001 or port 7002' --metrics="$address" >"$tmp/tap" 2>"$tmp/browser"
relay "$tmp/tap"
is "the browser" "$(cat "$tmp/browser")" ""
end_traffic
tap_done
