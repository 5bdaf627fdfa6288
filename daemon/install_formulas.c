/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/install_formulas.h"

#include "daemon/base/log.h"
#include "daemon/confine/privileges.h"
#include "formulas/slots/slot_file.h"

bool
install_formulas(const struct config *config)
{
	char error[SLOT_ERROR_MAX];
	struct privileges plan;

	if (!privileges_plan(config, &plan))
		return false;
	if (slots_install(config->install_formulas, NULL, 0, plan.change ? plan.gid : (gid_t)-1, error))
		return true;
	log_error("cannot install the formulas: %s", error);
	return false;
}
