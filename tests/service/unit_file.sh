#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The unit that the package installs: systemd reads it without a warning, its exposure is low, and it has the settings that
# netobsd needs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

unit=$build/conf/netobs.service
[ -e "$unit" ] || skip_all "the unit is not made"
have systemd-analyze systemd-sysusers || skip_all "no systemd"

# 15 is an exposure of 1.5 on systemd's scale of 10.
if systemd-analyze security --offline=true --threshold=15 --no-pager "$unit" >"$tmp/exposure" 2>&1; then
	ok "exposure: $(sed -n 's/.*exposure level for [^:]*: \([0-9.]*\).*/\1/p' "$tmp/exposure"), limit 1.5"
else
	not_ok "exposure, limit 1.5" "$tmp/exposure"
fi

# With a program that exists and without the manual: neither is part of the unit.
sed -e '/^Documentation=/d' -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$tmp/netobs.service"
systemd-analyze verify --recursive-errors=no "$tmp/netobs.service" >"$tmp/out" 2>&1
is "systemd reads the unit without a warning" "$? $(grep -v -e 'Failed to connect' "$tmp/out")" "0 "

has_setting() {
	check "the unit has $1" grep -qx "$1" "$unit"
}

has_setting Type=notify
has_setting User=netobs
has_setting AmbientCapabilities=CAP_NET_RAW
has_setting CapabilityBoundingSet=CAP_NET_RAW
has_setting MemoryDenyWriteExecute=yes

systemd-sysusers --dry-run "$top/conf/netobs.sysusers" >"$tmp/out" 2>&1
is "systemd-sysusers accepts the user" "$?" 0

tap_done
