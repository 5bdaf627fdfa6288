#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The ready-made scripts without a tracer: each has a sample and an explanation, and `netobs NAME --print` shows the firings
# of its probes, from which the values of its sample follow.  tests/scripts/scripts_traced.sh runs the scripts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
NETOBSD=$netobsd
export NETOBSD
netobs=$top/scripts/netobs
examples=$top/scripts/examples
grep -v '^#' "$examples/LIST" >"$tmp/list"

# tests/tracers/engine.sh has those of the private provider: they have no sample, and count no sequence numbers.
engine=$(sed -n '/^engine_script_names/,/[^\]$/s/^[[:space:]]*\([a-z0-9_]*\)[ \]*$/\1/p' "$top/scripts/room.mk")
public() {
	grep -L ':netobs_engine:' "$top"/scripts/bpftrace/*.bt
}
public | sed -e 's|.*/||' -e 's/\.bt$//' | sort >"$tmp/existing"
awk '{ print $1 }' "$tmp/list" | sort >"$tmp/listed"
check "every script has a sample" diff -u "$tmp/existing" "$tmp/listed"

sed -n '/^script_names/,/[^\\]$/s/^[[:space:]]*\([a-z0-9_]*\)[ \\]*$/\1/p' "$top/scripts/room.mk" | sort >"$tmp/installed"
check "every script is installed, with its sample" diff -u "$tmp/existing" "$tmp/installed"

"$netobs" --list | awk 'NF > 2 { print $1 }' | sort >"$tmp/shown"
printf '%s\n' conns report split "$engine" | sort - "$tmp/existing" >"$tmp/runnable"
check "netobs --list has a line for every script, for conns, report and split" diff -u "$tmp/runnable" "$tmp/shown"

# A count is of no use if it may have missed firings.
public | xargs -d '\n' grep -lE '= (count|sum|avg|hist)\(' >"$tmp/counting"
check "every script that counts prints its missed firings" test -s "$tmp/counting" -a -z "$(xargs -d '\n' grep -L 'missed %lu firings' <"$tmp/counting")"

mkdir "$tmp/help"
for script in "$top"/scripts/bpftrace/*.bt; do
	name=$(basename "$script" .bt)
	"$netobs" --help "$name" >"$tmp/help/$name" 2>&1 || echo "$name: status"
	grep -q "^usage: netobs $name" "$tmp/help/$name" || echo "$name: no usage"
	grep -q "^Needs .* a capture (FILE), an interface (-i IFACE) or a running netobsd" "$tmp/help/$name" || echo "$name: no needs"
done >"$tmp/unexplained"
check "--help of each script says what it needs" test ! -s "$tmp/unexplained"

# probes_of NAME: the probes of a script by its explanation
probes_of() {
	sed -n 's/^Probes: \(.*\); --print shows .*/\1/p' "$tmp/help/$1" | tr -s ', ' '\n'
}

# prints_its_probes NAME CAPTURE ARGUMENT...: --print prints firings of the script's probes, and of no others
prints_its_probes() {
	prints_name=$1
	prints_capture=$2
	shift 2
	"$netobs" "$prints_name" "$top/tests/captures/$prints_capture" "$@" --print -o --format=json >"$tmp/firings/$prints_name.json" || return 1
	probes_of "$prints_name" >"$tmp/probes"
	sed 's/^{"probe":"\([^"]*\)".*/\1/' "$tmp/firings/$prints_name.json" | sort -u >"$tmp/fired"
	[ -s "$tmp/fired" ] && ! grep -vxF -f "$tmp/probes" "$tmp/fired"
}

# maps: the maps of a script's output, sorted, histograms without bars and empty rows
maps() {
	sed -n -e 's/ *$//' -e '/^\[.* |/{ s/  *\([0-9][0-9]*\) |.*/ \1/; / 0$/!p; }' -e '/^@/p' | sort
}

mkdir "$tmp/firings"
while read -r name capture arguments; do
	# shellcheck disable=SC2086
	check "$name --print: firings of its probes" prints_its_probes "$name" "$capture" $arguments
done <"$tmp/list"

if ! have python3; then
	skip "the values of all scripts follow from these firings" "python3 is not installed"
	tap_done
fi
check "the values of all scripts follow from these firings" python3 "$top/tests/scripts/scripts_truth.py" --each "$tmp/firings"
while read -r name _; do
	sed 1d "$examples/$name.txt" | maps >"$tmp/maps"
	if [ -e "$tmp/firings/$name.truth" ]; then
		sort "$tmp/firings/$name.truth" >"$tmp/wanted"
		check "$name agrees with the printer" diff -u "$tmp/wanted" "$tmp/maps"
	elif [ -s "$tmp/maps" ]; then
		not_ok "$name has maps that nothing is compared with"
	fi
done <"$tmp/list"

tap_done
