/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What netobsd describes to DTrace: every probe once, at the site that runs, in the function that this program has,
 * with its types; formulas by their present names.  open() and ioctl() of this test stand in for the device.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/dtrace.h"
#include "engine/engine.h"
#include "formulas/slots/slots.h"
#include "probes/manifest.h"
#include "probes/site/semaphores.h"
#include "probes/site/site_select.h"
#include "usdt/dtprobed.h"
#include "usdt/site_table.h"

/* ---------------------------------------------------------------------------------------------------- the device */

/* A provider that has been added and not removed, by its generation. */
struct known {
	bool added;
	char module[DTPROBED_MODULE_MAX];
	uint8_t dof[DTPROBED_DOF_MAX];
};

static struct known known[64];
static int generations, adding_error, device, opened;
static unsigned requests, refused;
static bool has_device;

int
open(const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (strcmp(path, DTPROBED_DEVICE) != 0)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (!has_device) {
		errno = ENOENT;
		return -1;
	}
	opened++;
	device = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
	return device;
}

static int
add_known(const struct dtprobed_request *request)
{
	struct known *added = &known[generations];

	if (adding_error != 0) {
		refused++;
		errno = adding_error;
		return -1;
	}
	assert_true(generations < (int)(sizeof known / sizeof known[0]));
	added->added = true;
	memcpy(added->module, request->module, sizeof added->module);
	memcpy(added->dof, (const void *)(uintptr_t)request->dof, DTPROBED_DOF_MAX);
	return generations++;
}

int
ioctl(int descriptor, unsigned long number, ...)
{
	va_list arguments;
	unsigned long argument;

	va_start(arguments, number);
	argument = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (number != DTPROBED_ADD && number != DTPROBED_REMOVE)
		return (int)syscall(SYS_ioctl, descriptor, number, argument);
	assert_int_equal(descriptor, device);
	requests++;
	if (number == DTPROBED_ADD)
		return add_known((const struct dtprobed_request *)argument);
	assert_true(argument < (unsigned long)generations && known[argument].added);
	known[argument].added = false;
	return 0;
}

/* ------------------------------------------------------------------------------------------------------ reading */

/* A probe in a DOF: see tests/usdt/test_dof.c for the layout. */
struct listed {
	const char *name, *function;
	uintptr_t site;
	unsigned arg_count;
	const char *native[6], *translated[6];
};

/* The section with this type. */
static const uint8_t *
section(const uint8_t *dof, uint32_t wanted, uint64_t *size)
{
	for (unsigned i = 0; i < 6; i++) {
		uint32_t type;
		uint64_t offset;

		memcpy(&type, dof + 64 + 32 * i, 4);
		memcpy(&offset, dof + 64 + 32 * i + 16, 8);
		memcpy(size, dof + 64 + 32 * i + 24, 8);
		if (type == wanted)
			return dof + offset;
	}
	fail_msg("no section %u", wanted);
	return NULL;
}

static const char *
text(const uint8_t *dof, const uint8_t *offset)
{
	uint64_t size;
	const uint8_t *strings = section(dof, 8, &size);
	uint32_t at;

	memcpy(&at, offset, 4);
	assert_true(at < size);
	return (const char *)strings + at;
}

static const char *
provider_name(const uint8_t *dof)
{
	uint64_t size;

	return text(dof, section(dof, 15, &size) + 16);
}

static void
read_types(const char *first, const char *types[6], unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		types[i] = first;
		first += strlen(first) + 1;
	}
}

static size_t
read_probes(const uint8_t *dof, struct listed *listed, size_t max)
{
	uint64_t size;
	const uint8_t *row = section(dof, 16, &size);

	assert_true(size / 48 <= max);
	for (size_t i = 0; i < size / 48; i++, row += 48, listed++) {
		uint64_t site;

		memcpy(&site, row, 8);
		*listed = (struct listed){text(dof, row + 12), text(dof, row + 8), (uintptr_t)site, row[32], {0}, {0}};
		assert_int_equal(row[33], row[32]);
		assert_true(row[32] <= 6);
		read_types(text(dof, row + 16), listed->native, row[32]);
		read_types(text(dof, row + 20), listed->translated, row[32]);
	}
	return (size_t)(size / 48);
}

#define PROBES_MAX 128
static struct listed probes[PROBES_MAX];
static size_t probe_count;

