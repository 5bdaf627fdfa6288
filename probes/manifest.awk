# SPDX-License-Identifier: BSD-2-Clause
#
# Generates C tables from the provider file and the public header.
#
#	awk -v output=WHAT -f manifest.awk netobs.d netobs.h
#
# writes to standard output, by WHAT:
#	ids		probe_ids.h: enum probe_id, enum struct_id and STRUCT_ROWS
#	sites.h		the semaphores and the site functions, declared
#	sites.c		the same, defined
#	manifest	manifest_data.c: the tables of manifest.h
#	listing		the same for other scripts: one probe, argument, struct or field per line, separated by tabs
#
# It accepts a small language and rejects everything else with file, line and exit status 1: a probe or a field that it
# overlooked would be missing from the manifest without an error.  POSIX awk: runs with gawk, mawk and busybox.

# Reports the error at LINE of FILE with an example of what is expected there, and exits.
function fail_in(file, line, message, example) {
	gsub(/[ \t\n]+/, " ", message)
	print file ":" line ": " message | "cat 1>&2"
	print file ":" line ": expected, for example: " example | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

function fail(line, message, example) {
	fail_in(FILENAME, line, message, example)
}

function usage(message) {
	print "manifest.awk: " message | "cat 1>&2"
	print "usage: awk -v output=ids|sites.h|sites.c|manifest|listing -f manifest.awk netobs.d netobs.h" | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

# The construct that is still open, "" if no construct is; sets `open_line` to the line where it begins.
function unfinished() {
	open_line = in_comment ? comment_line : pending != "" ? pending_line : block_line
	if (in_comment)
		return "a comment"
	if (pending != "")
		return "a declaration"
	return in_provider ? "the provider" : in_struct ? "a struct" : in_enum ? "an enum" : ""
}

function check_finished(file, line,    what) {
	what = unfinished()
	if (what != "")
		fail_in(file, line, "the file ends inside " what " that begins at line " open_line, \
			in_comment ? "*/" : pending == "" ? "};" : file_number == 1 ? EXAMPLE_PROBE : EXAMPLE_FIELD)
}

function trim(s) {
	gsub(/[ \t]+/, " ", s)
	sub(/^ /, "", s)
	sub(/ $/, "", s)
	return s
}

function quote(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	return "\"" s "\""
}

# The text of a complete comment, without markers, one line per line.
function comment_text(s) {
	sub(/^[ \t]*\/\*+[ \t]*/, "", s)
	sub(/[ \t]*\*\/[ \t]*$/, "", s)
	gsub(/\n[ \t]*\*[ \t]*/, "\n", s)
	sub(/^\n/, "", s)
	return s
}

BEGIN {
	probes = structs = fields = enums = file_number = 0
	EXAMPLE_PROBE = "probe tcp__probe(netobs_pktinfo_t *pkt, void *none1) : (nobs_pktinfo_t *pkt, void *none1);"
	EXAMPLE_DOC = "/* A packet is sent.  Then one line for each argument:  args[0] pktinfo_t *: the packet */"
	EXAMPLE_FIELD = "netobs_u32 pkt_len;    /* bytes of the frame on the wire */"
	EXAMPLE_ENUM = "/* tcps_state: the numbers are Linux's. */"
	EXAMPLE_PACKETS = "/* Probes of packets that continue a connection: tcp-send tcp-receive */"
	EXAMPLE_STABILITY = "#pragma D attributes Evolving/Evolving/Common provider netobs name"
	stability_count = split("provider module function name args", stability_element, " ")
	for (i = 1; i <= stability_count; i++)
		stability_elements[stability_element[i]] = i
	EXAMPLE_PADDING = "netobs_u8 cs_pad[4];  /* padding */"
}

# ---------------------------------------------------------------------------------------------------- the provider file

# "netobs_tcpinfo_t *tcp" -> argument number `i` of the last probe; "void *none1" is a position that is always NULL.
function parse_raw_argument(i, s,    part) {
	s = trim(s)
	if (s ~ /^void \*[a-z][a-z0-9]*$/)
		arg_type[probes, i] = ""
	else if (s ~ /^netobs_[a-z0-9]+_t \*[a-z][a-z0-9]*$/) {
		arg_type[probes, i] = substr(s, 8, index(s, "_t *") - 8)
	} else
		fail(pending_line, "args[" i "] of " probe_c[probes] " is not an argument: " s, \
			"netobs_ipinfo_t *ip, or void *none1 for a position that is always NULL")
	split(s, part, /\*/)
	arg_name[probes, i] = part[2]
}

# The stable type, which D uses, must be the same struct, under its name in the D library.
function parse_stable_argument(i, s,    want) {
	want = arg_type[probes, i] == "" ? "void *" : "nobs_" arg_type[probes, i] "_t *"
	if (trim(s) != want arg_name[probes, i])
		fail(pending_line, "args[" i "] of " probe_c[probes] " is " trim(s) " after the colon, which is not its stable type", \
			want arg_name[probes, i])
}

# The type of argument `i` as the comment of the last probe must write it, without "or NULL".
function doc_type(i) {
	return arg_type[probes, i] == "" ? "NULL" : arg_type[probes, i] "_t *"
}

function doc_example(i) {
	return " * args[" i "] " doc_type(i) ": " (arg_type[probes, i] == "" ? "reserved" : "what " arg_name[probes, i] " is")
}

# "args[2] ipinfo_t * or NULL: text", as the declaration says.
function parse_argument_doc(at, i, line,    want, rest) {
	want = doc_type(i)
	rest = substr(line, 9)
	if (substr(rest, 1, length(want)) != want)
		fail(at, "the comment of " probe_c[probes] " does not have the type of the declaration: " line, doc_example(i))
	rest = substr(rest, length(want) + 1)
	arg_null[probes, i] = arg_type[probes, i] == "" ? "true" : "false"
	if (rest ~ /^ or NULL: /) {
		arg_null[probes, i] = "true"
		sub(/^ or NULL: /, "", rest)
	} else if (!sub(/^: /, "", rest))
		fail(at, "no text after the type: " line, doc_example(i))
	arg_doc[probes, i] = rest
}

function parse_probe_doc(    line, n, i, argument, above) {
	if (comment == "")
		fail(pending_line, "probe " probe_c[probes] " has no comment above it", EXAMPLE_DOC)
	n = split(comment_text(comment), line, "\n")
	above = comment_line - (comment !~ /^[ \t]*\/\*+[ \t]*\n/) # line i of the text is line above + i of the file
	argument = 0
	for (i = 1; i <= n; i++) {
		if (line[i] ~ /^args\[[0-5]\] ([a-z0-9]+_t \*|NULL:)/) {
			if (substr(line[i], 6, 1) != argument "")
				fail(above + i, "the comment of " probe_c[probes] " has no args[" argument "] before: " line[i], \
					doc_example(argument))
			if (argument >= probe_args[probes])
				fail(above + i, probe_c[probes] " has " probe_args[probes] " arguments, its comment has more: " line[i], \
					doc_example(probe_args[probes] - 1) ", as the last one")
			parse_argument_doc(above + i, argument++, line[i])
		} else if (argument > 0 && line[i] != "")
			fail(above + i, "not a line of an argument: " line[i], doc_example(argument - 1) ", all on one line")
		else if (line[i] != "")
			probe_doc[probes] = probe_doc[probes] (probe_doc[probes] == "" ? "" : " ") line[i]
	}
	if (argument != probe_args[probes])
		fail(above + n, probe_c[probes] " has " probe_args[probes] " arguments, its comment " argument, doc_example(argument))
	comment = ""
}

function parse_probe(s,    open, half, raw, stable, n, i, name) {
	s = trim(s)
	if (s !~ /^probe [a-z0-9_]+\([^()]*\) : \([^()]*\);$/)
		fail(pending_line, "not a declaration of a probe: " s, EXAMPLE_PROBE)
	open = index(s, "(")
	name = substr(s, 7, open - 7)
	if (name !~ /^[a-z0-9]+(__[a-z0-9]+)+$/)
		fail(pending_line, "not a name of a probe: " name, "tcp__connect__established")
	if (name in probe_seen)
		fail(pending_line, "probe " name " was declared at line " probe_seen[name], "probe " name "__again(...)")
	probe_seen[name] = probe_line[probes] = pending_line
	split(s, half, / : /)
	probe_c[probes] = name
	raw = substr(half[1], open + 1, length(half[1]) - open - 1)
	stable = substr(half[2], 2, length(half[2]) - 3)
	n = split(raw, raw_arg, ",")
	if (n < 1 || n > 6)
		fail(pending_line, "probe " name " has " n " arguments, not one to six", EXAMPLE_PROBE)
	i = split(stable, stable_arg, ",")
	if (i != n)
		fail(pending_line, "probe " name " has " n " arguments before the colon and " i " after it", EXAMPLE_PROBE)
	probe_args[probes] = n
	for (i = 0; i < n; i++)
		parse_raw_argument(i, raw_arg[i + 1])
	for (i = 0; i < n; i++)
		parse_stable_argument(i, stable_arg[i + 1])
	parse_probe_doc()
	probes++
}

# The names after the colon of the comment above the provider.
function parse_packet_probes(    text, name, n, i) {
	text = comment_text(comment)
	gsub(/\n/, " ", text)
	if (text !~ /^Probes of packets [^:]*: [a-z -]+$/)
		fail(FNR, "the comment above the provider does not name the probes of packets", EXAMPLE_PACKETS)
	sub(/^[^:]*: /, "", text)
	provider_line = FNR
	packet_probes = n = split(text, name, " ")
	for (i = 1; i <= n; i++) {
		gsub(/-/, "__", name[i])
		packet_probe[i] = name[i]
		per_packet[name[i]] = 1
	}
}

function check_packet_probes(    i) {
	for (i = 1; i <= packet_probes; i++)
		if (!(packet_probe[i] in probe_seen))
			fail_in(provider_file, provider_line, "a probe of packets that is not declared: " packet_probe[i], EXAMPLE_PACKETS)
}

# "#pragma D attributes Evolving/Evolving/Common provider netobs name"
function parse_stability(    part) {
	if (split($0, part, " ") != 7 || part[5] != "provider" || part[6] != "netobs" || !(part[7] in stability_elements))
		fail(FNR, "no stability of provider, module, function, name or args of netobs: " $0, EXAMPLE_STABILITY)
	stability[part[7]] = part[4]
}

function parse_provider_line() {
	if (pending != "") {
		pending = pending " " $0
	} else if ($0 ~ /^[ \t]*\/\*/) {
		begin_comment()
		return
	} else if ($0 ~ /^[ \t]*$/) {
		return
	} else if ($0 ~ /^#pragma D attributes /) {
		parse_stability()
		return
	} else if ($0 == "provider netobs {" && !in_provider) {
		in_provider = 1
		block_line = FNR
		parse_packet_probes()
		comment = ""
		return
	} else if ($0 == "};" && in_provider) {
		in_provider = 0
		return
	} else if ($0 ~ /^\tprobe / && in_provider) {
		pending = $0
		pending_line = FNR
	} else
		fail(FNR, "neither a comment nor a probe: " $0, in_provider ? EXAMPLE_PROBE : "provider netobs {")
	if (pending ~ /;[ \t]*$/) {
		parse_probe(pending)
		pending = ""
	}
}

# ----------------------------------------------------------------------------------------------------------- the header

function parse_type(word, count) {
	if (word == "char" && count != "") {
		field_kind[structs, fields] = "FIELD_TEXT"
		field_type[structs, fields] = "char[" count "]"
	} else if (word == "netobs_u8" && count != "") {
		field_kind[structs, fields] = "FIELD_BYTES"
		field_type[structs, fields] = "uint8_t[" count "]"
	} else if (word ~ /^netobs_u(8|16|32|64)$/ && count == "") {
		field_kind[structs, fields] = "FIELD_UNSIGNED"
		field_type[structs, fields] = "uint" substr(word, 9) "_t"
	} else if (word ~ /^netobs_i(8|32|64)$/ && count == "") {
		field_kind[structs, fields] = "FIELD_SIGNED"
		field_type[structs, fields] = "int" substr(word, 9) "_t"
	} else if (word == "netobs_be32" && count == "") {
		field_kind[structs, fields] = "FIELD_NETWORK"
		field_type[structs, fields] = "uint32_t"
	} else if (word == "netobs_ptr" && count == "") {
		field_kind[structs, fields] = "FIELD_POINTER"
		field_type[structs, fields] = "pointer"
	} else
		fail(pending_line, "not a type of a field: " word (count == "" ? "" : "[" count "]"), \
			"netobs_u32; or netobs_u8, u16, u64, i8, i32, i64, be32, ptr, or char or netobs_u8 with a count in brackets")
}

function parse_field(s,    at, declaration, text, part, name, count) {
	at = index(s, "/*")
	if (at == 0 || s !~ /\*\/[ \t]*$/)
		fail(pending_line, "a field without a comment after it: " s, EXAMPLE_FIELD)
	declaration = trim(substr(s, 1, at - 1))
	text = comment_text(substr(s, at))
	gsub(/\n/, " ", text)
	if (declaration !~ /^[a-z_0-9]+ [a-z_0-9]+(\[[0-9]+\])?;$/)
		fail(pending_line, "not a field: " declaration, EXAMPLE_FIELD)
	split(declaration, part, /[ ;]/)
	name = part[2]
	count = ""
	if (name ~ /\[/) {
		count = substr(name, index(name, "[") + 1)
		sub(/\]$/, "", count)
		sub(/\[.*/, "", name)
	}
	if (text == "padding") {
		if (name !~ /_pad[0-9]*$/)
			fail(pending_line, name " is padding by its comment but not by its name", EXAMPLE_PADDING)
		return
	}
	if (name ~ /_pad[0-9]*$/)
		fail(pending_line, name " is padding by its name but not by its comment: " text, EXAMPLE_PADDING)
	if (text == "")
		fail(pending_line, name " has an empty comment", EXAMPLE_FIELD)
	parse_type(part[1], count)
	field_name[structs, fields] = name
	field_doc[structs, fields] = text
	field_unit[structs, fields] = unit_of(name, text)
	field_address[structs, fields] = part[1] == "char" && (count == 46 || count == 16 && text ~ /address/) ? "true" : "false"
	field_hex[structs, fields] = part[1] == "netobs_u64" && text ~ /; 16 hex digits$/ ? "true" : "false"
	fields++
}

# The unit of a number: by the end of its name, or by the comment up to the first semicolon or parenthesis.
function unit_of(name, text) {
	if (field_kind[structs, fields] !~ /SIGNED$/)
		return "UNIT_NONE"
	if (name ~ /_us$/)
		return "UNIT_US"
	if (name ~ /_ms$/)
		return "UNIT_MS"
	if (name ~ /_(ns|ts)$/)
		return "UNIT_NS"
	sub(/[;(].*/, "", text)
	if (text ~ /, ms( |$)/)
		return "UNIT_MS"
	if (text ~ /, ns( |$)/)
		return "UNIT_NS"
	return text ~ /(^|[ ,])bytes([ ,]|$)/ && text !~ /of [a-z0-9]+ bytes/ ? "UNIT_BYTES" : "UNIT_NONE"
}

# "enum netobs_tcp_state {" below the comment "tcps_state: the numbers are Linux's." or "tcp_flags, cr_client_flags: ...".
function begin_enum(name,    text) {
	text = comment_text(comment)
	if (text !~ /^[a-z_0-9]+(, [a-z_0-9]+)*: /)
		fail(FNR, "enum " name " has no comment above it that begins with a field", EXAMPLE_ENUM)
	enum_name[enums] = name
	sub(/: .*/, "", text)
	enum_fields[enums] = text
	enum_field[enums] = text
	sub(/,.*/, "", enum_field[enums])
	enum_words[enums] = 0
	enum_prefix[enums] = ""
	comment = ""
	in_enum = 1
	block_line = FNR
}

# "	NETOBS_TCP_CLOSED = 7,", with or without a comment, which may go on in the next line.
function parse_enumerator(    part, name) {
	if ($0 ~ /^[ \t]*\* /)
		return
	if ($0 !~ /^\t[A-Z][A-Z_0-9]* = (0x[0-9a-f]+|[0-9]+),?([ \t]*\/\*.*)?$/)
		fail(FNR, "not an enumerator with a number: " $0, "NETOBS_TCP_CLOSED = 7,  after one tab")
	split($0, part, /[ \t,]+/)
	name = part[2]
	if (enum_words[enums] == 0)
		enum_prefix[enums] = name
	while (substr(name, 1, length(enum_prefix[enums])) != enum_prefix[enums] || enum_prefix[enums] !~ /_$/)
		enum_prefix[enums] = substr(enum_prefix[enums], 1, length(enum_prefix[enums]) - 1)
	enum_word[enums, enum_words[enums]++] = name
}

function end_enum(    i, n, field) {
	if (enum_words[enums] == 0)
		fail(FNR, "enum " enum_name[enums] " ends without an enumerator", "NETOBS_TCP_CLOSED = 7,  after one tab")
	n = split(enum_fields[enums], field, ", ")
	for (i = 1; i <= n; i++)
		enum_of[field[i]] = enums
	enums++
	in_enum = 0
}

function end_struct() {
	if (fields == 0)
		fail(FNR, "struct " struct_name[structs] " ends without a field", EXAMPLE_FIELD)
	struct_fields[structs] = fields
	structs++
	in_struct = 0
}

function begin_struct(name) {
	if (comment == "")
		fail(FNR, "struct " name " has no comment above it", "/* The packet: its id and its frame. */")
	struct_name[structs] = name
	struct_id[name] = structs
	struct_doc[structs] = comment_text(comment)
	gsub(/\n/, " ", struct_doc[structs])
	comment = ""
	fields = 0
	in_struct = 1
	block_line = FNR
}

function parse_header_line(    part) {
	if (pending != "") {
		pending = pending "\n" $0
	} else if (in_struct && $0 == "};") {
		end_struct()
		return
	} else if (in_struct) {
		pending = $0
		pending_line = FNR
	} else if (in_enum && $0 == "};") {
		end_enum()
		return
	} else if (in_enum) {
		parse_enumerator()
		return
	} else if ($0 ~ /^\/\*/) {
		begin_comment()
		return
	} else if ($0 ~ /^[ \t]*$/ || $0 ~ /^#/ || $0 ~ /^typedef [^{]*;/) {
		return
	} else if ($0 ~ /^enum [a-z_]+ [{]$/) {
		split($0, part, " ")
		begin_enum(part[2])
		return
	} else if ($0 ~ /^struct [a-z0-9]+ [{]$/) {
		split($0, part, " ")
		begin_struct(part[2])
		return
	} else
		fail(FNR, "neither a comment, a struct, an enum, a typedef nor a line of the preprocessor: " $0, "struct pktinfo {")
	if (pending ~ /\*\/[ \t]*$/) {
		parse_field(pending)
		pending = ""
	}
}

function begin_comment() {
	comment = $0
	comment_line = FNR
	in_comment = $0 !~ /\*\/[ \t]*$/
}

FNR == 1 {
	if (file_number > 0)
		check_finished(last_file, last_line)
	file_number++
	if (file_number == 1)
		provider_file = FILENAME
}

{
	last_file = FILENAME
	last_line = FNR
}

in_comment {
	comment = comment "\n" $0
	in_comment = $0 !~ /\*\/[ \t]*$/
	next
}

file_number == 1 {
	parse_provider_line()
	next
}

{
	parse_header_line()
}

# -------------------------------------------------------------------------------------------------------------- writers

function upper_id(prefix, name) {
	gsub(/__/, "_", name)
	return prefix toupper(name)
}

function site_parameters(p,    i, s) {
	for (i = 0; i < probe_args[p]; i++) {
		s = s (i ? ", " : "") "const " (arg_type[p, i] == "" ? "void" : "struct " arg_type[p, i])
		s = s " *" arg_name[p, i]
	}
	return s
}

function write_ids(    i) {
	print "enum probe_id {"
	for (i = 0; i < probes; i++)
		print "\t" upper_id("PROBE_", probe_c[i]) ","
	print "\tPROBE_COUNT\n};\n"
	print "enum struct_id {"
	for (i = 0; i < structs; i++)
		print "\t" upper_id("STRUCT_", struct_name[i]) ","
	print "\tSTRUCT_COUNT\n};\n"
	print "/* ROW(id, tag) for each struct. */\n#define STRUCT_ROWS(ROW) \\"
	for (i = 0; i < structs; i++)
		print "\tROW(" upper_id("STRUCT_", struct_name[i]) ", " struct_name[i] ")" (i < structs - 1 ? " \\" : "")
}

function write_sites_h(    i) {
	print "#include \"probes/netobs.h\"\n#include \"probes/probe_ids.h\"\n#include \"usdt/site.h\"\n#include \"usdt/site_disabled.h\""
	for (i = 0; i < probes; i++) {
		print "\nPROBE_DECLARE(" probe_c[i] ");"
		print "void site_" probe_c[i] "(" site_parameters(i) ");"
	}
	print "\n/* The tracers of each probe: the first member of its union probe_semaphore. */"
	print "extern volatile unsigned short *const probe_semaphores[PROBE_COUNT];\n"
	print "/* Fires probe `id`: calls its site function with as many of the arguments as it has. */"
	print "void site_fire(enum probe_id id, const void *const args[6]);\n"
}

function write_sites_c(    i, j, s) {
	print "#include \"probes/sites.h\""
	for (i = 0; i < probes; i++)
		print (i ? "" : "\n") "PROBE_DEFINE(" probe_c[i] ");"
	for (i = 0; i < probes; i++) {
		print "\nPROBE_FUNCTION void\nsite_" probe_c[i] "(" site_parameters(i) ")\n{"
		s = probe_c[i]
		for (j = 0; j < probe_args[i]; j++)
			s = s ", " arg_name[i, j]
		if (probe_c[i] in per_packet)
			print "\tPROBE_SITE" probe_args[i] "(" s ");"
		else
			print "\tPROBE_PLAIN_SITE" probe_args[i] "(netobs, " s ");"
		print "}"
	}
	print "\nvolatile unsigned short *const probe_semaphores[PROBE_COUNT] = {"
	for (i = 0; i < probes; i++)
		print "\t&PROBE_SEMAPHORE(" probe_c[i] ").tracers,"
	print "};\n\nvoid\nsite_fire(enum probe_id id, const void *const args[6])\n{\n\tswitch (id) {"
	for (i = 0; i < probes; i++) {
		s = ""
		for (j = 0; j < probe_args[i]; j++)
			s = s (j ? ", " : "") "args[" j "]"
		print "\tcase " upper_id("PROBE_", probe_c[i]) ":\n\t\tsite_" probe_c[i] "(" s ");\n\t\tbreak;"
	}
	print "\tcase PROBE_COUNT:\n\t\tbreak;\n\t}\n}"
}

function write_fields(s,    i, tag, name) {
	tag = "struct " struct_name[s]
	print "\nstatic const struct field_info " struct_name[s] "_fields[] = {"
	for (i = 0; i < struct_fields[s]; i++) {
		name = field_name[s, i]
		print "\t{" quote(name) ", " quote(field_type[s, i]) ", " quote(field_doc[s, i]) ","
		print "\t offsetof(" tag ", " name "), sizeof(((" tag " *)0)->" name "), " field_kind[s, i] ","
		print "\t " field_unit[s, i] ", " field_address[s, i] ", " field_hex[s, i] ", " \
			(name in enum_of ? "&" enum_name[enum_of[name]] "_info" : "NULL") "},"
	}
	print "};"
}

# NETOBS_TCP_FIN_WAIT_1 is the word fin-wait-1 of its enum.
function word_of(e, i,    word) {
	word = tolower(substr(enum_word[e, i], length(enum_prefix[e]) + 1))
	gsub(/_/, "-", word)
	return word
}

function write_enum(e,    i) {
	print "\nstatic const struct word_info " enum_name[e] "_words[] = {"
	for (i = 0; i < enum_words[e]; i++)
		print "\t{" quote(enum_word[e, i]) ", " quote(word_of(e, i)) ", " enum_word[e, i] "},"
	print "};\n\nstatic const struct enum_info " enum_name[e] "_info = {"
	print "\t" quote(enum_field[e]) ", " quote(enum_prefix[e]) ", " enum_name[e] "_words,"
	print "\tsizeof " enum_name[e] "_words / sizeof " enum_name[e] "_words[0]};"
}

function write_manifest(    i, j, name, type) {
	print "#include <stddef.h>\n\n#include \"probes/manifest.h\"\n#include \"probes/netobs.h\""
	for (i = 0; i < enums; i++)
		write_enum(i)
	print "\nconst struct enum_info *const manifest_enums[] = {"
	for (i = 0; i < enums; i++)
		print "\t&" enum_name[i] "_info,"
	print "};\n\nconst size_t manifest_enum_count = sizeof manifest_enums / sizeof manifest_enums[0];"
	for (i = 0; i < structs; i++)
		write_fields(i)
	print "\nconst struct struct_info manifest_structs[STRUCT_COUNT] = {"
	for (i = 0; i < structs; i++) {
		name = struct_name[i]
		print "\t{" quote(name) ", " quote(struct_doc[i]) ",\n\t sizeof(struct " name "), " \
			name "_fields, sizeof " name "_fields / sizeof " name "_fields[0]},"
	}
	print "};\n\nconst struct probe_info manifest_probes[PROBE_COUNT] = {"
	for (i = 0; i < probes; i++) {
		name = probe_c[i]
		gsub(/__/, "-", name)
		print "\t{" quote(name) ", " quote(probe_c[i]) ", " quote(probe_doc[i]) ", " probe_args[i] ",\n\t {"
		for (j = 0; j < probe_args[i]; j++) {
			type = "NULL"
			if (arg_type[i, j] != "")
				type = "&manifest_structs[" upper_id("STRUCT_", arg_type[i, j]) "]"
			print "\t\t{" type ", " arg_null[i, j] ", " quote(arg_name[i, j]) ", " quote(arg_doc[i, j]) "},"
		}
		print "\t }},"
	}
	print "};\n\nconst char *const manifest_stability[MANIFEST_STABILITIES] = {"
	for (i = 1; i <= stability_count; i++)
		print "\t" quote(stability[stability_element[i]]) ","
	print "};\n\nconst bool manifest_per_packet[PROBE_COUNT] = {"
	for (i = 0; i < probes; i++)
		if (probe_c[i] in per_packet)
			print "\t[" upper_id("PROBE_", probe_c[i]) "] = true,"
	print "};"
}

function write_listing(    i, j, name) {
	for (i = 0; i < probes; i++) {
		name = probe_c[i]
		gsub(/__/, "-", name)
		print "probe\t" name "\t" probe_doc[i]
		for (j = 0; j < probe_args[i]; j++)
			print "arg\t" j "\t" arg_type[i, j] "\t" arg_null[i, j] "\t" arg_doc[i, j] "\t" arg_name[i, j]
	}
	for (i = 0; i < structs; i++) {
		print "struct\t" struct_name[i] "\t" struct_doc[i]
		for (j = 0; j < struct_fields[i]; j++)
			print "field\t" field_name[i, j] "\t" field_type[i, j] "\t" field_doc[i, j]
	}
}

function write_guarded(name, what) {
	print "#ifndef NETOBS_PROBES_" name "\n#define NETOBS_PROBES_" name "\n"
	if (what == "ids")
		write_ids()
	else
		write_sites_h()
	print "\n#endif"
}

END {
	if (failed)
		exit 1
	if (file_number != 2)
		usage("two files are needed, the provider and the header, not " file_number)
	check_finished(last_file, last_line)
	if (probes == 0)
		fail_in(provider_file, 1, "no probe in the whole file", EXAMPLE_PROBE)
	check_packet_probes()
	for (i = 1; i <= stability_count; i++)
		if (!(stability_element[i] in stability))
			fail_in(provider_file, provider_line, "no stability of " stability_element[i], EXAMPLE_STABILITY)
	if (structs == 0)
		fail_in(last_file, last_line, "no struct in the whole file", "struct pktinfo {")
	if (enums == 0)
		fail_in(last_file, last_line, "no enum in the whole file", "enum netobs_tcp_state {")
	for (i = 0; i < probes; i++)
		for (j = 0; j < probe_args[i]; j++)
			if (arg_type[i, j] != "" && !(arg_type[i, j] in struct_id))
				fail_in(provider_file, probe_line[i], "args[" j "] of " probe_c[i] " is a netobs_" arg_type[i, j] \
					"_t, and " last_file " has no struct " arg_type[i, j], "struct " arg_type[i, j] " { in " last_file)
	if (output == "listing") {
		write_listing()
		exit 0
	}
	print "/* Generated by probes/manifest.awk from probes/netobs.d and probes/netobs.h. */"
	if (output == "ids")
		write_guarded("PROBE_IDS_H", "ids")
	else if (output == "sites.h")
		write_guarded("SITES_H", "sites.h")
	else if (output == "sites.c")
		write_sites_c()
	else if (output == "manifest")
		write_manifest()
	else
		usage("unknown output: " output)
}
