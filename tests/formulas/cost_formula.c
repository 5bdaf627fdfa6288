/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of an evaluation whose arguments are built: nanoseconds of typical expressions, one a line.  cost_formula
 * LIMIT fails if one of the first three, which netobs promises, costs more than LIMIT.  The least of many short
 * measurements counts, because other programs run on the same processors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "formulas/formula.h"
#include "tests/formulas/firing_sample.h"

#define MEASUREMENTS 1000u
#define EVALUATIONS  5000u
#define PROMISED     3u

static const char *const expressions[] = {
	"tcp_dport in {80, 443} && tcp_flags & ACK && tcps_state == established",
	"tcps_srtt_us > 100ms",
	"ip_saddr in 192.0.0.0/8",
	"ip_saddr in 192.0.0.0/12",
	"ip_saddr in 2001:db8::/32",
	"cs_comm == \"nginx\"",
	"cs_comm ~ \"*gin*\"",
	"tcps_snd_bytes - tcps_rcv_bytes > 1MB",
};

static double
cost_measure(const struct formula *formula, struct firing *firing)
{
	struct timespec begin, end;
	unsigned long matched = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < EVALUATIONS; i++) {
		matched += formula_is_true(formula, firing);
		__asm__ volatile("" : "+r"(matched) : : "memory");
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / EVALUATIONS;
}

int
main(int argc, char **argv)
{
	double limit = argc > 1 ? strtod(argv[1], NULL) : 1e9;
	struct firing_sample sample;
	int status = 0;

	firing_sample_init(&sample);
	for (unsigned i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
		char text[200];
		struct formula_error error;
		struct formula *formula;
		double least = 1e9;

		snprintf(text, sizeof text, "x = tcp-receive where %s", expressions[i]);
		formula = formula_compile(text, &error);
		if (formula == NULL)
			return 2;
		for (unsigned j = 0; j < MEASUREMENTS; j++) {
			double cost = cost_measure(formula, firing_sample_fire(&sample, PROBE_TCP_RECEIVE));

			least = cost < least ? cost : least;
		}
		printf("%.1f ns: %s\n", least, expressions[i]);
		if (i < PROMISED && least > limit)
			status = 1;
		formula_free(formula);
	}
	return status;
}
