#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobs(1) on the command line of a user: options, files and arguments in any order; failures of netobsd; maps that are too
# small; the end of its netobsd.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

[ -x "$netobsd" ] || skip_all "netobsd is not built"
NETOBSD=$(private_netobsd) || exit 99
export NETOBSD
netobs=$top/scripts/netobs
captures=$top/tests/captures
home=$captures/home-network.pcap
questions=$captures/questions.pcap

# fails NAME STATUS WANTED OPTION...: netobs fails with this status and one line that matches WANTED
fails() {
	fails_name=$1
	fails_status=$2
	fails_wanted=$3
	shift 3
	"$netobs" "$@" >"$tmp/out" 2>&1 </dev/null
	fails_got=$?
	if [ "$fails_got" -eq "$fails_status" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q -e "$fails_wanted" "$tmp/out"; then
		ok "$fails_name"
	else
		echo "status $fails_got" >>"$tmp/out"
		not_ok "$fails_name" "$tmp/out"
	fi
}

# answers NAME WANTED OPTION...: netobs succeeds, and its output without the first line is WANTED
answers() {
	answers_name=$1
	answers_wanted=$2
	shift 2
	if "$netobs" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null; then
		is "$answers_name" "$(sed 1d "$tmp/out")" "$answers_wanted"
	else
		not_ok "$answers_name" "$tmp/out" "$tmp/err"
	fi
}

# ------------------------------------------------------------------------------------------- without any tracer at all

for script in "$top"/scripts/bpftrace/*.bt; do
	name=$(basename "$script" .bt)
	"$netobs" --help "$name" >"$tmp/out" 2>&1 || echo "$name: status"
	grep -q "^usage: netobs $name" "$tmp/out" || echo "$name: no usage"
	grep -q "^Needs .* a capture (FILE), an interface (-i IFACE) or a running netobsd" "$tmp/out" || echo "$name: no needs"
done >"$tmp/unexplained"
check "--help of each script says what it needs" test ! -s "$tmp/unexplained"
"$netobs" --help timeline >"$tmp/out"
check "--help of a script with a required argument" grep -q "^PORT is required" "$tmp/out"
"$netobs" webconn --help >"$tmp/out"
check "--help behind the name" grep -q "^PORT is optional" "$tmp/out"

"$netobs" --help >"$tmp/out"
is "--help: no line is wider than 80 columns" "$(awk 'length($0) > 80' "$tmp/out")" ""
sed -n '/^The options are/,/^\.El/s/^\.It Fl \([^ ]*\).*/-\1/p' "$top/man/netobs.1" >"$tmp/options"
check "netobs(1) has options" test "$(wc -l <"$tmp/options")" -gt 8
is "--help explains every option of netobs(1)" \
	"$(while read -r option; do grep -q -e "^  ${option}[ ,]" "$tmp/out" || echo "$option"; done <"$tmp/options")" ""

fails "timeline without its port" 1 "timeline needs a port: netobs timeline PORT" timeline -r "$questions"
fails "timeline without its port, on a running netobsd" 1 "timeline needs a port" timeline
fails "a port that is none" 1 "PORT is a number from 1 to 65535, not 70000" timeline 70000 -r "$questions"
fails "an argument of a script without arguments" 1 "hosts takes no argument, and there is no file nonsense" hosts nonsense
fails "two arguments" 1 "webconn takes one argument" webconn 80 81 -r "$questions"
fails "an argument behind --" 1 "PORT is a number" webconn -r "$questions" -- "$home"
fails "a directory" 1 "is a directory" hosts "$captures"
fails "a filter for a running netobsd" 1 "^netobs: -f needs a capture" hosts -f tcp
fails "a process id that is none" 1 "^netobs: PID is a number, not nonsense" hosts -p nonsense
fails "an unknown tracer" 1 "^netobs: unknown tracer gdb" hosts -t gdb "$questions"
fails "a text as a script" 1 "^netobs: .*/NEWS is no script with a netobs probe" "$top/NEWS" "$home"
fails "a directory as a script" 1 "^netobs: / is a directory" / "$home"
fails "an option of netobsd without its dashes" 1 "^netobs: -o takes an option of netobsd with its dashes" hosts "$home" -o view=host
if have setpriv && [ "$(id -u)" -eq 0 ] && chmod 755 "$tmp" && setpriv --reuid=65534 --clear-groups test -r "$netobs"; then
	: >"$tmp/unreadable"
	chmod 0 "$tmp/unreadable"
	is "a file that may not be read" "$(setpriv --reuid=65534 --clear-groups "$netobs" hosts "$tmp/unreadable" 2>&1)" \
		"netobs: cannot read $tmp/unreadable"
else
	skip "a file that may not be read" "not root, or no setpriv"
fi
for question in tcpretrans=retransmits tcpdrop=drops tcptracer=tcpstate tcpsubnet=tcpbytes; do
	fails "a program of bcc: ${question%=*}" 1 "did you mean ${question#*=}?" "${question%=*}"
	check "its script: ${question#*=}" "$netobs" --help "${question#*=}"
done
private=$NETOBSD
for NETOBSD in /nonsense "$top" "$top/README.md"; do
	fails "NETOBSD is no program" 1 "^netobs: NETOBSD is $NETOBSD, which is no program" hosts "$home"
	fails "NETOBSD is no program: --version" 1 "^netobs: NETOBSD is $NETOBSD, which is no program" --version
done
NETOBSD=$private
if [ -c /dev/full ]; then
	for what in "--help hosts" --help --list --version; do
		# shellcheck disable=SC2086
		"$netobs" $what >/dev/full 2>"$tmp/err"
		is "an output of $what that cannot be written: status" $? 1
		is "an output of $what that cannot be written: one line" "$(cat "$tmp/err")" "netobs: cannot write the output"
	done
fi
is "--print with a D script of the user" "$("$netobs" "$top/scripts/d/hosts.d" "$questions" --print 2>&1 | awk '{ print $2 }' | sort -u)" \
	"ip-receive
ip-send"
fails "no such file, behind an argument" 1 "cannot read /nonsense" webconn 80 -r /nonsense

is "--print behind a file" "$("$netobs" refused "$captures/one-tcp-rst.pcap" --print 2>&1 | awk '{ print $2 }' | paste -s -d ' ' -)" \
	"tcp-accept-refused tcp-connect-refused"

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "on captures, interfaces and a running netobsd" "$refused"
	tap_done
fi

# ------------------------------------------------------------------------------------------------------------- in any order

answers "an argument, then a file" "@connections[192.168.0.1]: 34" webconn 2869 -r "$home"
answers "an argument, then a plain file" "@connections[192.168.0.1]: 34" webconn 2869 "$home"
answers "a plain file, then an argument" "@connections[192.168.0.1]: 34" webconn "$home" 2869
answers "an argument with a leading zero" "@connections[192.168.0.1]: 34" webconn 02869 "$home"
answers "a plain file and no argument" "@connections[192.168.0.13]: 43" webconn "$home"
answers "an option in front of the name" "@connections[192.168.0.13]: 43" -r "$home" webconn
answers "a filter behind everything" "@connections[192.168.0.1]: 34" webconn 2869 "$home" -f 'tcp port 2869'
answers "an argument behind --" "@connections[192.168.0.1]: 34" webconn "$home" -- 2869
ln -s "$home" "$tmp/one name.pcap"
ln -s "$questions" "$tmp/another'name.pcap"
answers "two files with difficult names" "@connections[192.0.2.10]: 2
@connections[192.168.0.13]: 43" webconn "$tmp/one name.pcap" "$tmp/another'name.pcap"
"$netobs" webconn - <"$home" >"$tmp/out" 2>"$tmp/err"
is "standard input" "$(sed 1d "$tmp/out")" "@connections[192.168.0.13]: 43"

# -------------------------------------------------------------------------------------------------------- failures of netobsd

fails "no such interface" 1 "^netobsd: no such interface: nonsense" hosts -i nonsense
fails "not a capture" 1 "^netobsd: .*README.md is not a readable capture" hosts "$top/README.md"
fails "a bad filter" 1 "^netobsd: bad filter" hosts "$home" -f 'tcp nonsense'
fails "a bad option" 1 "^netobsd: .*nonsense" hosts "$home" -o --nonsense
"$netobs" hosts "$captures/broken-record.pcap" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a damaged capture: status" $? 2
check "a damaged capture: the message of netobsd" grep -q '^netobsd: .*broken-record.pcap' "$tmp/err"
check "a damaged capture: what is in front of the damage" grep -q '^@from' "$tmp/out"
cat >"$tmp/wrong.bt" <<-'BT'
	usdt:/usr/sbin/netobsd:netobs:tcp__send { @ = nonsense(); }
BT
"$netobs" "$tmp/wrong.bt" "$home" >"$tmp/out" 2>&1 </dev/null
is "a script that does not compile: status" $? 1
check "a script that does not compile: the message of bpftrace" grep -q 'ERROR: .*nonsense' "$tmp/out"

if [ -c /dev/full ]; then
	"$netobs" hosts "$questions" >/dev/full 2>"$tmp/err" </dev/null
	is "an output that cannot be written: status" $? 4
fi

# --------------------------------------------------------------------------------------------------------- maps that are full

python3 - "$tmp/many.pcap" 100000 <<'PY' || skip_all "python3 is not installed"
import struct
import sys


def checksum(header):
    total = sum(struct.unpack("!10H", header))
    total = (total >> 16) + (total & 0xffff)
    return ~(total + (total >> 16)) & 0xffff


# A UDP packet of each of many hosts to a port of its own; every tenth host sends two.
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for host in range(int(sys.argv[2])):
        for again in range(1 + (host % 10 == 0)):
            payload = bytes(20 + host % 7)
            udp = struct.pack("!HHHH", 1024 + host % 60000, host % 60000 + 1, 8 + len(payload), 0) + payload
            header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), again, 0, 64, 17, 0,
                                 struct.pack("!I", 0x0a000000 + host), bytes((192, 0, 2, 1)))
            header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
            frame = bytes(12) + b"\x08\0" + header + udp
            out.write(struct.pack("<IIII", 1700000000 + host // 1000, host % 1000 * 1000, len(frame), len(frame)) + frame)
PY
# total MAP: the sum of its values
total() {
	awk -v map="^@$1\\\\[" '$0 ~ map { keys++; sum += $NF } END { printf "%d %.0f\n", keys, sum }' "$tmp/out"
}
"$NETOBSD" -r "$tmp/many.pcap" --print=ip-receive --format json |
	python3 -c 'import json, sys
print(100000, sum(json.loads(line)["args"][2]["ip_plength"] for line in sys.stdin))' >"$tmp/sum"
"$netobs" hosts "$tmp/many.pcap" >"$tmp/out" 2>"$tmp/err"
is "100,000 hosts: status" $? 0
check "100,000 hosts: the printer has a sum" grep -q '^100000 [1-9]' "$tmp/sum"
is "100,000 hosts: each is there, and the sum is right" "$(total from)" "$(cat "$tmp/sum")"
BPFTRACE_MAP_KEYS_MAX=16384 "$netobs" hosts "$tmp/many.pcap" >"$tmp/out" 2>"$tmp/err"
is "a map that is full: status" $? 4
is "a map that is full: what was cut" "$(sed 's/;.*//' "$tmp/err")" \
	"netobs: @from is too small: $(awk 'BEGIN { print 110000 - 16384 - 1639 }') updates found no room, so what is printed is too little"
check "a map that is full: no other line" test -z "$(grep -v -e '^@' -e '^missed 0 firings$' "$tmp/out")"

BPFTRACE_MAP_KEYS_MAX=1 "$netobs" sctpstate "$captures/sctp-multihomed.pcap" "$captures/sctp-restart.pcap" >"$tmp/out" 2>&1
is "an association that has ended takes no room: status" $? 0
is "an association that has ended takes no room: changes with a duration" "$(awk '$2 > 0' "$tmp/out" | grep -c ' -> ')" 6

# ---------------------------------------------------------------------------------------------- the end, and what stays behind

# none_left: whether no netobsd of this test runs
none_left() {
	for none_left_exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$none_left_exe")" != "$NETOBSD" ] || return 1
	done
}
# A tracer that is not attached when a signal ends netobsd, and fails as bpftrace does.
mkdir "$tmp/fake"
cat >"$tmp/fake/bpftrace" <<-SH
	#!/bin/sh
	while [ "\$1" != -p ]; do shift; done
	: >"$tmp/attaching"
	while grep -q '^State:[[:space:]]*[^ZX]' "/proc/\$2/status"; do sleep 0.05; done 2>/dev/null # no event: a child of others
	echo "cannot attach uprobe, probe entry may not exist" >&2
	echo "terminate called after throwing an instance of 'bpftrace::MountNSException'" >&2
	kill -ABRT \$\$
SH
chmod +x "$tmp/fake/bpftrace"
for target in '' -; do
	rm -f "$tmp/attaching"
	PATH=$tmp/fake:$PATH setsid "$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null &
	interrupted=$!
	check "a tracer is about to attach" wait_for test -e "$tmp/attaching"
	kill -s TERM -- "$target$interrupted"
	wait "$interrupted"
	is "a signal to ${target:+all processes of }netobs before the tracer is attached: status" $? 130
	is "a signal to ${target:+all processes of }netobs before the tracer is attached: one line" "$(cat "$tmp/err")" \
		"netobs: interrupted before the tracer was attached"
done
# The same errors without a signal are shown.
sed 's/^while .*//' "$tmp/fake/bpftrace" >"$tmp/fake/failing"
mv "$tmp/fake/failing" "$tmp/fake/bpftrace" && chmod +x "$tmp/fake/bpftrace"
PATH=$tmp/fake:$PATH "$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a tracer that fails: its errors" "$(cut -d ' ' -f 1,2 "$tmp/err")" "cannot attach
terminate called"

# deliver COMMAND...: runs it with the default action of the signals that nohup and a shell's background job ignore, because
# a script cannot trap a signal that was ignored when it began
deliver() {
	env --default-signal=HUP,INT,QUIT "$@"
}

# A capture that does not end: a signal to every process of netobs loses no output.
mkfifo "$tmp/endless"
cat >"$tmp/end.bt" <<-'BT'
	usdt:/usr/sbin/netobsd:netobs:ip__receive { printf("a packet\n"); @packets = count(); }
	END { printf("the end\n"); }
BT
for signal in TERM HUP; do
	env --default-signal=HUP,INT,QUIT setsid "$netobs" "$tmp/end.bt" - <"$tmp/endless" >"$tmp/out" 2>"$tmp/err" &
	interrupted=$!
	exec 4>"$tmp/endless"
	cat "$home" >&4
	check "the capture is observed" wait_for test -s "$tmp/out"
	kill -s "$signal" -- "-$interrupted"
	wait "$interrupted"
	is "SIG$signal to all processes of netobs -r: status" $? 0
	exec 4>&-
	is "SIG$signal to all processes of netobs -r: the end of the script" "$(grep -c -e '^the end$' -e '^@packets: ' "$tmp/out")" 2
	is "SIG$signal to all processes of netobs -r: no complaint" "$(cat "$tmp/err")" ""
done

if unshare --net true 2>/dev/null; then
	# Runs netobs and sends datagrams until it has ended; with a signal, sends it to netobs alone, or to all its processes
	# (-SIGNAL), when a hundred datagrams were sent to a tracer that is attached.
	cat >"$tmp/live.py" <<-'PY'
		import glob, os, signal, socket, subprocess, sys, time
		def tracers(parent):
		    found = []
		    for path in glob.glob("/proc/[0-9]*/stat"):
		        try:
		            with open(path) as stat:
		                pid, comm, _, of = stat.read().split()[:4]
		        except (OSError, ValueError):
		            continue
		        if comm == "(bpftrace)" and of == str(parent):
		            found.append(pid)
		    return found
		subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
		netobs = subprocess.Popen(sys.argv[3:], stdout=open(sys.argv[2] + "/out", "w"), stderr=open(sys.argv[2] + "/err", "w"),
		                          start_new_session=True)
		sender, sent, observing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0, False
		while netobs.poll() is None:
		    sender.sendto(b"x", ("127.0.0.1", 9999))
		    time.sleep(0.01) # no event: the interval between two datagrams
		    with open("/proc/net/packet") as table:
		        observing = observing or any(line.split()[3] == "0003" for line in table)
		    waits = tracers(netobs.pid) if observing and sys.argv[1] else []
		    sent += bool(waits) and "poll" in os.popen("cat /proc/%s/wchan 2>&1" % waits[0]).read()
		    if sys.argv[1] and sent == 100:
		        os.kill(-netobs.pid if sys.argv[1][0] == "-" else netobs.pid, getattr(signal, "SIG" + sys.argv[1].strip("-")))
		sys.exit(netobs.returncode)
	PY
	deliver timeout 120 unshare --net python3 "$tmp/live.py" '' "$tmp" sh -c "'$netobs' ipio -i lo | head -n 3 >'$tmp/lines'"
	is "netobs ipio -i lo | head -n 3: three lines" "$(wc -l <"$tmp/lines" | tr -d ' ')" 3
	check "its netobsd has ended" wait_for none_left
	for signal in TERM -TERM -HUP -INT; do
		deliver timeout 120 unshare --net python3 "$tmp/live.py" "$signal" "$tmp" "$netobs" hosts -i lo
		is "kill $signal of netobs -i: status" $? 0
		sed 's/^/# /' "$tmp/err"
		check "kill $signal of netobs -i: it prints what it has counted" grep -q '^@from\[127.0.0.1\]: ' "$tmp/out"
		check "kill $signal of netobs -i: its netobsd has ended, too" wait_for none_left
	done

	# Opens connections and keeps each for a while, until netobs has ended.  It is ended when it has printed this process, or,
	# if it does not, after 200 connections.
	cat >"$tmp/process.py" <<-'PY'
		import os, signal, socket, subprocess, sys, time
		subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
		server = socket.create_server(("127.0.0.1", 7777), backlog=300)
		output = sys.argv[1] + "/out"
		netobs = subprocess.Popen(sys.argv[2:], stdout=open(output, "w"), stderr=open(sys.argv[1] + "/err", "w"))
		kept = []
		while netobs.poll() is None:
		    kept.append(socket.create_connection(("127.0.0.1", 7777)))
		    kept.append(server.accept()[0])
		    time.sleep(0.2) # no event: the interval between two connections
		    if len(kept) > 400 or " %d python3" % os.getpid() in open(output).read():
		        netobs.send_signal(signal.SIGTERM)
		        netobs.wait()
		print(os.getpid())
	PY
	pid=$(timeout 240 unshare --net python3 "$tmp/process.py" "$tmp" "$netobs" tcpconnect -i lo)
	check "tcpconnect: the process of a new connection is known" grep -q " $pid python3  *127.0.0.1  *127.0.0.1  *7777" "$tmp/out"
	is "it has nothing to explain" "$(cat "$tmp/err")" ""

	# Resets connections of which both ends are on this host, until ten lines are printed or 200 connections were reset.
	cat >"$tmp/resets.py" <<-'PY'
		import signal, socket, struct, subprocess, sys, time
		subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
		server = socket.create_server(("127.0.0.1", 7777))
		output = sys.argv[1] + "/out"
		netobs = subprocess.Popen(sys.argv[2:], stdout=open(output, "w"), stderr=open(sys.argv[1] + "/err", "w"))
		count = 0
		while netobs.poll() is None:
		    client = socket.create_connection(("127.0.0.1", 7777))
		    accepted = server.accept()[0]
		    client.sendall(b"request")
		    accepted.recv(7)
		    accepted.sendall(b"reply")
		    client.recv(5)
		    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		    accepted.close()
		    client.close()
		    time.sleep(0.05) # no event: the interval between two connections
		    count += open(output).read().count("\n") > 0
		    if count > 200 or open(output).read().count("\n") > 10:
		        netobs.send_signal(signal.SIGTERM)
		        netobs.wait()
	PY
	timeout 240 unshare --net python3 "$tmp/resets.py" "$tmp" "$netobs" resets -i lo
	check "resets: ten lines of connections within this host" test "$(wc -l <"$tmp/out")" -gt 10
	is "resets: one line for each, by the end that sends the RST" \
		"$(sed 1d "$tmp/out" | awk '{ print $6, $9 }' | sort -u)" "7777 local"
else
	skip "netobs on an interface" "no network namespaces here"
fi

# ---------------------------------------------------------------------------------------------------- processes that are unknown

"$netobs" tcpconnect "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a capture: why processes are unknown" "$(cat "$tmp/err")" \
	"netobs: a capture contains no processes: they are unknown (-1, <unknown>)"
"$netobs" hosts "$home" >"$tmp/out" 2>"$tmp/err" </dev/null
is "a script without processes has nothing to explain" "$(cat "$tmp/err")" ""
mkfifo "$tmp/fifo"
"$NETOBSD" -u nobody -r "$tmp/fifo" --wait-tracer=120 2>"$tmp/observer.err" &
observer=$!
wait_for begun "$observer"
"$netobs" tcpconnect -p "$observer" >"$tmp/out" 2>"$tmp/err" &
tracer=$!
cat "$home" >"$tmp/fifo"
wait "$observer"
wait "$tracer"
is "a netobsd without permission: why processes are unknown" "$(cat "$tmp/err")" \
	"netobs: netobsd runs without --all-owners: processes of other users than nobody are unknown (-1, <unknown>)"
# A netobsd whose file was replaced since it was started: netobs ends with it.
cp "$NETOBSD" "$tmp/replaced"
"$tmp/replaced" -r "$tmp/fifo" --wait-tracer=120 2>"$tmp/observer.err" &
observer=$!
wait_for begun "$observer"
rm "$tmp/replaced"
cp "$NETOBSD" "$tmp/replaced"
timeout 120 "$netobs" webconn -p "$observer" >"$tmp/out" 2>"$tmp/err" &
tracer=$!
cat "$home" >"$tmp/fifo"
wait "$observer"
wait "$tracer"
is "a netobsd whose file was replaced: netobs ends with it" $? 0
is "a netobsd whose file was replaced: output" "$(cat "$tmp/out")" "missed 0 firings
@connections[192.168.0.13]: 43"
if unshare --net true 2>/dev/null; then
	# On a netobsd with --all-owners: 200 connections, then the end at once.
	cat >"$tmp/service.py" <<-'PY'
		import glob, os, signal, socket, subprocess, sys, time
		deadline = time.monotonic() + 200 # before timeout(1) ends this program without a word
		def polls(pid):
		    return "poll" in open("/proc/%s/wchan" % pid).read()
		def observes():
		    return polls(service.pid) and len(open("/proc/net/packet").readlines()) >= 2
		def ended():
		    listing = subprocess.run([sys.argv[4], "--socket", sys.argv[2] + "/control", "connections", "--json"],
		                             stdout=subprocess.PIPE, universal_newlines=True).stdout
		    return listing.count('"time-wait"') + listing.count('"closed"') >= 400
		def traces():
		    for path in glob.glob("/proc/[0-9]*/stat"):
		        try:
		            pid, comm, _, of = open(path).read().split()[:4]
		            if comm == "(bpftrace)" and of == str(netobs.pid):
		                return polls(pid)
		        except (OSError, ValueError):
		            continue
		    return netobs.poll() is not None
		def wait_for(condition):
		    while time.monotonic() < deadline:
		        if condition():
		            return
		        time.sleep(0.01) # no event: the interval between two looks
		    print("%s() is still false" % condition.__name__, file=sys.stderr)
		    subprocess.run([sys.argv[4], "--socket", sys.argv[2] + "/control", "status"], stdout=sys.stderr)
		    for path in glob.glob("/proc/[0-9]*/stat"):
		        stat = open(path).read()
		        if "netobs" in stat or "bpftrace" in stat:
		            print(stat[:60], open(path[:-4] + "wchan").read(), file=sys.stderr)
		    service.kill() # netobs ends with it
		    sys.exit(99)
		subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
		server = socket.create_server(("127.0.0.1", 7777))
		service = subprocess.Popen([os.environ["NETOBSD"], "-u", "nobody", "--all-owners", "-i", "lo",
		                            "--control", sys.argv[2] + "/control"])
		wait_for(observes)
		netobs = subprocess.Popen([sys.argv[1], *sys.argv[5:], "-p", str(service.pid)], stdout=open(sys.argv[2] + "/out", "w"),
		                          stderr=open(sys.argv[2] + "/err", "w"), start_new_session=True)
		wait_for(traces)
		for _ in range(200):
		    client = socket.create_connection(("127.0.0.1", 7777), 60)
		    client.close()
		    server.accept()[0].close()
		wait_for(ended)
		os.kill(-netobs.pid if sys.argv[3][0] == "-" else netobs.pid, getattr(signal, "SIG" + sys.argv[3].strip("-")))
		def has_ended():
		    return netobs.poll() is not None
		wait_for(has_ended)
		status = netobs.wait()
		service.terminate()
		service.wait()
		sys.exit(status)
	PY
	deliver timeout 240 unshare --net python3 "$tmp/service.py" "$netobs" "$tmp" TERM "$build/netobsctl" tcplife
	is "tcplife on a running netobsd, ended by a signal: status" $? 0
	is "tcplife on a running netobsd with --all-owners explains nothing" "$(cat "$tmp/err")" ""
	for signal in TERM -TERM -HUP -INT; do
		deliver timeout 240 unshare --net python3 "$tmp/service.py" "$netobs" "$tmp" "$signal" "$build/netobsctl" timeline 7777
		is "timeline on a running netobsd, kill $signal: status" $? 0
		is "timeline on a running netobsd, kill $signal: every SYN" "$(grep -c ' SYN$' "$tmp/out")" 200
	done
else
	skip "netobs on a running netobsd, ended by a signal" "no network namespaces here"
fi

tap_done
