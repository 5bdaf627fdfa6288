#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The unit that the package installs: systemd reads it without complaint and finds it tight, and what it allows is enough
# for netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

unit=$build/conf/netobs.service
[ -e "$unit" ] || skip_all "the unit is not made"
have systemd-analyze systemd-sysusers || skip_all "no systemd"

# 15 is an exposure of 1.5 on systemd's scale of 10.
if systemd-analyze security --offline=true --threshold=15 --no-pager "$unit" >"$tmp/exposure" 2>&1; then
	ok "exposure: $(sed -n 's/.*exposure level for [^:]*: \([0-9.]*\).*/\1/p' "$tmp/exposure"), at most 1.5 wanted"
else
	not_ok "exposure, at most 1.5 wanted" "$tmp/exposure"
fi

# With a program that is there and no manual: neither is about the unit.
sed -e '/^Documentation=/d' -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' "$unit" >"$tmp/netobs.service"
systemd-analyze verify --recursive-errors=no "$tmp/netobs.service" >"$tmp/out" 2>&1
is "systemd reads it without complaint" "$? $(grep -v -e 'Failed to connect' "$tmp/out")" "0 "

wants() {
	check "it has $1" grep -qx "$1" "$unit"
}

wants Type=notify
wants User=netobs
wants AmbientCapabilities=CAP_NET_RAW
wants CapabilityBoundingSet=CAP_NET_RAW
wants MemoryDenyWriteExecute=yes

systemd-sysusers --dry-run "$top/conf/netobs.sysusers" >"$tmp/out" 2>&1
is "sysusers.d takes the user" "$?" 0

tap_done
