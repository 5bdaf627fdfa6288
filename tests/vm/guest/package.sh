#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Timeout: 400
#
# The package: an installation, an upgrade from a version before with a changed configuration, the service's user, files and
# confinement, start, reload, failures and restarts, removal and purge; and the journal of all that.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/vm/guest/guest.sh
. "$(dirname "$0")/guest.sh"

conf=/etc/netobs/netobs.conf
begin=$(journal_cursor)

# ------------------------------------------------------------------------------------------- installation and upgrade

# older_package: makes a package of a version before, with another default configuration: $tmp/older.deb
older_package() {
	dpkg-deb -R /vm/netobs.deb "$tmp/older" &&
		sed -i 's/^\(Version: .*\)/\1~older/' "$tmp/older/DEBIAN/control" &&
		sed -i 's/^interface = .*/interface = {"lo"}/' "$tmp/older$conf" &&
		sed -i "s|^[0-9a-f]* *${conf#/}\$|$(md5sum <"$tmp/older$conf" | cut -d ' ' -f 1)  ${conf#/}|" "$tmp/older/DEBIAN/md5sums" &&
		dpkg-deb -Zgzip -z1 -b "$tmp/older" "$tmp/older.deb"
}

check "a package of a version before" older_package
check "it is installed" dpkg -i "$tmp/older.deb"
is "the unit is enabled and active" "$(systemctl is-enabled netobs) $(systemctl is-active netobs)" "enabled active"
is "the user" "$(getent passwd netobs | cut -d : -f 1,6,7)" "netobs:/:/usr/sbin/nologin"
check "the user is a system user" test "$(id -u netobs)" -lt 1000
observes "the service observes frames"
echo 'time-wait = 45' >>"$conf"
before=$(property MainPID)
check "it is upgraded" dpkg -i --force-confdef --force-confold /vm/netobs.deb
is "the upgrade keeps the changed configuration" "$(tail -n 1 "$conf")" "time-wait = 45"
check "the upgrade brings its own configuration as .dpkg-dist" grep -qx 'interface = {"any"}' "$conf.dpkg-dist"
check "the upgrade restarts the service" wait_for other_process "$before"
mv "$conf.dpkg-dist" "$conf"
manuals=$(for page in /usr/share/man/man[1578]/netobs*; do zcat "$page"; done | grep -c /usr/local)
is "the manuals have the paths of the package" "$manuals" 0
is "every file is as in the package" "$(dpkg -V netobs)" ""

# ------------------------------------------------------------------------------------------------------- the service

systemctl restart netobs
pid=$(property MainPID)
modes() {
	stat -c '%A %U:%G %n' /usr/sbin/netobsd /usr/sbin/netobsctl /etc/netobs "$conf" /run/netobs /run/netobs/control
}
modes >"$tmp/modes"
cat >"$tmp/expected" <<'LINES'
-rwxr-xr-x root:root /usr/sbin/netobsd
-rwxr-xr-x root:root /usr/sbin/netobsctl
drwxr-xr-x root:root /etc/netobs
-rw-r--r-- root:root /etc/netobs/netobs.conf
drwxr-xr-x netobs:netobs /run/netobs
srw-rw---- netobs:netobs /run/netobs/control
LINES
check "owners and modes" diff -u "$tmp/expected" "$tmp/modes"

# status NAME: one field of the process
status() {
	sed -n "s/^$1:[[:blank:]]*//p" "/proc/$pid/status" | tr '\t' ' '
}

user=$(id -u netobs) group=$(id -g netobs)
is "the process has the user's identity only" "$(status Uid), $(status Gid), $(status Groups)" \
	"$user $user $user $user, $group $group $group $group, $group "
for set in CapInh CapPrm CapEff CapBnd CapAmb; do
	value=$(status $set)
	check "$set has CAP_NET_RAW at most: $value" test "$value" = 0000000000002000 -o "$value" = 0000000000000000
