/* SPDX-License-Identifier: BSD-2-Clause */
/* The printer: selection of probes, format, output. */
#include "probes/print/print.h"

#include <stdlib.h>
#include <string.h>

#include "probes/print/print_internal.h"
#include "probes/sites.h"

/* Changes a semaphore.  Atomic, because the kernel counts tracers in it too. */
static void
printer_raise_semaphores(const struct printer *printer)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (printer->selected[i])
			__atomic_fetch_add(probe_semaphores[i], 1, __ATOMIC_RELAXED);
}

static void
printer_lower_semaphores(const struct printer *printer)
{
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		if (printer->holds_semaphores && printer->selected[i])
			__atomic_fetch_sub(probe_semaphores[i], 1, __ATOMIC_RELAXED);
}

struct printer *
printer_new_formatter(void)
{
	struct printer *printer = calloc(1, sizeof *printer);

	if (printer == NULL)
		return NULL;
	print_text_prepare(printer);
	if (print_json_prepare(printer))
		return printer;
	print_json_free(printer);
	free(printer);
	return NULL;
}

static struct printer *
printer_allocate(int fd, enum print_format format, const bool selected[PROBE_COUNT])
{
	struct printer *printer = printer_new_formatter();

	if (printer == NULL)
		return NULL;
	printer->format = format;
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		printer->selected[i] = selected[i];
	if (writer_open(&printer->out, fd))
		return printer;
	print_json_free(printer);
	free(printer);
	return NULL;
}

struct printer *
printer_new(int fd, enum print_format format, const bool selected[PROBE_COUNT])
{
	struct printer *printer = printer_allocate(fd, format, selected);

	if (printer == NULL)
		return NULL;
	pthread_mutex_init(&printer->shared.mutex, NULL);
	printer->holds_semaphores = true;
	printer_raise_semaphores(printer);
	return printer;
}

struct printer *
printer_new_shared(struct printer *first)
{
	struct printer *printer = printer_allocate(first->out.fd, first->format, first->selected);

	if (printer != NULL)
		printer->out.shared = first->out.shared = &first->shared;
	return printer;
}

bool
printer_set_fields(struct printer *printer, const char *list)
{
	bool all[PROBE_COUNT];
	char error[256];

	/* Formulas are printed, too, of which the probe need not be selected. */
	memset(all, true, sizeof all);
	printer->fields = print_fields_new(list, all, error, sizeof error);
	if (printer->fields != NULL)
		print_fields_omit_missing(printer->fields);
	return printer->fields != NULL;
}

void
printer_stop(struct printer *printer)
{
	printer_lower_semaphores(printer);
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		printer->selected[i] = false;
}

int
printer_free(struct printer *printer)
{
	int error;

	if (printer == NULL)
		return 0;
	printer_lower_semaphores(printer);
	error = writer_close(&printer->out);
	print_fields_free(printer->fields);
	print_json_free(printer);
	free(printer);
	return error;
}

char *
printer_format_line(struct printer *printer, enum print_format format, const char *formula, enum probe_id id,
		    const void *const args[6], char *at)
{
	if (format == PRINT_JSON)
		return print_json_line(printer, formula, id, args, at);
	return print_text_line(printer, formula, id, args, at);
}

static void
printer_print_line(struct printer *printer, const char *formula, enum probe_id id, const void *const args[6])
{
	char *at = writer_reserve(&printer->out, PRINT_LINE_MAX);

	if (printer->fields != NULL)
		at = print_fields_line(printer->fields, printer->format, formula, id, args, at);
	else
		at = printer_format_line(printer, printer->format, formula, id, args, at);
	writer_commit(&printer->out, at);
}

void
printer_print_firing(struct printer *printer, enum probe_id id, const void *const args[6])
{
	if (printer->selected[id])
		printer_print_line(printer, NULL, id, args);
}

void
printer_print_formula(struct printer *printer, const char *name, enum probe_id of, const void *const args[6])
{
	printer_print_line(printer, name, of, args);
}

void
printer_flush(struct printer *printer)
{
	writer_flush(&printer->out);
}

int
printer_error(const struct printer *printer)
{
	return writer_error(&printer->out);
}

bool
printer_set_policy(struct printer *printer, const struct writer_policy *policy)
{
	return writer_set_policy(&printer->out, policy);
}

void
printer_finish(struct printer *printer, uint64_t ms)
{
	writer_finish(&printer->out, ms);
}

bool
printer_is_waiting(const struct printer *printer)
{
	return printer->out.used > 0;
}

uint64_t
printer_dropped(const struct printer *printer)
{
	return printer->out.dropped;
}
