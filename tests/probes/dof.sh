#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What configure --with-dtrace adds to the probe sites, without DTrace: a header like that of dtrace -h, and functions that
# count in place of the nops that DTrace makes of the calls.
#
#	dof.sh		with gcc
#	dof.sh others	with clang
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

built "$netobsd"
compiler=gcc
[ "${1-}" != others ] || compiler=clang
have "$compiler" || skip_all "$compiler is not installed"
case $(uname -m) in
x86_64) flags=-mno-red-zone ;;
*) flags='' ;;
esac
# names: the probes as C names, one a line
names() {
	sed -n 's/^void site_\([a-z_0-9]*__[a-z_0-9]*\)(.*/\1/p' "$build/probes/sites.h"
}
names >"$tmp/names"
check "the header of the sites declares every probe" test "$(wc -l <"$tmp/names")" -ge 50

# The form of DTrace 2.0.2: each macro calls a function.
mkdir "$tmp/probes"
awk '{
	macro = toupper($1)
	gsub(/__/, "_", macro)
	print "extern void __dtrace_netobs___" $1 "(void *, ...);"
	print "extern void __dtraceenabled_netobs___" $1 "(uint32_t *flag);"
	print "#define NETOBS_" macro "(...) __dtrace_netobs___" $1 "(__VA_ARGS__)"
	print "#define NETOBS_" macro "_ENABLED() ({ uint32_t enabled = 0; __dtraceenabled_netobs___" $1 "(&enabled); enabled; })"
}' "$tmp/names" >"$tmp/probes/netobs_dof.h"
awk '{
	id = toupper($1)
	gsub(/__/, "_", id)
	print "PROBE(PROBE_" id ", " $1 ")"
}' "$tmp/names" >"$tmp/dof_calls.h"

# calls OBJECT: "FUNCTION CALLED" for each call of DTrace
calls() {
	objdump -dr "$1" | awk '
		/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3) }
		match($0, /__dtrace(enabled)?_netobs___[a-z_0-9]*/) { print name, substr($0, RSTART, RLENGTH) }'
}
while read -r name; do
	printf 'site_%s __dtrace_netobs___%s\nsite_%s __dtraceenabled_netobs___%s\n' "$name" "$name" "$name" "$name"
done <"$tmp/names" | sort >"$tmp/wanted"

for level in 0 2 3; do
	name="$compiler -O$level"
	# shellcheck disable=SC2086
	if ! "$compiler" -std=gnu11 "-O$level" -Wall -Werror $flags -DNETOBS_DOF -I"$tmp" -I"$build" -I"$top" -c \
		-o "$tmp/sites.o" "$build/probes/sites.c" 2>"$tmp/err" ||
		! "$compiler" -std=gnu11 "-O$level" -Wall -Werror -I"$tmp" -I"$build" -I"$top" -o "$tmp/dof_calls" \
			"$top/tests/probes/dof_calls.c" "$top/probes/site/site_select.c" "$tmp/sites.o" 2>>"$tmp/err"; then
		not_ok "$name" "$tmp/err"
		continue
	fi
	calls "$tmp/sites.o" | sort >"$tmp/calls"
	check "$name: one query and one firing for each probe, in one function" diff -u "$tmp/wanted" "$tmp/calls"
	"$tmp/dof_calls" >"$tmp/out" 2>&1
	status=$?
	if [ "$status" -eq 0 ]; then
		ok "$name: queries and firings"
	else
		echo "status $status" >>"$tmp/out"
		not_ok "$name: queries and firings" "$tmp/out"
	fi
done
[ "${1-}" != others ] || tap_done

# The ordinary program has no trace of it.
name="without --with-dtrace the sites have neither"
if readelf -SW "$netobsd" | grep -q -e SUNW_dof -e note.usdt; then
	skip "$name" "this netobsd is built --with-dtrace"
else
	nm "$build/libprobes.a" >"$tmp/symbols" 2>"$tmp/err"
	is "$name" "$(grep -e ' T site_sync_dtrace$' -e __dtrace -e site_query "$tmp/symbols" | sed 's/.* //')" site_sync_dtrace
fi

tap_done
