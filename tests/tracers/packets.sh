#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipes of netobs(7), Packets for a script, run as they are in the manual: bpftrace live, with the files that
# netobsctl writes; the D programs by the strict reader, and by DTrace's own compiler if it is installed; the commands
# before them with a stand-in for dtrace.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
have python3 || skip_all "python3 is not installed"
manual=$top/man/netobs.7.in packets=$tmp/packets

# recipe NUMBER: the text of a recipe
recipe() {
	awk -v wanted="$1" '
		/^\.S[hs]/ { inside = $0 == ".Ss Packets for a script" }
		/^\.Ed/ { text = 0 }
		text && number == wanted
		inside && /^\.Bd/ { number++; text = 1 }' "$manual" |
		sed -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g'
}

# d_program: the program for dtrace -n of the recipe on standard input
d_program() {
	sed -n "/^dtrace /,/^}'/p" | sed -e 1d -e "s/^}'/}/"
}

# definition: the one of the recipe on standard input
definition() {
	sed -n "s/^ *'\(web-refused = .*\)'\$/\1/p"
}

# ---------------------------------------------------------------------------------------------------------------- D

"$netobsd" --list-probes --format json >"$tmp/manifest"
for number in 2 4; do
	recipe "$number" | d_program >"$tmp/recipe-$number.d"
	check "the D program of recipe $number: every probe, argument and name in it exists" \
		python3 "$top/tests/scripts/d_check.py" "$top/probes/netobs.h" "$tmp/recipe-$number.d" <"$tmp/manifest"
done

# The predicate is the expression: the same firings on a capture, with a port that refused a connection there.
# matches NUMBER: the firings of the formula of a recipe
matches() {
	"$netobsd" -r "$top/tests/captures/questions.pcap" --formula "$(recipe "$1" | definition | sed 's/443/110/')" \
		--print=web-refused 2>&1
}
recipe 2 | d_program | sed -n 's|^/\(.*\)/$|\1|p' >"$tmp/predicate"
is "the predicate of D is the expression of the formula" "$(recipe 2 | definition | sed 's/.* where //')" "$(cat "$tmp/predicate")"
matches 1 >"$tmp/matches.1"
matches 2 >"$tmp/matches.2"
is "a capture with one match" "$(grep -c web-refused "$tmp/matches.1")" 1
check "both formulas have the same firings" cmp "$tmp/matches.1" "$tmp/matches.2"

if ! have dtrace || ! dtrace -V 2>/dev/null | grep -q ' D [0-9]'; then
	skip "DTrace compiles the D programs" "there is no DTrace on this machine, the D programs were not run"
else
	for number in 2 4; do
		dtrace -e -w -Z -L "$build/probes/dtrace" -s "$tmp/recipe-$number.d" 2>&1
	done >"$tmp/refused"
	check "DTrace compiles the D programs" test ! -s "$tmp/refused"
fi

# ----------------------------------------------------------------------------------------------------------- bpftrace

# live_refused: why the recipes for bpftrace cannot run here; nothing if they can
live_refused() {
	tracing_refused
	have ip nsenter || echo "ip or nsenter is not installed"
	have tshark || echo "tshark is not installed"
}
names="bpftrace prints the refused connection|its file has the packets of the connection|the match is a comment|one file|bpftrace asks for the packets of the slowest connection|its file has the packets of the connection only|from the handshake on|before dtrace of recipe 2: the directory exists and the formula is streamed|before dtrace of recipe 4: the directory exists"
reason=$(live_refused)
space=netobs-packets-$$
if [ -z "$reason" ] && ! namespaces "$space"; then
	reason=$kernel_refusal
fi
if [ -n "$reason" ]; then
	echo "$names" | tr '|' '\n' >"$tmp/names"
	while read -r name; do
		skip "$name" "$reason"
	done <"$tmp/names"
	tap_done
