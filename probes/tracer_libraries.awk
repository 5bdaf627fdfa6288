# SPDX-License-Identifier: BSD-2-Clause
#
# Generates the libraries of tracers that do not read netobs.h, from the sources of the program.
#
#	awk -v output=listing -f probes/manifest.awk netobs.d netobs.h >LISTING
#	awk -v output=WHAT -f probes/tracer_libraries.awk LISTING netobs.h
#
# writes to standard output, by WHAT:
#	d	netobs.d, the D library: structs, translators and constants
#	tapset	netobs.stp, the SystemTap tapset; with -v program=PATH of netobsd
#	abi	names, types, offsets and sizes, to be compared with those of the releases
#
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

function usage(message) {
	print "tracer_libraries.awk: " message | "cat 1>&2"
	print "usage: awk -v output=d|tapset|abi [-v program=PATH] -f tracer_libraries.awk LISTING netobs.h" | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

BEGIN {
	FS = "\t"
	probes = structs = constants = file = 0
}

FNR == 1 {
	file++
}

# ------------------------------------------------------------------------------------------------------------- readers

# Size of a type in bytes; sets `alignment`.  Structs have no hidden padding, so both can be computed.
function size_of(type,    element, count) {
	element = type
	count = 1
	if (match(type, /\[[0-9]+\]$/)) {
		element = substr(type, 1, RSTART - 1)
		count = substr(type, RSTART + 1, RLENGTH - 2) + 0
	}
	if (element == "pointer" || element ~ /64_t$/)
		alignment = 8
	else if (element ~ /32_t$/)
		alignment = 4
	else if (element ~ /16_t$/)
		alignment = 2
	else if (element ~ /8_t$/ || element == "char")
		alignment = 1
	else
		fail("not a type of a field: " type, "uint32_t, char[16] or pointer")
	return alignment * count
}

function align_offset(offset, to) {
	return int((offset + to - 1) / to) * to
}

file == 1 && $1 == "probe" {
	probe_name[probes] = $2
	probe_args[probes] = 0
	probes++
}

file == 1 && $1 == "arg" {
	arg_type[probes - 1, $2] = $3
	arg_null[probes - 1, $2] = $4
	arg_name[probes - 1, $2] = $6
	probe_args[probes - 1]++
}

file == 1 && $1 == "struct" {
	struct_name[structs] = $2
	struct_id[$2] = structs
	fields[structs] = struct_size[structs] = struct_alignment[structs] = 0
	structs++
}

file == 1 && $1 == "field" {
	s = structs - 1
	size = size_of($3)
	field_name[s, fields[s]] = $2
	field_type[s, fields[s]] = $3
	field_size[s, fields[s]] = size
	field_doc[s, fields[s]] = $4
	field_offset[s, fields[s]] = align_offset(struct_size[s], alignment)
	struct_size[s] = field_offset[s, fields[s]] + size
	if (alignment > struct_alignment[s])
		struct_alignment[s] = alignment
	fields[s]++
}

file == 1 && $1 !~ /^(probe|arg|struct|field)$/ {
	fail("not a line of the listing: " $0, "probe<TAB>tcp-send<TAB>text; arg, struct or field")
}

# The enumerators of the header: the numbers of states, flags and kinds.
file == 2 && /^\tNETOBS_[A-Z0-9_]+ = (0x)?[0-9a-f]+,?([ \t]|$)/ {
	split($0, part, /[\t =,]+/)
	constant_name[constants] = part[2]
	constant_value[constants] = part[3]
	constants++
	next
}

file == 2 && /^[ \t]+NETOBS_/ {
	fail("not an enumerator with a number: " $0, "NETOBS_TCP_CLOSED = 7,  after one tab")
}

function finish_structs(    s) {
	for (s = 0; s < structs; s++)
		struct_size[s] = align_offset(struct_size[s], struct_alignment[s])
}

# ----------------------------------------------------------------------------------------------------------- D library

# "char[12]" and its name as D declares it
function d_declaration(type, name) {
	if (type == "pointer")
		return "uint64_t " name
	if (match(type, /\[/))
		return substr(type, 1, RSTART - 1) " " name substr(type, RSTART)
	return type " " name
}

function write_d_struct(s,    i, type) {
	print "\ntypedef struct netobs_" struct_name[s] " {"
	for (i = 0; i < fields[s]; i++)
		print "\t" d_declaration(field_type[s, i], field_name[s, i]) ";"
	print "} netobs_" struct_name[s] "_t;\n\ntypedef struct nobs_" struct_name[s] " {"
	for (i = 0; i < fields[s]; i++) {
		type = field_type[s, i]
		if (type ~ /^char\[/)
			print "\tstring " field_name[s, i] ";"
		else if (type ~ /^uint8_t\[/)
			print "\tuint8_t *" field_name[s, i] ";"
		else
			print "\t" d_declaration(type, field_name[s, i]) ";"
	}
	print "} nobs_" struct_name[s] "_t;"
}

# Expression for a string.  A field whose comment in netobs.h contains "" may be empty, so its first byte is tested:
# Linux 6.1 reports the copy of an empty string as a fault, and DTrace then skips the clause.  A statement has room for
# four strings at a time, and the test takes a second one; tests/probes/json_lines.py finds fields that lack the mark.
function d_string(at, size, doc) {
	if (doc !~ /""/)
		return "copyinstr(" at ", " size ")"
	return "*(char *)copyin(" at ", 1) ? copyinstr(" at ", " size ") : \"\""
}

function write_d_translator(s,    i, type, at) {
	print "\n#pragma D binding \"1.0\" translator"
	print "translator nobs_" struct_name[s] "_t < netobs_" struct_name[s] "_t *p > {"
	for (i = 0; i < fields[s]; i++) {
		type = field_type[s, i]
		# DTrace takes the address of an element, not of an array.
		at = "(uintptr_t)&p->" field_name[s, i] (type ~ /\[/ ? "[0]" : "")
		if (type ~ /^char\[/)
			print "\t" field_name[s, i] " = " d_string(at, field_size[s, i], field_doc[s, i]) ";"
		else if (type ~ /^uint8_t\[/)
			print "\t" field_name[s, i] " = (uint8_t *)copyin(" at ", " field_size[s, i] ");"
		else {
			sub(/^pointer$/, "uint64_t", type)
			print "\t" field_name[s, i] " = *(" type " *)copyin(" at ", sizeof (" type "));"
		}
	}
	print "};"
}

function write_d(    i) {
	print "/* SPDX-License-Identifier: BSD-2-Clause */"
	print "/*\n * The D library of the provider netobs: types and translators for args[N]->field.  Generated by\n * probes/tracer_libraries.awk.\n *"
	print " * netobs_X_t is a struct in the memory of netobsd, nobs_X_t the same struct as a D program reads it.  The names of"
	print " * the types are netobs's own, so that they do not clash with those of the host; D programs need only the fields."
	print " */"
	for (i = 0; i < constants; i++)
		print (i ? "" : "\n") "inline int " constant_name[i] " = " constant_value[i] ";\n#pragma D binding \"1.0\" " constant_name[i]
	for (i = 0; i < structs; i++) {
		write_d_struct(i)
		write_d_translator(i)
	}
}

# -------------------------------------------------------------------------------------------------------------- tapset

function stap_read(s, i, argument,    type, at) {
	type = field_type[s, i]
	at = "(" argument " + " field_offset[s, i] ")"
	if (type ~ /^char\[/)
		return "user_string_n" substr(at, 1, length(at) - 1) ", " field_size[s, i] ")"
	sub(/_t$/, "", type)
	if (type == "pointer")
		type = "uint64"
	return "user_" type at
}

# The fields of an argument become variables of the same name.  If the name is taken, as in the struct after a change of
# state, the argument's name replaces the first word: tcpns_state.
function stap_argument(p, a,    s, i, name, seen) {
	print "\t" arg_name[p, a] " = $arg" (a + 1)
	s = struct_id[arg_type[p, a]]
	for (i = 0; i < a; i++)
		if (arg_type[p, i] == arg_type[p, a])
			return
	for (i = 0; i < fields[s]; i++) {
		name = field_name[s, i]
		if (field_type[s, i] ~ /^uint8_t\[/) {
			print "\t" name " = $arg" (a + 1) " + " field_offset[s, i]
			continue
		}
		if ((p, name) in taken)
			sub(/^[a-z0-9]+/, arg_name[p, a], name)
		taken[p, name] = 1
		print "\t" name " = " stap_read(s, i, "$arg" (a + 1))
	}
}

function write_tapset(    p, a, name) {
	print "/* SPDX-License-Identifier: BSD-2-Clause */"
	print "/*\n * The SystemTap tapset of the provider netobs.  Generated by probes/tracer_libraries.awk.\n *"
	print " *\tstap -I DIRECTORY -e 'probe netobs.tcp_receive { printf(\"%s %d\\n\", ip_saddr, tcp_dport) }'\n *"
	print " * Each argument is a variable, the address of its struct, and so is each field.  Unused variables cost nothing."
	print " * Byte arrays are their addresses.  The fields of a NULL argument are 0 or \"<unknown>\"."
	print " */"
	if (program == "")
		usage("output=tapset needs the path of netobsd")
	for (p = 0; p < probes; p++) {
		name = probe_name[p]
		gsub(/-/, "__", name)
		printf "\nprobe netobs.%s = process(\"%s\").provider(\"netobs\").mark(\"%s\")\n{\n", \
			flat_name(probe_name[p]), program, name
		print "\tname = \"" probe_name[p] "\""
		for (a = 0; a < probe_args[p]; a++)
			if (arg_type[p, a] != "")
				stap_argument(p, a)
		print "}"
	}
}

function flat_name(name) {
	gsub(/-/, "_", name)
	return name
}

# ----------------------------------------------------------------------------------------------------------------- abi

function write_abi(    i, j) {
	for (i = 0; i < probes; i++)
		for (j = 0; j < probe_args[i]; j++)
			print probe_name[i] " args[" j "] " \
				(arg_type[i, j] == "" ? "NULL" : arg_type[i, j] "_t *" (arg_null[i, j] == "true" ? " or NULL" : ""))
	for (i = 0; i < structs; i++) {
		print "struct " struct_name[i] " " struct_size[i]
		for (j = 0; j < fields[i]; j++)
			print struct_name[i] "." field_name[i, j] " " field_type[i, j] " at " field_offset[i, j] " size " field_size[i, j]
	}
	for (i = 0; i < constants; i++)
		print constant_name[i] " " constant_value[i]
}

END {
	if (failed)
		exit 1
	if (file != 2)
		usage("two files are needed, the listing and the header, not " file)
	if (probes == 0 || structs == 0 || constants == 0)
		usage(probes " probes and " structs " structs in the listing and " constants " constants in the header: none may be 0")
	finish_structs()
	if (output == "d")
		write_d()
	else if (output == "tapset")
		write_tapset()
	else if (output == "abi")
		write_abi()
	else
		usage("unknown output: " output)
	if (failed)
		exit 1
}
