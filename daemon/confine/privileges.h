/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who netobsd is while it parses: never root, and with no capability that it can do without.
 *
 * Started as root, it becomes another user and gives up every capability for good.  Started as anybody else, it gives
 * up whatever it has except, when it observes interfaces, CAP_NET_RAW: whoever gave it that (the service manager, or
 * setcap on the file) wants captures to be opened, and a lost interface is opened again with it.  No exec gives any of
 * it back.
 *
 * The one exception has to be asked for (--all-owners): CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH stay, because without
 * them the kernel does not show whose sockets other users' are.
 */
#ifndef NETOBS_DAEMON_CONFINE_PRIVILEGES_H
#define NETOBS_DAEMON_CONFINE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/config/config.h"

struct privileges {
	bool change; /* started as root: the ids below are what it becomes */
	uid_t uid;
	gid_t gid;
	bool keep_capture; /* CAP_NET_RAW, if it is there */
	bool keep_owners;  /* CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH, if they are there */
};

/* Decides what will be left, while nothing has been opened yet.  False, with a message logged, if the configuration
 * asks for what cannot be. */
bool privileges_plan(const struct config *config, struct privileges *plan);

/* Does it, and makes sure.  To be called when everything is open and before there are threads.  False, with a message
 * logged, if anything is left that should not be; nothing is to be parsed then. */
bool privileges_leave(const struct privileges *plan);

#endif