/* Reads the probes of the one DOF of a provider whose functions begin so.  False if there is no such DOF. */
static bool
read_provider(const char *provider, const char *functions, const char *module)
{
	bool found = false;

	for (int i = 0; i < generations; i++) {
		static struct listed read[PROBES_MAX];
		size_t count;

		if (!known[i].added || strcmp(provider_name(known[i].dof), provider) != 0)
			continue;
		count = read_probes(known[i].dof, read, PROBES_MAX);
		assert_true(count > 0);
		if ((strncmp(read[0].function, "site_formula__", 14) == 0) !=
		    (strcmp(functions, "site_formula__") == 0))
			continue;
		assert_false(found);
		found = true;
		assert_string_equal(known[i].module, module);
		memcpy(probes, read, sizeof read);
		probe_count = count;
	}
	for (size_t i = 0; found && i < probe_count; i++)
		assert_memory_equal(probes[i].function, functions, strlen(functions));
	return found;
}

/* The one probe of this name in what was read; NULL if there is no such probe. */
static const struct listed *
find_listed(const char *name)
{
	const struct listed *found = NULL;

	for (size_t i = 0; i < probe_count; i++)
		if (strcmp(probes[i].name, name) == 0) {
			assert_null(found);
			found = &probes[i];
		}
	return found;
}

/* ------------------------------------------------------------------------------------------------- files with sites */

struct elf {
	const uint8_t *bytes;
	size_t size;
	const ElfW(Sym) * symbols;
	size_t count;
	const char *names;
};

static void
elf_read(struct elf *elf, const char *path)
{
	static uint8_t bytes[2][32 << 20];
	static unsigned next;
	FILE *file = fopen(path, "re");
	const ElfW(Ehdr) *header = (const void *)bytes[next % 2];
	const ElfW(Shdr) * sections;

	assert_non_null(file);
	*elf = (struct elf){.bytes = bytes[next % 2], .size = fread(bytes[next % 2], 1, sizeof bytes[0], file)};
	assert_true(elf->size < sizeof bytes[0]);
	fclose(file);
	next++;
	sections = (const void *)(elf->bytes + header->e_shoff);
	for (size_t i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_SYMTAB) {
			elf->symbols = (const void *)(elf->bytes + sections[i].sh_offset);
			elf->count = sections[i].sh_size / sizeof elf->symbols[0];
			elf->names = (const char *)elf->bytes + sections[sections[i].sh_link].sh_offset;
		}
	assert_non_null(elf->symbols);
}

/* Whether an address that is relative to where the file is loaded is in the function. */
static bool
elf_has(const struct elf *elf, const char *function, uintptr_t address)
{
	for (size_t i = 0; i < elf->count; i++) {
		const ElfW(Sym) *symbol = &elf->symbols[i];

		if ((symbol->st_info & 0xf) == STT_FUNC && strcmp(elf->names + symbol->st_name, function) == 0)
			return address >= symbol->st_value && address < symbol->st_value + symbol->st_size;
	}
	return false;
}

/* The program is the first. */
static int
take_load_address(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	*(uintptr_t *)address = info->dlpi_addr;
	return 1;
}

static void
assert_functions_of_program(void)
{
	static struct elf program;
	uintptr_t loaded = 0;

	if (program.bytes == NULL)
		elf_read(&program, "/proc/self/exe");
	dl_iterate_phdr(take_load_address, &loaded);
	for (size_t i = 0; i < probe_count; i++)
		if (!elf_has(&program, probes[i].function, probes[i].site - loaded))
			fail_msg("%s is not in %s", probes[i].name, probes[i].function);
}

/* ------------------------------------------------------------------------------------------------------- the tests */

static const char *nothing[] = {NULL};
static struct config config;
static struct formula_sites *sites;
static struct dtrace *dtrace;

static const char *
base_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static const char *
program_module(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	assert_true(length > 0);
	return base_name(path);
}

static const char *
formulas_module(void)
{
	return base_name(formula_set_path(formula_sites_set(sites)));
}

static void
open_run(const char **formulas, bool control, enum site_kind kind)
{
	config = (struct config){.formulas = formulas,
				 .writes = nothing,
				 .capture_paths = nothing,
				 .interface_names = nothing,
				 .workers = 1,
				 .control_path = control ? "control" : NULL};
	assert_true(site_select(kind));
	sites = formula_sites_open(&config);
	assert_non_null(sites);
	dtrace = dtrace_open(sites);
}

static void
close_run(void)
{
	dtrace_close(dtrace);
	formula_sites_free(sites);
}

static int
begin(void **state)
{
	(void)state;
	memset(known, 0, sizeof known);
	generations = adding_error = opened = 0;
	requests = refused = 0;
	device = -1;
	has_device = true;
	return 0;
}

static bool
has_table(void)
{
	return site_table_of_program().count > 0;
}

static void
test_no_device(void **state)
{
	(void)state;
	has_device = false;
	open_run(nothing, true, SITE_PLAIN);
	assert_null(dtrace);
	assert_false(dtrace_is_listed(dtrace));
	dtrace_update(dtrace, sites);
	close_run();
	assert_int_equal(requests, 0);
}

