/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of an evaluation whose arguments are built: nanoseconds of typical expressions, one a line.  cost_formula
 * LIMIT LONGEST fails if one of the first three, which netobs promises, costs more than LIMIT, or one of the most
 * expensive that a definition has room for more than LONGEST.  The least of many short measurements counts, because
 * other programs run on the same processors; above the limit there are more of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "formulas/formula.h"
#include "tests/formulas/firing_sample.h"
#include "tests/lib/other_programs.h"

#define MEASUREMENTS 1000u
#define ROUNDS	     40u
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
cost_measure(const struct formula *formula, struct firing *firing, unsigned evaluations)
{
	struct timespec begin, end;
	unsigned long matched = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; i < evaluations; i++) {
		matched += formula_is_true(formula, firing);
		__asm__ volatile("" : "+r"(matched) : : "memory");
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / evaluations;
}

/* The least cost of an evaluation; it is measured again while it is above the limit. */
static double
cost_of_definition(const char *text, unsigned evaluations, double limit)
{
	struct firing_sample sample;
	struct formula_error error;
	struct formula *formula = formula_compile(text, &error);
	double least = 1e9;

	if (formula == NULL) {
		fprintf(stderr, "%u: %s\n", error.column, error.message);
		exit(2);
	}
	firing_sample_init(&sample);
	for (unsigned i = 0; i < MEASUREMENTS * ROUNDS && (i < MEASUREMENTS || least > limit); i++) {
		double cost;

		if (i > 0 && i % MEASUREMENTS == 0)
			wait_for_other_programs();
		cost = cost_measure(formula, firing_sample_fire(&sample, PROBE_TCP_RECEIVE), evaluations);
		least = cost < least ? cost : least;
	}
	formula_free(formula);
	return least;
}

static bool
cost_of_typical(double limit)
{
	bool good = true;

	for (unsigned i = 0; i < sizeof expressions / sizeof expressions[0]; i++) {
		char text[200];
		double cost;

		snprintf(text, sizeof text, "x = tcp-receive where %s", expressions[i]);
		cost = cost_of_definition(text, EVALUATIONS, i < PROMISED ? limit : 1e9);
		printf("%.1f ns: %s\n", cost, expressions[i]);
		good = good && (i >= PROMISED || cost <= limit);
	}
	return good;
}

/* Writes operands of one operator, in parentheses so that they are not too deep. */
static void
cost_write_operands(FILE *to, const char *operand, const char *operator, unsigned count)
{
	if (count == 1) {
		fputs(operand, to);
		return;
	}
	fputc('(', to);
	cost_write_operands(to, operand, operator, count / 2);
	fputs(operator, to);
	cost_write_operands(to, operand, operator, count - count / 2);
	fputc(')', to);
}

static bool
cost_of_longest(double limit)
{
	static const struct {
		const char *operand, *operator;
		unsigned count;
		const char *end;
	} rows[] = {
		{"tcp_seq%3", "+", 140, " == 1"},
		{"tcp_seq", "+", 170, " == 1"},
		{"ip_saddr in ::/9", "||", 90, ""},
		{"ip_saddr~\"*b\"", "||", 110, ""},
		{"ip_saddr~\"*["
		 "####################################################################################################"
		 "]b\"", "||", 17, ""},
		{"ip_saddr~\"*1*9*2*0*?*?*?*?*?*?*?*?*?*?*?*?*?*?*?*b\"", "||", 30, ""},
		{"ip_saddr==ip_daddr", "||", 80, ""},
	};
	bool good = true;

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[FORMULA_TEXT_MAX + 1] = "";
		FILE *to = fmemopen(text, sizeof text, "w");
		double cost;

		if (to == NULL)
			exit(2);
		fputs("x = tcp-receive where ", to);
		cost_write_operands(to, rows[i].operand, rows[i].operator, rows[i].count);
		fputs(rows[i].end, to);
		fclose(to);
		cost = cost_of_definition(text, 20, limit);
		printf("%.0f ns: %u times %s\n", cost, rows[i].count, rows[i].operand);
		good = good && cost <= limit;
	}
	return good;
}

int
main(int argc, char **argv)
{
	double limit = argc > 2 ? strtod(argv[1], NULL) : 1e9, longest = argc > 2 ? strtod(argv[2], NULL) : 1e9;
	bool typical_is_good = cost_of_typical(limit), longest_is_good = cost_of_longest(longest);

	return typical_is_good && longest_is_good ? 0 : 1;
}
