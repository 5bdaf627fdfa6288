#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The completions for netobs(1) and netobsctl(8) in bash agree with the programs.  tests/config/option_files.sh has
# that for netobsd(8).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have bash || skip_all "no bash"
conf=$top/conf
netobs=$top/scripts/netobs

# completed FILE FUNCTION WORD...: what bash offers for the last word
completed() {
	bash -c '. "$1"; call=$2; shift 2; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); "$call"; echo "${COMPREPLY[*]}"' bash "$@"
}

scripts() {
	completed "$conf/netobs-scripts.bash-completion" _netobs "$netobs" "$@"
}

ctl() {
	completed "$conf/netobsctl.bash-completion" _netobsctl netobsctl "$@"
}

is "netobs: a script" "$(scripts tcpsn)" "tcpsnoop"
is "netobs: every script" "$(scripts '' | tr ' ' '\n' | sort | tr '\n' ' ')" \
	"$("$netobs" --list | cut -d ' ' -f 1 | sort | tr '\n' ' ')"
is "netobs: a script after options" "$(scripts -r trace.pcap tcpsn)" "tcpsnoop"
is "netobs: options" "$(scripts --lis)" "--list"
is "netobs: a field of connections" "$(PATH=$(dirname "$netobsd"):$PATH scripts conns trace.pcap --sort answer_m)" \
	"answer_mean_us answer_max_us"
is "netobs: every option is in the usage" "$(for option in $(scripts -); do
	"$netobs" --help | grep -qe "$option" || echo "$option"
done)" ""
is "netobs: a file" "$(scripts webconn -r "$top/READM")" "$top/README.md"
is "netobs: a file as an argument" "$(scripts tcpsnoop "$top/READM")" "$top/README.md"
is "netobs: a script of the user" "$(scripts "$top/scripts/bpftrace/tcpsn")" "$top/scripts/bpftrace/tcpsnoop.bt"
is "netobs: an interface" "$(scripts tcpsnoop -i an)" "any"
is "netobs: an option of netobsd" "$(scripts tcpsnoop -o --prom)" "--promiscuous"
is "netobs: every option of netobsd is one" "$(for option in $(scripts tcpsnoop -o --); do
	"$netobsd" --help | grep -qe " ${option%%=*}[ =[]" || echo "$option"
done)" ""
is "netobs: a view" "$(scripts tcpsnoop -o --view = mon)" "monitor"
is "netobs: a script after an option of netobsd" "$(scripts -o --view = host tcpsn)" "tcpsnoop"
is "netobs: a tracer" "$(scripts tcpsnoop -t b)" "bpftrace"
mkdir "$tmp/bin"
cat >"$tmp/bin/netobsctl" <<-'SH'
	#!/bin/sh
	[ "$*" != "formulas --json" ] || printf '{"formula":"%s","definition":"x"}\n' slow-handshake web
SH
chmod +x "$tmp/bin/netobsctl"
is "netobs: a formula of the running netobsd" "$(PATH=$tmp/bin:$PATH scripts hosts -F sl)" "slow-handshake"
is "netobs: a formula after an equals sign" "$(PATH=$tmp/bin:$PATH scripts hosts --formula = w)" "web"
is "netobs: a script after a formula" "$(scripts -F web --formula slow --formula = 'f = tcp-send' tcpsn)" "tcpsnoop"
is "netobs: a file of sites" "$(scripts tcpsnoop -o --formula-file = "$top/READM")" "$top/README.md"
# bash expands the words that a completion offers, and a compromised netobsd may list any name.
cat >"$tmp/bin/hostile" <<-'SH'
	#!/bin/sh
	case $* in
	*--json) printf '{"formula":"%s","definition":"x"}\n' "\$(touch\${IFS}$EXPANDED)" web ;;
	*) printf '%s config\n' FORMULA "\$(touch\${IFS}$EXPANDED)" web ;;
	esac
SH
chmod +x "$tmp/bin/hostile"
mkdir "$tmp/hostile"
ln -s ../bin/hostile "$tmp/hostile/netobsctl"
export EXPANDED="$tmp/expanded"
is "netobs: a hostile name is not offered" "$(PATH=$tmp/hostile:$PATH scripts hosts -F '')" "web"
is "netobsctl: a hostile name is not offered" "$(completed "$conf/netobsctl.bash-completion" _netobsctl "$tmp/bin/hostile" undefine '' |
	tr ' ' '\n' | grep -v '^--' | paste -s -d ' ' -)" "web"
# shellcheck disable=SC2016 # the name of a formula
is "netobsd: a hostile name is not offered" "$(completed "$conf/netobs.bash-completion" _netobsd netobsd --formula 'x$(touch${IFS}$EXPANDED) = tcp-send' --print = x)" ""
# A server that sends without end, and one that sends nothing.
mkdir "$tmp/endless" "$tmp/silent"
printf '#!/bin/sh\necho FORMULA\nexec yes "web config"\n' >"$tmp/endless/netobsctl"
printf '#!/bin/sh\nexec tail -f /dev/null\n' >"$tmp/silent/netobsctl"
printf '#!/bin/sh\nexec yes "{\\"formula\\":\\"web\\"}"\n' >"$tmp/endless/json"
chmod +x "$tmp/endless/netobsctl" "$tmp/endless/json" "$tmp/silent/netobsctl"
# ends FUNCTION...: whether a completion ends, with at most 100,000 bytes
ends() {
	# shellcheck disable=SC2016 # of the inner shell
	timeout 60 bash -c '. "$1"; call=$2; shift 2; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); "$call"; echo "${COMPREPLY[*]}"' bash "$@" \
		>"$tmp/offered" && [ "$(wc -c <"$tmp/offered")" -lt 100000 ]
}
for server in endless silent; do
	check "netobsctl: a server that is $server" ends "$conf/netobsctl.bash-completion" _netobsctl "$tmp/$server/netobsctl" undefine ''
