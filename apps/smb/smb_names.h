/* SPDX-License-Identifier: BSD-2-Clause */
/* SMB: numbers in words, and UTF-16 as UTF-8. */
#ifndef NETOBS_APPS_SMB_SMB_NAMES_H
#define NETOBS_APPS_SMB_SMB_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "dissect/cursor.h"

/* "tree-connect"; NULL unknown. */
const char *smb_command_name(uint16_t command);

/* "STATUS_ACCESS_DENIED" (MS-ERREF section 2.3.1); NULL if it is not listed. */
const char *smb_status_name(uint32_t status);

/* "3.1.1"; NULL unknown. */
const char *smb_dialect_name(uint16_t dialect);

/* Writes little-endian UTF-16 as UTF-8 with a NUL at its end, as many whole characters as `size` bytes hold.  A NUL
 * and half a surrogate pair become U+FFFD. */
void smb_text(char *to, size_t size, struct slice utf16);

#endif