/* A build without a table does not even open the device. */
static void
test_no_table(void **state)
{
	(void)state;
	if (has_table())
		skip();
	open_run(nothing, true, SITE_PLAIN);
	assert_null(dtrace);
	assert_int_equal(opened, 0);
	close_run();
	assert_int_equal(requests, 0);
}

static void
assert_argument(const struct listed *listed, unsigned index, const struct struct_info *type)
{
	char wanted[128];

	snprintf(wanted, sizeof wanted, type != NULL ? "netobs_%s_t *" : "void *", type != NULL ? type->name : "");
	assert_string_equal(listed->native[index], wanted);
	snprintf(wanted, sizeof wanted, type != NULL ? "nobs_%s_t *" : "void *", type != NULL ? type->name : "");
	assert_string_equal(listed->translated[index], wanted);
}

static void
assert_probes_of_netobs(void)
{
	struct site_table table = site_table_of_program();

	assert_true(read_provider("netobs", "site_", program_module()));
	assert_int_equal(probe_count, PROBE_COUNT);
	for (unsigned i = 0; i < PROBE_COUNT; i++) {
		const struct probe_info *info = &manifest_probes[i];
		const struct listed *listed = find_listed(info->name);
		const struct probe_site *site = site_table_find(&table, semaphores_of(i), site_selected() == SITE_FAST);
		char function[128];

		assert_non_null(listed);
		snprintf(function, sizeof function, "site_%s", info->c_name);
		assert_string_equal(listed->function, function);
		assert_true(listed->site == (uintptr_t)site->address);
		assert_int_equal(listed->arg_count, info->arg_count);
		for (unsigned j = 0; j < info->arg_count; j++)
			assert_argument(listed, j, info->args[j].type);
	}
	assert_functions_of_program();
}

static void
assert_probes_of_engine(void)
{
	assert_true(read_provider("netobs_engine", "site_engine_", program_module()));
	assert_int_equal(probe_count, engine_probe_count);
	for (size_t i = 0; i < engine_probe_count; i++) {
		char name[128] = "", function[128], *to = name;
		const struct listed *listed;

		for (const char *from = engine_probes[i].c_name; *from != '\0'; from++)
			if (from[0] == '_' && from[1] == '_') {
				*to++ = '-';
				from++;
			} else {
				*to++ = *from;
			}
		listed = find_listed(name);
		assert_non_null(listed);
		snprintf(function, sizeof function, "site_engine_%s", engine_probes[i].c_name);
		assert_string_equal(listed->function, function);
		assert_int_equal(listed->arg_count, engine_probes[i].arg_count);
		for (unsigned j = 0; j < listed->arg_count; j++) {
			assert_string_equal(listed->native[j], "uint64_t");
			assert_string_equal(listed->translated[j], "uint64_t");
		}
	}
	assert_functions_of_program();
}

static void
check_program(enum site_kind kind)
{
	open_run(nothing, false, kind);
	assert_non_null(dtrace);
	assert_true(dtrace_is_listed(dtrace));
	assert_probes_of_netobs();
	assert_probes_of_engine();
	assert_false(read_provider("netobs", "site_formula__", ""));
	assert_int_equal(requests, 2);
	close_run();
	assert_int_equal(requests, 4);
	for (int i = 0; i < generations; i++)
		assert_false(known[i].added);
}

static void
test_program(void **state)
{
	(void)state;
	if (!has_table())
		skip();
	check_program(SITE_PLAIN);
#ifdef PROBE_HAS_FAST_SITE
	begin(state);
	check_program(SITE_FAST);
#endif
}

/* The sites of so many formulas, in the functions of the file that is mapped. */
static void
assert_sites_of_formulas(unsigned count)
{
	const struct slots_object *object = formula_sites_object(sites);
	struct site_table table = {object->sites, (size_t)(object->sites_end - object->sites)};
	static struct elf file;
	uintptr_t loaded = 0;

	elf_read(&file, formula_set_path(formula_sites_set(sites)));
	for (size_t i = 0; i < file.count; i++)
		if (strcmp(file.names + file.symbols[i].st_name, "netobs_slots") == 0)
			loaded = (uintptr_t)object - file.symbols[i].st_value;
	assert_true(read_provider("netobs", "site_formula__", formulas_module()));
	assert_int_equal(probe_count, count);
	for (size_t i = 0; i < count; i++) {
		const struct probe_site *site;
		unsigned slot;

		assert_int_equal(sscanf(probes[i].function, "site_formula__%2u", &slot), 1);
		assert_in_range(slot, 1, SLOTS_COUNT);
		site = site_table_find(&table, object->slots[slot - 1].semaphore, site_selected() == SITE_FAST);
		assert_true(probes[i].site == (uintptr_t)site->address);
		assert_true(elf_has(&file, probes[i].function, probes[i].site - loaded));
		assert_int_equal(probes[i].arg_count, 6);
	}
}

