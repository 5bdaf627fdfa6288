/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of a connection's directory: names and texts. */
#ifndef NETOBS_TOOLS_CONNFS_CONNFS_FILES_H
#define NETOBS_TOOLS_CONNFS_CONNFS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/connections/connection_list.h"

#define CONNFS_FILES 9u

/* The numbers of the files that are made of the connection's packets; the others are texts. */
#define CONNFS_HISTORY 7u
#define CONNFS_CAPTURE 8u

#define CONNFS_TEXT_MAX 2048u

const char *connfs_file_name(unsigned file);

/* Whether a text shows the process. */
bool connfs_file_has_owner(unsigned file);

/* Writes the text of a file; returns its length.  `values` are those of CONNFS_FIELDS. */
size_t connfs_file_text(unsigned file, const union connection_value *values, char text[CONNFS_TEXT_MAX]);

#endif
