/* SPDX-License-Identifier: BSD-2-Clause */
/* --install-formulas: writes the file with the probe sites of formulas, which a running netobsd can only read. */
#ifndef NETOBS_DAEMON_INSTALL_FORMULAS_H
#define NETOBS_DAEMON_INSTALL_FORMULAS_H

#include <stdbool.h>

#include "config/config.h"
#include "formulas/slots/slots.h"

#define INSTALL_ERROR_MAX SLOT_ERROR_MAX

/* Gives the file `path` the names of the formulas of `config`; the group of the user that netobsd runs as may read it.
 * False, with the reason, on failure. */
bool install_formulas(const struct config *config, const char *path, char error[INSTALL_ERROR_MAX]);

#endif
