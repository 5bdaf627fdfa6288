#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The provider against the contract it implements (spec/probes.md of the shared folder): every field that the contract
# names is in its struct, and every probe that is declared has the arguments of the contract's table.  A provider that the
# contract does not name at all (dccp) is an addition of netobs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

contract=$shared/spec/probes.md
fire_sites=${FIRE_SITES:-$build/tests/probes/fire_sites}
[ -r "$contract" ] || skip_all "no $contract"

# "tcpinfo tcp_sport" for every field in the header
awk '
	/^struct [a-z0-9]+ [{]$/ { name = $2 }
	/^\t(netobs_|char )/ { field = $2; sub(/[[;].*/, "", field); print name, field }
' "$top/probes/netobs.h" | sort >"$tmp/header"

# The same of the bullets of section 5: bold words name structs, words in backquotes are fields of those named last.
# A bullet that refers to a field of another struct contains "as".
awk '
	/^## / { inside = /^## 5/ }
	!inside || !/^- / { next }
	{
		line = $0
		while (match(line, /\*\*[^*]+\*\*|`[^`]+`/)) {
			before = substr(line, 1, RSTART - 1)
			token = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			if (token ~ /^\*.*_t\*/) {
				if (before !~ /\(and $/)
					structs = ""
				gsub(/[*\/]/, " ", token)
				structs = structs " " token
			} else if (before !~ /as $/ && token ~ /^`[a-z0-9_]+(\[[0-9]+\])?`$/) {
				gsub(/`|\[.*/, "", token)
				n = split(structs, name, " ")
				for (i = 1; i <= n; i++) {
					sub(/_t$/, "", name[i])
					print name[i], token
				}
			}
		}
	}
' "$contract" | sort -u >"$tmp/named"

is 'the contract names fields' "$([ "$(wc -l <"$tmp/named")" -gt 150 ] && echo many)" many
comm -23 "$tmp/named" "$tmp/header" >"$tmp/missing"
if [ ! -s "$tmp/missing" ]; then
	ok 'the header has all of them'
	note "$(wc -l <"$tmp/named") fields"
else
	not_ok 'the header has all of them' "$tmp/missing"
fi

# "tcp__receive pktinfo_t csinfo_t ..." of every row of the table; "-x" abbreviates a name by the first of its row.
awk -F '|' '
	/^## / { inside = /^## 4/ }
	!inside || !/^\| [a-z]/ || /^\| probe / { next }
	{
		gsub(/\([^)]*\)/, "", $2)
		n = split($2, name, ",")
		types = ""
		for (i = 3; i <= 8; i++) {
			if ($i ~ /^ *- *$/)
				continue
			sub(/^ */, "", $i)
			sub(/[ *].*/, "", $i)
			types = types " " $i
		}
		for (i = 1; i <= n; i++) {
			gsub(/ /, "", name[i])
			if (i == 1) {
				prefix = name[1]
				if (!sub(/^tcp-timeout-.*/, "tcp-timeout", prefix))
					sub(/-.*/, "", prefix)
			}
			if (name[i] ~ /^-/)
				name[i] = prefix name[i]
			gsub(/-/, "__", name[i])
			print name[i] types
		}
	}
' "$contract" | sort >"$tmp/table"

# beyond: declared probes of providers without a row in the table
"$fire_sites" names | sort >"$tmp/all"
sed 's/__.*//' "$tmp/table" | sort -u >"$tmp/providers"
awk 'NR == FNR { named[$1] = 1; next } { provider = $1; sub(/__.*/, "", provider) } !(provider in named)' "$tmp/providers" \
	"$tmp/all" >"$tmp/beyond"
comm -23 "$tmp/all" "$tmp/beyond" >"$tmp/declared"
note "beyond the contract: $(sed 's/ .*//' "$tmp/beyond" | paste -s -d ' ' -)"
comm -13 "$tmp/table" "$tmp/declared" >"$tmp/other"
if [ ! -s "$tmp/other" ]; then
	ok 'the declared probes are as in the table'
	note "$(wc -l <"$tmp/declared") probes"
else
	{
		sed 's/^/declared: /' "$tmp/other"
		cut -d' ' -f1 "$tmp/other" | while read -r name; do
			grep "^$name " "$tmp/table" | sed 's/^/contract: /'
		done
	} >"$tmp/why"
	not_ok 'the declared probes are as in the table' "$tmp/why"
fi
note "$(comm -23 "$tmp/table" "$tmp/declared" | wc -l) probes of the contract are not declared yet"
tap_done
