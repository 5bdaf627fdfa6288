/* SPDX-License-Identifier: BSD-2-Clause */
/* EXAMPLE: the messages of a connection. */
#ifndef NETOBS_APPS_EXAMPLE_EXAMPLE_READER_H
#define NETOBS_APPS_EXAMPLE_EXAMPLE_READER_H

#include "flow/stream/app_reader.h"

/* Longest line, bytes: what is longer is no line of this protocol. */
#define EXAMPLE_LINE_MAX 65536u

extern const struct app_reader example_reader;

#endif
