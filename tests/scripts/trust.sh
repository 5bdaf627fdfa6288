#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Text of other users in what root runs: netobs(1) takes no netobsd of another user, executes no path as a part of its program
# and runs no program that another user has put into the working directory.  With stand-ins for bpftrace and pidof.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
have setpriv || skip_all "setpriv is not installed"
user=65533
chmod 755 "$tmp"
mkdir "$tmp/bin" "$tmp/own"
cp -- "$netobsd" "$tmp/own/netobsd"
setpriv --reuid="$user" --clear-groups test -x "$tmp/own/netobsd" || skip_all "another user cannot enter $tmp"
unset NETOBSD
netobs=$top/scripts/netobs

# bpftrace keeps its arguments and its program; pidof finds what a test says.
cat >"$tmp/bin/bpftrace" <<-SH
	#!/bin/sh
	printf '%s\n' "\$@" >"$tmp/program"
	cat >>"$tmp/program"
SH
cat >"$tmp/bin/pidof" <<-SH
	#!/bin/sh
	cat "$tmp/pids"
SH
chmod +x "$tmp/bin/bpftrace" "$tmp/bin/pidof"
PATH=$tmp/bin:$PATH

# runs PROGRAM [SETPRIV-OPTION]...: the program waits for its capture; its process id is $runs
mkfifo "$tmp/capture"
chmod 644 "$tmp/capture"
runs() {
	runs_program=$1
	shift
	setpriv --no-new-privs "$@" "$runs_program" -r "$tmp/capture" 2>"$tmp/runs.err" &
	runs=$!
	wait_while "$runs" begun "$runs" || note "$(cat "$tmp/runs.err")"
}

# traces NAME WANTED OPTION...: the first lines of what bpftrace gets, or the message of netobs
traces() {
	traces_name=$1
	traces_wanted=$2
	shift 2
	: >"$tmp/program"
	"$netobs" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	is "$traces_name" "$(cat "$tmp/err"; grep -o -e '^usdt:.*:netobs:[a-z_]*$' -e 'cat(.*' "$tmp/program" | sort -u)" "$traces_wanted"
}

ignored="start one, or give a capture (-r FILE) or an interface (-i IFACE)"
switched=$(id -nu netobs 2>/dev/null) || switched=nobody
trust="netobs traces only a netobsd that runs as root, $switched or the caller, and whose file belongs to root or the caller;"
trust="$trust to trust this one, set NETOBSD to the path of its program"
cat >"$tmp/mine.bt" <<-'BT'
	usdt:/usr/sbin/netobsd:netobs:tcp__send
	{
	}
BT

# -------------------------------------------------------------------------------------------------- the path of a program

# The path of this program is a program of bpftrace.
path="$tmp/a:netobs:tcp__send { } interval:ms:50 { cat(str(uid), uid); exit(); } usdt:"
mkdir -p "$path/tmp"
cp "$tmp/own/netobsd" "$path/tmp/netobsd"
chown -R "$user" "$tmp/a:"*
runs "$path/tmp/netobsd" --reuid="$user" --clear-groups
hostile=$runs
runs "$tmp/own/netobsd"
own=$runs
echo "$hostile $own" >"$tmp/pids"
traces "one of root beside one of another user" "usdt:$tmp/own/netobsd:netobs:tcp__send" "$tmp/mine.bt"
is "it is that of root" "$(grep -A 1 -x -e -p "$tmp/program" | sed -n 2p)" "$own"
echo "$hostile" >"$tmp/pids"
traces "one of another user alone" "netobs: no netobsd is running but one of another user, which is ignored (see netobs(1), -p): $ignored" \
	"$tmp/mine.bt"
echo "$hostile $hostile" >"$tmp/pids"
traces "two of other users" "netobs: no netobsd is running but 2 of other users, which are ignored (see netobs(1), -p): $ignored" \
	"$tmp/mine.bt"
traces "one of another user by its number" "netobs: process $hostile is of user $user: $trust" "$tmp/mine.bt" -p "$hostile"
NETOBSD="$path/tmp/netobsd"
export NETOBSD
traces "its path is not part of a program, even if its file is named" \
	"netobs: $path/tmp/netobsd: $tmp/mine.bt cannot attach to a path with blanks or other characters than A-Z a-z 0-9 _ . / + @ -" \
	"$tmp/mine.bt" -p "$hostile"
unset NETOBSD

# The file of another user, run by root; root's own file with such a path; the process of another user with the rights of root.
cp "$tmp/own/netobsd" "$tmp/netobsd"
chown "$user" "$tmp/netobsd"
runs "$tmp/netobsd"
traces "root runs the file of another user" "netobs: the program of process $runs belongs to user $user: $trust" "$tmp/mine.bt" -p "$runs"
export NETOBSD="$tmp/netobsd"
traces "which the caller names" "usdt:$tmp/netobsd:netobs:tcp__send" "$tmp/mine.bt" -p "$runs"
unset NETOBSD
mkdir "$tmp/with blank"
cp "$tmp/own/netobsd" "$tmp/with blank/netobsd"
runs "$tmp/with blank/netobsd"
traces "a path with a blank" \
	"netobs: $tmp/with blank/netobsd: $tmp/mine.bt cannot attach to a path with blanks or other characters than A-Z a-z 0-9 _ . / + @ -" \
	"$tmp/mine.bt" -p "$runs"
setpriv --ruid="$user" --clear-groups tail -f /dev/null &
runs=$!
wait_while "$runs" grep -qx tail "/proc/$runs/comm"
traces "a program that another user has started with the rights of root" \
	"netobs: process $runs is of user $user with the rights of root: $trust" "$tmp/mine.bt" -p "$runs"

