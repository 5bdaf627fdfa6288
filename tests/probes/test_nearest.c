/* SPDX-License-Identifier: BSD-2-Clause */
/* The "did you mean" of messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probes/nearest.h"

static const char *const words[] = {"summary", "strict", "status", "tcp-send", "tcp-receive", "udp-receive", "a"};

static const char *
hint_for(const char *word)
{
	static char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		nearest_consider(&nearest, words[i]);
	return nearest_hint(&nearest, "--", hint);
}

static void
test_edits_of_each_kind(void **state)
{
	(void)state;
	assert_string_equal(hint_for("stric"), " (did you mean --strict?)");	     /* missing */
	assert_string_equal(hint_for("striict"), " (did you mean --strict?)");     /* one more */
	assert_string_equal(hint_for("strikt"), " (did you mean --strict?)");	     /* another */
	assert_string_equal(hint_for("tcp-recieve"), " (did you mean --tcp-receive?)"); /* swapped */
	assert_string_equal(hint_for("pcp-receive"), " (did you mean --tcp-receive?)"); /* first of two */
	assert_string_equal(hint_for("STATUT"), " (did you mean --status?)");
	assert_string_equal(hint_for("UDP-RECEIVE"), " (did you mean --udp-receive?)"); /* nearer than tcp-receive */
	assert_string_equal(hint_for("TCP-Sned"), " (did you mean --tcp-send?)");     /* capitals */
	assert_string_equal(hint_for("summary"), " (did you mean --summary?)");
}

static void
test_distant_words(void **state)
{
	char much[NEAREST_WORD_MAX + 2];

	(void)state;
	assert_string_equal(hint_for("frobnicate"), "");
	assert_string_equal(hint_for("xyz"), "");
	assert_string_equal(hint_for("b"), "");
	assert_string_equal(hint_for(""), "");
	memset(much, 's', sizeof much - 1);
	much[sizeof much - 1] = '\0';
	assert_string_equal(hint_for(much), "");
	much[NEAREST_WORD_MAX] = '\0'; /* the longest word */
	assert_string_equal(hint_for(much), "");
}

/* scripts/nearest.awk finds the same words. */
static void
test_same_as_awk(void **state)
{
	static const char *const misspelt[] = {"stric",	     "tcp-recieve", "pcp-receive", "frobnicate",
					       "statsu", "b",	       "STATUS"};
	char command[512], line[128];

	(void)state;
	for (size_t i = 0; i < sizeof misspelt / sizeof misspelt[0]; i++) {
		FILE *awk;

		snprintf(command, sizeof command,
			 "misspelt=%s candidates='summary strict status tcp-send tcp-receive udp-receive a' awk "
			 "-f \"${top_srcdir:-.}\"/scripts/nearest.awk",
			 misspelt[i]);
		awk = popen(command, "r"); /* NOLINT(cert-env33-c) */
		assert_non_null(awk);
		assert_non_null(fgets(line, sizeof line, awk));
		assert_int_equal(pclose(awk), 0);
		line[strcspn(line, "\n")] = '\0';
		/* The candidates of this test have a prefix. */
		if (*line == '\0')
			assert_string_equal(hint_for(misspelt[i]), "");
		else
			assert_non_null(strstr(hint_for(misspelt[i]), strrchr(line, ' ') + 1));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_edits_of_each_kind),
	    cmocka_unit_test(test_distant_words),
	    cmocka_unit_test(test_same_as_awk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
