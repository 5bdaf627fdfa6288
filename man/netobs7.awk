# SPDX-License-Identifier: BSD-2-Clause
#
# Fills the tables of the manual page netobs(7) from the sources of the program.
#
#	awk -v output=listing -f probes/manifest.awk netobs.d netobs.h >LISTING
#	awk -f man/netobs7.awk LISTING dissect/anomaly.def engine/engine.def man/netobs.7.in >netobs.7
#
# A line @PROBES@, @ARGUMENTS@, @STRUCTS@, @ANOMALIES@ or @ENGINE@ of netobs.7.in is replaced by mdoc of that table; each must
# be there once.
# POSIX awk: runs with gawk, mawk and busybox.

# Reports the error at the current line with an example of what is expected there, and exits.
function fail(message, example) {
	gsub(/[ \t\n]+/, " ", message)
	print FILENAME ":" FNR ": " message | "cat 1>&2"
	print FILENAME ":" FNR ": expected, for example: " example | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

# Running text as mdoc requires it: short lines, each sentence on a new line, and no line that looks like a request.
function running(s,    word, n, i, text, width) {
	gsub(/\\/, "\\e", s)
	if (s !~ /[.?]$/)
		s = s "."
	n = split(s, word, / +/)
	for (i = 1; i <= n; i++) {
		if (i > 1 && (word[i - 1] ~ /\.$/ || width + length(word[i]) > 78)) {
			text = text "\n"
			width = 0
		} else if (i > 1)
			text = text " "
		if (word[i] ~ /^[.']/)
			word[i] = "\\&" word[i]
		text = text word[i]
		width += length(word[i]) + 1
	}
	return text
}

# The same at the beginning of a sentence.  iSCSI remains iSCSI, and a field keeps its name.
function sentence(s) {
	return running(s ~ /^[a-z][A-Z]/ || s ~ /^[a-z0-9]+_/ ? s : toupper(substr(s, 1, 1)) substr(s, 2))
}

BEGIN {
	probes = structs = anomalies = engines = 0
}

FNR == 1 {
	file++
}

# --------------------------------------------------------------------------------------------------------- the listing

file == 1 {
	n = split($0, part, "\t")
	if (part[1] == "probe") {
		probe_name[probes] = part[2]
		probe_doc[probes] = part[3]
		probes++
	} else if (part[1] == "arg") {
		p = probes - 1
		arg_type[p, part[2]] = part[3]
		arg_null[p, part[2]] = part[4] == "true"
		arg_doc[p, part[2]] = part[5]
		probe_args[p] = part[2] + 1
		used[part[3]] = 1
	} else if (part[1] == "struct") {
		struct_name[structs] = part[2]
		struct_doc[structs] = part[3]
		structs++
	} else if (part[1] == "field") {
		s = structs - 1
		field_name[s, struct_fields[s] + 0] = part[2]
		field_type[s, struct_fields[s] + 0] = part[3]
		field_doc[s, struct_fields[s] + 0] = part[4]
		field_list[s] = field_list[s] " " part[2]
		struct_fields[s]++
	} else
		fail("not a line of the listing: " $0, "probe<TAB>tcp-send<TAB>text; arg, struct or field")
	next
}

# ------------------------------------------------------------------------------------------------------- the anomalies

file == 2 && /^\/\* .* \*\/$/ {
	heading = $0
	gsub(/^\/\* | \*\/$/, "", heading)
	next
}

file == 2 && /^[ \t]*ANOMALY\(/ {
	if ($0 !~ /^ANOMALY\([A-Z0-9_]+, "[a-z0-9-]+", SEVERITY_[A-Z]+, ".*"\)$/)
		fail("not a row of an anomaly: " $0, \
			"ANOMALY(ARP_SHORT, \"arp-short\", SEVERITY_MALFORMED, \"the frame is shorter than its ARP packet\")")
	split($0, part, "\"")
	anomaly_word[anomalies] = part[2]
	anomaly_text[anomalies] = part[4]
	severity = part[3]
	gsub(/^, SEVERITY_|, $/, "", severity)
	anomaly_severity[anomalies] = tolower(severity)
	anomaly_heading[anomalies] = heading == "SPDX-License-Identifier: BSD-2-Clause" ? "" : heading
	anomalies++
}

file == 2 {
	next
}

# ------------------------------------------------------------------------- the probes of the private provider, in rows of C

# The strings of a row, adjacent ones as one: NAME_IN_NOTE, ..., "text", argument, "text", argument, "text")
function parse_engine_row(row,    open, n, part, i, name) {
	gsub(/"[ \t]+"/, "", row)
	n = split(row, part, "\"")
	if (row !~ /^ENGINE_PROBE[1-6]\([a-z_]+, [a-z_]+, "[^"]*"(, [a-z]+, "[^"]*")+\)$/ || substr(row, 13, 1) != (n - 3) / 2)
		fail("not a row of a probe: " row, \
			"ENGINE_PROBE1(sleep, sleep, \"Capture is suspended\", worker, \"number of the worker\")")
	open = index(row, "(")
	name = substr(row, open + 1, index(row, ",") - open - 1)
	gsub(/__/, "-", name)
	engine_name[engines] = name
	engine_text[engines] = part[2]
	engine_args[engines] = (n - 3) / 2
	for (i = 0; i < engine_args[engines]; i++) {
		name = part[2 * i + 3]
		gsub(/[, ]/, "", name)
		engine_arg[engines, i] = name
		engine_arg_text[engines, i] = part[2 * i + 4]
	}
	engines++
}

file == 3 && (engine_row != "" || /^ENGINE_PROBE/) {
	sub(/^[ \t]+/, "")
	engine_row = engine_row (engine_row == "" ? "" : " ") $0
	if (/\)$/) {
		parse_engine_row(engine_row)
		engine_row = ""
	}
}

file == 3 {
	next
}

# ------------------------------------------------------------------------------------------------------------ the page

# "tcp" of "tcp-receive".
function provider_of(name) {
	sub(/-.*/, "", name)
	return name
}

# One section for each provider: probe and meaning.
function write_probes(    i, j, provider, longest) {
	for (i = 0; i < probes; i++) {
		if (provider_of(probe_name[i]) != provider) {
			if (i > 0)
				print ".El"
			provider = provider_of(probe_name[i])
			longest = ""
			for (j = i; j < probes && provider_of(probe_name[j]) == provider; j++)
				if (length(probe_name[j]) > length(longest))
					longest = probe_name[j]
			print ".Ss " provider "\n.Bl -tag -width \"" longest "\" -compact"
		}
		print ".It Ic " probe_name[i]
		print running(probe_doc[i])
	}
	print ".El"
}

# A row of the table of types: the probe's arguments after a label of one cell.
function type_row(label, p,    j, row) {
	row = sprintf("%-11s", label)
	for (j = 0; j < probe_args[p]; j++)
		row = row sprintf("%-10s", arg_type[p, j] == "" ? "-" : arg_type[p, j])
	sub(/ +$/, "", row)
	return row
}

# Type, or NULL, and meaning of an argument.
function meaning(p, j) {
	return arg_type[p, j] "|" arg_null[p, j] "|" arg_doc[p, j]
}

# The probes of first .. last whose group[] is that of `p`, as arguments of .Ic: "tcp-timeout-*" stands for all probes
# with this prefix if there are several.
function group_names(p, first, last,    i, j, n, stem, whole, names) {
	for (i = first; i <= last; i++) {
		if (group[i] != group[p])
			continue
		n = whole = 0
		if (match(probe_name[i], /^[a-z]+-[a-z]+-/)) {
			stem = substr(probe_name[i], 1, RLENGTH)
			whole = 1
			for (j = first; j <= last; j++)
				if (index(probe_name[j], stem) == 1) {
					n++
					whole = whole && group[j] == group[p]
				}
		}
		stem = whole && n > 1 ? stem "*" : probe_name[i]
		if (index(" " names " ", " " stem " ") == 0)
			names = names (names == "" ? "" : " , ") stem
	}
	return names
}

# The last probe of the provider that begins with probe `first`.
function provider_end(first,    i) {
	for (i = first; i + 1 < probes && provider_of(probe_name[i + 1]) == provider_of(probe_name[first]); i++)
		continue
	return i
}

# Numbers group[] of first .. last: the first probe of the same signature, or of the same meaning of argument `j`.
function make_groups(first, last, j,    i, k) {
	for (i = first; i <= last; i++) {
		for (k = first; k < i; k++)
			if (j < 0 ? type_row("", k) == type_row("", i) : meaning(k, j) == meaning(i, j))
				break
		group[i] = k
	}
}

# How many of first .. last are in the group of `p`.
function group_size(p, first, last,    i, n) {
	for (i = first; i <= last; i++)
		n += group[i] == group[p]
	return n
}

# Literal text: groff and mandoc break the cells of a list of columns at different places.
function write_argument_types(    i, first, last, main, names) {
	print ".Bd -literal"
	printf "%-11s", "provider"
	for (i = 0; i < 5; i++)
		printf "%-10s", "args[" i "]"
	print "args[5]"
	for (first = 0; first < probes; first = last + 1) {
		last = provider_end(first)
		make_groups(first, last, -1)
		main = first
		for (i = first; i <= last; i++)
			if (group_size(i, first, last) > group_size(main, first, last))
				main = i
		print type_row(provider_of(probe_name[first]), main)
		for (i = first; i <= last; i++)
			if (group[i] == i && i != group[main]) {
				names = group_names(i, first, last)
				gsub(/ , /, ", ", names)
				print names ":\n" type_row("", i)
			}
	}
	print ".Ed"
}

# Argument `j` of the probes of a provider: its meaning if all that have it agree, else that of each group.
function write_argument(first, last, j,    i, groups) {
	make_groups(first, last, j)
	for (i = first; i <= last; i++)
		groups += group[i] == i && arg_type[i, j] != ""
	if (groups == 0)
		return
	print ".It Li args[" j "]"
	if (groups > 1)
		print ".Bl -tag -width Ds -compact"
	for (i = first; i <= last; i++) {
		if (group[i] != i || arg_type[i, j] == "")
			continue
		if (groups > 1)
			print ".It Ic " group_names(i, first, last)
		print ".Vt " arg_type[i, j] "_t *" (arg_null[i, j] ? "\nor\n.Dv NULL :" : ":")
		print running(arg_doc[i, j])
	}
	if (groups > 1)
		print ".El"
}

function write_arguments(    i, j, first, last, most) {
	write_argument_types()
	for (first = 0; first < probes; first = last + 1) {
		last = provider_end(first)
		most = 0
		for (i = first; i <= last; i++)
			if (probe_args[i] > most)
				most = probe_args[i]
		print ".Ss Arguments of " provider_of(probe_name[first]) "\n.Bl -tag -width \"args[0]\" -compact"
		for (j = 0; j < most; j++)
			write_argument(first, last, j)
		print ".El"
	}
}

# The first struct with the same fields, or the struct itself.
function same_as(s,    i) {
	for (i = 0; field_list[i] != field_list[s]; i++)
		continue
	return i
}

function write_structs(    i, j, same) {
	for (i = 0; i < structs; i++) {
		print ".Ss " struct_name[i] "_t"
		print running(struct_doc[i])
		if (!(struct_name[i] in used))
			print "No probe of this release passes it."
		same = same_as(i)
		if (same != i) {
			print "Its fields are those of\n.Vt " struct_name[same] "_t ."
			continue
		}
		print ".Pp\n.Bl -tag -width Ds -compact"
		for (j = 0; j < struct_fields[i]; j++) {
			print ".It Va " field_name[i, j] " Pq Vt " field_type[i, j]
			print sentence(field_doc[i, j])
		}
		print ".El"
	}
}

function write_anomalies(    i) {
	for (i = 0; i < anomalies; i++) {
		if (i == 0 || anomaly_heading[i] != anomaly_heading[i - 1]) {
			if (i > 0)
				print ".El"
			print ".Ss " anomaly_heading[i] "\n.Bl -tag -width \"malformed\" -compact"
		}
		print ".It Li " anomaly_word[i] " Pq " anomaly_severity[i]
		print sentence(anomaly_text[i])
	}
	print ".El"
}

function write_engine(    i, j) {
	print ".Bl -tag -width Ds -compact"
	for (i = 0; i < engines; i++) {
		print ".It Ic " engine_name[i]
		print running(engine_text[i])
		print ".Bl -tag -width \"arg0 duration\" -compact"
		for (j = 0; j < engine_args[i]; j++) {
			print ".It Va arg" j " " engine_arg[i, j]
			print sentence(engine_arg_text[i, j])
		}
		print ".El"
	}
	print ".El"
}

/^@ENGINE@$/ {
	write_engine()
	filled++
	next
}

/^@PROBES@$/ {
	write_probes()
	filled++
	next
}

/^@ARGUMENTS@$/ {
	write_arguments()
	filled++
	next
}

/^@STRUCTS@$/ {
	write_structs()
	filled++
	next
}

/^@ANOMALIES@$/ {
	write_anomalies()
	filled++
	next
}

/^@/ {
	fail("no table of this name: " $0, "@PROBES@, @ARGUMENTS@, @STRUCTS@, @ANOMALIES@ or @ENGINE@")
}

{
	print
}

END {
	if (!failed && (file != 4 || filled != 5 || probes == 0 || structs == 0 || anomalies == 0 || engines == 0)) {
		print "netobs7.awk: " file + 0 " of four files, " probes + 0 " probes, " structs + 0 " structs, " anomalies + 0 \
			" anomalies and " filled + 0 " of five tables found" | "cat 1>&2"
		print "usage: awk -f netobs7.awk LISTING anomaly.def engine.def netobs.7.in" | "cat 1>&2"
		exit 1
	}
}
