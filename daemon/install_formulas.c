/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/install_formulas.h"

#include <stdio.h>

#include "config/formula_names.h"
#include "confine/privileges.h"
#include "formulas/formula_set.h"

bool
install_formulas(const struct config *config, const char *path, char error[INSTALL_ERROR_MAX])
{
	char names[FORMULAS_MAX][FORMULA_NAME_MAX + 1];
	const char *wanted[FORMULAS_MAX];
	struct privileges plan;
	size_t count = 0;

	if (!privileges_plan(config, &plan)) {
		snprintf(error, INSTALL_ERROR_MAX, "there is no such user");
		return false;
	}
	for (; count < FORMULAS_MAX && config->formulas[count] != NULL; count++) {
		formula_names_of_definition(config->formulas[count], names[count]);
		wanted[count] = names[count];
	}
	return slots_install(path, wanted, count, plan.change ? plan.gid : (gid_t)-1, error);
}
