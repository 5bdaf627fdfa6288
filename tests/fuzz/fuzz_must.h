/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of fuzz targets: ends the program, so that the input is reported. */
#ifndef NETOBS_TESTS_FUZZ_FUZZ_MUST_H
#define NETOBS_TESTS_FUZZ_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(what)                                                                                \
	do {                                                                                      \
		if (!(what)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                                  \
		}                                                                                 \
	} while (0)

#endif