done
is "system calls are filtered in every thread" "$(cat /proc/"$pid"/task/*/status | sed -n 's/^Seccomp:[[:blank:]]*//p' | sort -u)" 2
is "no new privileges" "$(status NoNewPrivs)" 1
check "the exposure is 1.5 at most" systemd-analyze security --threshold=15 --no-pager netobs
is "limits" "$(property TasksMax), $(property MemoryMax)" "144, 3221225472"
observes "the service observes frames on any"

# ------------------------------------------------------------------------------------------------------------- reload

cp "$conf" "$tmp/shipped"
cursor=$(journal_cursor)
echo 'time-wait = 50' >>"$conf"
check "a reload with a good configuration succeeds" systemctl reload netobs
# logged PATTERN: whether a message of the unit since $cursor matches
logged() {
	journal_since "$cursor" "$tmp/journal" && grep -q "$1" "$tmp/journal"
}
check "a reload with a good configuration is applied" wait_for logged 'netobs.conf reloaded$'
is "a reload keeps the process" "$(property MainPID)" "$pid"

cursor=$(journal_cursor)
sed -i 's/^time-wait = .*/time-wait = forever/' "$conf"
systemctl reload netobs >"$tmp/reload" 2>&1
is "a reload with a bad configuration fails" "$?" 1
check "a reload with a bad configuration: systemctl names the cure" grep -q 'journalctl' "$tmp/reload"
check "a reload with a bad configuration: the journal has the line and the reason" wait_for logged 'netobs.conf:[0-9]*: time-wait = forever: expected'
netobsctl reload >"$tmp/reload" 2>&1
is "netobsctl reload fails, too" "$?" 1
is "the service goes on" "$(systemctl is-active netobs) $(property MainPID)" "active $pid"
observes "the service observes frames after a failed reload"
systemctl restart netobs >"$tmp/restart" 2>&1
is "a restart with a bad configuration fails" "$?" 1
cp "$tmp/shipped" "$conf"
check "a restart with a good configuration succeeds" systemctl restart netobs

# ------------------------------------------------------------------------------------------------ failures and restarts

pid=$(property MainPID)
kill -KILL "$pid"
check "after kill -9 the service starts again" wait_for other_process "$pid"
observes "after kill -9 the service observes frames"

mkdir -p /run/systemd/system/netobs.service.d
printf '[Service]\nWatchdogSec=4s\nTimeoutAbortSec=2s\n' >/run/systemd/system/netobs.service.d/watchdog.conf
systemctl daemon-reload
systemctl restart netobs
pid=$(property MainPID)
cursor=$(journal_cursor)
kill -STOP "$pid"
check "a process that stands still is started again" wait_for other_process "$pid"
check "the watchdog was the reason" logged 'Watchdog timeout'
rm -r /run/systemd/system/netobs.service.d
systemctl daemon-reload
check "stop" systemctl stop netobs
is "stop: the result, and the control socket" "$(property ActiveState) $(property Result) $(ls /run/netobs 2>&1)" \
	"inactive success ls: cannot access '/run/netobs': No such file or directory"

# ------------------------------------------------------------------------------------------------------ late interface

# add_interface: makes an interface with an address
add_interface() {
	ip link add late0 type dummy && ip address add 192.0.2.77/24 dev late0 && ip link set late0 up
}

configure 'interface = {"late0"}'
systemctl --no-block restart netobs
cursor=$(journal_cursor)
check "an interface that is absent: the journal names it" wait_for logged late0
add_interface
check "an interface that comes late: the service is ready" wait_for systemctl is-active netobs
observes "an interface that comes late is observed" late0 192.0.2.78
pid=$(property MainPID)
ip link delete late0
add_interface
observes "an interface that was deleted and made again is observed" late0 192.0.2.78
is "the process is the same" "$(property MainPID)" "$pid"
ip link delete late0
cp "$tmp/shipped" "$conf"

