# SPDX-License-Identifier: BSD-2-Clause
#
# Lines of the tracer that are not for the user, for output.awk and errors.awk: warnings of bpftrace -k about keys that did
# not fit, which are counted by map in the file of the variable cut; the variable program is the file of the program.
BEGIN {
	mark = ENVIRON["mark"] # see marks.awk
	while ((getline program_line < program) > 0) source[++sources] = program_line
}

# map_at(ROW, COLUMN): the map of an update is the last one that is named in front of it
function map_at(row, column,    text, name) {
	text = substr(source[row], 1, column)
	while (row > 0) {
		while (match(text, /@[A-Za-z_0-9]+/)) {
			name = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
		}
		if (name != "") return unmarked(name)
		text = source[--row]
	}
	return "a map"
}

# unmarked(TEXT): a text of the tracer without marks
function unmarked(text) {
	if (mark != "") gsub(mark "[_<>]", "", text)
	return text
}

# is_warning(LINE): whether a line of the tracer is not for the user; it is counted then
function is_warning(line,    where, columns) {
	if (skipped > 0) {
		skipped--
		return 1
	}
	if (line ~ /WARNING: Failed to map_(update|delete)_elem|WARNING: Map full/) {
		split(line, where, ":")
		if (line ~ /update|full/) {
			split(where[3], columns, "-")
			rejected[map_at(where[2] + 0, columns[1] + 0)]++
		}
		skipped = line ~ /^[^:]*:[0-9]+:[0-9]+-[0-9]+: / ? 2 : 0 # the line of the program, and where in it
		return 1
	}
	return line ~ /RLIMIT_MEMLOCK/ # harmless: see --help of bpftrace
}

END {
	file = cut
	for (map in rejected) printf "%s %.0f\n", map, rejected[map] > file
}
