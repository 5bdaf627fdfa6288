#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Several workers (--workers): together they report what one worker reports, each connection in one of them.  In a build
# with --enable-sanitizers=thread this is the test for data races, too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# shellcheck source=tests/lib/live_hosts.sh
. "$(dirname "$0")/../lib/live_hosts.sh"

many=$top/tests/live/workers_sockets.py sockets=$top/tests/live/live_sockets.py
ctl=$build/netobsctl socket=$tmp/control

# serve: echo servers in both namespaces
serve() {
	serve_number=0
	servers=
	for serve_at in "$far 10.77.0.2" "$far fd77::2" "$near 10.77.0.1" "$near fd77::1"; do
		serve_number=$((serve_number + 1))
		# shellcheck disable=SC2086
		set -- $serve_at
		ip netns exec "$1" python3 "$many" serve "$2" 7100 "$tmp/ready.$serve_number" &
		servers="$servers $!"
		wait_for test -e "$tmp/ready.$serve_number"
	done
}

# stop PID...: ends them and waits
stop() {
	kill "$@"
	wait "$@" 2>/dev/null
}

# connect_all COUNT: COUNT connections each way over IPv4, and a quarter as many over IPv6
connect_all() {
	in_near python3 "$many" connect 10.77.0.2 7100 "$1" &
	connect_a=$!
	in_far python3 "$many" connect 10.77.0.1 7100 "$1" &
	connect_b=$!
	in_near python3 "$many" connect fd77::2 7100 $(($1 / 4)) &
	connect_c=$!
	in_far python3 "$many" connect fd77::1 7100 $(($1 / 4)) &
	connect_d=$!
	wait $connect_a $connect_b $connect_c $connect_d
}

# segments: received and sent by the kernel's TCP in $far so far
segments() {
	in_far cat /proc/net/snmp | awk '$1 == "Tcp:" && $2 ~ /[0-9]/ { print $11, $12 + $13 }'
}

# check_firings WORKERS: checks the printed firings
check_firings() {
	python3 "$many" check "$1" "$tmp/err" <"$tmp/out"
}

threads_of() {
	find "/proc/$1/task" -mindepth 1 -maxdepth 1 | wc -l
}

ctl() {
	"$ctl" -s "$socket" "$@"
}

serve

# -------------------------------------------------------------------------------------------- like a single worker

for workers in 1 2 3; do
	observe "$far" $workers -i far0 -B 16384 --workers $workers --no-owners --print='gld-*,tcp-*' --format json --summary
	if grep -q __tsan_init "$netobsd"; then
		skip "$workers workers: threads" "the sanitizer has one of its own"
	else
		is "$workers workers: threads" "$(threads_of "$pid")" $workers
	fi
	before=$(segments)
	connect_all 150
	wait_for closed 7100
	after=$(segments)
	finish
	is "$workers workers: exit status" $? 0
	is "$workers workers: no frame is dropped" "$(counter capture.dropped)" 0
	is "$workers workers: received is observed" "$(counter capture.received)" "$(counter frames)"
	check "$workers workers: every connection and id once, whole, in one of them" check_firings $workers
	is "$workers workers: all connections, every segment once" "$(check_firings $workers | tail -n 2 | tr '\n' ' ')" \
		"$(echo "$before $after" | awk '{ print "374 connections", $3 - $1, $4 - $2, "segments " }')"
done

# ------------------------------------------------------------------------------------------------------ queries

chmod 755 "$tmp"
observe "$far" 3 -i far0 -B 16384 --workers 3 --no-owners --control "$socket" --metrics 127.0.0.1:9977
ip netns exec "$near" python3 "$many" hold 10.77.0.2 7100 200 "$tmp/held" &
holder=$!
wait_for test -e "$tmp/held"
all_listed() {
	ctl connections --json >"$tmp/connections"
	[ "$(grep -c '_port":7100' "$tmp/connections")" -ge 200 ]
}
wait_for all_listed
is "netobsctl: every connection once" "$(grep -c '_port":7100' "$tmp/connections"):$(
	grep -o '"cr_client":"10.77.0.1",.*"cr_client_port":[0-9]*' "$tmp/connections" | sort -u | wc -l)" 200:200
