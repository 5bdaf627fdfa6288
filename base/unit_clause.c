/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/unit_clause.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* systemd sets SYSTEMD_EXEC_PID, since version 248, to the process that it starts.  The programs which that one starts
 * inherit the variable, shells of a desktop for example, and no unit needs to confine those. */
static bool
unit_clause_applies(void)
{
	const char *started = getenv("SYSTEMD_EXEC_PID");
	char own[32];

	snprintf(own, sizeof own, "%ld", (long)getpid());
	return started != NULL && strcmp(started, own) == 0;
}

const char *
unit_clause_choose(const char *clause)
{
	return unit_clause_applies() ? clause : "";
}

/* Whether the path is this directory or below it. */
static bool
path_is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool
path_is_below_any(const char *path, const char *const *directories)
{
	for (; *directories != NULL; directories++)
		if (path_is_below(path, *directories))
			return true;
	return false;
}

/* ProtectHome= makes these directories inaccessible, PrivateTmp= and PrivateDevices= replace theirs by emptier ones. */
const char *
unit_clause_of_path(const char *path, int error)
{
	static const char *const homes[] = {"/home", "/root", "/run/user", NULL};
	static const char *const temporary[] = {"/tmp", "/var/tmp", NULL};
	bool hidden = error == ENOENT || error == EACCES || error == EPERM;

	if (error == EROFS)
		return unit_clause("ProtectSystem= of the unit may forbid to write there");
	if (hidden && path_is_below_any(path, homes))
		return unit_clause("ProtectHome= of the unit may hide it");
	if (error == ENOENT && path_is_below_any(path, temporary))
		return unit_clause("PrivateTmp= of the unit may hide it");
	if (hidden && path_is_below(path, "/dev"))
		return unit_clause("PrivateDevices= of the unit may hide it");
	return "";
}

const char *
unit_clause_of_filter(const char *message)
{
	if (strstr(message, "unknown host") == NULL)
		return "";
	return unit_clause("RestrictAddressFamilies= of the unit may forbid to look up names");
}
