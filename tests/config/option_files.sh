#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The sample configuration, the table of netobs.conf(5) and the completion for bash agree with the option table.  After a
# change of that table: tests/config/option_files.sh --write
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

generate=$build/tests/config/option_files
built "$generate"
page=$top/man/netobs.conf.5
begins='^[.].["] From here on made by' ends='^[.].["] To here made by'

# table: the manual with a new table
table() {
	sed "/$begins/q" "$page"
	"$generate" manual
	sed -n "/$ends/,\$p" "$page"
}

if [ "${1:-}" = --write ]; then
	"$generate" sample >"$tmp/sample" && accept "$tmp/sample" "$top/conf/netobs.conf"
	"$generate" completion >"$tmp/completion" && accept "$tmp/completion" "$top/conf/netobs.bash-completion"
	table >"$tmp/page" && accept "$tmp/page" "$page"
	exit
fi

"$generate" sample >"$tmp/sample"
check "conf/netobs.conf" diff -u "$top/conf/netobs.conf" "$tmp/sample"
"$generate" completion >"$tmp/completion"
check "conf/netobs.bash-completion" diff -u "$top/conf/netobs.bash-completion" "$tmp/completion"
table >"$tmp/page"
check "the table of netobs.conf(5)" diff -u "$page" "$tmp/page"

# A copy: root's netobsd refuses a file of another user, as in a clone.
cp -- "$top/conf/netobs.conf" "$tmp/netobs.conf" || exit 99
check "the sample is a good configuration" "$netobsd" -c "$tmp/netobs.conf" --check-config
"$netobsd" -c "$tmp/netobs.conf" --print-config >"$tmp/sampled"
"$netobsd" -i any --control /run/netobs/control --print-config >"$tmp/default"
check "the sample sets the defaults and the interface of a service" diff -u "$tmp/default" "$tmp/sampled"
# A default that is made a setting is the same setting.
sed -E 's/^#([a-z-]+ = ([0-9.]+|true|false))$/\1/' "$top/conf/netobs.conf" >"$tmp/spelt"
"$netobsd" -c "$tmp/spelt" --print-config >"$tmp/sampled"
check "the sample's defaults are the defaults" diff -u "$tmp/default" "$tmp/sampled"

# complete_words WORD...: what bash offers for the last word
complete_words() {
	bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _netobsd; echo "${COMPREPLY[*]}"' bash \
		"$top/conf/netobs.bash-completion" "$@"
}

if have bash; then
	is "completion of options" "$(complete_words netobsd --check)" "--check-config"
	is "completion of words" "$(complete_words netobsd --view m)" "monitor"
	is "completion of topics" "$(complete_words netobsd --debug ow)" "owner"
	is "completion of several topics" "$(complete_words netobsd --debug live,ow)" "live,owner"
	is "completion of words after an equals sign" "$(complete_words netobsd --view = m)" "monitor"
	is "completion of all words after an equals sign" "$(complete_words netobsd --view =)" "host both monitor"
	is "completion of probes" "$(complete_words netobsd --print = tcp-acc)" "tcp-accept-established tcp-accept-refused"
	is "completion of several probes" "$(complete_words netobsd --print = udp-send,tcp-acc)" \
		"udp-send,tcp-accept-established udp-send,tcp-accept-refused"
	is "completion of probes to wait for" "$(complete_words netobsd --wait-probes tcp-send,udp-r)" "tcp-send,udp-receive"
	is "completion of probes to wait for, after an equals sign" "$(complete_words netobsd --wait-probes = arp-s)" "arp-send"
	is "completion of formulas" "$(complete_words netobsd --formula = "'slow = tcp-send'" --formula '"other=tcp-send"' --print = udp-send,sl)" \
		"udp-send,slow"
	is "completion of formulas to wait for" "$(complete_words netobsd --formula "'slow = tcp-send'" --wait-probes slo)" "slow"
	is "no completion of a number that may be omitted" "$(complete_words netobsd --pace =)" ""
	is "a number that may be omitted follows an equals sign" "$(complete_words netobsd --pace --check)" "--check-config"
	is "completion of a group" "$(complete_words netobsd --control-group roo)" "root"
	is "completion of a socket" "$(complete_words netobsd --control "$top/READM")" "$top/README.md"
	is "--print takes a value only after an equals sign" "$(complete_words netobsd --print --check)" "--check-config"
	is "completion of interfaces" "$(complete_words netobsd -i an)" "any"
	is "completion of files" "$(complete_words netobsd -r "$top/READM")" "$top/README.md"
else
	skip "completion" "no bash"
fi

tap_done