# ---------------------------------------------------------------------------------------------------------- other answers

# What a control socket answers: only names become a part of the program.
cat >"$tmp/own/netobsctl" <<-'SH'
	#!/bin/sh
	printf '{"formula":"%s","definition":"%s = tcp-send","x":0,"site":"%s","y":0}\n' 'f|e' f 'formula_01' f f 'x|e;s' g g formula_02
SH
chmod +x "$tmp/own/netobsctl"
"$tmp/own/netobsd" -i lo --control "$tmp/control" 2>"$tmp/runs.err" &
runs=$!
wait_while "$runs" test -S "$tmp/control"
export NETOBSD="$tmp/own/netobsd"
traces "a site that is not a name" "netobs: no formula is called f; define it: netobsctl define 'f = PROBE where EXPRESSION'" \
	"$tmp/mine.bt" -F f -p "$runs"
unset NETOBSD

# ----------------------------------------------------------------------------------------------------- what root executes

# Without an installed netobsd: another user's, in a directory of root to which all may write.
mkdir -m 1777 "$tmp/shared"
cp -r "$top/scripts" "$tmp/scripts"
for program in netobsd netobsctl; do
	printf '#!/bin/sh\necho executed\n' >"$tmp/shared/$program"
	chmod 755 "$tmp/shared/$program"
	chown "$user" "$tmp/shared/$program"
done
# elsewhere COMMAND...: runs it there, without a netobsd in the PATH
elsewhere() {
	(cd "$tmp/shared" && PATH=/usr/bin:/bin "$@" </dev/null 2>&1)
}
if [ -e /usr/bin/netobsd ] || [ -e /bin/netobsd ]; then
	skip "a program of another user in the working directory" "netobsd is installed in /usr/bin"
else
	is "a netobsd of another user in the working directory" "$(elsewhere "$tmp/scripts/netobs" hosts "$top/README.md" --print)" \
		"netobs: netobsd is not found: build it, or set NETOBSD to its path"
	is "a netobsctl of another user in the working directory" "$(elsewhere "$tmp/scripts/netobs" conns)" \
		"netobs: netobsctl, which lists the connections of netobsd, is not found"
	is "translate: a netobsd of another user in the working directory" "$(elsewhere "$tmp/scripts/translate" -b /dev/null)" \
		"translate: netobsd is not found: build it, or set NETOBSD to its path"
	# A link to a program of root would run what is given to netobsd, the capture among it.
	echo 'echo executed' >"$tmp/shared/trace.pcap"
	for program in netobsd netobsctl netobs-report netobs-split; do
		ln -s -f /bin/sh "$tmp/shared/$program"
	done
	is "links to programs of root in a directory of root" "$(elsewhere "$tmp/scripts/netobs" conns trace.pcap
		elsewhere "$tmp/scripts/netobs" report trace.pcap
		elsewhere "$tmp/scripts/netobs" split trace.pcap
		elsewhere "$tmp/scripts/netobs" conns
		elsewhere "$tmp/scripts/translate" -b trace.pcap)" \
		"netobs: netobsd is not found: build it, or set NETOBSD to its path
netobs: netobs-report, which makes the page, is not found: build it
netobs: netobs-split, which writes the captures, is not found: build it
netobs: netobsctl, which lists the connections of netobsd, is not found
translate: netobsd is not found: build it, or set NETOBSD to its path"
fi
mkdir "$tmp/theirs"
chown "$user" "$tmp/theirs"
is "a temporary directory in which another user can exchange files" \
	"$(TMPDIR=$tmp/theirs "$netobs" arpwatch -r "$top/tests/captures/vxlan-arp.pcap" 2>&1 >/dev/null) $(ls "$tmp/theirs")" \
	"netobs: TMPDIR=$tmp/theirs does not exist, or another user can exchange files there "
is "translate: the path of a program" "$(NETOBSD="$tmp/with blank/netobsd" "$top/scripts/translate" -b /dev/null 2>&1)" \
	"translate: $tmp/with blank/netobsd: a tracer cannot attach to a path with blanks or other characters than A-Z a-z 0-9 _ . / + @ -"
printf 'tcp:::send { \033[31m(); }\n' >"$tmp/mode=d.d"
is "translate: a file name is not an assignment, and a message of its text cannot colour the terminal" \
	"$(cd "$tmp" && NETOBSD="$tmp/own/netobsd" "$top/scripts/translate" -b mode=d.d 2>&1 >/dev/null | tr -d '[:print:]\n' | od -An -c)" ""
is "translate: it is read" "$(cd "$tmp" && NETOBSD="$tmp/own/netobsd" "$top/scripts/translate" -b mode=d.d 2>&1 >/dev/null | cut -d : -f 1-3)" \
	"translate: mode=d.d:1"

# shellcheck disable=SC2016 # for sed
is "record-lines: the name of a host is not a command of sed" "$(echo '{"cr_uid":1}' | "$top/conf/engines/record-lines" 'x/e;touch executed' 2>&1)" \
	"record-lines: HOST has other characters than A-Z a-z 0-9 _ . : -"
is "record-lines: a name" "$(echo '{"cr_uid":1}' | "$top/conf/engines/record-lines" a-1.example 2>&1)" '{"host":"a-1.example","cr_uid":1}'
is "a backslash is not an escape to awk" "$("$netobs" 'dr\157ps' 2>&1)" "netobs: no script is called dr\\157ps; netobs --list shows them all"
tap_done
