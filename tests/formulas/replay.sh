#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas on replays: their firings are those of their probes for which the expression is true, with the same arguments,
# also if segments are rejected on the fast path; options and settings; mistakes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
home=$top/tests/captures/home-network.pcap

# replay DEFINITION OPTION...: the firings of the formula f and its counters, in $tmp/out and $tmp/err
replay() {
	definition=$1
	shift
	"$netobsd" -r "$home" --formula "$definition" --summary "$@" >"$tmp/out" 2>"$tmp/err"
}

# counts: the two counters of f
counts() {
	sed -n 's/^formula\.f\.[a-z]* //p' "$tmp/err" | tr '\n' ' '
}

# lines: number of firings of f
lines() {
	grep -c '^{"probe":"f","of":' "$tmp/out"
}

# ------------------------------------------------------------------------------------------------------ the firings

# A formula without expression has the firings of its probe.
for probe in tcp-receive tcp-state-change tcp-connect-established udp-send arp-receive ip-packet-free socket-receive connection-end; do
	replay "f = $probe" --print="f,$probe" --format json
	grep '^{"probe":"f"' "$tmp/out" | sed "s/\"f\",\"of\":\"$probe\"/\"$probe\"/" >"$tmp/of"
	grep "^{\"probe\":\"$probe\"" "$tmp/out" >"$tmp/base"
	check "f = $probe has the firings of $probe" cmp "$tmp/base" "$tmp/of"
	is "and counts them" "$(counts)" "$(lines) $(lines) "
done

# The fields of a record, with units, words of flags, text and prefixes; 192.168.0.13 opened the connections to port 80.
replay 'f = connection-end where cr_client == 192.168.0.0/24 && cr_server_port == 80 && cr_answer_max_us > 100ms &&
	cr_reason == "fin" && cr_server_flags & FIN && cr_server_bytes < 1kB' --print=f,connection-end --format json
is "a formula selects connections by their record" "$(lines)" \
	"$(awk '
		function number(name) {
			return match($0, "\"" name "\":[0-9-]*") ? substr($0, RSTART + length(name) + 3, RLENGTH) + 0 : -1
		}
		/^{"probe":"connection-end".*"cr_client":"192\.168\.0\..*"cr_reason":"fin"/ {
			if (number("cr_server_port") == 80 && number("cr_answer_max_us") > 100000 &&
				number("cr_server_flags") % 2 == 1 && number("cr_server_bytes") < 1000)
				count++
		}
		END { print count + 0 }' "$tmp/out")"
check "there are some" [ "$(lines)" -gt 5 ]

