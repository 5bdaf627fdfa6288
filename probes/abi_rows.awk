# SPDX-License-Identifier: BSD-2-Clause
#
# Turns tests/probes/abi.expected into the rows of probes/args/abi_layout.c: every struct, field and constant of netobs.h.
# POSIX awk: runs with gawk, mawk and busybox.

$1 == "struct" && NF == 3 {
	print "STRUCT_SIZE(" $2 ", " $3 ");"
	next
}

# "tcpinfo.tcp_dport uint16_t at 2 size 2"
NF == 6 && $3 == "at" && $5 == "size" {
	split($1, name, ".")
	print "FIELD_AT(" name[1] ", " name[2] ", " $4 ", " $6 ");"
	next
}

$1 ~ /^NETOBS_/ && NF == 2 {
	print "CONSTANT_IS(" $1 ", " $2 ");"
	next
}

# The arguments of the probes are not part of the layout: "tcp-send args[4] tcpinfo_t *".
$2 !~ /^args\[[0-5]\]$/ {
	print FILENAME ":" FNR ": no row of the ABI: " $0 | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

END {
	exit failed
}
