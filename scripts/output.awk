# SPDX-License-Identifier: BSD-2-Clause
#
# What the tracer writes to its standard output, for netobs(1): names escaped, without
# empty lines, and with the keys of each map in one order on every run: by value, then by key.  The variable lost is the file
# for the number of lost lines.  Where names are is known by the marks of marks.awk.  A script of the user has no marks:
# its output stays as it is, because it may have layout of any bytes.
# Needs escape.awk.
# Needs warnings.awk.
BEGIN {
	sort = "LC_ALL=C sort -t \"\t\" -k 1,1n -k 2 | cut -f 2- | tr \"\\001\" \"\\n\""
	opening = mark "<"
	closing = mark ">"
	map_prefix = "@" mark "_"
}

# -------------------------------------------------------------------------------------------------------- lines in order

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

# is_row(LINE): whether a line is a row of a histogram
function is_row(line) { return line ~ /^[[(].* [0-9]+ \|[@ ]*\|$/ }

# add_row(LINE): a row of the latest histogram
function add_row(line) {
	unit[units] = unit[units] "\001" line
	match(line, /[0-9]+ \|[@ ]*\|$/)
	value[units] += substr(line, RSTART) + 0
}

# put(LINE): a line of the output, without line breaks of names
function put(line) {
	if (line ~ /^@[A-Za-z_0-9]*(\[.*\])?: -?[0-9]+$/) {
		match(line, /-?[0-9]+$/)
		add(line, substr(line, RSTART))
		histogram = 0
	} else if (line ~ /^@[A-Za-z_0-9]*(\[.*\])?: *$/) {
		add(line, 0)
		histogram = 1
	} else if (histogram && is_row(line)) {
		add_row(line)
	} else if (line != "") {
		flush_map()
		print line
		fflush()
	}
}

# -------------------------------------------------------------------------------------------------------- maps of bpftrace

# A map follows its name, @MARK_NAME[KEY]: VALUE, until the next mark, or the end.  Its key may have any lines, but what
# ends an entry is after it: the last line with a value, or the last rows of a histogram.  Further lines are bpftrace's.

# end_map(): the entry of a map is complete
function end_map(    end, head, i, text) {
	if (map_lines == 0) return
	for (end = map_lines; end > 1 && map_line[end] !~ /: -?[0-9]+$/ && !is_row(map_line[end]);) end--
	for (head = end; head > 1 && is_row(map_line[head]);) head--
	if (map_line[head] !~ /: *$/) head = end # no histogram
	for (i = 1; i <= head; i++) text = text (i > 1 ? "\n" : "") map_line[i]
	put("@" name_text(substr(text, length(map_prefix) + 1)))
	for (i = head + 1; i <= end; i++) put(map_line[i])
	for (; i <= map_lines; i++) take_other(map_line[i])
	map_lines = 0
}

# ---------------------------------------------------------------------------------------------------------- what is read

# is_report(LINE): whether a line, without marks, is a report of bpftrace; it is counted then
function is_report(line,    words) {
	if (is_warning(line)) return 1
	if (line !~ /^Lost [0-9]+ events$/) return 0
	split(line, words, " ")
	events += words[2]
	return 1
}

# take_other(LINE): a line without marks
function take_other(line) {
	if (!is_report(line)) put(line_text(line))
}

# take_marked(LINE): a line with marks, or within a text; it is complete if it ends outside of a text
function take_marked(line,    at) {
	while ((at = index(line, within ? closing : opening)) > 0) {
		text = text (within ? name_text(substr(line, 1, at - 1)) : line_text(substr(line, 1, at - 1)))
		line = substr(line, at + length(opening))
		within = !within
	}
	if (within) {
		text = text name_text(line "\n")
	} else if (!is_report(line)) {
		if (text line == "") flush_map()
		put(text line_text(line))
		text = ""
	}
}

mark == "" {
	if (!is_warning($0)) print
	fflush()
	next
}
within { take_marked($0); next }
index($0, map_prefix) == 1 { end_map(); map_line[map_lines = 1] = $0; next }
index($0, opening) { end_map(); take_marked($0); next }
map_lines { map_line[++map_lines] = $0; next }
{ take_other($0) }
END {
	end_map()
	if (within || text != "") put(text)
	flush_map()
	file = lost
	if (events) printf "%.0f\n", events > file
}
