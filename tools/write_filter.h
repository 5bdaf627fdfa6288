/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The filter of netobsctl write, in the language of pcap-filter(7).  It is compiled here, as tcpdump does, for each
 * link type of the flight memory of netobsd, which runs the programs.
 */
#ifndef NETOBS_TOOLS_WRITE_FILTER_H
#define NETOBS_TOOLS_WRITE_FILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of the programs in text. */
#define WRITE_FILTER_MAX ((size_t)60 * 1024)

#define WRITE_FILTER_ERROR_MAX 1024u

/* Stores the programs of a filter for the link types of the netobsd that listens on `socket`, in the text of requests.
 * False with `error`. */
bool write_filter_compile(const char *socket, const char *filter, char programs[WRITE_FILTER_MAX],
			  char error[WRITE_FILTER_ERROR_MAX]);

/* Appends the program of a filter for a link type (DLT_...) to `programs`.  False with `error`. */
bool write_filter_add(const char *filter, int dlt, char programs[WRITE_FILTER_MAX], char error[WRITE_FILTER_ERROR_MAX]);

#endif
