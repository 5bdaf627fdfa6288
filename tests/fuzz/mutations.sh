#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# netobsd, netobs-report, netobs-split and netobs conns on damaged captures of the source tree, in all modes, always the same ones.
#
#	mutations.sh all	with those of $NETOBS_SHARED, with $MUTATIONS (2000) others at each run, or those of $SEED
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

have python3 || skip_all "python3 is not installed"
built "$netobsd"
built "$build/netobs-report"
built "$build/netobs-split"
chmod 755 "$tmp" # netobsd that is started as root changes its user

# mutations BUILD COUNT SEED DIRECTORY...: of the captures in the directories; of a fault, what there is to repeat it
mutations() {
	mutations_build=$1 mutations_count=$2 mutations_seed=$3
	shift 3
	mkdir -p "$tmp/mutations"
	chmod 755 "$tmp/mutations"
	find "$@" -type f ! -name '*.md' ! -name '*.tsv' -exec python3 "$top/tests/fuzz/mutations.py" "$mutations_build" \
		"$mutations_count" "$mutations_seed" "$tmp/mutations" {} +
}

# A program that prints what it reads, which is not text, and says that all is well.
mkdir "$tmp/wrong"
cp "$build/netobs" "$tmp/wrong"
cat >"$tmp/wrong/netobsd" <<'EOF'
#!/bin/sh
cat "$tests_capture"
EOF
cp "$tmp/wrong/netobsd" "$tmp/wrong/netobs-report"
cp "$tmp/wrong/netobsd" "$tmp/wrong/netobs-split"
chmod 755 "$tmp/wrong"/*
tests_capture=$(capture smb.pcap)
export tests_capture
mutations "$tmp/wrong" 10 1 "$top/tests/captures" >"$tmp/wrong/out"
is "raw bytes are a fault of each run" "$(tail -n 1 "$tmp/wrong/out")" "10 runs with seed 1, 10 faults"

if [ "${1-}" = all ]; then
	seed=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
	set -- "$top/tests/captures"
	[ ! -d "$shared/captures" ] || set -- "$@" "$shared/captures"
	[ ! -d "$shared/cases" ] || set -- "$@" "$shared/cases"
	note "seed $seed"
	check "damaged captures" mutations "$build" "${MUTATIONS:-2000}" "$seed" "$@"
else
	check "damaged captures" mutations "$build" 100 1 "$top/tests/captures"
fi
tap_done
