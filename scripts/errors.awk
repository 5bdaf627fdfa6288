# SPDX-License-Identifier: BSD-2-Clause
#
# What the tracer writes to its standard error, for netobs(1).  The variable held is the
# file for the errors with which bpftrace ends, if any: if a signal has ended netobsd before bpftrace was attached, they are
# no news; dropped is the file for the lines in which DTrace reports drops.
# Needs escape.awk.
# Needs warnings.awk.
is_warning($0) { next }
{ line = line_text(unmarked($0)) }
/^terminate called after throwing|what\(\):|^ERROR: |^Error attaching|^cannot attach / { holding = 1 }
/^dtrace: [0-9]+ .*drop/ { drops = drops line "\n" }
holding { errors = errors line "\n"; next }
{ print line; fflush() }
END {
	file = held
	if (errors != "") printf "%s", errors > file
	file = dropped
	if (drops != "") printf "%s", drops > file
}
