#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The ABI of the probes is that of tests/probes/abi.expected, and the libraries generated for tracers agree with it.
#
#	tests/probes/libraries.sh others	SystemTap itself, up to the code that it would run in the kernel
#	tests/probes/libraries.sh update	accepts the present ABI.  Lines may be added, but not removed or changed in a release,
#					except the size of a struct that has grown (NETOBS_ABI_VERSION rises then).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

expected=$top/tests/probes/abi.expected
awk -v output=listing -f "$top/probes/manifest.awk" "$top/probes/netobs.d" "$top/probes/netobs.h" >"$tmp/listing"

# generate WHAT: by the awk of the build
generate() {
	awk -v output="$1" -v program="${2-}" -f "$top/probes/tracer_libraries.awk" "$tmp/listing" "$top/probes/netobs.h"
}

# manifest WHAT [FILE]
manifest() {
	python3 "$top/tests/probes/libraries.py" "$@" <"$tmp/manifest"
}

# gone: lines of the expectation that the present ABI lacks.  The size of a struct may change.
gone() {
	diff "$expected" "$tmp/abi" | grep '^<' | grep -v '^< struct '
}

generate abi >"$tmp/abi"
if [ "${1-}" = update ]; then
	gone >"$tmp/gone"
	[ ! -s "$tmp/gone" ] || {
		echo "lines of the ABI are removed or changed, which no release may do:"
		cat "$tmp/gone"
		echo "If no release has them, delete them from tests/probes/abi.expected and accept again."
		exit 1
	} >&2
	accept "$tmp/abi" "$expected"
	exit 0
fi

built "$netobsd"
have python3 || skip_all "python3 is not installed"
"$netobsd" --list-probes --format json >"$tmp/manifest"

if [ "${1-}" = others ]; then
	mkdir "$tmp/tapset"
	generate tapset "$netobsd" >"$tmp/tapset/netobs.stp"
	kernel=$(for config in /lib/modules/*/build/.config; do
		[ ! -e "$config" ] || basename "$(dirname "$(dirname "$config")")"
	done | head -n 1)
	name="SystemTap understands every probe and variable of the tapset"
	if ! have stap; then
		skip "$name" "stap is not installed, the tapset was not run"
	elif [ -z "$kernel" ]; then
		skip "$name" "stap needs the headers of a kernel, the tapset was not run"
	else
		manifest variables "$tmp/tapset/netobs.stp" >"$tmp/all.stp"
		check "$name" stap -r "$kernel" -I "$tmp/tapset" -p2 "$tmp/all.stp"
	fi
	tap_done
fi

gone >"$tmp/gone"
check "no line of the ABI is removed or changed" test ! -s "$tmp/gone"
[ ! -s "$tmp/gone" ] || sed 's/^/# /' "$tmp/gone"
check "new lines of the ABI are accepted (tests/probes/libraries.sh update)" diff -u "$expected" "$tmp/abi"

manifest abi >"$tmp/abi.program"
grep -v '^NETOBS_' "$tmp/abi" >"$tmp/abi.awk"
check "the compiler lays the structs out as the generator does" diff -u "$tmp/abi.program" "$tmp/abi.awk"

for library in d:dtrace/netobs.d tapset:tapset/netobs.stp; do
	file=$build/probes/${library#*:}
	sed -n 's/.*process("\([^"]*\)").*/\1/p' "$file" | sort -u >"$tmp/program"
	generate "${library%%:*}" "$(cat "$tmp/program")" >"$tmp/generated"
	check "${library#*:} is what is generated now" cmp "$tmp/generated" "$file"
	check "${library#*:} agrees with the program" manifest "${library%%:*}" "$file"
done

tap_done