done
mv "$tmp/endless/json" "$tmp/endless/netobsctl"
for server in endless silent; do
	PATH=$tmp/$server:$PATH check "netobs: a server that is $server" ends "$conf/netobs-scripts.bash-completion" _netobs "$netobs" hosts -F ''
done
# Interfaces, in a directory in place of /sys/class/net.
mkdir "$tmp/net"
: >"$tmp/net/br-0:1@2.3"
: >"$tmp/net/\$(touch\${IFS}\$EXPANDED)"
printf 'cd() { builtin cd "%s"; }\n' "$tmp/net" >"$tmp/cd"
is "netobs: a hostile interface is not offered" "$(BASH_ENV=$tmp/cd scripts tcpsnoop -i '')" "any br-0:1@2.3"
is "netobsd: a hostile interface is not offered" \
	"$(BASH_ENV=$tmp/cd completed "$conf/netobs.bash-completion" _netobsd netobsd -i '')" "any br-0:1@2.3"
check "no completion is expanded" test ! -e "$EXPANDED"
is "netobs: help of a script" "$(scripts --help tcpsn)" "tcpsnoop"
if [ -r /proc/net/tcp ]; then
	check "netobs: ports of this host" python3 "$top/tests/scripts/completion_port.py" "$conf/netobs-scripts.bash-completion" "$netobs"
else
	skip "netobs: ports of this host" "no /proc/net/tcp"
fi

is "netobsctl: a command" "$(ctl conn)" "connections connection"
"$build/netobsctl" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | sort -u >"$tmp/commands"
is "netobsctl: every command" "$(ctl '' | tr ' ' '\n' | grep -v '^-' | sort | tr '\n' ' ')" "$(tr '\n' ' ' <"$tmp/commands")"
"$build/netobsctl" --help | grep -o -- '--[a-z][a-z-]*' | sort -u | grep -v -- '--control' >"$tmp/options"
is "netobsctl: every option" "$(ctl -- - | tr ' ' '\n' | sort | tr '\n' ' ')" "$(tr '\n' ' ' <"$tmp/options")"
is "netobsctl: a command after options" "$(ctl -s socket stat)" "status"
is "netobsctl: a socket after an equals sign" "$(ctl --socket = "$top/READM")" "$top/README.md"
is "netobsctl: a command after a socket and an equals sign" "$(ctl --socket = socket stat)" "status"
is "netobsctl: a field of an expression" "$(ctl connections client_st)" "client_state"
is "netobsctl: a field to sort by, after an equals sign" "$(ctl top --sort = client_srt)" "client_srtt_us"
is "netobsctl: several fields" "$(ctl connections --fields client,server_po)" "client,server_port"
# shellcheck disable=SC2016
is "netobsctl: every field" "$(ctl connections -o '' | tr ' ' '\n' | sort | paste -s -d ' ')" "$("$netobsd" --check-config -r - --records \
	--records-fields="$(ctl connections -o '' | tr ' ' ',')" && ctl connections -o '' | tr ' ' '\n' | sort -u | paste -s -d ' ')"
is "netobsctl: those of the record are among them" "$("$netobsd" --list-probes | sed -n '/^ *connrec_t:/,/^$/s/^ *cr_\([a-z_]*\) .*/\1/p' |
	sort -u | tr '\n' ' ')" "$("$netobsd" --list-probes | sed -n '/^ *connrec_t:/,/^$/s/^ *cr_\([a-z_]*\) .*/\1/p' | sort -u |
	grep -xF "$(ctl connections -o '' | tr ' ' '\n')" | tr '\n' ' ')"
sed -n 's/^	--debug | --debug=) words=(-W .\(.*\).) ;;/\1/p' "$conf/netobs.bash-completion" >"$tmp/topics"
is "netobsctl: every topic" "$(ctl debug '' | tr ' ' '\n' | grep -v '^-' | tr '\n' ' ')" "$(cat "$tmp/topics") "
is "netobsctl: several topics" "$(ctl debug live,ow)" "live,owner"
cat >"$tmp/netobsctl" <<-'EOF'
	#!/bin/sh
	[ "$*" = "-s $SOCKET formulas" ] || exit 1
	printf '%s\n' 'FORMULA FROM' 'slow-handshake config' 'web-reset request'
EOF
chmod 755 "$tmp/netobsctl"
# formulas WORD...: what is offered with a netobsd on the socket /s
formulas() {
	SOCKET=/s completed "$conf/netobsctl.bash-completion" _netobsctl "$tmp/netobsctl" "$@"
}
is "netobsctl: formulas to remove" "$(formulas -s /s undefine '')" "slow-handshake web-reset --socket --json --help --version"
is "netobsctl: a formula to describe" "$(formulas --socket = /s formulas w)" "web-reset"
is "netobsctl: a formula to write on" "$(formulas -s /s write --on sl)" "slow-handshake"
is "netobsctl: options of a command" "$(formulas write --max-)" "--max-size --max-files --max-rate"
is "netobsctl: a format" "$(ctl write --format = pcapn)" "pcapng"
is "netobsctl: no formulas without netobsd" "$(formulas -s /other undefine w)" ""

tap_done