# ------------------------------------------------------------------------------------------------ what the unit forbids

# not_logged PATTERN: whether no message of the unit since $cursor matches
not_logged() {
	! logged "$1"
}

# metrics_served PORT: whether the metrics are there
metrics_served() {
	python3 -c 'import sys, urllib.request
sys.exit(b"netobs_frames_total" not in urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1] + "/metrics", timeout=30).read())' "$1"
}

# end_service: stops the service; its starts before do not count for the limit of systemd
end_service() {
	systemctl stop netobs
	systemctl reset-failed netobs 2>/dev/null
}

# limits_logged LINE PATTERN: starts the service with a line added to its configuration, and waits for the message
limits_logged() {
	end_service
	cursor=$(journal_cursor)
	cp "$tmp/shipped" "$conf"
	echo "$1" >>"$conf"
	systemctl restart netobs >"$tmp/restart" 2>&1
	wait_for logged "$2"
}
check "metrics at an address: the message names the settings of the unit" limits_logged 'metrics = "127.0.0.1:9819"' \
	'Address family not supported by protocol; RestrictAddressFamilies= and IPAddressDeny= of the unit forbid IP'
check "records where the unit may not write: the message names the setting" limits_logged 'records = "/srv/records"' \
	'Read-only file system; ProtectSystem= of the unit may forbid to write there'
check "records below /home: the message names the setting" limits_logged 'records = "/home/records"' \
	'Permission denied; ProtectHome= of the unit may hide it'
mkdir -p /run/systemd/system/netobs.service.d
printf '[Service]\nRestrictAddressFamilies=AF_INET AF_INET6\n' >/run/systemd/system/netobs.service.d/metrics.conf
systemctl daemon-reload
check "metrics at an address without its packets: the message names the setting" limits_logged 'metrics = "127.0.0.1:9819"' \
	'no client can reach the metrics at 127.0.0.1:9819: .*; IPAddressDeny= of the unit may forbid it'
echo 'IPAddressAllow=localhost' >>/run/systemd/system/netobs.service.d/metrics.conf
systemctl daemon-reload
end_service
cursor=$(journal_cursor)
check "the drop-in of the manual: the service starts" systemctl restart netobs
observes "the drop-in of the manual: the service observes frames"
check "the drop-in of the manual: no message" not_logged 'of the unit'
check "the drop-in of the manual: the metrics are served" metrics_served 9819
rm -r /run/systemd/system/netobs.service.d
systemctl daemon-reload
cp "$tmp/shipped" "$conf"
end_service
systemctl start netobs

# ----------------------------------------------------------------------------------------------------- remove and purge

# A write --on that is enabled, by the service and by another unit; what netobsd has written; and a drop-in, which is the
# administrator's.
drop_in=/etc/systemd/system/netobs-write@resets.service.d
check "a write --on is enabled" systemctl enable netobs-write@resets
check "a write --on is required by a target" systemctl add-requires multi-user.target netobs-write@resets
mkdir -p "$drop_in" /var/log/netobs
printf '[Service]\nEnvironment="WRITE_OPTIONS=--max-files 10"\n' >"$drop_in/override.conf"
: >/var/log/netobs/records
# write_on_links: the number of links to write --on
write_on_links() {
	find /etc/systemd/system /run/systemd/system -type l -name 'netobs-write@*' | wc -l
}
is "the links of write --on" "$(write_on_links)" 2
check "remove" dpkg -r netobs
is "remove: the links of write --on remain" "$(write_on_links)" 2
is "remove: the service has ended, the configuration remains" "$(systemctl is-active netobs) $(ls /etc/netobs)" \
	"inactive netobs.conf"
check "purge" dpkg -P netobs
is "purge: the drop-in remains, no link and no log" "$(ls "$drop_in") $(write_on_links) $(ls /var/log/netobs 2>&1)" \
	"override.conf 0 ls: cannot access '/var/log/netobs': No such file or directory"
