#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The alert rules of conf/ with promtool and their cases in alerts.yml, and the expressions of the dashboard; metrics.sh
# compares the names with what netobsd exports.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have promtool || skip_all "promtool is not installed"
have python3 || skip_all "python3 is not installed"
alerts=$top/tests/service/alerts.py rules=$top/conf/netobs.rules.yml

# nothing NAME COMMAND...: the command prints nothing and succeeds
nothing() {
	nothing_name=$1
	shift
	if "$@" >"$tmp/nothing" 2>&1 && [ ! -s "$tmp/nothing" ]; then
		ok "$nothing_name"
	else
		not_ok "$nothing_name" "$tmp/nothing"
	fi
}

check "the scrape configuration" promtool check config "$top/conf/prometheus.yml"
check "the rules" promtool check rules "$rules"
cp -- "$rules" "$top/tests/service/alerts.yml" "$tmp" || exit 99
check "the cases of the rules" promtool test rules "$tmp/alerts.yml"
nothing "each alert has a case in which it fires and one in which it does not" \
	python3 "$alerts" cases "$rules" "$top/tests/service/alerts.yml"

# The cases fail with rules that are wrong, and an alert without a case is found.
sed 's/> 0.02/> 0.05/' "$rules" >"$tmp/netobs.rules.yml"
check "a wrong limit is found" sh -c "! promtool test rules '$tmp/alerts.yml'"
sed 's/NetobsCaptureLag$/NetobsLag/' "$rules" >"$tmp/netobs.rules.yml"
is "an alert without cases is found" \
	"$(python3 "$alerts" cases "$tmp/netobs.rules.yml" "$top/tests/service/alerts.yml" | wc -l)" 3

python3 "$alerts" rules "$top/conf/grafana-dashboard.json" >"$tmp/dashboard.yml"
check "the expressions of the dashboard" promtool check rules "$tmp/dashboard.yml"

tap_done
