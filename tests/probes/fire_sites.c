/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires every probe site with known arguments, for the tests with real tracers and for the measurements.
 *
 *	fire_sites COUNT		fires every enabled probe COUNT times
 *	fire_sites COUNT text|json	the same, through the printer to standard output
 *	fire_sites script PATH		a bpftrace program for the copy of this program at PATH: it prints the first and
 *					the last field of every argument of every probe
 *	fire_sites expect		what that program prints
 *	fire_sites names		every probe, as the note has it, and the types of its arguments
 *
 * A first argument "plain" or "fast" says which of its two sites a probe executes, as --probe-site of netobsd does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/print/print.h"
#include "probes/site/site_select.h"
#include "probes/sites.h"
#include "tests/probes/probe_args_sample.h"

static struct probe_args_sample samples;

static void
fire_all(unsigned long count, struct printer *printer)
{
	for (unsigned long i = 0; i < count; i++)
		for (unsigned id = 0; id < PROBE_COUNT; id++) {
			const void *args[6];

			if (*probe_semaphores[id] == 0)
				continue;
			samples.pktinfo.pkt_seq = samples.csinfo.cs_seq = i + 1;
			probe_args_sample_args(&samples, (enum probe_id)id, args);
			site_fire((enum probe_id)id, args);
			if (printer != NULL)
				printer_print_firing(printer, (enum probe_id)id, args);
		}
}

/* First or last field of a struct that a tracer can print. */
static const struct field_info *
outer_field(const struct struct_info *info, bool last)
{
	const struct field_info *found = NULL;

	for (size_t i = 0; i < info->field_count && (found == NULL || last); i++)
		if (info->fields[i].kind != FIELD_BYTES)
			found = &info->fields[i];
	return found;
}

/* The number at `at`, without its sign. */
static uint64_t
field_value(const struct field_info *field, const void *at)
{
	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static void
print_expected(const struct field_info *field, const char *from)
{
	const char *at = from + field->offset;
	unsigned shift = (unsigned)(64 - 8 * field->size);

	if (field->kind == FIELD_TEXT) {
		printf("%s\n", at);
		return;
	}
	if (field->kind == FIELD_SIGNED)
		printf("%" PRId64 "\n", (int64_t)(field_value(field, at) << shift) >> shift);
	else
		printf("%" PRIu64 "\n", field_value(field, at));
}

static void
print_statement(const struct probe_info *probe, unsigned arg, const struct field_info *field)
{
	const char *format = field->kind == FIELD_TEXT ? "%s" : field->kind == FIELD_SIGNED ? "%ld" : "%lu";

	printf("\tprintf(\"%s %u %s %s\\n\", ((struct %s *)arg%u)->%s);\n", probe->name, arg, field->name, format,
	       probe->args[arg].type->name, arg, field->name);
}

static void
print_argument(const struct probe_info *probe, unsigned arg, const void *value, bool script)
{
	const struct struct_info *info = probe->args[arg].type;

	if (info == NULL) {
		printf(script ? "\tprintf(\"%s %u %%d\\n\", arg%u);\n" : "%s %u 0\n", probe->name, arg, arg);
		return;
	}
	for (unsigned last = 0; last < 2; last++) {
		const struct field_info *field = outer_field(info, last);

		if (script) {
			print_statement(probe, arg, field);
		} else {
			printf("%s %u %s ", probe->name, arg, field->name);
			print_expected(field, value);
		}
	}
}

static void
print_all(const char *path)
{
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		const struct probe_info *probe = &manifest_probes[id];
		const void *args[6];

		probe_args_sample_args(&samples, (enum probe_id)id, args);
		if (path != NULL)
			printf("usdt:%s:netobs:%s\n{\n", path, probe->c_name);
		for (unsigned i = 0; i < probe->arg_count; i++)
			print_argument(probe, i, args[i], path != NULL);
		if (path != NULL)
			puts("}");
	}
}

static void
print_names(void)
{
	for (unsigned id = 0; id < PROBE_COUNT; id++) {
		const struct probe_info *probe = &manifest_probes[id];

		printf("%s", probe->c_name);
		for (unsigned i = 0; i < probe->arg_count; i++)
			printf(" %s%s", probe->args[i].type ? probe->args[i].type->name : "NULL",
			       probe->args[i].type ? "_t" : "");
		puts("");
	}
}

static int
print_through(unsigned long count, const char *format)
{
	enum print_format chosen_format = strcmp(format, "json") == 0 ? PRINT_JSON : PRINT_TEXT;
	bool chosen[PROBE_COUNT];
	struct printer *printer;

	memset(chosen, true, sizeof chosen);
	printer = printer_new(1, chosen_format, chosen);
	if (printer == NULL)
		return 1;
	fire_all(count, printer);
	return printer_free(printer) != 0;
}

/* Takes the first argument if it is a kind of site. */
static void
take_site(int *argc, char ***argv)
{
	enum site_kind kind = SITE_AUTO;

	for (enum site_kind k = SITE_PLAIN; *argc > 1 && k <= SITE_FAST; k++)
		if (strcmp((*argv)[1], site_kind_name(k)) == 0)
			kind = k;
	if (kind != SITE_AUTO) {
		--*argc;
		++*argv;
	}
	if (!site_select(kind))
		exit(77); /* automake: skipped */
}

int
main(int argc, char **argv)
{
	const char *what;
	unsigned long count;

	take_site(&argc, &argv);
	what = argc > 1 ? argv[1] : "1";
	count = strtoul(what, NULL, 10);
	probe_args_sample_fill(&samples);
	samples.pktinfo.pkt_seq = samples.csinfo.cs_seq = 1;
	if (strcmp(what, "script") == 0 && argc > 2)
		print_all(argv[2]);
	else if (strcmp(what, "expect") == 0)
		print_all(NULL);
	else if (strcmp(what, "names") == 0)
		print_names();
	else if (argc > 2)
		return print_through(count, argv[2]);
	else
		fire_all(count, NULL);
	return 0;
}