# A formula fires after its probe, and numbers its own firings.
replay 'f = tcp-receive where tcp_flags & SYN' --print=f,tcp-receive --format json
# shellcheck disable=SC2016 # $0 is awk's
check "a formula fires after its probe" awk '
	/^{"probe":"f"/ && last !~ /^{"probe":"tcp-receive".*"tcp_flagstr":"SYN/ { bad = 1 }
	{ last = $0 }
	END { exit bad || NR == 0 }' "$tmp/out"
is "its firings are numbered from 1" \
	"$(sed -n 's/^{"probe":"f".*"pkt_seq":\([0-9]*\).*/\1/p' "$tmp/out" | tr '\n' ' ')" "$(seq -s ' ' "$(lines)") "

# same DEFINITION OPTION...: whether a formula has the same firings and counts on the fast and on the slow path
same() {
	replay "$@" --print=f --format json
	counts >"$tmp/fast.counts"
	mv "$tmp/out" "$tmp/fast"
	replay "$@" --print=f,ip-packet-free --format json
	counts | cmp - "$tmp/fast.counts" && grep '^{"probe":"f"' "$tmp/out" | cmp - "$tmp/fast" &&
		fired=$((fired + $(wc -l <"$tmp/fast")))
}

fired=0
for definition in 'f = tcp-receive where tcp_window % 7 == 3' 'f = tcp-send, tcp-receive where tcp_payload > 500' \
	'f = tcp-receive where pcap("greater 300")' 'f = tcp-receive where !(tcps_state == established)' \
	'f = tcp-send where tcp_flagstr == "PSH|ACK"' 'f = tcp-send where pkt_len > 200' \
	'f = tcp-receive where tcp_dport == 80 || ip_saddr in 192.168.0.0/24' 'f = tcp-send where tcps_snd_segs > 3' \
	'f = ip-send, ip-receive where ip_plength % 7 == 3' 'f = ip-request, ip-deliver, tcp-send where ip_plength > 500' \
	'f = gld-receive where pcap("greater 300")' 'f = gld-send, gld-receive where ip_saddr in 192.168.0.0/24' \
	'f = ip-packet-free where pcap("tcp[4] & 1 != 0")' 'f = ip-receive where ipv4_ttl == 64 || ip_ver == 6' \
	'f = ip-send, tcp-receive where ip_saddr in 192.168.0.0/24 && ip_plength > 100' \
	'f = tcp-receive where tcp_seq != 0, 2 times in 60s by tcp_dport' 'f = tcp-receive, udp-receive where cs_cid % 2 == 0'; do
	for options in "--view both" "--view monitor" "--local 192.168.0.0/24" "--local 192.168.0.10"; do
		# shellcheck disable=SC2086
		check "the fast path changes nothing: $definition ($options)" same "$definition" $options
	done
	check "they have firings" [ "$fired" -gt 20 ]
	fired=0
done
check "the fast path tells apart structs at the same position" same 'f = ip-receive where ipv4_ver == 4' --view both \
	--formula 'g = tcp-receive where tcp_offset == 7 counted'
check "they have firings" [ "$fired" -gt 20 ]

# ------------------------------------------------------------------------------------------------------ the options

replay 'f = tcp-send where tcp_payload > 500' --print=f
check "text has the name of the formula" grep -q '^[^ ]* f 192' "$tmp/out"
replay 'f = tcp-send uncounted'
is "an uncounted formula that nothing enables is not evaluated" "$(counts)" "0 0 "
replay 'f = tcp-receive counted'
is "a counted one is" "$(counts | awk '{ print ($1 > 100 && $1 == $2) }')" 1
[ ! -s "$tmp/out" ]
is "and prints nothing" $? 0

cat >"$tmp/conf" <<-EOF
	print = "opened,big-*"
	formula = {"opened = tcp-connect-established",
		"big-segment = tcp-receive where tcp_payload > 1kB"}
EOF
"$netobsd" -c "$tmp/conf" -r "$home" >"$tmp/out" 2>"$tmp/err"
is "formulas of netobs.conf" "$(awk '{ print $2 }' "$tmp/out" | sort -u | tr '\n' ' ')" "big-segment opened "
check "--check-config accepts them" "$netobsd" -c "$tmp/conf" -r "$home" --check-config
"$netobsd" -c "$tmp/conf" -r "$home" --print-config >"$tmp/printed"
sed '/^#/d' "$tmp/printed" >"$tmp/again"
check "--print-config prints them, and the result can be read again" sh -c \
	"'$netobsd' -c '$tmp/again' -r '$home' --print-config | diff - '$tmp/printed'"

# refuses NAME MESSAGE CONFIG-TEXT: --check-config rejects the file with this message
refuses() {
	printf '%s\n' "$3" >"$tmp/bad"
	"$netobsd" -c "$tmp/bad" -r "$home" --check-config >"$tmp/out" 2>"$tmp/err"
	is "status 1: $1" $? 1
	is "message: $1" "$(cat "$tmp/err")" "netobsd: $tmp/bad:$2"
}

refuses "a mistake in a definition" '2: formula = f = tcp-sned: column 5: no probe is called tcp-sned (did you mean tcp-send?)' '
formula = {"f = tcp-sned"}'
refuses "a mistake in a definition of several lines" \
	'2: formula = f = tcp-send where ...: line 3, column 2: no field is called tcp_dprot (did you mean tcp_dport?)' '
formula += {"f = tcp-send where
	tcp_sport == 80 &&
	tcp_dprot == 80"}
formula += {"g = tcp-send"}'
long=$(printf 'tcp_dport > 1000 && %.0s' $(seq 50))
refuses "a mistake in a long definition" "1: formula = f = tcp-send where $(printf %.141s "$long") ...: column 1020: \
no field is called tcp_dprot (did you mean tcp_dport?)" "formula = {'f = tcp-send where ${long}tcp_dprot == 80'}"
refuses "a name twice" "3: formula = f = tcp-receive: f is defined twice" 'formula += {"f = tcp-send"}
formula += {"g = tcp-send"}
formula += {"f = tcp-receive"}'
refuses "an unknown probe beside a formula" \
	'1: print = f,g: there is no probe "g"; netobsd --list-probes lists them all' 'print = "f,g"
formula = {"f = tcp-send"}'
set --
for i in $(seq 65); do
	set -- "$@" --formula "f$i = tcp-send uncounted"
done
"$netobsd" -r "$home" "$@" 2>"$tmp/err"
is "65 formulas" "$(cat "$tmp/err")" \
	"netobsd: --formula f65 = tcp-send uncounted: 65 formulas are defined; there can be 64"
shift 2
check "64 formulas" "$netobsd" -r "$home" "$@"
tap_done
