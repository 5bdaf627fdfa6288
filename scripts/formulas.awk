# SPDX-License-Identifier: BSD-2-Clause
#
# Formulas for netobs(1).
#
#	netobsd --print-config | awk -v mode=configured -f formulas.awk
#
# prints a line "FORMULA - DEFINITION" for each formula of the configuration.
#
#	definition=DEFINITION known=PROBES script=NAME probes=PROBES given=yes awk -v mode=replace -f formulas.awk
#
# prints a line "PROBE FORMULA DEFINITION" for each probe of the script that a formula replaces.  A formula of several
# probes is divided into one for each of them, if the definition is given with -F.  If the script has the formula as a
# probe, that is the line "FORMULA FORMULA DEFINITION".  On failure prints the reason.  The definition is valid.

BEGIN {
	blank = "[ \t\r\f\v]*"
	script = ENVIRON["script"]
	probes = ENVIRON["probes"]
	given = ENVIRON["given"]
	if (mode == "replace")
		exit !replace(ENVIRON["definition"], ENVIRON["known"])
}

mode == "configured" && /^formula = [{]/ {
	sub(/^formula = [{]/, "")
	in_list = 1
}

in_list {
	read_list($0)
}

# read_list(LINE): a line of the list of definitions; a text goes on after the end of the line
function read_list(line, i, c) {
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (in_text && c == "\\")
			text = text substr(line, ++i, 1)
		else if (in_text && c != "\"")
			text = text c
		else if (c == "\"") {
			if (in_text) {
				parse(text)
				print name, "-", text
			}
			text = ""
			in_text = !in_text
		} else if (c == "}")
			in_list = 0
	}
	text = text " "
}

# parse(TEXT): sets name, patterns (an array of count elements) and rest, which is after the probes
function parse(text) {
	gsub(/\n/, " ", text)
	sub("^" blank, "", text)
	match(text, /^[a-z0-9-]*/)
	name = substr(text, 1, RLENGTH)
	rest = substr(text, RLENGTH + 1)
	sub("^" blank "=" blank, "", rest)
	count = 0
	while (match(rest, /^[a-z*?][a-z0-9*?-]*/)) {
		patterns[++count] = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		if (!match(rest, "^" blank "," blank "[a-z*?]"))
			break
		rest = substr(rest, RLENGTH)
	}
	return text
}

# matches(NAME, PATTERN): whether the name matches a pattern of * and ?
function matches(name, pattern) {
	gsub(/[*]/, ".*", pattern)
	gsub(/[?]/, ".", pattern)
	return name ~ ("^" pattern "$")
}

# is_of(PROBE): whether the formula is of this probe
function is_of(probe, i) {
	for (i = 1; i <= count; i++)
		if (matches(probe, patterns[i]))
			return 1
	return 0
}

# has_threshold(): whether the formula ends in "N times in DURATION"
function has_threshold(without_text) {
	without_text = rest
	gsub(/"([^"\\]|\\.)*"/, "", without_text)
	return without_text ~ ("," blank "[0-9]+" blank "times")
}

# listed(WORDS): the words with commas
function listed(words) {
	gsub(/^ | $/, "", words)
	gsub(/ /, ", ", words)
	return words
}

# part_name(PROBE): the name of the formula's part, at most 40 bytes
function part_name(probe, part) {
	part = substr(name, 1, 39 - length(probe))
	sub(/-$/, "", part)
	return part "-" probe
}

# replace(TEXT, KNOWN)
function replace(text, known, of, all, i, n, shared, words) {
	text = parse(text)
	for (i = split(known, words, " "); i > 0; i--)
		of += is_of(words[i])
	n = split(probes, words, " ")
	for (i = 1; i <= n; i++) {
		if (matches(name, words[i])) {
			print name, name, text
			return 1
		}
		shared += is_of(words[i])
	}
	for (i = 1; i <= count; i++)
		all = all " " patterns[i]
	if (shared == 0)
		print "formula " name " is of " listed(all) "; " script " has no such probe, it has " listed(probes)
	else if (of > 1 && has_threshold())
		print "formula " name " counts the firings of several probes together, which " script \
			" cannot tell apart: define a formula of one of " listed(probes)
	else if (of > 1 && !given)
		print "formula " name " is of several probes, which " script " cannot tell apart: give its definition with -F" \
			" under another name, or define a formula of one of " listed(probes)
	else {
		for (i = 1; i <= n; i++) {
			if (is_of(words[i]) && of == 1)
				print words[i], name, text
			else if (is_of(words[i]) && shared == 1)
				print words[i], name, name " = " words[i] " " rest
			else if (is_of(words[i]))
				print words[i], part_name(words[i]), part_name(words[i]) " = " words[i] " " rest
		}
		return 1
	}
	return 0
}
