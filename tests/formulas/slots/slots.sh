#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Names of slots in formulas.so: what remains of a private copy, one file for one process, names of every length, and the
# lists of perf and gdb.  tests/formulas/slots/slots_traced.sh attaches tracers.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"

# shellcheck source=tests/formulas/slots/fire_slots.sh
. "$top/tests/formulas/slots/fire_slots.sh"

# ----------------------------------------------------------------------------------------------------- private copies

start auto
private=$(reply_to path)
case $private in
"$tmp"/netobs-*/formulas.so) ok "a private copy is in a directory of its own" ;;
*) not_ok "a private copy is in a directory of its own" "$tmp/replies" "$tmp/err" ;;
esac
check "a private copy exists" test -e "$private"
stop
check "a private copy is removed when the program ends" test ! -e "$(dirname "$private")"

start auto
private=$(reply_to path)
is "slots in a confined process: it is confined" "$(reply_to confine)" confined
is "slots in a confined process: names can be read" "$(reply_to name-of 1)" -
case $("$netobsd" --version) in
*instrumented*) skip "slots in a confined process: names cannot be written" "sanitizers and gcov make other calls" ;;
*)
	is "slots in a confined process: names cannot be written" "$(reply_to name 1 mine | sed 's/.*: //')" "Operation not permitted"
	;;
esac
is "slots in a confined process: its site runs" "$(reply_to fire 1 5)" fired
stop
check "slots in a confined process: a private copy is removed" test ! -e "$(dirname "$private")"

start auto
private=$(reply_to path)
kill -KILL "$fire"
stop 2>/dev/null
gone() {
	[ ! -e "$(dirname "$private")" ]
}
check "a private copy is removed when the program is killed" wait_for gone

# One file for one process.
"$fire_slots" install "$file" first
start auto "$file"
order path
"$fire_slots" auto "$file" </dev/null 2>"$tmp/second"
is "a second process does not get the file" "$? $(cat "$tmp/second")" "1 $file: another netobsd uses it"
stop
check "the next process gets the file" "$fire_slots" auto "$file" </dev/null
mkdir "$tmp/damaged"
printf 'x' | cat "$file" - >"$tmp/damaged/formulas.so"
"$fire_slots" auto "$tmp/damaged/formulas.so" </dev/null 2>"$tmp/second"
is "a damaged file is refused" "$? $(cat "$tmp/second")" \
	"1 $tmp/damaged/formulas.so: not the formulas.so of this netobs: restart the service, or remove the file"

# ------------------------------------------------------------------------------------------------- every length of name

# notes FILE: the names in the file, as readelf reads them
notes() {
	readelf -n "$1" 2>>"$tmp/readelf" | sed -n 's/^ *Name: //p' | uniq
}

: >"$tmp/readelf"
: >"$tmp/lengths"
inode=$(stat -c %i "$file")
long=a
while [ ${#long} -le 40 ]; do
	for name in "$long" "$(echo "$long" | tr b -)"; do
		"$fire_slots" install "$file" "$name" 2>>"$tmp/lengths" || echo "$name: not written" >>"$tmp/lengths"
		have readelf || continue
		notes "$file" | grep -qx "$(echo "$name" | sed 's/-/__/g')" || echo "$name: not read by readelf" >>"$tmp/lengths"
		notes "$file" | wc -l | grep -qx 64 || echo "$name: not 64 names" >>"$tmp/lengths"
	done
	long=${long}b
done
cat "$tmp/readelf" >>"$tmp/lengths"
name="readelf reads the notes after every length of a name"
if [ -s "$tmp/lengths" ]; then
	not_ok "$name" "$tmp/lengths"
elif have readelf; then
	ok "$name"
else
	skip "$name" "readelf is not installed"
fi
is "all of it in one inode" "$(stat -c %i "$file")" "$inode"
"$fire_slots" install "$file" "$long" 2>"$tmp/second"
is "a longer name is refused" "$? $(cat "$tmp/second")" "1 $file: a name has 1 to 40 bytes"

# ------------------------------------------------------------------------------------------------- lists of tracers

"$fire_slots" install "$file" slow-handshake >"$tmp/second" 2>&1
slot=$("$fire_slots" names "$file" | sed 's/ .*//')

# perf_lists NAME: whether perf lists the probe after the file was added to its cache anew
perf_lists() {
	HOME=$tmp perf buildid-cache --add "$file" 2>>"$tmp/err" &&
		HOME=$tmp perf list sdt 2>>"$tmp/err" | grep -q "sdt_netobs:$1 "
}

if have perf; then
	check "perf lists the name" perf_lists slow__handshake
	"$fire_slots" install "$file" slower-handshake
	check "perf lists the next name, although it caches names" perf_lists slower__handshake
	"$fire_slots" install "$file" slow-handshake
else
	skip "perf lists the name" "perf is not installed"
	skip "perf lists the next name, although it caches names" "perf is not installed"
fi

kinds='plain fast'
"$fire_slots" fast "$file" </dev/null 2>/dev/null || kinds=plain

for kind in $kinds; do
	name="gdb stops at the name and reads arguments, $kind site"
	if ! have gdb; then
		skip "$name" "gdb is not installed"
		continue
	fi
	# gdb starts the program by a shell, which opens the commands.
	echo "fire $slot 2" >"$tmp/gdb-commands"
	# The dollar signs are for gdb.
	# shellcheck disable=SC2016
	ASAN_OPTIONS=detect_leaks=0 gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break -probe-stap netobs:slow__handshake' \
		-ex "run $kind $file <$tmp/gdb-commands" -ex 'print (char *)$_probe_arg0' -ex 'print (char *)$_probe_arg5' \
		-ex 'info probes stap netobs slow' -ex continue -ex continue "$fire_slots" >"$tmp/out" 2>&1
	if grep -q "^[$]1 = .* \"slot $slot\"" "$tmp/out" && grep -q '^[$]2 = .* "sixth"' "$tmp/out" &&
		grep -q "^stap netobs   slow__handshake .*$file" "$tmp/out" && grep -q 'exited normally' "$tmp/out"; then
		ok "$name"
	else
		not_ok "$name" "$tmp/out"
	fi
done

tap_done