grep -o '"cr_cid":[0-9]*' "$tmp/connections" | cut -d : -f 2 |
	awk '{ at = int(($1 - 1) / 2) % 3; if (!seen[at]++) print at, $1 }' | sort >"$tmp/cids"
is "netobsctl: of all workers" "$(cut -d ' ' -f 1 "$tmp/cids" | tr '\n' ' ')" "0 1 2 "
found=
while read -r _ cid; do
	found="$found $(ctl connection "$cid" | grep -c "connection id  $cid,")"
done <"$tmp/cids"
is "netobsctl: a connection by its id" "$found" " 1 1 1"
is "netobsctl: no connection of this id" "$(ctl connection 999999999 2>&1)" "netobsctl: there is no connection 999999999"
check "netobsctl: workers" sh -c "'$ctl' -s '$socket' status | grep -q '^workers  *3$'"
is "netobsctl: one row for an interface" "$(ctl interfaces | tail -n +2 | awk '{ print $1, $3 }')" "far0 up"

# agree: whether netobsctl counters and interfaces, the metrics and the summary have the same number of frames
agree() {
	ctl counters >"$tmp/counters" || return 1
	in_far python3 "$top/tests/service/control_client.py" http 127.0.0.1 9977 "GET /metrics HTTP/1.1" | tr -d '\r' >"$tmp/metrics"
	summary_of "$pid" "$tmp/err"
	frames=$(awk '$1 == "frames" { print $2 }' "$tmp/counters")
	set -- "$(awk '$1 == "netobs_frames_total" { print $2 }' "$tmp/metrics")" "$(counter frames)" \
		"$(ctl interfaces | awk '$1 == "far0" { print $5 }')"
	echo "$frames: $*"
	[ "$frames" -gt 200 ] && [ "$*" = "$frames $frames $frames" ]
}
check "counters, metrics, summary and interfaces agree" wait_for agree
states=$(awk '/^netobs_connections_by_state.*state="established"/ && /proto="tcp"/ { print $2 }' "$tmp/metrics")
is "metrics: connections of all workers" "$states" 200
stop $holder
finish

observe "$far" 2 -i far0 --workers 2 --no-owners --control "$socket" --metrics 127.0.0.1:9977 --print --format json
connect_all 100 &
talkers=$!
while kill -0 $talkers 2>/dev/null; do
	ctl counters && ctl connections && ctl interfaces && ctl status --json && ctl probes &&
		in_far python3 "$top/tests/service/control_client.py" http 127.0.0.1 9977 "GET /metrics HTTP/1.1"
done >"$tmp/answers" 2>"$tmp/refused"
wait $talkers
finish
is "queries without a pause: exit status" $? 0
check "queries without a pause: each has a reply" sh -c "[ -s '$tmp/answers' ] && [ ! -s '$tmp/refused' ]"

# ---------------------------------------------------------------------------------------------------- a reload, owners

# owned: whether each of three workers has found a process; the first bytes may arrive before that
owned() {
	in_near python3 "$many" connect 10.77.0.2 7100 30
	wait_for closed 7100
	let_deliver
	[ "$(grep '"socket-receive"' "$tmp/out" | grep '"cs_comm":"python3"' | grep -o '"cs_cid":[0-9]*' |
		awk -F : '{ print int(($2 - 1) / 2) % 3 }' | sort -u | wc -l)" -eq 3 ]
}

