/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/confine/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "daemon/base/log.h"
#include "daemon/base/log_debug.h"
#include "daemon/confine/sandbox_rules.h"

static int
sandbox_add_rule(scmp_filter_ctx filter, const struct sandbox_rule *rule)
{
	struct scmp_arg_cmp comparison;

	if (rule->argument == 0)
		return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->number, 0, NULL);
	comparison = (struct scmp_arg_cmp){
	    .arg = rule->argument - 1, .op = SCMP_CMP_MASKED_EQ, .datum_a = rule->mask, .datum_b = rule->value};
	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->number, 1, &comparison);
}

/* Returns 0 or a negative errno. */
static int
sandbox_add_table(scmp_filter_ctx filter, const struct sandbox_table *table)
{
	int status = 0;

	for (size_t i = 0; i < table->count && status == 0; i++)
		if (table->rules[i].number != __NR_SCMP_ERROR)
			status = sandbox_add_rule(filter, &table->rules[i]);
	return status;
}

/* Adds one action for calls with any arguments.  Calls in sandbox_instrumentation stay allowed. */
static int
sandbox_add_calls(scmp_filter_ctx filter, uint32_t action, const int *numbers, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		status = seccomp_rule_add_array(filter, action, numbers[i], 0, NULL);
		if (status == -EEXIST)
			status = 0;
	}
	return status;
}

static int
sandbox_add_tables(scmp_filter_ctx filter, bool live)
{
	int status = sandbox_add_table(filter, &sandbox_instrumentation);

	for (size_t i = 0; i < sandbox_allowed_count && status == 0; i++)
		if (live || sandbox_allowed[i].when == SANDBOX_ALWAYS)
			status = sandbox_add_table(filter, &sandbox_allowed[i]);
	if (status == 0)
		status = sandbox_add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), sandbox_enosys, sandbox_enosys_count);
	if (status == 0)
		status = sandbox_add_calls(filter, SCMP_ACT_KILL_PROCESS, sandbox_kill, sandbox_kill_count);
	return status;
}

static int
sandbox_load_filter(bool live)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int status;

	if (filter == NULL)
		return -ENOMEM;
	/* Apply the filter to every existing thread, not to this one only. */
	status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (status == 0)
		status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree of the numbers */
	if (status == 0)
		status = sandbox_add_tables(filter, live);
	if (status == 0)
		status = seccomp_load(filter);
	seccomp_release(filter);
	return status;
}

bool
sandbox_enter(bool live)
{
	int status = sandbox_load_filter(live);

	if (status != 0) {
		log_error("cannot install the system-call filter: %s; --no-seccomp runs without it", strerror(-status));
		return false;
	}
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2) { /* SECCOMP_MODE_FILTER */
		log_debug(DEBUG_CONFINE, "the system-call filter is active, with the rules for %s",
			  live ? "interfaces" : "files");
		return true;
	}
	log_error("the system-call filter is not active; refusing to parse packets (--no-seccomp runs without it)");
	return false;
}
