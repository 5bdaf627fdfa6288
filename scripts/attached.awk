# SPDX-License-Identifier: BSD-2-Clause
#
# A script of bpftrace with a clause of netobs_engine:::wait-done in front of its first clause, on the same line, so that
# messages have the line numbers of the script.  Fails if no line begins with the first clause.

# code(LINE): the line without comments and texts; `comment` is whether the next one begins in a comment
function code(line,    result) {
	while (line != "") {
		if (comment) {
			if (!(at = index(line, "*/"))) return result
			line = substr(line, at + 2)
			comment = 0
		} else if (match(line, /^"([^"\\]|\\.)*"/)) {
			line = substr(line, RLENGTH + 1)
		} else if (line ~ /^\/\*/) {
			line = substr(line, 3)
			comment = 1
		} else if (line ~ /^\/\//) {
			return result
		} else {
			result = result substr(line, 1, 1)
			line = substr(line, 2)
		}
	}
	return result
}

{
	inside = comment
	text = code($0)
	if (!done && !depth && !inside &&
	    $0 ~ /^[ \t]*((BEGIN|END|begin|end)[ \t]*([{\/]|$)|[a-z]+:[^:])/) {
		printf "%s", "usdt:/usr/sbin/netobsd:netobs_engine:wait__done { } "
		done = 1
	}
	depth += gsub(/[{]/, "", text) - gsub(/[}]/, "", text)
	print
}

END { exit !done }
