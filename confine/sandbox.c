/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/sandbox.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/high_sockets.h"
#include "base/log.h"

/* Filters of threads, in the kernel's form.  They are made before the process is confined. */
static struct sandbox_program {
	enum sandbox_role role, process; /* of the thread, and of the process that has such threads */
	const char *name;
	struct sock_filter *instructions; /* NULL: not made yet */
	unsigned short count;
} programs[] = {
    {.role = SANDBOX_WORKER, .process = SANDBOX_LIVE, .name = "workers"},
    {.role = SANDBOX_OWNER, .process = SANDBOX_LIVE, .name = "owner threads"},
    {.role = SANDBOX_READER, .process = SANDBOX_REPLAY, .name = "reader threads"},
};

/* --------------------------------------------------------------------------------------------------- making filters */

static struct scmp_arg_cmp
sandbox_compare(const struct sandbox_condition *condition)
{
	struct scmp_arg_cmp comparison = {.arg = condition->argument - 1,
					  .op = SCMP_CMP_MASKED_EQ,
					  .datum_a = condition->mask,
					  .datum_b = condition->value};

	switch (condition->operand) {
	case SANDBOX_CONSTANT:
		break;
	case SANDBOX_LOW_DESCRIPTOR: /* without a boundary all are */
		comparison.datum_a = high_sockets_boundary() != 0 ? UINT32_MAX & ~(high_sockets_boundary() - 1) : 0;
		comparison.datum_b = 0;
		break;
	case SANDBOX_OWN_PROCESS:
		comparison.datum_a = UINT32_MAX;
		comparison.datum_b = (uint32_t)getpid();
		break;
	}
	return comparison;
}

static int
sandbox_add_rule(scmp_filter_ctx filter, const struct sandbox_rule *rule)
{
	struct scmp_arg_cmp comparisons[SANDBOX_CONDITIONS];
	unsigned count = 0;
	int status;

	for (; count < SANDBOX_CONDITIONS && rule->conditions[count].argument != 0; count++)
		comparisons[count] = sandbox_compare(&rule->conditions[count]);
	status = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, rule->number, count, count > 0 ? comparisons : NULL);
	return status == -EEXIST ? 0 : status; /* another table has the rule, too */
}

static enum sandbox_role
sandbox_process_role(const struct sandbox_process *process)
{
	return process->live ? SANDBOX_LIVE : SANDBOX_REPLAY;
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

static bool
sandbox_table_applies(const struct sandbox_table *table, const struct sandbox_process *process, enum sandbox_role role)
{
	return (table->roles & role) != 0 && (table->when != SANDBOX_IF_OPENING || process->opens) &&
	       (table->when != SANDBOX_IF_SUSPENDING || process->suspends) &&
	       (table->when != SANDBOX_IF_DTRACE || process->dtrace);
}

static int
sandbox_add_tables(scmp_filter_ctx filter, const struct sandbox_process *process, enum sandbox_role role)
{
	int status = sandbox_add_table(filter, &sandbox_instrumentation);

	for (size_t i = 0; i < sandbox_allowed_count && status == 0; i++)
		if (sandbox_table_applies(&sandbox_allowed[i], process, role))
			status = sandbox_add_table(filter, &sandbox_allowed[i]);
	if (status == 0)
		status = sandbox_add_calls(filter, SCMP_ACT_ERRNO(ENOSYS), sandbox_enosys, sandbox_enosys_count);
	if (status == 0)
		status = sandbox_add_calls(filter, SCMP_ACT_KILL_PROCESS, sandbox_kill, sandbox_kill_count);
	return status;
}

/* NULL with errno. */
static scmp_filter_ctx
sandbox_make_filter(const struct sandbox_process *process, enum sandbox_role role)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int status = -ENOMEM;

	if (filter != NULL)
		status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree of the numbers */
	if (status ==
	    0) /* calls of another table, such as those of 32-bit programs; the default kills the thread only */
		status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (status == 0)
		status = sandbox_add_tables(filter, process, role);
	if (status == 0)
		return filter;
	seccomp_release(filter);
	errno = -status;
	return NULL;
}

/* ---------------------------------------------------------------------------------------------- filters of threads */

/* Reads what seccomp_export_bpf() has written to `file`.  False with errno. */
static bool
sandbox_program_read(struct sandbox_program *program, int file)
{
	struct stat status;
	size_t size;

	if (fstat(file, &status) != 0)
		return false;
	size = (size_t)status.st_size;
	program->count = (unsigned short)(size / sizeof *program->instructions);
	program->instructions = malloc(size);
	if (program->instructions != NULL && pread(file, program->instructions, size, 0) == (ssize_t)size)
		return true;
	free(program->instructions);
	program->instructions = NULL;
	return false;
}

/* False with errno. */
static bool
sandbox_program_make(struct sandbox_program *program, const struct sandbox_process *process)
{
	scmp_filter_ctx filter = sandbox_make_filter(process, program->role);
	int file = filter != NULL ? memfd_create("filter", MFD_CLOEXEC) : -1, status;
	bool made = false;

	if (file >= 0) {
		status = seccomp_export_bpf(filter, file);
		errno = -status;
		made = status == 0 && sandbox_program_read(program, file);
		close(file);
	}
	seccomp_release(filter);
	return made;
}

static bool
sandbox_make_programs(const struct sandbox_process *process)
{
	enum sandbox_role role = sandbox_process_role(process);

	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
		if (programs[i].process == role && programs[i].instructions == NULL &&
		    !sandbox_program_make(&programs[i], process))
			return false;
	return true;
}

bool
sandbox_enter_thread(enum sandbox_role role)
{
	const struct sandbox_program *program = programs;
	struct sock_fprog code;

	while (program->role != role)
		program++;
	code = (struct sock_fprog){.len = program->count, .filter = program->instructions};
	if (program->instructions == NULL || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code) != 0) {
		log_error("cannot install the system-call filter of %s: %s", program->name, strerror(errno));
		return false;
	}
	log_debug(DEBUG_CONFINE, "the system-call filter of %s is active", program->name);
	return true;
}

/* -------------------------------------------------------------------------------------------- filter of the process */

static bool
sandbox_load_filter(const struct sandbox_process *process)
{
	scmp_filter_ctx filter = sandbox_make_filter(process, sandbox_process_role(process));
	int status;

	if (filter == NULL)
		return false;
	/* Apply the filter to every existing thread, not to this one only. */
	status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (status == 0)
		status = seccomp_load(filter);
	seccomp_release(filter);
	errno = -status;
	return status == 0;
}

bool
sandbox_enter(const struct sandbox_process *process)
{
	if (!sandbox_make_programs(process) || !sandbox_load_filter(process)) {
		log_error("cannot install the system-call filter: %s; --no-seccomp runs without it", strerror(errno));
		return false;
	}
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2) { /* SECCOMP_MODE_FILTER */
		log_debug(DEBUG_CONFINE, "the system-call filter is active, with the rules for %s",
			  !process->live   ? "files"
			  : process->opens ? "interfaces that may return"
					   : "interfaces");
		return true;
	}
	log_error("the system-call filter is not active; refusing to parse packets (--no-seccomp runs without it)");
	return false;
}
