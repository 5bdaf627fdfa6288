# SPDX-License-Identifier: BSD-2-Clause
#
# The program of scripts/translate: a D script, in tokens, to D for netobs (mode=d) or to bpftrace (mode=bpftrace).
# Needs nearest.awk.
#
#	netobsd=PATH manifest=FILE name=NAME awk -f nearest.awk -f translate.awk -v mode=MODE SCRIPT
#
# FILE is the output of netobsd --list-probes; without it neither probes nor fields are checked.  A line on standard error
# names each place that has no equivalent, and the exit status is 1.

BEGIN {
	backslash = sprintf("%c", 92)
	states = "ESTABLISHED SYN_SENT SYN_RECEIVED FIN_WAIT_1 FIN_WAIT_2 TIME_WAIT CLOSED CLOSE_WAIT LAST_ACK LISTEN CLOSING"
	split(states, state_names, " ")
	set(providers, "gld arp ip icmp tcp tcpf udp sctp dccp socket iscsi dns tls http smb")
	set(flags, "FIN SYN RST PSH ACK URG ECE CWR")
	set(same_calls, "count sum avg min max clear")
	set(types, "int char short long unsigned signed void string int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t " \
	    "uint64_t uintptr_t size_t pid_t u_int u_long uint_t ulong_t hrtime_t")
	set(keywords, "if else sizeof")
	pairs(constant, "IPPROTO_IP 0 IPPROTO_ICMP 1 IPPROTO_IGMP 2 IPPROTO_TCP 6 IPPROTO_EGP 8 IPPROTO_UDP 17 IPPROTO_IPV6 41 " \
	    "IPPROTO_ROUTING 43 IPPROTO_FRAGMENT 44 IPPROTO_GRE 47 IPPROTO_ESP 50 IPPROTO_AH 51 IPPROTO_ICMPV6 58 " \
	    "IPPROTO_OSPF 89 IPPROTO_PIM 103 IPPROTO_SCTP 132 IPPROTO_RAW 255 IPH_DF 2 IPH_MF 1 AF_INET 2 AF_INET6 10 NULL 0")
	foreign_reasons()
	netobsd = ENVIRON["netobsd"]
	manifest = ENVIRON["manifest"]
	name = ENVIRON["name"]
	if (manifest != "")
		read_manifest()
}

# set(ARRAY, WORDS), pairs(ARRAY, WORDS): fill an array
function set(array, words, list, i) {
	for (i = split(words, list, " "); i > 0; i--)
		array[list[i]] = 1
}

function pairs(array, words, list, count, i) {
	count = split(words, list, " ")
	for (i = 1; i < count; i += 2)
		array[list[i]] = list[i + 1]
}

# foreign_reasons(): the fields, variables and functions that other systems have and a translation cannot have
function foreign_reasons() {
	field_reason["tcps_srtt"] = "its unit is the kernel's; use tcps_srtt_us, in us, or tcps_rtt, in ms"
	field_reason["tcps_smax"] = "use tcps_snxt, the next sequence number to send"
	field_reason["tcps_radv"] = "use tcps_rack + tcps_rwnd"
	field_reason["sctp_chunk_hdr"] = "use sctp_hdr"
	field_reason["icmp6_hdr"] = "use icmp_hdr"
	set(kernel_variables, "curthread curpsinfo curlwpsinfo curcpu cwd root zonename errno ppid ipl id epid caller ucaller " \
	    "uregs vtimestamp stackdepth ustackdepth gid uid")
	call_reason["ntohs"] = call_reason["ntohl"] = call_reason["htons"] = call_reason["htonl"] = \
	    "the fields of netobs are in host order"
	call_reason["inet_ntoa"] = call_reason["inet_ntoa6"] = call_reason["inet_ntop"] = \
	    "use the text fields, such as ip_saddr"
	call_reason["stack"] = call_reason["ustack"] = call_reason["jstack"] = "it would be the stack of netobsd"
	call_reason["system"] = call_reason["raise"] = call_reason["copyout"] = "translate omits destructive actions"
}

