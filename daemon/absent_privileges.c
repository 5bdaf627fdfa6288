/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds without libcap-ng cannot give up what root has, so they do not begin as root. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/privileges.h"

const bool privileges_drop = false;

bool
privileges_plan(const struct config *config, struct privileges *plan)
{
	(void)config;
	*plan = (struct privileges){0};
	if (getuid() != 0 && geteuid() != 0)
		return true;
	log_error("this netobsd was built without libcap-ng and does not run as root: start it as another user; "
		  "setcap cap_net_raw=ep on the program lets that user observe interfaces");
	return false;
}

bool
privileges_leave(const struct privileges *plan)
{
	(void)plan;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		return true;
	log_error("cannot renounce new privileges: %s", strerror(errno));
	return false;
}
