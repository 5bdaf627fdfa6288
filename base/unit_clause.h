/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message adds to the reason of an error that a setting of the service manager's unit can cause: the reason
 * alone then misleads, such as "Read-only file system".  Each function returns "" unless the service manager has
 * started this process itself.
 */
#ifndef NETOBS_BASE_UNIT_CLAUSE_H
#define NETOBS_BASE_UNIT_CLAUSE_H

/* The clause about a limit, a string literal that names the setting and what it forbids. */
#define unit_clause(limit) \
	unit_clause_choose("; " limit " (systemctl edit can permit it: netobsd(8), What the unit forbids)")

/* The clause, or "". */
const char *unit_clause_choose(const char *clause);

/* The clause about a file or directory that cannot be used at this path, or not be created there, for this reason (an
 * errno value), or "". */
const char *unit_clause_of_path(const char *path, int error);

/* The clause about a filter that libpcap refuses with this message: it names a host, which may not be looked up; or
 * "". */
const char *unit_clause_of_filter(const char *message);

#endif