function read_manifest(line, words, in_structs, struct_name) {
	while ((getline line <manifest) > 0) {
		if (line ~ /^[a-z]+-[a-z-]+$/) {
			probe = line
			probe_list = probe_list " " probe
			known[probe] = 1
		} else if (line ~ /^    args\[[0-5]\] /) {
			sub(/:.*/, "", line)
			split(line, words, " ")
			argument[probe, substr(words[1], 6, 1)] = words[2]
			may_be_null[probe, substr(words[1], 6, 1)] = line ~ /NULL$/
		} else if (line ~ /^[a-z0-9]+_t: /) {
			struct_name = line
			sub(/_t:.*/, "", struct_name)
		} else if (struct_name != "" && line ~ /^    [a-z0-9_\[\]]+ [a-z0-9_]+: /) {
			sub(/:.*/, "", line)
			split(line, words, " ")
			fields[struct_name] = fields[struct_name] " " words[2]
			kind_of_field[struct_name, words[2]] = words[1]
			if (words[1] ~ /^char\[/)
				text_field[words[2]] = 1
		}
	}
	close(manifest)
}

# ------------------------------------------------------------------------------------------------------------ messages

function at_line(i) {
	return name ":" (i in line_of ? line_of[i] : NR) ": "
}

# message(I, TEXT): prints a line about token I.  The script may be of others: a terminal must not execute its text.
function message(i, text) {
	text = "translate: " at_line(i) text
	gsub(/[^ -~\t]/, "?", text)
	print text | "cat >&2"
}

# refuse(I, WHAT): token I has no equivalent.  Its clause is omitted.
function refuse(i, what) {
	message(i, what)
	refused = 1
	clause_refused = what
}

# remark(I, WHAT): what the translation does differently, once for each text
function remark(i, what) {
	if (!(what in remarked))
		message(i, "note: " what)
	remarked[what] = 1
}

# -------------------------------------------------------------------------------------------------------------- tokens

# token(KIND, TEXT): adds a token
function token(kind, text) {
	tokens++
	K[tokens] = kind
	T[tokens] = text
	line_of[tokens] = NR
}

# scan(LINE): the tokens of a line.  Spaces and comments are tokens, so that they stay where they are.
function scan(line, length_of_probe) {
	if (mode == "bpftrace" && !in_comment && line ~ /^#define[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]/) {
		sub(/^#define[ \t]+/, "inline int ", line)
		match(line, /^inline int [A-Za-z0-9_]+/)
		line = substr(line, 1, RLENGTH) " = " substr(line, RLENGTH + 1) ";"
	}
	if (!in_comment && line ~ /^#/) {
		if (line ~ /option[ \t]+quiet/ || line ~ /^#!.*dtrace[ \t]+-[A-Za-z]*q/)
			quiet = 1
		token("pragma", line)
		line = ""
	}
	while (line != "") {
		if (in_comment) {
			if (!match(line, /\*\//)) {
				token("comment", line)
				break
			}
			token("comment", substr(line, 1, RSTART + 1))
			line = substr(line, RSTART + 2)
			in_comment = 0
			continue
		}
		if (substr(line, 1, 2) == "/*") {
			in_comment = 1
			token("comment", "/*")
			line = substr(line, 3)
			continue
		}
		line = substr(line, scan_token(line) + 1)
	}
	token("blank", "\n")
}

# scan_token(LINE): adds the first token of LINE and returns its length
function scan_token(line, kind) {
	kind = "op"
	if (match(line, /^[ \t\r]+/))
		kind = "blank"
	else if (match(line, /^"([^"\\]|\\.)*"/))
		kind = "string"
	else if (match(line, /^'([^'\\]|\\.)*'/))
		kind = "char"
	else if (match(line, /^[A-Za-z_][A-Za-z0-9_*$]*:[A-Za-z0-9_.*]*:[A-Za-z0-9_.*-]*:[A-Za-z0-9_*?-]*/) && at_clause(line))
		kind = "probe"
	else if (depth == 0 && match(line, /^(tick|profile)-[0-9]+[a-z]*/))
		kind = "probe"
	else if (match(line, /^@[A-Za-z0-9_]*/))
		kind = "map"
	else if (match(line, /^[A-Za-z_`][A-Za-z0-9_`]*/))
		kind = "name"
	else if (match(line, /^\$+[A-Za-z0-9_]+/))
		kind = "macro"
	else if (match(line, /^(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*/))
		kind = "number"
	else if (!match(line, /^(->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\^\^|[-+*\/%&|^]=)/)) {
		RSTART = 1
		RLENGTH = 1
	}
	token(kind, substr(line, 1, RLENGTH))
	if (kind == "probe" || T[tokens] ~ /^(BEGIN|END)$/)
		has_clause = 1
	if (kind == "probe")
		depth = 0
	if (T[tokens] == "{")
		depth++
	else if (T[tokens] == "}" && depth > 0)
		depth--
	return RLENGTH
}

# at_clause(LINE): whether the probe at the beginning of LINE may begin a clause: inside braces, of which one is not closed
# then, only the probe of a network provider at the beginning of a line
function at_clause(line, i) {
	if (depth == 0)
		return 1
	for (i = tokens; i > 0 && K[i] == "blank" && T[i] != "\n"; i--)
		;
	return T[i] == "\n" && probe_of(line) != ""
}

{
	scan($0)
}

# after(I), before(I): the next and the previous token that is not a space or comment; outside the script their text is
# ""
function after(i) {
	for (i++; i <= tokens && (K[i] == "blank" || K[i] == "comment"); i++)
		;
	return i
}

function before(i) {
	for (i--; i > 0 && (K[i] == "blank" || K[i] == "comment"); i--)
		;
	return i
}

# pair_brackets(): the bracket that closes each bracket.  Refuses a bracket without its other half, and a text likewise.
function pair_brackets(i) {
	for (i = 1; i <= tokens; i++) {
		if (K[i] == "probe")
			leave_open(1, i)
		if (K[i] != "op")
			continue
		if (T[i] ~ /^["']$/)
			refuse_bracket(i, "the text is not closed")
		if (T[i] ~ /^[;{}]$/)
			leave_open(0, i)
		if (T[i] ~ /^[(\[{]$/)
			open_bracket[++opened] = i
		else if (T[i] ~ /^[])}]$/)
			close_bracket(i)
	}
	leave_open(1, tokens + 1)
}

# close_bracket(I): pairs bracket I with the innermost one; if that has another shape, with the one around it
function close_bracket(i) {
	if (!closes(i, opened) && closes(i, opened - 1))
		leave_open_one(i)
	if (closes(i, opened))
		closed_by[open_bracket[opened--]] = i
	else if (T[i] != "}") # one too many is refused as text between clauses
		refuse_bracket(i, T[i] " closes no bracket")
}

function closes(i, level) {
	return level > 0 && index("()[]{}", T[open_bracket[level]] T[i])
}

# leave_open(BRACES, I): refuses the innermost brackets that are still open at token I, up to a brace unless BRACES
function leave_open(braces, i) {
	while (opened > 0 && (braces || T[open_bracket[opened]] != "{"))
		leave_open_one(i)
}

function leave_open_one(i, bracket) {
	bracket = open_bracket[opened--]
	closed_by[bracket] = i - 1
	refuse_bracket(bracket, T[bracket] " is not closed")
}

function refuse_bracket(i, what) {
	refuse(i, what)
	bad_bracket[i] = what
}

# closing(I): the bracket that closes bracket I
function closing(i) {
	return i in closed_by ? closed_by[i] : i
}

# constant_of(NAME): the constant of netobs that has the meaning of NAME; "" if NAME does not belong to the network
# providers
function constant_of(word, rest) {
	if (word ~ /^TCP_STATE_/ || word ~ /^TCPS_/) {
		rest = word
		sub(/^TCP_STATE_|^TCPS_/, "", rest)
		if (rest == "SYN_RCVD")
			rest = "SYN_RECEIVED"
		return index(" " states " ", " " rest " ") ? "NETOBS_TCP_" rest : "?"
	}
	if (word == "TH_PUSH")
		return "NETOBS_TH_PSH"
	rest = substr(word, 4)
	if (word ~ /^TH_/ && rest in flags)
		return "NETOBS_" word
	return ""
}

function refuse_state(i) {
	refuse(i, T[i] ": an endpoint of netobs never has this state")
}

# is_argument(I): whether the tokens from I on are args[N]->FIELD; sets arg_n, arg_field and arg_end, its last token
function is_argument(i, j) {
	if (T[i] != "args" || T[j = after(i)] != "[" || K[j = after(j)] != "number")
		return 0
	arg_n = T[j]
	arg_end = j = after(j)
	arg_field = ""
	if (T[j = after(j)] == "->" && K[j = after(j)] == "name") {
		arg_field = T[j]
		arg_end = j
	}
	return 1
}

# is_state_string(I): whether the tokens from I on are tcp_state_string[args[N]->tcps_state]; sets the same and state_end
function is_state_string(i, j) {
	if (T[i] != "tcp_state_string" || T[j = after(i)] != "[" || !is_argument(after(j)) || arg_field != "tcps_state")
		return 0
	state_end = after(arg_end)
	return T[state_end] == "]"
}

# -------------------------------------------------------------------------------------------------------------- probes

# probe_of(TEXT): the name of a probe of netobs, perhaps a pattern, for a probe of a network provider, else ""
function probe_of(text, part) {
	split(text, part, ":")
	sub(/\*$/, "", part[1])
	if (part[1] != "netobs" && !(part[1] in providers))
		return ""
	if (part[1] == "netobs") # the script is translated already
		return part[4] == "" ? "*" : part[4]
	return part[1] "-" (part[4] == "" ? "*" : part[4])
}

# probes_of(PATTERN): the probes that match, separated by blanks
function probes_of(pattern, list, count, i, found) {
	if (pattern !~ /[*?]/)
		return pattern in known ? pattern : ""
	gsub(/\*/, ".*", pattern)
	gsub(/\?/, ".", pattern)
	count = split(probe_list, list, " ")
	for (i = 1; i <= count; i++)
		if (list[i] ~ ("^" pattern "$"))
			found = found (found == "" ? "" : " ") list[i]
	return found
}

# check_probe(I): whether netobs has the probe of a network provider in token I
function check_probe(i, wanted) {
	wanted = probe_of(T[i])
	if (T[i] ~ /^udplite:/) {
		refuse(i, "udplite: netobs has no probes of UDP-Lite; ip-send and ip-receive fire for its packets")
		return 0
	}
	if (manifest == "" || wanted == "" || probes_of(wanted) != "")
		return 1
	refuse(i, "netobs has no probe " wanted did_you_mean(wanted, probe_list))
	return 0
}

# check_field(I, N, FIELD, PROBES): the struct of args[N] that has FIELD; "" if no struct has it
function check_field(i, n, member, wanted, list, count, j, struct_name, first) {
	count = split(wanted, list, " ")
	for (j = 1; j <= count; j++) {
		struct_name = argument[list[j], n]
		sub(/_t$/, "", struct_name)
		if ((struct_name, member) in kind_of_field)
			return struct_name
		if (first == "" && struct_name in fields)
			first = struct_name
	}
	if (first == "")
		refuse(i, "args[" n "] of " list[1] " is NULL in netobs: it has no " member)
	else
		refuse(i, first "_t of netobs has no " member \
		    (member in field_reason ? ": " field_reason[member] : did_you_mean(member, fields[first])))
	return ""
}

# ------------------------------------------------------------------------------------------------------------------- D

function write_d(i, wanted, new) {
	for (i = 1; i <= tokens; i++) {
		if (K[i] == "probe") {
			if (T[i - 1] != "," && probe_of(T[i]) != "" && K[before(i)] != "probe" && T[before(i)] != ",")
				wanted = ""
			check_probe(i)
			new = probe_of(T[i])
			wanted = wanted " " (new == "" ? "" : probes_of(new))
			printf "%s", new == "" ? T[i] : "netobs*:::" new
		} else if (is_state_string(i)) {
			printf "args[%s]->tcps_statestr", arg_n
			i = state_end
		} else if (is_argument(i)) {
			if (manifest != "" && arg_field != "" && wanted !~ /^ *$/)
				check_field(i, arg_n, arg_field, wanted)
			for (; i < arg_end; i++)
				printf "%s", T[i]
			printf "%s", T[i]
		} else {
			new = K[i] == "name" ? constant_of(T[i]) : ""
			if (new == "?")
				refuse_state(i)
			printf "%s", new == "" || new == "?" ? T[i] : new
		}
	}
}

# ------------------------------------------------------------------------------------------- bpftrace: what the script has

# parse(): the clauses of the script: probes, first and last token of predicate and body
function parse(i) {
	for (i = after(0); i <= tokens; ) {
		if (K[i] == "pragma") {
			if (T[i] !~ /^#(!|pragma)/)
				refuse(i, T[i] ": no C preprocessor in bpftrace scripts")
			i = after(i)
		} else if (T[i] == "inline") {
			i = parse_inline(i)
		} else if (T[i] ~ /^(translator|typedef|struct|union|enum|provider)$/) {
			refuse(i, T[i] ": bpftrace reads netobs.h only")
			i = skip_declaration(i)
		} else if (K[i] == "probe" || T[i] ~ /^(BEGIN|END|ERROR)$/ || K[i] == "macro") {
			i = parse_clause(i)
		} else if (is_declaration(i)) {
			i = skip_declaration(i)
		} else {
			i = refuse_text(i)
		}
	}
}

# is_declaration(I): whether the tokens from I on declare a variable, of which bpftrace needs no declaration
function is_declaration(i, names) {
	for (; K[i] == "name" || T[i] == "*"; i = after(i))
		names += K[i] == "name"
	if (T[i] == "[")
		i = after(closing(i))
	return names >= 2 && T[i] == ";"
}

# refuse_text(I): what is neither a clause nor a declaration, up to the next of these; returns the token after it
function refuse_text(i, first, text) {
	for (first = i; i <= tokens && T[i] != "{" && T[i] != ";" && T[i] != "\n" && (K[i] != "probe" || i == first); i++)
		text = text T[i]
	sub(/[ \t\r]+$/, "", text)
	refuse(first, (length(text) > 40 ? substr(text, 1, 40) "..." : text) \
	    ": neither a declaration nor a clause with a probe in four parts, such as tcp:::send")
	for (; i <= tokens && T[i] != ";" && K[i] != "probe"; i = after(i))
		if (T[i] == "{") {
			i = closing(i)
			break
		}
	return K[i] == "probe" ? i : after(i)
}

function skip_declaration(i) {
	for (; i <= tokens && T[i] != ";"; i = after(i))
		if (T[i] == "{")
			i = closing(i)
	return after(i)
}

# parse_inline(I): inline TYPE NAME = VALUE;
function parse_inline(i, first, last) {
	for (first = i; first <= tokens && T[first] != "=" && T[first] != ";"; first = after(first))
		;
	for (last = first; last <= tokens && T[last] != ";"; last = after(last))
		;
	if (T[first] != "=" || K[before(first)] != "name")
		refuse(i, "inline with parameters: no equivalent in bpftrace")
	if (bracket_refused(first, last) != "")
		bad_inline[T[before(first)]] = bracket_refused(first, last)
	inline_first[T[before(first)]] = after(first)
	inline_last[T[before(first)]] = before(last)
	return after(last)
}

# end_of_predicate(I): the slash that closes the predicate that slash I opens; without one, the token in front of the
# body, or the end of the clause
function end_of_predicate(i, end) {
	for (end = i; end <= tokens && T[end] !~ /^[{}]$/ && K[end] != "probe"; end++)
		if (T[end] == "/" && T[after(end)] == ";")
			return end
	return T[end] == "{" ? before(end) : end
}

function parse_clause(i, j, end) {
	clauses++
	clause_start[clauses] = i
	for (j = i; j <= tokens && T[j] != "{" && T[j] != "/" && T[j] != ";"; j = after(j))
		if (T[j] != ",")
			clause_probes[clauses] = clause_probes[clauses] " " j
	if (T[j] == "/") {
		end = end_of_predicate(j)
		if (T[end] != "/" || end == j)
			refuse_bracket(j, "the predicate is not closed")
		predicate_first[clauses] = j + 1
		predicate_last[clauses] = end - 1
		j = K[end] == "probe" ? end : after(end)
		if (T[end] == "}" || K[end] == "probe") {
			clause_end[clauses] = before(j)
			return j
		}
	}
	clause_end[clauses] = end = closing(j)
	if (T[j] == "{") {
		body_first[clauses] = j + 1
		body_last[clauses] = end - 1
	}
	return after(end)
}

# assigns(I): whether the variable that ends with token I gets a value
function assigns(i, next_text) {
	next_text = T[after(i)]
	return next_text ~ /^([-+*\/%&|^]|<<|>>)?=$/ || next_text == "++" || next_text == "--"
}

# survey(): which names are variables, arrays and maps, and how maps are printed
function survey(c, i, end, variable) {
	for (i = 1; i <= tokens; i++) {
		if (K[i] == "map")
			is_map[T[i]] = 1
		if (K[i] == "name" && T[after(i)] == "(")
			survey_call(i)
		if (K[i] != "name" || T[before(i)] == "." || (T[before(i)] == "->" && T[before(before(i))] != "this" && T[before(before(i))] != "self"))
			continue
		end = T[after(i)] == "[" ? closing(after(i)) : i
		variable = T[before(i)] == "->" ? T[before(before(i))] "->" T[i] : T[i]
		if (end != i)
			is_array[variable] = 1
		if (assigns(end) || T[before(i)] == "++" || T[before(i)] == "--")
			is_variable[variable] = 1
	}
	for (c = 1; c <= clauses; c++)
		survey_clause(c)
}

function survey_call(i, end, argument_end) {
	end = closing(after(i))
	argument_end = end_of_argument(after(after(i)), end)
	if (T[i] == "normalize" && argument_end < end) {
		argument_end = after(argument_end)
		if (K[argument_end] == "name" && T[argument_end] in inline_first)
			argument_end = inline_first[T[argument_end]]
		if (K[argument_end] == "number")
			divisor[T[after(after(i))]] = T[argument_end]
	}
	if (T[i] == "printa")
		for (i = after(i); i < end; i++)
			if (K[i] == "map")
				is_printed[T[i]] = 1
}

# survey_clause(C): a this-> variable is local in bpftrace if each clause that uses it sets it first, and text only once
function survey_clause(c, i, level, variable, times, texts) {
	for (i = body_first[c]; i != "" && i <= body_last[c]; i++) {
		if (T[i] == "{" || T[i] == "(" || T[i] == "[")
			level++
		else if (T[i] == "}" || T[i] == ")" || T[i] == "]")
			level--
		if (T[i] == "timestamp" && !is_network(c))
			tracer_time = 1
		if (T[i] != "this" || T[after(i)] != "->")
			continue
		variable = T[after(after(i))]
		if (!((c, variable) in times)) {
			if (level > 0 || T[after(after(after(i)))] != "=")
				is_shared[variable] = 1
		}
		times[c, variable] = 1
		if (T[after(after(after(i)))] == "=" && (texts[c, variable] += texts_of(after(after(after(after(i)))))) > 1)
			is_shared[variable] = 1
	}
	for (i = predicate_first[c]; i != "" && i <= predicate_last[c]; i++)
		if (T[i] == "this" && T[after(i)] == "->")
			is_shared[T[after(after(i))]] = 1
}

# texts_of(I): how many texts the statement from token I on chooses from; bpftrace copies text with the size of the first
function texts_of(i, marks, found) {
	for (; i <= tokens && T[i] != ";" && T[i] != "}"; i++) {
		marks += T[i] == "?"
		if (has_text(i, i))
			found = 1
		else if (marks == 0 && (T[i] == "==" || T[i] == "!="))
			found = -1
	}
	return found > 0 ? marks + 1 : 0
}

function is_network(c, list, count, i) {
	count = split(clause_probes[c], list, " ")
	for (i = 1; i <= count; i++)
		if (probe_of(T[list[i]]) != "")
			return 1
	return 0
}

# end_of_argument(I, END): the comma or the bracket END that ends the argument beginning at I
function end_of_argument(i, end) {
	for (; i < end; i++) {
		if (T[i] == "(" || T[i] == "[")
			i = closing(i)
		else if (T[i] == ",")
			return i
	}
	return end
}

# -------------------------------------------------------------------------------------------------- bpftrace: expressions

# variable_name(SCOPE, NAME): the map of a variable
function variable_name(scope, word, map) {
	map = "@" (scope == "" ? "" : scope "_") word
	if (map in is_map)
		map = map "_value"
	used_map[map] = 1
	return map
}

# expression(FIRST, LAST): the tokens in bpftrace
function expression(first, last, i, text) {
	for (i = first; i <= last; i = translated + 1)
		text = text one(i, last)
	return text
}

# one(I, LAST): token I, and those that belong to it, in bpftrace; sets translated, the last of them
function one(i, last, end, text) {
	translated = i
	if (i in chosen)
		return chosen_branch(chosen[i])
	if (K[i] == "string")
		return text_literal(T[i])
	if (K[i] == "char")
		return char_literal(i)
	if (K[i] == "map") {
		used_map[T[i]] = 1
		if (T[end = after(i)] == "[")
			return subscript(T[i], end)
		return T[i]
	}
	if (K[i] == "macro")
		return macro(i)
	if (K[i] == "number") {
		sub(/[uUlL]+$/, "", T[i])
		return T[i]
	}
	if (K[i] == "op")
		return operator(i)
	if (K[i] != "name")
		return T[i]
	if (is_state_string(i)) {
		text = field(i, arg_n, "tcps_statestr")
		translated = state_end
		return text
	}
	if (T[i] == "tcp_state_string" && T[after(i)] == "[") {
		state_map = used_map["@tcp_state_string"] = 1
		return subscript("@tcp_state_string", after(i))
	}
	if (is_argument(i)) {
		end = arg_end
		text = arg_field == "" ? "arg" arg_n : field(i, arg_n, arg_field)
		translated = end
		for (; T[after(end)] == "->" || T[after(end)] == "."; translated = end) {
			refuse(i, arg_field "->: a header in the memory of netobsd; use the fields of netobs.h")
			end = after(after(end))
		}
		return text
	}
	if ((T[i] == "this" || T[i] == "self") && T[after(i)] == "->")
		return scoped(i)
	if (T[after(i)] == "(" && !(T[i] in keywords))
		return call(i)
	return name_alone(i)
}

# chosen_branch(MARK): the branch of a choice that statement_text() takes
function chosen_branch(mark, text) {
	text = branch[mark] == 1 ? expression(mark + 1, choice_colon[mark] - 1) : expression(choice_colon[mark] + 1, choice_end[mark])
	translated = choice_end[mark]
	sub(/[ \t\n]+$/, "", text)
	return trimmed(text)
}

# subscript(MAP, I): MAP with the subscript that begins at I
function subscript(map, i, end, text) {
	end = closing(i)
	subscripts++
	text = expression(i + 1, end - 1)
	subscripts--
	translated = end
	return map "[" text "]"
}

function text_literal(text) {
	gsub(/\\b/, "\\x08", text)
	gsub(/\\a/, "\\x07", text)
	gsub(/\\v/, "\\x0b", text)
	gsub(/\\f/, "\\x0c", text)
	gsub(/\\e/, "\\x1b", text)
	gsub(/\\'/, "'", text)
	gsub(/\\\?/, "?", text)
	return text
}

function char_literal(i, code) {
	for (code = 32; code < 127; code++)
		if (T[i] == "'" sprintf("%c", code) "'")
			return code
	refuse(i, T[i] ": write the number of the character")
	return 0
}

function macro(i) {
	if (T[i] ~ /^\$[1-9]$/)
		return T[i]
	if (T[i] ~ /^\$\$[1-9]$/)
		return "str(" substr(T[i], 2) ")"
	refuse(i, T[i] ": no equivalent in bpftrace")
	return 0
}

# operator(I): a bracket around a type is a cast
function operator(i, j, text) {
	if (T[i] == "^^" || T[i] == "`")
		refuse(i, T[i] ": no equivalent in bpftrace")
	if (T[i] != "(" || !((T[j = after(i)]) in types))
		return T[i]
	for (text = ""; T[j] in types; j = after(j))
		text = text (text == "" ? "" : " ") T[j]
	if (T[j] != ")")
		return T[i]
	translated = j
	return text == "string" ? "" : "(" cast_type(text) ")"
}

function cast_type(type) {
	if (sub(/_t$/, "", type) && type ~ /^u?int(8|16|32|64)$/)
		return type
	if (type == "uintptr" || type == "size" || type == "ulong" || type ~ /unsigned long/)
		return "uint64"
	if (type ~ /^unsigned|^u_?int$/)
		return type ~ /char/ ? "uint8" : type ~ /short/ ? "uint16" : "uint32"
	return type ~ /long|hrtime/ ? "int64" : type ~ /char/ ? "int8" : type ~ /short/ ? "int16" : "int32"
}

# field(I, N, FIELD): args[N]->FIELD
function field(i, n, wanted) {
	if (clause_names == "") {
		refuse(i, "args[" n "] in a clause without a probe of netobs")
		return 0
	}
	return field_of(n, check_field(i, n, wanted, clause_names), wanted)
}

# field_of(N, STRUCT, FIELD): a field of argument N in bpftrace
function field_of(n, struct_name, wanted) {
	if (!subscripts || in_predicate || kind_of_field[struct_name, wanted] !~ /^int/)
		return "((struct " struct_name " *)arg" n ")->" wanted
	# bpftrace 0.17 stores a signed field after text without regard to its alignment: a variable in between helps.
	preparation = preparation "$key_" ++keys " = ((struct " struct_name " *)arg" n ")->" wanted "; "
	return "$key_" keys
}

# scoped(I): this->NAME or self->NAME
function scoped(i, scope, variable, end, key, text) {
	scope = T[i]
	translated = end = after(after(i))
	variable = T[end]
	if (scope == "self")
		remark(i, "self->" variable " belongs to a thread of netobsd, not to one of the host")
	else if (!(variable in is_shared) && !("this->" variable in is_array))
		return "$" variable
	key = "tid"
	if (T[after(end)] == "[") {
		key = expression(after(end) + 1, closing(after(end)) - 1) ", tid"
		end = closing(after(end))
	}
	text = variable_name(scope, variable) "[" key "]"
	translated = end
	return cleared(end, text)
}

# cleared(END, TEXT): the element TEXT whose last token is END; D removes an element by the value 0
function cleared(end, text, zero, stop) {
	zero = after(after(end))
	stop = after(zero)
	if (T[after(end)] == "=" && T[zero] == "0" && (T[stop] == ";" || T[stop] == "}")) {
		translated = zero
		return "delete(" text ")"
	}
	return text
}

# name_alone(I): a name that is not one of the above
function name_alone(i, new, end, text) {
	new = constant_of(T[i])
	if (new == "?")
		refuse_state(i)
	if (new != "")
		return new
	if (T[i] in inline_first) {
		if (T[i] in in_inline) {
			refuse(i, T[i] ": its value depends on itself")
			return 0
		}
		if (T[i] in bad_inline) {
			refuse(i, T[i] ": its value is not translated: " bad_inline[T[i]])
			return 0
		}
		in_inline[T[i]] = 1
		text = "(" expression(inline_first[T[i]], inline_last[T[i]]) ")"
		delete in_inline[T[i]]
		translated = i
		return text
	}
	if (T[i] in constant)
		return constant[T[i]]
	if (T[i] in keywords || T[i] ~ /^(arg[0-5]|cpu|tid)$/)
		return T[i]
	if (T[i] == "timestamp" || T[i] == "walltimestamp")
		return time_of(i)
	if (T[i] == "execname" || T[i] == "pid")
		return owner_of(i)
	if (T[i] ~ /^probe(name|prov|mod|func)$/)
		return "\"" probe_word(T[i]) "\""
	if (T[i] in is_variable) {
		new = variable_name("", T[i])
		end = after(i)
		if (T[end] != "[")
			return new
		text = subscript(new, end)
		return cleared(closing(end), text)
	}
	refuse(i, T[i] (T[i] in kernel_variables || T[i] ~ /`/ ? ": a value of the kernel, which netobs does not have" : \
	    ": neither a variable of the script nor known"))
	return 0
}

# time_of(I): packet time in ns.  A script that uses timestamp outside of network probes needs one clock: the tracer's.
function time_of(i, packet, endpoint) {
	if (clause_names == "" || (T[i] == "timestamp" && tracer_time)) {
		if (tracer_time && T[i] == "timestamp")
			remark(i, "timestamp is the time of the tracer, because a clause without packets uses it")
		return "nsecs"
	}
	packet = "((struct pktinfo *)arg0)->pkt_ts"
	endpoint = "((struct csinfo *)arg1)->cs_ts"
	if (all_have(0, "pktinfo_t", 0))
		return packet
	if (all_have(1, "csinfo_t", 1))
		return some_have(0, "pktinfo_t") ? "(arg0 != 0 ? " packet " : " endpoint ")" : endpoint
	remark(i, T[i] " is the time of the tracer: the probe has no packet time")
	return "nsecs"
}

# all_have(N, TYPE, NULL): whether args[N] of each probe of the clause has TYPE; NULL: where args[0] is not always there
function all_have(n, type, optional, list, count, j) {
	count = split(clause_names, list, " ")
	for (j = 1; j <= count; j++)
		if ((argument[list[j], n] != type || may_be_null[list[j], n]) &&
		    !(optional && argument[list[j], 0] == "pktinfo_t" && !may_be_null[list[j], 0]))
			return 0
	return 1
}

function some_have(n, type, list, count, j) {
	count = split(clause_names, list, " ")
	for (j = 1; j <= count; j++)
		if (argument[list[j], n] == type)
			return 1
	return 0
}

# owner_of(I): the process that owns the endpoint
function owner_of(i, list) {
	split(clause_names, list, " ")
	if (clause_names == "" || argument[list[1], 1] != "csinfo_t")
		return T[i] == "pid" ? "pid" : "comm"
	remark(i, T[i] " is that of the process that owns the endpoint")
	return field_of(1, "csinfo", T[i] == "pid" ? "cs_pid" : "cs_comm")
}

function probe_word(which, list) {
	split(clause_names, list, " ")
	if (list[1] == "")
		return which == "probename" ? clause_title : ""
	if (which == "probename") {
		sub(/^[a-z]+-/, "", list[1])
		return list[1]
	}
	sub(/-.*/, "", list[1])
	return which == "probeprov" ? list[1] : ""
}

# --------------------------------------------------------------------------------------------------- bpftrace: functions

# call(I): a function and its arguments; sets translated
function call(i, function_name, open, end, text) {
	function_name = T[i]
	open = after(i)
	end = closing(open)
	if (function_name in same_calls)
		text = function_name "(" expression(open + 1, end - 1) ")"
	else if (function_name == "quantize")
		text = "hist(" expression(open + 1, end - 1) ")"
	else if (function_name == "lquantize")
		text = linear(open, end)
	else if (function_name == "printf")
		text = formatted(i, open, end)
	else if (function_name == "printa")
		text = print_maps(i, open, end)
	else if (function_name == "trunc")
		text = truncated_map(i, open, end)
	else if (function_name == "normalize")
		text = normalized(i, open)
	else if (function_name == "exit")
		text = "exit()"
	else if (function_name == "trace")
		text = "print(" expression(open + 1, end - 1) ")"
	else if (function_name == "stringof")
		text = expression(open + 1, end - 1)
	else {
		refuse(i, function_name "(): " (function_name in call_reason ? call_reason[function_name] : "no equivalent in bpftrace"))
		text = "0"
	}
	translated = end
	return text
}

function linear(open, end, i, arguments) {
	for (i = open; i < end; i = end_of_argument(i + 1, end))
		arguments++
	return "lhist(" expression(open + 1, end - 1) (arguments == 3 ? ", 1" : "") ")"
}

# formatted(I, OPEN, END): printf().  bpftrace prints 64 bits only with a length, and has no %Y.
function formatted(i, open, end, at, format, new, spec, text, stop, before_text, value) {
	at = after(open)
	if (K[at] != "string") {
		refuse(i, "printf(): the format is not a text literal")
		return ""
	}
	format = T[at]
	stop = end_of_argument(at, end)
	while (match(format, /%[-+ #0-9.*'@hlq]*./)) {
		new = new substr(format, 1, RSTART - 1)
		spec = substr(format, RSTART, RLENGTH)
		format = substr(format, RSTART + RLENGTH)
		if (spec ~ /%$/) {
			new = new "%%"
			continue
		}
		at = stop + 1
		if (stop >= end) {
			refuse(i, "printf(): no argument for " spec)
			return ""
		}
		stop = end_of_argument(at, end)
		if (spec ~ /Y$/) {
			new = new date_format(spec)
			text = text ", " date_arguments(after(at))
			before_text = before_text date_statements
			continue
		}
		value = trimmed(expression(at, stop - 1))
		if (spec ~ /s$/ && value ~ /^"([^"\\]|\\.)*"$/) { # bpftrace has no room on its stack for many texts
			new = new padded(i, spec, substr(value, 2, length(value) - 2))
			continue
		}
		new = new conversion(i, spec)
		text = text ", " value
	}
	format = new format
	if (format == "\"\"")
		return ""
	if (!quiet && format !~ /\\n"$/ && clause_title == "" && !prints_later(end))
		format = substr(format, 1, length(format) - 1) "\\n\"" # D ends the output of each firing unless it is quiet
	return before_text "printf(" text_literal(format) text ")"
}

function prints_later(i) {
	for (i++; i <= body_last[clause]; i++)
		if (T[i] == "printf" || T[i] == "printa" || T[i] == "trace")
			return 1
	return 0
}

# padded(I, SPEC, TEXT): TEXT as printf() prints it, in a format
function padded(i, spec, text, precision, width) {
	if (spec ~ /[*'@]/) {
		refuse(i, "printf(): no conversion " spec " in bpftrace")
		return ""
	}
	gsub(/[%s+# hlq]/, "", spec)
	if (match(spec, /[.][0-9]*$/)) {
		precision = substr(spec, RSTART + 1) + 0
		spec = substr(spec, 1, RSTART - 1)
		text = substr(text, 1, precision)
	}
	width = spec < 0 ? -spec : spec + 0
	for (precision = text_length(text); precision < width; precision++)
		text = spec ~ /^-/ ? text " " : " " text
	gsub(/%/, "%%", text)
	return text
}

# text_length(TEXT): the characters of a text literal
function text_length(text) {
	gsub(/\\x[0-9a-fA-F][0-9a-fA-F]/, "x", text)
	gsub(/\\[0-7][0-7][0-7]/, "x", text)
	gsub(/\\./, "x", text)
	return length(text)
}

function trimmed(text) {
	sub(/^[ \t\n]+/, "", text)
	return text
}

# conversion(I, SPEC): a conversion of printf() in bpftrace
function conversion(i, spec, letter) {
	letter = substr(spec, length(spec))
	spec = substr(spec, 1, length(spec) - 1)
	if (spec ~ /[*'@]/ || letter !~ /[diuxXosScp]/) {
		refuse(i, "printf(): no conversion " spec letter " in bpftrace")
		return ""
	}
	gsub(/[+hlq ]/, "", spec)
	if (gsub(/#/, "", spec) && letter ~ /[xX]/)
		spec = "0x" spec
	if (letter == "i")
		letter = "d"
	if (letter == "S")
		letter = "s"
	return spec (letter ~ /[duxXo]/ ? "ll" : "") letter
}

function date_format(spec) {
	return clause_names == "" ? substr(spec, 1, length(spec) - 1) "s" : "%lld-%02lld-%02lld %02lld:%02lld:%02lld"
}

# date_arguments(I): the arguments for a time in ns, in UTC; sets date_statements, which compute them (days to civil date)
function date_arguments(i, value, d) {
	date_statements = ""
	value = time_of(i)
	if (clause_names == "")
		return "strftime(\"%Y-%m-%d %H:%M:%S\", nsecs)"
	if (value == "nsecs") {
		refuse(i, "%Y: the probe has no packet time")
		return "0"
	}
	d = "$date_" ++dates "_"
	date_statements = d "s = " value " / 1000000000; " d "z = " d "s / 86400 + 719468; " d "e = " d "z / 146097; " \
	    d "d = " d "z - " d "e * 146097; " \
	    d "y = (" d "d - " d "d / 1460 + " d "d / 36524 - " d "d / 146096) / 365; " \
	    d "n = " d "d - (365 * " d "y + " d "y / 4 - " d "y / 100); " d "m = (5 * " d "n + 2) / 153; "
	return d "y + " d "e * 400 + " d "m / 10, (" d "m + 2) % 12 + 1, " \
	    d "n - (153 * " d "m + 2) / 5 + 1, (" d "s / 3600) % 24, (" d "s / 60) % 60, " d "s % 60"
}

# print_call(MAP): print() with what trunc() and normalize() say
function print_call(map) {
	if (map in divisor)
		return "print(" map ", " (map in shown ? shown[map] : 0) ", " divisor[map] ")"
	return "print(" map (map in shown ? ", " shown[map] : "") ")"
}

function print_maps(i, open, end, j, text) {
	for (j = after(open); j < end; j = after(j)) {
		if (K[j] == "string")
			remark(i, "printa(): bpftrace prints maps in its own form, without the format")
		if (K[j] != "map" || T[j] in lost)
			continue
		used_map[T[j]] = 1
		text = text (text == "" ? "" : "; ") print_call(T[j])
	}
	return text
}

# truncated_map(I, OPEN, END): bpftrace can print a part of a map, but not remove the rest
function truncated_map(i, open, end, map, at) {
	map = T[after(open)]
	at = after(end_of_argument(after(open), end))
	used_map[map] = 1
	if (at > end)
		return "clear(" map ")"
	if (K[at] == "name" && T[at] in inline_first)
		at = inline_first[T[at]]
	if (T[at] == "0")
		return "clear(" map ")"
	if (K[at] != "number") {
		refuse(i, "trunc(): the number of elements must be a positive constant")
		return ""
	}
	shown[map] = T[at]
	for (at = end; at <= body_last[clause]; at++)
		if (T[at] == map && T[before(before(at))] == "printa" || (T[at] == map && T[before(at)] == ","))
			return ""
	if (clause_title != "END")
		refuse(i, "trunc() without printa(): bpftrace cannot remove the smallest elements of a map")
	return ""
}

function normalized(i, open) {
	if (!(T[after(open)] in divisor))
		refuse(i, "normalize(): the divisor must be a constant")
	return ""
}

# ----------------------------------------------------------------------------------------------------- bpftrace: clauses

# statements(FIRST, LAST): a body.  A statement that became nothing or a block loses its semicolon.
function statements(first, last, i, text, stop, statement) {
	for (i = first; i <= last; i++) {
		if (K[i] == "blank" || K[i] == "comment" || T[i] == ";" || T[i] == "{" || T[i] == "}") {
			text = text T[i]
			continue
		}
		for (stop = i; stop <= last && T[stop] !~ /^[;{}]$/; stop++)
			if (T[stop] == "(" || T[stop] == "[")
				stop = closing(stop)
		statement = statement_text(i, stop - 1)
		text = text statement
		i = T[stop] == ";" && statement ~ /(^|[}\/])$/ ? stop : stop - 1
	}
	return text
}

# statement_text(FIRST, LAST): a statement.  bpftrace copies text of one length only, so a choice between texts becomes a
# choice between statements.
function statement_text(first, last, mark, end, text, other) {
	mark = T[first] == "if" ? 0 : text_choice(first, last)
	if (mark == 0)
		return plain_statement(first, last)
	end = choice_end[mark]
	if (++choices > 4) {
		refuse(first, "more than four choices between texts in one statement")
		choices = 0
		return ""
	}
	chosen[choice_start[mark]] = mark
	branch[mark] = 1
	text = statement_text(first, last)
	branch[mark] = 2
	other = statement_text(first, last)
	delete chosen[choice_start[mark]]
	choices--
	end = "(" trimmed(expression(choice_start[mark], before(mark))) ")"
	if (text == "")
		return other == "" ? "" : "if (!" end ") " block(other)
	return "if " end " " block(text) (other == "" ? "" : " else " block(other))
}

# block(TEXT): a statement in braces
function block(text) {
	return "{ " text (text ~ /[}\/]$/ ? "" : ";") " }"
}

# text_choice(FIRST, LAST): the first question mark between texts that is not decided yet; 0 without one
function text_choice(first, last, i, level, colon) {
	for (i = first; i <= last; i++) {
		if (K[i] != "op" || T[i] != "?")
			continue
		choice_start[i] = start_of_choice(i, first)
		if (choice_start[i] in chosen)
			continue
		level = colon = 0
		for (choice_end[i] = i + 1; choice_end[i] <= last; choice_end[i]++) {
			if (T[choice_end[i]] ~ /^[(\[]$/)
				choice_end[i] = closing(choice_end[i])
			else if (T[choice_end[i]] == "?")
				level++
			else if (T[choice_end[i]] == ":" && level-- == 0 && !colon)
				colon = choice_end[i]
			else if (T[choice_end[i]] ~ /^[])]$/ || T[choice_end[i]] == ",")
				break
			if (level < -1)
				break
		}
		if (colon == 0) {
			refuse(i, "? has no colon")
			continue
		}
		choice_colon[i] = colon
		choice_end[i] = before(choice_end[i])
		if (has_text(i + 1, choice_end[i]) && !is_hidden(i, first))
			return i
	}
	return 0
}

# start_of_choice(I, FIRST): where the condition before question mark I begins
function start_of_choice(i, first, level) {
	for (i--; i >= first; i--) {
		if (T[i] == ")" || T[i] == "]")
			level++
		else if (T[i] == "(" || T[i] == "[") {
			if (level-- == 0)
				break
		} else if (level == 0 && K[i] == "op" && T[i] ~ /^([,?:]|[-+*\/%&|^]?=)$/)
			break
	}
	return after(i)
}

# is_hidden(I, FIRST): whether question mark I is in the branch of a choice that is not taken
function is_hidden(i, first, start, mark) {
	for (start in chosen) {
		mark = chosen[start]
		if (i > choice_end[mark] || i < start)
			continue
		if (i < mark || (branch[mark] == 1) != (i < choice_colon[mark]))
			return 1
	}
	return 0
}

# has_text(FIRST, LAST): whether the tokens are text: a literal or a field
function has_text(first, last, i, key) {
	for (i = first; i <= last; i++) {
		if (T[i] == "==" || T[i] == "!=")
			return 0
		if (K[i] == "string" || T[i] ~ /^(probename|stringof|tcp_state_string|execname)$/)
			return 1
		if (K[i] == "name" && T[before(i)] == "->" && T[i] in text_field)
			return 1
	}
	return 0
}

# plain_statement(FIRST, LAST): a statement without a choice between texts.  An aggregation that cannot be translated is
# left out alone: nothing else depends on it.
function plain_statement(first, last, i, level, assigned, saved, text) {
	saved = clause_refused
	for (i = first; i <= last; i++) {
		if (T[i] == "(" || T[i] == "[")
			level++
		else if (T[i] == ")" || T[i] == "]")
			level--
		if (T[i] ~ /^[-+*\/%&|^]?=$/ && K[i] == "op" && (level > 0 || assigned++))
			refuse(i, "an assignment inside an expression: write it as a statement of its own")
	}
	preparation = ""
	text = expression(first, last)
	text = preparation text
	if (K[first] != "map" || clause_refused == saved)
		return text
	text = "/* not translated: " clause_refused " */"
	clause_refused = saved
	delete used_map[T[first]]
	lost[T[first]] = 1
	return text
}

# interval_of(TEXT): tick-5s, profile-97: a probe of bpftrace; "" for anything else
function interval_of(text, part, count, unit) {
	count = split(text, part, ":")
	if (!match(part[count], /^(tick|profile)-[0-9]+/))
		return ""
	unit = substr(part[count], RLENGTH + 1)
	count = substr(part[count], index(part[count], "-") + 1, RLENGTH) + 0
	if (text ~ /profile-/)
		return unit == "" || unit == "hz" ? "profile:hz:" count : ""
	if (unit == "" || unit == "hz")
		return "interval:hz:" count
	if (unit ~ /^s(ec)?$/)
		return "interval:s:" count
	if (unit ~ /^m(in)?$/)
		return "interval:s:" count * 60
	if (unit ~ /^h(our)?$/)
		return "interval:s:" count * 3600
	if (unit ~ /^d(ay)?$/)
		return "interval:s:" count * 86400
	if (unit ~ /^(ms|msec)$/)
		return "interval:ms:" count
	return unit ~ /^(us|usec)$/ ? "interval:us:" count : ""
}

# special_of(TEXT): BEGIN or END
function special_of(text) {
	sub(/^dtrace:[^:]*:[^:]*:/, "", text)
	return text == "BEGIN" || text == "END" ? text : ""
}

function site(probe) {
	gsub(/-/, "__", probe)
	return "usdt:" netobsd ":netobs:" probe
}

# uses_probe_word(C): whether a clause needs the name of its probe, which bpftrace cannot give
function uses_probe_word(c, i) {
	for (i = clause_start[c]; i <= body_last[c]; i++)
		if (K[i] == "name" && T[i] ~ /^probe(name|prov|mod|func)$/)
			return 1
	return 0
}

# count_probes(C): how many clauses have each probe
function count_probes(c, list, single, i, j) {
	for (i = split(clause_probes[c], list, " "); i > 0; i--)
		for (j = split(probes_of(probe_of(T[list[i]])), single, " "); j > 0; j--)
			clauses_with[single[j]]++
}

# shares_probe(NAMES): whether another clause has one of several probes, too: bpftrace 0.17 confuses their programs
function shares_probe(names, single, i) {
	if ((i = split(names, single, " ")) > 1)
		for (; i > 0; i--)
			if (clauses_with[single[i]] > 1)
				return 1
	return 0
}

# write_clause(C): a clause, or one for each of its probes
function write_clause(c, list, count, i, j, names, wanted, sites, single) {
	clause = c
	clause_refused = bracket_refused(clause_start[c], clause_end[c])
	if (clause_refused != "") {
		leave_out(c)
		return
	}
	count = split(clause_probes[c], list, " ")
	sites = ""
	names = ""
	for (i = 1; i <= count; i++) {
		clause_title = special_of(T[list[i]])
		if (clause_title != "") {
			write_special(c)
			continue
		}
		wanted = probe_of(T[list[i]])
		if (!check_probe(list[i]))
			continue
		if (wanted != "") {
			names = names " " probes_of(wanted)
			sites = sites (sites == "" ? "" : ",\n") site(wanted)
		} else if (interval_of(T[list[i]]) != "") {
			sites = sites (sites == "" ? "" : ",\n") interval_of(T[list[i]])
		} else {
			refuse(list[i], T[list[i]] ": no probe of a network provider; netobs observes packets, not the kernel")
		}
	}
	if (clause_refused == "" && names != "" && (uses_probe_word(c) || shares_probe(names))) {
		count = split(names, single, " ")
		for (j = 1; j <= count; j++)
			write_body(c, single[j], site(single[j]))
	} else if (sites != "" || clause_refused != "") {
		clause_title = T[list[1]]
		sub(/.*:/, "", clause_title)
		write_body(c, names, sites)
	}
}

function write_body(c, names, sites, text, condition) {
	clause_names = trimmed_names(names)
	text = body_of(c)
	condition = predicate_first[c] != "" ? "/" predicate_of(c) "/\n" : ""
	if (clause_refused != "")
		leave_out(c)
	else
		output = output "\n" sites "\n" condition "{" text "}\n"
}

# leave_out(C): a comment in place of a clause
function leave_out(c) {
	output = output "\n/* not translated: " T[clause_start[c]] ", line " line_of[clause_start[c]] ": " clause_refused " */\n"
}

# bracket_refused(FIRST, LAST): what is wrong with a bracket among the tokens; "" if nothing is
function bracket_refused(first, last) {
	for (; first <= last; first++)
		if (first in bad_bracket)
			return bad_bracket[first]
	return ""
}

function predicate_of(c, text) {
	in_predicate = 1
	text = expression(predicate_first[c], predicate_last[c])
	in_predicate = 0
	return text
}

function trimmed_names(names) {
	sub(/^ +/, "", names)
	return names
}

function body_of(c, list) {
	if (body_first[c] != "")
		return statements(body_first[c], body_last[c])
	split(clause_names, list, " ")
	return " print(\"" list[1] "\"); "
}

# write_special(C): BEGIN and END exist once in bpftrace
function write_special(c, text) {
	clause_names = ""
	text = body_of(c)
	if (predicate_first[c] != "")
		text = "\n\tif (" predicate_of(c) ") {" text "}\n"
	if (clause_refused != "")
		text = "\n\t/* not translated: " clause_refused " */\n"
	special[clause_title] = special[clause_title] text
}

# write_end(): the end prints what D prints at the end, and removes what bpftrace would print besides
function write_end(map, text, list, count, i, j, swap) {
	for (map in used_map)
		list[++count] = map
	for (i = 2; i <= count; i++) # in one order on every machine
		for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
			swap = list[j]
			list[j] = list[j - 1]
			list[j - 1] = swap
		}
	for (i = 1; i <= count; i++) {
		map = list[i]
		if (!(map in is_map) || map in is_printed)
			text = text "\tclear(" map ");\n"
		else if (map in shown || map in divisor)
			text = text "\t" print_call(map) ";\n\tclear(" map ");\n"
	}
	if (special["END"] text != "")
		output = output "\nEND\n{" (special["END"] == "" ? "\n" : special["END"]) text "}\n"
}

function write_bpftrace(c, i, begin) {
	pair_brackets()
	parse()
	survey()
	for (c = 1; c <= clauses; c++)
		count_probes(c)
	for (c = 1; c <= clauses; c++)
		write_clause(c)
	write_end()
	if (state_map)
		for (i = 1; i in state_names; i++)
			begin = begin "\t@tcp_state_string[NETOBS_TCP_" state_names[i] "] = \"" state_word(state_names[i]) "\";\n"
	print "#include <netobs.h>"
	if (begin special["BEGIN"] != "")
		printf "\nBEGIN\n{%s%s%s}\n", begin == "" ? "" : "\n", begin, special["BEGIN"]
	printf "%s", output
}

function state_word(state) {
	state = tolower(state)
	gsub(/_/, "-", state)
	return "state-" state
}

END {
	if (mode == "bpftrace")
		write_bpftrace()
	else
		write_d()
	if (!has_clause && !refused)
		refuse(tokens, "the script has no clause with a probe in four parts, such as tcp:::send")
	close("cat >&2")
	exit refused
}
