#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The names that netobsctl gives to the probe sites of a running netobsd: define, undefine and reload as root, as the
# user that netobsd runs as, and as others; interrupted requests; files that root must not write; a netobsd that lies.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/service/running.sh
. "$(dirname "$0")/running.sh"

have readelf || skip_all "readelf is not installed"
client=$top/tests/service/control_client.py file=$tmp/state/formulas.so
mkdir -m 755 "$tmp/state"

begin_netobsd() {
	start --formula-file "$file" "$@"
}

# names: the names in the file that are not default names, as tracers see them
names() {
	readelf -n "$file" | sed -n 's/^ *Name: //p' | uniq | grep -v '^formula__[0-9][0-9]$' | tr '\n' ' '
}

# site NAME: the name of a formula's site, as netobsd knows it
site() {
	ctl formulas "$1" --json | sed 's/.*"site":\(null\|"[^"]*"\).*/\1/; s/"//g'
}

# refused NAME STATUS MESSAGE COMMAND...: the exit status and standard error of a command
refused() {
	refused_name=$1 refused_status=$2 refused_message=$3
	shift 3
	"$@" >"$tmp/reply" 2>"$tmp/message"
	is "$refused_name" "$? $(cat "$tmp/message")" "$refused_status $refused_message"
}

# ----------------------------------------------------------------------------------------------------------- as root

printf 'formula = {"first = tcp-connect-refused"}\n' >"$tmp/conf"
begin_netobsd -c "$tmp/conf" --control-mode 666
is "a configured formula has its name" "$(names)" "first "
inode=$(stat -c %i "$file")
refused "define as root" 0 "" ctl define 'slow-handshake = tcp-connect-established where tcps_srtt_us > 100ms'
check "the reply has the name for tracers" grep -q "usdt:$file:netobs:slow__handshake " "$tmp/reply"
is "the file has the name" "$(names)" "first slow__handshake "
is "netobsd knows it" "$(site slow-handshake)" slow__handshake
refused "define with JSON" 0 "" ctl define 'web=tcp-send where tcp_dport == 80' --json
check "its reply" grep -q '^{"formula":"web",.*"site":"web"' "$tmp/reply"
refused "a mistake changes no name" 1 "netobsctl: there is a formula web already" ctl define 'web = tcp-receive'
refused "the name of a probe" 1 "netobsctl: column 1: tcp-send is the name of a probe" ctl define 'tcp-send = tcp-receive'
is "the names are as before" "$(names)" "first slow__handshake web "
refused "undefine gives the slot its default name back" 0 "" ctl undefine slow-handshake
is "the name is gone" "$(names)" "first web "
refused "the slot is used again" 0 "" ctl define 'again = tcp-send'
is "by the next formula" "$(names)" "first again web "
is "all of it in one inode" "$(stat -c %i "$file")" "$inode"

# perf buildid-cache --add, which "formulas" shows for perf, makes a hard link.
ln "$file" "$tmp/cached"
refused "a file that is in the cache of perf" 0 "" ctl define 'cached = tcp-send'
is "gets the name" "$(names)" "first again web cached "
refused "and loses it" 0 "" ctl undefine cached
rm "$tmp/cached"

# A reload leaves names to netobsctl, since netobsd cannot write them.
printf 'formula = {"second = tcp-connect-refused"}\n' >"$tmp/conf"
kill -HUP "$pid"
reloaded() {
	[ -n "$(site second 2>/dev/null)" ]
}
wait_for reloaded
is "a signal to reload gives a new formula a default name" "$(site second)" formula__04
refused "netobsctl reload" 0 "" ctl reload
is "names what has no name and removes the name of what is gone" "$(names)" "again web second "

# An interrupted request leaves a default name; the next one completes it.
echo 'define left = tcp-send' | python3 "$client" raw "$socket" >"$tmp/reply"
is "a formula without a name in the file" "$(site left)" formula__01
refused "the next request" 0 "" ctl undefine web
is "names it" "$(names) $(site left)" "left again second  left"
"$ctl" -s "$socket" sites >"$tmp/reply"
is "the sites" "$(awk 'NR > 2 { print $1, $2, $3, $4 }' "$tmp/reply" | tr '\n' ' ')" \
	"1 left left no 2 again again no 4 second second no "

# ---------------------------------------------------------------------------------------------------- a full file

for i in $(seq 61); do
	ctl define "f$i = tcp-send" >/dev/null || break
done
is "64 names" "$(names | wc -w)" 64
refused "a 65th formula" 1 "netobsctl: there are 64 formulas already, as many as there can be" ctl define 'more = tcp-send'
for i in $(seq 61); do
	ctl undefine "f$i" || break
done
is "all are free again" "$(names)" "left again second "

# ------------------------------------------------------------------------------------------------------- not as root

refused "a user whom netobsd does not trust" 1 "netobsctl: only root and the user that netobsd runs as may define formulas" \
	ctl_as 65533 define 'f = tcp-send'
refused "the same for undefine" 1 "netobsctl: only root and the user that netobsd runs as may define formulas" \
	ctl_as 65533 undefine left
chmod 600 "$socket"
refused "a user who may not write to the socket" 1 "netobsctl: $socket: Permission denied: it belongs to user $(stat -c %U "$socket") and group root (mode 0600); run this command as root or as a user who may write to it" \
	ctl_as 65533 define 'f = tcp-send'
stop

begin_netobsd --user nobody
refused "the user that netobsd runs as cannot write the file" 2 \
	"netobsctl: tracers see f as formula__01: $file: belongs to another user; run netobsctl as root" ctl_as 65534 define 'f = tcp-send'