/* The arguments have the types of the probes of the formula, if these agree. */
static void
assert_formula(const char *name, const char *probe, const char *other)
{
	const struct listed *listed = find_listed(name);

	if (listed == NULL)
		fail_msg("%s is not listed", name);
	for (unsigned i = 0; i < 6; i++) {
		const struct struct_info *type =
		    probe != NULL ? manifest_probes[manifest_find_probe(probe)].args[i].type : NULL;

		if (other != NULL && manifest_probes[manifest_find_probe(other)].args[i].type != type)
			type = NULL;
		assert_argument(listed, i, type);
	}
}

static void
check_formulas(enum site_kind kind)
{
	static const char *formulas[] = {"web-a = tcp-receive where tcp_dport == 80",
					 "both = tcp-receive, udp-send where ip_ver == 4", "all-tcp = tcp-*", NULL};
	char error[512];
	unsigned before;

	open_run(formulas, true, kind);
	assert_non_null(dtrace);
	assert_int_equal(requests, 3);
	assert_sites_of_formulas(3);
	assert_formula("web-a", "tcp-receive", NULL);
	assert_formula("both", "tcp-receive", "udp-send");
	/* Nothing of all probes of TCP but the first two agrees. */
	assert_non_null(find_listed("all-tcp"));
	assert_null(find_listed("web__a"));

	before = requests;
	dtrace_update(dtrace, sites); /* nothing has changed */
	assert_int_equal(requests, before);

	/* A formula of a request takes a slot, whose name in the file another process writes. */
	assert_true(formula_sites_define(sites, "late = udp-send", error, sizeof error));
	dtrace_update(dtrace, sites);
	assert_int_equal(requests, before + 2); /* the old description is removed */
	assert_sites_of_formulas(4);
	assert_formula("formula-04", "udp-send", NULL);
	assert_true(slots_write_name(formula_set_path(formula_sites_set(sites)), 3, "late", error));
	formula_sites_read_names(sites);
	formula_sites_update(sites);
	dtrace_update(dtrace, sites);
	assert_int_equal(requests, before + 4);
	assert_sites_of_formulas(4);
	assert_formula("late", "udp-send", NULL);
	assert_null(find_listed("formula-04"));
	assert_true(formula_sites_undefine(sites, "late"));
	dtrace_update(dtrace, sites);
	assert_int_equal(requests, before + 6);
	assert_sites_of_formulas(3);
	assert_probes_of_netobs(); /* unchanged */
	close_run();
	for (int i = 0; i < generations; i++)
		assert_false(known[i].added);
}

static void
test_formulas(void **state)
{
	(void)state;
	if (!has_table())
		skip();
	check_formulas(SITE_PLAIN);
#ifdef PROBE_HAS_FAST_SITE
	begin(state);
	check_formulas(SITE_FAST);
#endif
}

/* A dtprobed that refuses something is not asked again, but told at the end what it may forget. */
static void
test_refusals(void **state)
{
	static const char *formulas[] = {"web-a = tcp-receive where tcp_dport == 80", NULL};

	(void)state;
	if (!has_table())
		skip();
	adding_error = EFAULT;
	open_run(formulas, true, SITE_PLAIN);
	assert_non_null(dtrace);
	assert_false(dtrace_is_listed(dtrace));
	assert_int_equal(refused, 1);
	adding_error = 0;
	dtrace_update(dtrace, sites);
	assert_int_equal(refused, 1);
	assert_false(read_provider("netobs", "site_formula__", formulas_module()));
	close_run();

	begin(state);
	open_run(formulas, true, SITE_PLAIN);
	adding_error = EFAULT;
	assert_true(formula_sites_undefine(sites, "web-a"));
	dtrace_update(dtrace, sites);
	assert_true(dtrace_is_listed(dtrace));
	close_run();
	for (int i = 0; i < generations; i++)
		assert_false(known[i].added);
}

/* The sites that are watched: a trap at the one that runs, of each probe, enables it.  The code cannot be written to,
 * so the rows are compared with what is watched in tests/tracers/site_watch.sh; here all fit. */
static void
test_all_sites_fit(void **state)
{
	static const struct probe_site any;
	unsigned room = 0;

	(void)state;
	if (!has_table())
		skip();
	open_run(nothing, true, SITE_PLAIN);
	while (site_watch_add(&any))
		room++;
	assert_int_equal(room, SITE_WATCH_MAX - PROBE_COUNT - engine_probe_count - SLOTS_COUNT);
	close_run();
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_no_device), TEST(test_no_table), TEST(test_program),
	    TEST(test_formulas),  TEST(test_refusals), TEST(test_all_sites_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