rm -r "$drop_in"

# remains: files with the package's name, except the user's, which Debian keeps, and the journal
remains() {
	find / -xdev \( -path /proc -o -path /sys -o -path /netobs -o -path /vm -o -path "$tmp" \) -prune -o \
		-name '*netobs*' ! -name 'netobs-vm*' ! -path '/var/log/*' -print | grep -vx -e /netobs -e /vm -e "$tmp"
	systemctl list-unit-files --no-legend netobs.service
	systemctl list-units --no-legend --all netobs.service
}
is "purge: nothing is left" "$(remains)" ""

# ------------------------------------------------------------------------------------------------------------- journal

# expected_messages: patterns of the messages that this script causes
expected_messages() {
	cat <<-'LINES'
		Starting netobs\.service - Network observer with DTrace-style probes\.\.\.
		Started netobs\.service - Network observer with DTrace-style probes\.
		Stopping netobs\.service - Network observer with DTrace-style probes\.\.\.
		Stopped netobs\.service - Network observer with DTrace-style probes\.
		Reloading netobs\.service - Network observer with DTrace-style probes\.\.\.
		Reloaded netobs\.service - Network observer with DTrace-style probes\.
		Reload failed for netobs\.service - Network observer with DTrace-style probes\.
		Failed to start netobs\.service - Network observer with DTrace-style probes\.
		netobs\.service: Control process exited, code=exited, status=1/FAILURE
		netobs\.service: Main process exited, code=exited, status=1/FAILURE
		netobs\.service: Main process exited, code=killed, status=(6/ABRT|9/KILL)
		netobs\.service: Failed with result '(exit-code|signal|watchdog)'\.
		netobs\.service: Scheduled restart job, restart counter is at [0-9]+\.
		netobs\.service: Deactivated successfully\.
		netobs\.service: Consumed .* CPU time\.
		netobs\.service: Watchdog timeout \(limit 4s\)!
		netobs\.service: Killing process [0-9]+ \(netobsd\) with signal SIG(ABRT|KILL)\.
		netobs\.service: State 'stop-watchdog' timed out\. Killing\.
		netobsd: memory reserved: [0-9]+ MiB for 1000000 connections, [0-9]+ MiB for fragments, [0-9]+ MiB for application protocols, [0-9]+ MiB for process lookups
		netobsd: cannot serve metrics at 127\.0\.0\.1:9819: .* of the unit forbid IP .*
		netobsd: no client can reach the metrics at 127\.0\.0\.1:9819: .* of the unit may forbid it .*
		netobsd: cannot write records to /(srv|home)/records: .* of the unit may (forbid to write there|hide it) .*
		netobsd: /etc/netobs/netobs\.conf reloaded
		netobsd: /etc/netobs/netobs\.conf:[0-9]+: time-wait = forever: expected a time from 1ms to 365d: seconds, or with a unit as in 500ms, 90s, 5m, 1h
		netobsd: reload failed: the configuration is unchanged
		netobsd: no such interface: late0; available: [a-z0-9, ]*; waiting for it
		netobsd: interface late0 is observed
		netobsd: interface late0 was removed: it no longer exists; waiting until it returns
		netobsd: interface late0 has returned and is observed again
	LINES
}
journal_since "$begin" "$tmp/journal"
expected_messages >"$tmp/patterns"
is "the journal has nothing else" "$(grep -vxE -f "$tmp/patterns" "$tmp/journal" | sort | uniq -c)" ""
check "the journal has the messages" test "$(wc -l <"$tmp/journal")" -ge 30

# ----------------------------------------------------------------------------------------------- for the other scripts

check "it is installed again" dpkg -i /vm/netobs.deb
is "the unit is enabled and active again" "$(systemctl is-enabled netobs) $(systemctl is-active netobs)" "enabled active"
systemctl stop netobs

tap_done
