#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Real SMB: samba's server and client on the loopback interface of a network namespace.  The messages are compared with tshark's;
# also from the client's side and with missing frames.
#
#	smb.sh			compare
#	smb.sh capture FILE	only write such a capture
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "network namespaces need root"
have smbd smbclient tcpdump tshark editcap python3 ip unshare ||
	skip_all "samba, smbclient, tcpdump, tshark, python3, ip or unshare is not installed"
refused=$(unshare -n true 2>&1) || skip_all "$refused"

cat >"$tmp/traffic.sh" <<'END'
set -u
cd "$1" || exit 1
export TMPDIR="$1" top_srcdir="$2"
. "$2/tests/lib/tap.sh"
. "$2/tests/lib/loopback.sh"
mkdir share private lock state cache pid
cat >smb.conf <<CONF
[global]
	server role = standalone server
	private dir = $1/private
	lock directory = $1/lock
	state directory = $1/state
	cache directory = $1/cache
	pid directory = $1/pid
	ncalrpc dir = $1/ncalrpc
	log file = $1/log.%m
	smb ports = 445 139
	load printers = no
	server min protocol = SMB2_02
	interfaces = 192.0.2.1
	bind interfaces only = yes
[files]
	path = $1/share
	read only = no
CONF
printf 'secret\nsecret\n' | smbpasswd -c smb.conf -s -a root >passwd.log 2>&1
head -c 6000 /dev/zero >data
smbd -F --no-process-group -s smb.conf </dev/null >server.log 2>&1 &
capture traffic "tcp port 445 or tcp port 139"
listens() {
	ss -Hltn 'sport = 445' | grep -q .
}
wait_for listens

# talk SHARE OPTION...: one session
talk() {
	share=$1
	shift
	timeout 20 smbclient -s smb.conf "//192.0.2.1/$share" "$@" >>client.log 2>&1
}
talk files -U root%secret -c 'put data file; get file copy; ls; mkdir sub; cd sub; put data ünï; del ünï; cd ..; rmdir sub;
	get none none; rename file other; allinfo other; del other'
talk files -U root%secret -m SMB2_02 -c 'ls; put data second; del second'
talk files -U root%secret -m SMB3 -p 139 -c ls
talk files -U root%wrong -c ls
talk none -U root%secret -c ls
talk files -U root%secret --client-protection=encrypt -c 'put data hidden; del hidden'
cmp data copy && echo same >>client.log
captured traffic
exit 0
END

timeout 300 unshare -n sh "$tmp/traffic.sh" "$tmp" "$top" 2>"$tmp/error"
if ! grep -q "the last frame" "$tmp/traffic.pcap" 2>/dev/null || ! grep -q '^same' "$tmp/client.log"; then
	not_ok "server and clients run" "$tmp/error" "$tmp/server.log" "$tmp/client.log"
	tap_done
fi
capture=$tmp/traffic.pcap
if [ "${1-}" = capture ]; then
	cp "$capture" "$2"
	exit
fi

check "each message fires its probe, as tshark finds it" \
	python3 "$top/tests/apps/smb/smb_messages.py" "$netobsd" "$capture"
note "$(tail -n 1 "$tmp/check")"

# probes OPTION...: the firings as lines without connection ids, which differ between ends
probes() {
	"$netobsd" -r "$capture" --print='smb-*' "$@" | sed 's/, cid [0-9]*$//'
}
probes >"$tmp/both"
# done_with TEXT: number of completed operations whose lines have it
done_with() {
	grep 'smb-op-done' "$tmp/both" | grep -c -F -e "$1"
}
is "the file that is written" "$(done_with 'write, share \\\\192.0.2.1\\files, path file, offset 0, count 6000, status STATUS_SUCCESS')" 1
is "the file that is read" "$(done_with 'read, share \\\\192.0.2.1\\files, path file, offset 0, count 6000, status STATUS_SUCCESS')" 1
is "a path in another directory, in UTF-8" "$(done_with 'write, share \\\\192.0.2.1\\files, path sub\\\xc3\xbcn\xc3\xaf,')" 1
is "a file that is not there" "$(done_with 'create, share \\\\192.0.2.1\\files, path none, status STATUS_OBJECT_NAME_NOT_FOUND')" 1
is "a share that is not there" "$(done_with 'tree-connect, share \\\\192.0.2.1\\none, status STATUS_BAD_NETWORK_NAME')" 1
is "a wrong password" "$(done_with 'session-setup, status STATUS_LOGON_FAILURE')" 1
check "a session on port 139" grep -q ' 192.0.2.1:139 - .*query-directory, share' "$tmp/both"
check "an encrypted session says that it is" grep -q ' encrypted, ' "$tmp/both"
is "the encrypted path is not known" "$(grep -c hidden "$tmp/both")" 0
is "each request has its response" "$(grep 'smb-op-done' "$tmp/both" | grep -v ' encrypted, ' | grep -v -c ' latency ')" 0

probes --view monitor >"$tmp/monitor"
check "view monitor: the same firings" cmp "$tmp/both" "$tmp/monitor"
probes --local 192.0.2.2/32 | sed -E 's/ (192.0.2.2:[0-9]*) - (192.0.2.1:[0-9]*),/ \2 - \1,/' >"$tmp/client"
check "view host, local client: the same firings, endpoints exchanged" cmp "$tmp/both" "$tmp/client"

# Missing frames: nothing is invented.  A path or latency may be unknown then.
operations() {
	"$netobsd" -r "$1" --print='smb-op-*' | sed -E 's/^[^ ]* (smb-op-[a-z]*) ([^ ]* - [^,]*, [a-z-]*),.* mid ([0-9]*), cid .*/\1 \2 \3/' | sort
}
operations "$capture" >"$tmp/all"
for step in 3 5 7; do
	# shellcheck disable=SC2046
	editcap "$capture" "$tmp/missing.pcap" $(seq 1 "$step" 500)
	operations "$tmp/missing.pcap" >"$tmp/some"
	is "with each frame missing whose number is n * $step + 1: no invented operation" "$(comm -23 "$tmp/some" "$tmp/all")" ''
done
tap_done
