# SPDX-License-Identifier: BSD-2-Clause
#
# The output of bpftrace -k without the warnings about keys that did not fit, which are counted by map: of netobs(1), with
# the variables program, the file of the program, file, the file for these counts, held, the file for the errors with which
# bpftrace ends, if any: if a signal has ended netobsd before bpftrace was attached, they are no news; and dropped, the file
# for the lines in which DTrace reports drops.
BEGIN { while ((getline text < program) > 0) line[++lines] = text }
# The map of an update is the last one that is named in front of it.
function map_at(row, column,    text, name) {
	text = substr(line[row], 1, column)
	while (row > 0) {
		while (match(text, /@[A-Za-z_0-9]+/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
		}
		if (name != "") return name
		text = line[--row]
	}
	return "a map"
}
skip > 0 { skip--; next }
/WARNING: Failed to map_(update|delete)_elem|WARNING: Map full/ {
	fields = split($0, where, ":")
	if ($0 ~ /update|full/) {
		split(where[3], columns, "-")
		map[map_at(where[2] + 0, columns[1] + 0)]++
	}
	skip = $0 ~ /^[^:]*:[0-9]+:[0-9]+-[0-9]+: / ? 2 : 0
	next
}
held != "" && /^terminate called after throwing|what\(\):|^ERROR: |^Error attaching|^cannot attach / { holding = 1 }
held != "" && /^dtrace: [0-9]+ .*drop/ { drops = drops $0 "\n" }
/RLIMIT_MEMLOCK/ { next } # harmless: see --help of bpftrace
holding { errors = errors $0 "\n"; next }
{ print; fflush() }
END {
	for (name in map) printf "%s %.0f\n", name, map[name] > file
	file = held
	if (errors != "") printf "%s", errors > file
	file = dropped
	if (drops != "") printf "%s", drops > file
}