fi
# end_recipe: what a recipe has started, which is not a child of this shell
end_recipe() {
	cat "$tmp"/*.pid | xargs -r kill -9
} 2>/dev/null
at_end end_recipe
ip -n "$space" link set lo up
chmod 755 "$tmp"
mkdir -m 755 "$tmp/run" "$tmp/state" "$tmp/bin"
file=$tmp/state/formulas.so socket=$tmp/run/control
program=$(private_netobsd) || exit 99

# The programs of the recipes, whose process ids are kept.
cat >"$tmp/bin/netobsctl" <<-EOF
	#!/bin/sh
	[ "\$1 \$2" != "write --on" ] || echo "\$\$" >"$tmp/write_on.pid"
	exec "$build/netobsctl" -s "$socket" "\$@"
EOF
cat >"$tmp/bin/bpftrace" <<-EOF
	#!/bin/sh
	echo "\$\$" >"$tmp/bpftrace.pid"
	exec $(command -v bpftrace) -B line "\$@"
EOF
cat >"$tmp/bin/dtrace" <<-EOF
	#!/bin/sh
	[ ! -d packets ] || echo directory
	netobsctl formulas web-refused --json | grep -o '"streamed":true'
EOF
chmod 755 "$tmp/bin/netobsctl" "$tmp/bin/bpftrace" "$tmp/bin/dtrace"

# The names of the formulas must be in the file when netobsd is started, since it cannot write it then.
printf 'formula = {"%s"}\n' "$(recipe 1 | definition)" >"$tmp/conf"
"$program" -c "$tmp/conf" --install-formulas "$file" || exit 99
nsenter --net="/run/netns/$space" "$program" -i lo --immediate --view both --control "$socket" --flight-memory 8M \
	--formula-file "$file" >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_while "$pid" "$tmp/bin/netobsctl" status
wait_while "$pid" observing "$pid" 1 || cat "$tmp/err" >&2

# run NUMBER: runs a recipe with the paths of this test
run() {
	recipe "$1" | sed -e "s,/usr/local/include/netobs.h,$top/probes/netobs.h," -e "s,/usr/local/sbin/netobsd,$program," \
		-e "s,/var/lib/netobs/formulas.so,$file," >"$tmp/commands"
	rm -rf "$tmp/bpftrace.pid" "$packets"
	(cd "$tmp" && PATH=$tmp/bin:$PATH exec sh -e "$tmp/commands") >"$tmp/printed" 2>"$tmp/printed.err" &
	others=$!
}

# connect PORT...: connects to ports of the network namespace, in turn
connect() {
	ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" knock 127.0.0.1 "$@"
}

# has_file PATTERN: whether there is such a file
has_file() {
	find "$packets" -name "$1" | grep -q .
}

# is_traced: whether bpftrace is attached to the formula; its recipe has waited for netobsctl write --on
is_traced() {
	"$tmp/bin/netobsctl" formulas web-refused --json | grep -q '"traced":true'
}

# end_tracer: ends bpftrace and its shell
end_tracer() {
	tracer=$(cat "$tmp/bpftrace.pid" 2>/dev/null) || return
	kill -INT "$tracer" 2>/dev/null || note "bpftrace has ended: $(cat "$tmp/printed.err")"
	wait_up_to 120 tracer_ended
	wait "$others"
	rm "$tmp/bpftrace.pid"
}

run 1
wait_while "$others" is_traced || cat "$tmp/printed.err" >&2
connect 444 443 445
check "bpftrace prints the refused connection" wait_while "$others" grep -q '^.* refused by 127.0.0.1: ' "$tmp/printed"
cid=$(sed -n 's/.*-web-refused-\([0-9]*\)\.pcapng$/\1/p' "$tmp/printed")
wait_while "$pid" has_file "*-web-refused-$cid.pcapng"
written=$(find "$packets" -name "*-web-refused-$cid.pcapng")
tshark -r "$written" -T fields -e tcp.srcport -e tcp.dstport -e tcp.flags.str 2>/dev/null >"$tmp/frames"
is "its file has the packets of the connection" "$(grep -c -w 443 "$tmp/frames") of $(wc -l <"$tmp/frames")" "2 of 2"
is "the match is a comment" "$(tshark -r "$written" -T fields -e frame.comment 2>/dev/null | grep -c 'web-refused: tcps_rport = 443')" 1
is "one file" "$(find "$packets" -type f | wc -l)" 1
end_tracer

# end_write_on: ends netobsctl write --on
end_write_on() {
	write_on=$(cat "$tmp/write_on.pid") || return
	kill -TERM "$write_on"
	wait_while "$write_on" false
	rm "$tmp/write_on.pid"
}
end_write_on

# An accepted connection is the slowest so far.
run 3
# has_attached: whether bpftrace has enabled the probe
has_attached() {
	"$tmp/bin/netobsctl" probes | awk '$1 == "tcp-connect-established" && $2 > 0 { found = 1 } END { exit !found }'
}
wait_while "$others" has_attached
ip netns exec "$space" python3 "$top/tests/live/live_sockets.py" itself 127.0.0.1 8443 100
check "bpftrace asks for the packets of the slowest connection" wait_while "$others" has_file '[0-9]*.pcapng'
written=$(find "$packets" -name '[0-9]*.pcapng')
tshark -r "$written" -T fields -e tcp.flags.str -e tcp.srcport -e tcp.dstport 2>/dev/null >"$tmp/frames"
is "its file has the packets of the connection only" "$(grep -c -v -w 8443 "$tmp/frames")" 0
check "from the handshake on" grep -q 'S.*8443$' "$tmp/frames"
end_tracer

"$tmp/bin/netobsctl" undefine web-refused >"$tmp/undefined" 2>&1
run 2
wait "$others"
is "before dtrace of recipe 2: the directory exists and the formula is streamed" "$(tail -n 2 "$tmp/printed" | paste -s -d ' ' -)" \
	'directory "streamed":true'
end_write_on
run 4
wait "$others"
is "before dtrace of recipe 4: the directory exists" "$(sed -n 1p "$tmp/printed")" directory
kill -INT "$pid"
wait "$pid"
tap_done
