# SPDX-License-Identifier: BSD-2-Clause
#
# Text of others as printable ASCII, as netobsd(8) prints it: other bytes become \xNN.  In the locale C.  Alone, with the
# variable what=message, it prints the variable text of the environment as a line.
BEGIN {
	for (byte = 1; byte < 256; byte++)
		shown_byte[sprintf("%c", byte)] = sprintf(byte < 32 || byte > 126 ? "\\x%02x" : "%c", byte)
	shown_byte["\\"] = "\\\\"
	if (what == "message") {
		print escaped(ENVIRON["text"], "\\")
		exit
	}
}

# escaped(TEXT, KEPT): the text, escaped except for the characters KEPT
function escaped(text, kept,    result, i, byte) {
	for (i = 1; i <= length(text); i++) {
		byte = substr(text, i, 1)
		result = result (index(kept, byte) ? byte : shown_byte[byte])
	}
	return result
}

# name_text(TEXT): a text in which a name may be, with doubled backslashes, so that no name looks like another
function name_text(text) { return text ~ /^[ -[\]-~]*$/ ? text : escaped(text, "") }

# line_text(TEXT): a line that has layout of its own and no names
function line_text(text) { return text ~ /^[\t -~]*$/ ? text : escaped(text, "\t\\") }