check "its formula is defined" grep -q "usdt:$file:netobs:formula__01 " "$tmp/reply"
refused "root defines another one" 0 "" ctl define 'g = tcp-send'
is "which names both" "$(names) $(site f) $(site g)" "f g  f g"
refused "the user that netobsd runs as removes one" 2 \
	"netobsctl: tracers still see the name f: $file: belongs to another user" ctl_as 65534 undefine f
refused "a formula does not get a slot with the name of another one" 2 \
	"netobsctl: tracers see h as formula__03: $file: belongs to another user; run netobsctl as root" ctl_as 65534 define 'h = tcp-send'
refused "the name is taken back" 0 "" ctl undefine g
is "by root" "$(names)" "h "
stop

# ------------------------------------------------------------------------------- files that root must not write to

begin_netobsd
chmod 777 "$tmp/state"
refused "a directory that others may write to" 2 "netobsctl: tracers see f as formula__01: $tmp/state: is writable by others; chmod go-w" \
	ctl define 'f = tcp-send'
chmod 755 "$tmp/state"
chown 65533 "$file"
refused "a file of another user" 2 "netobsctl: tracers see g as formula__02: $file: belongs to another user" ctl define 'g = tcp-send'
chown root "$file"
mv "$file" "$file.moved"
ln -s formulas.so.moved "$file"
refused "a symbolic link" 2 "netobsctl: tracers see h as formula__03: $file: Too many levels of symbolic links" ctl define 'h = tcp-send'
rm "$file"
cp "$file.moved" "$file"
printf x | dd of="$file" bs=1 seek=2000 conv=notrunc 2>/dev/null
refused "a damaged file" 2 \
	"netobsctl: tracers see i as formula__04: $file: not the formulas.so of this netobs: restart the service, or remove the file" \
	ctl define 'i = tcp-send'
mv "$file.moved" "$file"
is "nothing was written" "$(names)" ""
refused "afterwards all are named" 0 "" ctl undefine i
is "by one request" "$(names)" "f g h "
stop

# -------------------------------------------------------------------------------- a path that a shell takes otherwise

odd="$tmp/state/a'; touch injected; '"
mkdir -m 755 "$odd"
start --formula-file "$odd/formulas.so"
refused "define with an odd path" 0 "" ctl define 'f = tcp-send'
is "no command has the path" "$(sed -n 's/^\(bpftrace\|perf\|SystemTap\)  *//p' "$tmp/reply" | uniq)" \
	"none: the path has characters that need quotes"
check "the others do without it" grep -q "^gdb  *gdb -p " "$tmp/reply"
check "JSON" grep -q '"attach":{"bpftrace":"","perf":"","gdb":"gdb -p [^"]*","SystemTap":"","DTrace":"[^"]' <<-END
	$(ctl formulas f --json)
END
stop

# ------------------------------------------------------------------------------------------------ a netobsd that lies

: >"$tmp/sites"
python3 "$client" lie "$tmp/run/liar" "$tmp/sites" >"$tmp/listening" &
liar=$!
wait_while "$liar" grep -q listening "$tmp/listening"

# lie NAME PATH SLOT FORMULA MESSAGE: root's netobsctl after a reply with this file and this formula
lie() {
	printf '{"file":"%s"}\n{"slot":%s,"formula":"%s","name":"formula-01","traced":false}\n' "$2" "$3" "$4" >"$tmp/sites"
	refused "$1" 2 "netobsctl: $5" "$ctl" -s "$tmp/run/liar" define 'f = tcp-send'
}

cp "$file" "$tmp/state/copy.so"
cp /etc/hostname "$tmp/state/other"
mkdir "$tmp/state/user"
cp "$tmp/state/copy.so" "$tmp/state/user/formulas.so"
chown -R 65533 "$tmp/state/user"
lie "a file that is not formulas.so" "$tmp/state/other" 1 f "tracers see f as formula__01: $tmp/state/other: not the formulas.so of this netobs: restart the service, or remove the file"
lie "a file in a directory of another user" "$tmp/state/user/formulas.so" 1 f "tracers see f as formula__01: $tmp/state/user: belongs to another user"
mkdir "$tmp/state/shared"
chmod 1777 "$tmp/state/shared"
ln "$tmp/state/copy.so" "$tmp/state/shared/copy.so"
lie "a second name that another user may have made" "$tmp/state/shared/copy.so" 1 f "tracers see f as formula__01: $tmp/state/shared/copy.so: has further names (hard links), in a directory that others can write"
rm -r "$tmp/state/shared"
lie "a relative path" state/copy.so 1 f "f cannot be traced: netobsd has logged why"
lie "a path with .." "$tmp/state/../state/copy.so" 1 f "tracers see f as formula__01: $tmp/state/../state/copy.so: not a path without . and .."
lie "an invalid name" "$tmp/state/copy.so" 1 ../f "f cannot be traced: no slot is free"
lie "an invalid slot" "$tmp/state/copy.so" 65 f "f cannot be traced: no slot is free"
lie "a path with control characters" "$(printf '%s/\033[2J' "$tmp")" 1 f "the names of formulas for tracers: the reply is incomplete: a line of it is not JSON"
head -c 100000 /dev/zero | tr '\0' a >"$tmp/sites"
refused "a long reply" 2 "netobsctl: the names of formulas for tracers: the reply is incomplete: it is too long for netobsd" "$ctl" -s "$tmp/run/liar" define 'f = tcp-send'
check "nothing was written to any of them" cmp "$tmp/state/user/formulas.so" "$tmp/state/copy.so"
check "nor to the other file" cmp /etc/hostname "$tmp/state/other"
tap_done
