# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2154,SC2034
#
# What the tests of conf/engines share; source it after tests/lib/tap.sh.
#   $samples     conf/engines                    $records   HOST.jsonl for each host, after make_records
#   $cache       what tests/engines/fetch.sh fetched; its commands are in PATH

samples=$top/conf/engines
here=$top/tests/engines
cache=${NETOBS_ENGINES_CACHE:-$build/tests/engines/cache}
# A program of the machine comes before one of the cache.
PATH=$PATH:$cache/bin
# Servers that refuse to run as root run as this user, and write below $tmp.
chmod 755 "$tmp"

# unavailable WHAT: ends the test, as skipped; in `make check-engines` as failed
unavailable() {
	[ -n "${NETOBS_ENGINES_REQUIRED:-}" ] || skip_all "$1 is not there; make check-engines fetches it"
	not_ok "$1 is there"
	tap_done
}

# require NAME COMMAND...: like check; ends the test if the command fails, because the rest needs it
require() {
	require_failed=$tap_failed
	check "$@"
	[ "$tap_failed" -eq "$require_failed" ] || tap_done
}

# as_stream FILE: changes its lines into those of netobsctl stream --json, beside lines that are not records
as_stream() {
	sed -e 's/^{"end":"[^"]*",/{"probe":"connection-end","args":[{/; s/}$/}]}/' \
		-e '1s/^/{"lost":3}\n{"probe":"tcp-send","args":[{"pkt_seq":1}]}\n/' "$1" >"$1.new" && mv "$1.new" "$1"
}

# make_records: the connections of two_hosts.py, as netobsd at each of the two hosts records them, in $tmp/files.  Below
# $tmp/records they are as netobsctl stream --dir writes them: HOST/NUMBER.jsonl.zst.
make_records() {
	records=$tmp/files
	mkdir -p "$tmp/captures" "$records"
	python3 "$here/two_hosts.py" "$tmp/captures" || return 1
	for host in alpha beta; do
		mkdir -p "$tmp/records/$host"
		"$netobsd" -r "$tmp/captures/$host.pcap" --view=monitor --format=json --records="$records/$host.jsonl" || return 1
		split -l 10 --additional-suffix=.jsonl "$records/$host.jsonl" "$tmp/records/$host/" || return 1
		as_stream "$tmp/records/$host/aa.jsonl" || return 1
		zstd -q --rm "$tmp/records/$host"/*.jsonl || return 1
	done
	python3 "$here/answers.py" facts "$records"
}

# with_host HOST: as the samples send lines
with_host() {
	"$samples/record-lines" "$1"
}

# fields: the members of a record line, except the first one, the time as text
fields() {
	python3 -c 'import json, sys; print(*list(json.loads(sys.stdin.readline()))[1:], sep="\n")' <"$records/alpha.jsonl"
}

# check_answers COMMAND...: for each question, COMMAND QUESTION prints the rows of an engine
check_answers() {
	for question in worst-servers retransmissions two-hosts; do
		"$@" "$question" >"$tmp/$question.rows" 2>"$tmp/$question.err" || cat "$tmp/$question.err" >>"$tmp/$question.rows"
		check "$question: as computed from the lines" python3 "$here/answers.py" "$question" "$tmp/$question.rows" "$records"
	done
}

# unprivileged COMMAND...: as the user nobody if this is root, because a server refuses to run as root.  The command
# replaces the shell, so that its pid is that of a background job.
unprivileged() {
	if [ "$(id -u)" -eq 0 ]; then
		exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
	else
		exec "$@"
	fi
}

# end_server PID SIGNAL: ends a child of this shell and waits for it
end_server() {
	kill "-$2" "$1" 2>/dev/null
	wait_server "$1"
}

# wait_server PID: its status, when it has ended by itself; after a minute it is killed
wait_server() {
	wait_up_to 60 gone "$1" || kill -KILL "$1"
	ended_status=0
	wait "$1" || ended_status=$?
	return "$ended_status"
}

gone() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status"
}

# broker_possible: whether there are kcat, jq and the headers of librdkafka
broker_possible() {
	have kcat jq gcc && { pkg-config --exists rdkafka 2>/dev/null || [ -e "$cache/root/usr/include/librdkafka/rdkafka_mock.h" ]; }
}

# start_broker: the mock cluster; sets $broker, its address, and $broker_pid.  Descriptor 9 keeps it running.
start_broker() {
	flags=$(pkg-config --cflags --libs rdkafka 2>/dev/null) || {
		libraries=$(dirname "$(find "$cache/root/usr/lib" -name librdkafka.so)")
		# An old-style path also holds for the libraries that librdkafka needs.
		flags="-I$cache/root/usr/include -L$libraries -Wl,--disable-new-dtags,-rpath,$libraries,--allow-shlib-undefined -lrdkafka"
	}
	# Flags have no blanks inside.
	# shellcheck disable=SC2086
	gcc -std=c11 -Wall -Wextra -Werror -o "$tmp/mock_cluster" "$here/mock_cluster.c" $flags || return 1
	mkfifo "$tmp/broker.in" || return 1
	"$tmp/mock_cluster" <"$tmp/broker.in" >"$tmp/broker.out" 2>"$tmp/broker.err" &
	broker_pid=$!
	exec 9>"$tmp/broker.in"
	wait_while "$broker_pid" grep -q : "$tmp/broker.out" || {
		cat "$tmp/broker.err"
		return 1
	}
	broker=$(cat "$tmp/broker.out")
}

end_broker() {
	exec 9>&-
	wait_server "$broker_pid"
}

# keys: "LINES KEY" for each key of the topic
keys() {
	kcat -b "$broker" -C -t netobs -o beginning -e -q -f '%k\n' | sort | uniq -c | awk '{ print $1, $2 }'
}

# expected_keys: like keys, computed from the files
expected_keys() {
	for host in alpha beta; do
		echo "$(wc -l <"$records/$host.jsonl") $host"
	done
}

# consume: all lines of the topic
consume() {
	kcat -b "$broker" -C -t netobs -o beginning -e -q
}
