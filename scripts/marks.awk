# SPDX-License-Identifier: BSD-2-Clause
#
# A ready-made script with marks, for output.awk: a line break in a name looks like one of the script otherwise.  Marks are
# made of the variable mark of the environment, a word that the network cannot know.  The texts of printf() and printa()
# become MARK< TEXT MARK>, with tabs, line breaks and aggregations outside; names of maps of bpftrace, @NAME, become
# @MARK_NAME, and an empty text follows each print() of a map.  D scripts have the variable language=d.
BEGIN { mark = ENVIRON["mark"] }

# marked(TEXT): a text between marks
function marked(text,    result, found) {
	while (match(text, /\\.|%@[a-z]/)) {
		found = substr(text, RSTART, RLENGTH)
		if (found ~ /^(\\[nt]|%@.)$/) found = mark ">" found mark "<"
		result = result substr(text, 1, RSTART - 1) found
		text = substr(text, RSTART + RLENGTH)
	}
	result = mark "<" result
	if (text == "" && substr(result, length(result) - length(mark)) == mark "<" && result != mark "<")
		return substr(result, 1, length(result) - length(mark) - 1) # there is nothing after the last line break
	return result text mark ">"
}

# with_maps(TEXT): code outside of strings
function with_maps(text,    result) {
	if (language == "d") return text
	while (match(text, /@[A-Za-z_]/)) {
		result = result substr(text, 1, RSTART) mark "_"
		text = substr(text, RSTART + 1)
	}
	return result text
}

{
	line = $0
	if (language != "d" && match(line, /(^|[^a-z_])print\(@[^;]*;/))
		line = substr(line, 1, RSTART + RLENGTH - 1) " printf(\"\\n\");" substr(line, RSTART + RLENGTH)
	result = ""
	while (match(line, /"([^"\\]|\\.)*"/)) {
		code = substr(line, 1, RSTART - 1)
		text = substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		result = result with_maps(code) "\"" (code ~ /print[fa]\($/ ? marked(text) : text) "\""
	}
	print result with_maps(line)
}