cat >"$tmp/conf" <<END
interface = "far0"
workers = 3
END
observe "$far" 3 -c "$tmp/conf" --all-owners --print=tcp-receive,socket-receive --format json
check "owners: every worker finds processes" wait_for owned
echo 'filter = "tcp port 7200"' >>"$tmp/conf"
kill -HUP "$pid"
wait_for grep -q "conf reloaded" "$tmp/err"
: >"$tmp/out"
in_near python3 "$many" connect 10.77.0.2 7100 100
for _ in 1 2 3 4 5 6 7 8 9 10; do
	in_near python3 "$sockets" refused 10.77.0.2 7200
done
finish
is "a reload: every worker applies the new filter" \
	"$(grep -c '"tcp_dport":7100' "$tmp/out") $(grep -c '"tcp_dport":7200' "$tmp/out")" "0 10"
is "a reload: one message" "$(grep -c "conf reloaded" "$tmp/err")" 1
is "a replay has one worker whatever the file says" \
	"$("$netobsd" -c "$tmp/conf" -r "$top/tests/captures/one-tcp-rst.pcap" --summary 2>&1 | grep -c '^frames ')" 1

# ---------------------------------------------------------------------------------------- an interface that returns

ip -n "$far" link add spare0 type veth peer name spare1
ip -n "$far" link set spare0 up
ip -n "$far" link set spare1 up
# As the service does it: opening an interface again takes the one capability that is kept.
if have setpriv; then
	root_netobsd=$netobsd
	netobsd=$(private_netobsd)
	printf '#!/bin/sh\nexec setpriv --reuid nobody --regid nogroup --clear-groups %s %s "$@"\n' \
		"--inh-caps -all,+net_raw --ambient-caps -all,+net_raw" "$netobsd" >"$tmp/capable"
	chmod 755 "$tmp/capable"
	netobsd=$tmp/capable
	observe "$far" 3 -i spare0 -B 16384 --workers 3 --no-owners --print='gld-*' --format json --summary
	netobsd=$root_netobsd
fi
if ! have setpriv; then
	skip "a returned interface" "no setpriv"
else
	ip -n "$far" link del spare0
	wait_for grep -q "spare0 was removed" "$tmp/err"
	ip -n "$far" link add spare0 type veth peer name spare1
	ip -n "$far" addr add 10.88.0.1/24 dev spare0
	ip -n "$far" link set spare0 up
	ip -n "$far" link set spare1 up
	wait_for grep -q "spare0 has returned" "$tmp/err"
	wait_for observing "$pid" 3
	: >"$tmp/out"
	for host in 1 2 3 4 5 6 7 8 9 10; do
		ip -n "$far" neigh add 10.88.0.1$host lladdr 02:00:00:00:00:0$((host % 10)) dev spare0
		in_far python3 "$sockets" flood 10.88.0.1$host $((9000 + host)) 20
	done
	finish
	is "a returned interface: one line each" \
		"$(grep -c "was removed" "$tmp/err") $(grep -c "has returned and is observed again" "$tmp/err")" "1 1"
	is "a returned interface: every frame once" "$(grep -c '"ip_daddr":"10.88.0.1[0-9]*"' "$tmp/out")" 200
fi

# An interface that is up again has the same sockets, which share its frames as before.
observe "$far" 3 -i far0 -B 16384 --workers 3 --no-owners --print='gld-*,tcp-*' --format json --summary
ip -n "$far" link set far0 down
wait_for grep -q "far0 is down" "$tmp/err"
ip -n "$far" link set far0 up
wait_for in_near python3 "$sockets" refused 10.77.0.2 7002
in_near python3 "$many" connect 10.77.0.2 7100 100
finish
check "an interface that is up again: workers share its frames" sh -c "python3 '$many' check 3 '$tmp/err' <'$tmp/out' | grep -q '^100 connections'"

# ---------------------------------------------------------------------------------------------------------- the rest

