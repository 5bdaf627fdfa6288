# SPDX-License-Identifier: BSD-2-Clause
#
# The output of bpftrace without empty lines, and with the keys of each map in one order on every run: by value, then by key.
# Of netobs(1), with the variable file, the file for the number of lost lines.
BEGIN { sort = "LC_ALL=C sort -t \"\t\" -k 1,1n -k 2 | cut -f 2- | tr \"\\001\" \"\\n\"" }
function flush_map(    i) {
	if (units == 0) return
	fflush()
	for (i = 1; i <= units; i++) printf "%.0f\t%s\n", value[i], unit[i] | sort
	close(sort)
	units = histogram = 0
}
function add(text, number,    map) {
	match(text, /^@[A-Za-z_0-9]*/)
	map = substr(text, 1, RLENGTH)
	if (map != last) flush_map()
	last = map
	unit[++units] = text
	value[units] = number
}
/^Lost [0-9]+ events/ { events += $2; next }
/^@[A-Za-z_0-9]*(\[.*\])?: -?[0-9]+$/ { add($0, $NF); histogram = 0; next }
/^@[A-Za-z_0-9]*(\[.*\])?: *$/ { add($0, 0); histogram = 1; next }
histogram && /^[[(].* [0-9]+ \|[@ ]*\|$/ {
	unit[units] = unit[units] "\001" $0
	match($0, /[0-9]+ \|[@ ]*\|$/)
	value[units] += substr($0, RSTART) + 0
	next
}
/^$/ { if (!histogram) flush_map(); next }
{ flush_map(); print; fflush() }
END { flush_map(); if (events) printf "%.0f\n", events > file }