observe "$far" 2 -i any --workers 2 --no-owners --print='gld-*,tcp-state-change' --format json --summary
in_far python3 "$sockets" refused 127.0.0.1 7300
in_near python3 "$many" connect 10.77.0.2 7100 50
finish
is "any: every connection" "$(grep -c '"state-syn-received"' "$tmp/out")" 100
check "any: no frame twice" sh -c "grep '\"gld-.*\"if_name\":\"far0\"' '$tmp/out' | grep -o '\"pkt_addr\":[0-9]*' | sort | uniq -d | wc -l | grep -qx 0"

# Stopped, netobsd cannot empty its buffers, so frames are dropped and counted.  Other frames may still arrive when it
# ends, as in tests/live/live.sh.
observe "$far" 2 -i far0 -B 128 --workers 2 --no-owners --strict --summary udp port 9
kill -STOP "$pid"
in_near python3 "$sockets" flood 10.77.0.2 9 20000
kill -CONT "$pid"
finish
is "dropped frames: status with --strict" $? 3
is "dropped frames: received = observed + dropped" "$(counter capture.received)" \
	"$(($(counter frames) + $(counter capture.dropped)))"

ip netns exec "$far" "$netobsd" -i far0 --workers 3 --no-owners --print >/dev/full 2>"$tmp/err" &
pid=$!
wait_for sockets_in "$far" 3
in_near python3 "$many" connect 10.77.0.2 7100 20
wait_for sh -c "! kill -0 $pid"
wait "$pid"
is "a full disk ends all workers: status, one line" "$?:$(grep -c '^netobsd:' "$tmp/err")" 1:1

# bad NAME PATTERN ARGUMENT...: netobsd does not start
bad() {
	bad_name=$1 bad_pattern=$2
	shift 2
	in_far timeout 60 "$netobsd" "$@" >"$tmp/out" 2>"$tmp/err"
	is "$bad_name" "$?:$(grep -cE "^netobsd: $bad_pattern" "$tmp/err")" 1:1
}
bad "no workers" "--workers 0: " -i far0 --workers 0
bad "too many workers" "--workers 65: " -i far0 --workers 65

# idle PID: whether all of its threads wait, so that capture on demand is suspended
idle() {
	! grep -h '^State:' "/proc/$1/task"/*/status | grep -qv 'S (sleeping)'
}

# resumed: whether netobsd, on demand, observes frames
resumed() {
	in_near python3 "$sockets" refused 10.77.0.2 7400
	summary_of "$pid" "$tmp/err"
	[ "$(counter frames)" -gt 0 ]
}

refused=$(tracing_refused)
if [ -n "$refused" ]; then
	skip "a tracer counts what all workers fire" "$refused"
	skip "on demand" "$refused"
else
	netobsd=$(private_netobsd) || exit 99
	ip netns exec "$far" "$netobsd" -i far0 --workers 2 --no-owners --on-demand --summary >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	wait_for observing "$pid" 2
	wait_for idle "$pid"
	in_near python3 "$many" connect 10.77.0.2 7100 20
	tracer "$tmp/counted" "usdt:$netobsd:netobs:tcp__receive {
		@count = count(); @workers[tid] = 1; @last = max(((struct pktinfo *)arg0)->pkt_seq); }"
	wait_for resumed
	in_near python3 "$many" connect 10.77.0.2 7100 100
	finish
	tracer_end
	is "a tracer counts what all workers fire" "$(sed -n 's/^@count: //p' "$tmp/counted")" \
		"$(counter probe.tcp-receive)"
	is "a tracer: the last sequence number is the count" "$(sed -n 's/^@last: //p' "$tmp/counted")" \
		"$(counter probe.tcp-receive)"
	is "a tracer: it counts in both workers" "$(grep -c '^@workers' "$tmp/counted")" 2
	check "on demand: frames before the tracer are not observed" \
		sh -c "[ '$(counter frames)' -gt 500 ] && [ '$(counter flow.created)' -lt 120 ]"
fi

# shellcheck disable=SC2086
stop $servers
tap_done
