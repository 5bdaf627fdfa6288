/* SPDX-License-Identifier: BSD-2-Clause */
/* The requests that dtprobed receives: ioctl() and open() of this test stand in for its device. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "usdt/dtprobed.h"

#define DEVICE 77
#define COMMON "Evolving/Evolving/Common"
#define BYTES_63 "012345678901234567890123456789012345678901234567890123456789012"

/* One request, with a copy of what it points to. */
struct request {
	unsigned long number;
	unsigned long argument;
	char module[64];
	uint64_t unused, dof;
	uint8_t bytes[4096];
};

static struct request requests[8];
static unsigned request_count;
static int next_generation, next_error;
static int open_error, open_flags;
static char open_path[64];

int
open(const char *path, int flags, ...)
{
	snprintf(open_path, sizeof open_path, "%s", path);
	open_flags = flags;
	errno = open_error;
	return open_error != 0 ? -1 : DEVICE;
}

/* Reads at the offsets of dof_helper_t in <dtrace/helpers.h>. */
int
ioctl(int device, unsigned long number, ...)
{
	struct request *request = &requests[request_count++];
	va_list arguments;
	const uint8_t *dof;

	assert_in_range(request_count, 1, sizeof requests / sizeof requests[0]);
	assert_int_equal(device, DEVICE);
	va_start(arguments, number);
	*request = (struct request){.number = number, .argument = va_arg(arguments, unsigned long)};
	va_end(arguments);
	if (number == 0x4004d802)
		return 0;
	/* The size of the struct is part of the number: 80 bytes. */
	assert_int_equal(number, 0x4050d803);
	memcpy(request->module, (const char *)request->argument, 64);
	memcpy(&request->unused, (const char *)request->argument + 64, 8);
	memcpy(&request->dof, (const char *)request->argument + 72, 8);
	dof = (const uint8_t *)(uintptr_t)request->dof;
	assert_memory_equal(dof, "\177DOF", 4);
	memcpy(request->bytes, dof, sizeof request->bytes);
	errno = next_error;
	return next_error != 0 ? -1 : next_generation;
}

static struct dtprobed_entry entry;
static const char site;
static struct dof_probe probes[] = {
    {"first", "site_first", &site, 1, {"uint64_t"}, {"uint64_t"}},
    {"second", "site_second", &site, 1, {"uint64_t"}, {"uint64_t"}},
};
static struct dof_provider provider;

static int
begin(void **state)
{
	(void)state;
	request_count = 0;
	next_generation = 5;
	next_error = open_error = 0;
	provider = (struct dof_provider){"netobs", {COMMON, COMMON, COMMON, COMMON, COMMON}, probes, 2};
	return dtprobed_entry_open(&entry) ? 0 : -1;
}

static int
end(void **state)
{
	(void)state;
	dtprobed_entry_close(&entry);
	assert_null(entry.dof);
	dtprobed_entry_close(&entry);
	return 0;
}

/* Whether the last request hands over the present provider. */
static void
assert_adds(unsigned index, const char *module)
{
	static _Alignas(8) uint8_t wanted[4096];
	size_t size = dof_write(&provider, wanted, sizeof wanted);

	assert_int_equal(requests[index].number, 0x4050d803);
	assert_string_equal(requests[index].module, module);
	assert_int_equal(requests[index].unused, 0);
	assert_int_equal(requests[index].dof, (uintptr_t)entry.dof);
	assert_memory_equal(requests[index].bytes, wanted, size);
}

static void
assert_removes(unsigned index, unsigned long generation)
{
	assert_int_equal(requests[index].number, 0x4004d802);
	assert_int_equal(requests[index].argument, generation);
}

static void
test_device(void **state)
{
	(void)state;
	assert_int_equal(dtprobed_open(), DEVICE);
	assert_string_equal(open_path, "/dev/dtrace/helper");
	assert_int_equal(open_flags, O_RDWR | O_CLOEXEC);
	open_error = ENOENT;
	assert_int_equal(dtprobed_open(), -1);
	assert_int_equal(errno, ENOENT);
}

static void
test_add(void **state)
{
	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 1);
	assert_adds(0, "netobsd");
	assert_int_equal(entry.generation, 5);
}

static void
test_same_is_not_repeated(void **state)
{
	struct dof_provider copy;

	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	copy = provider;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &copy));
	assert_int_equal(request_count, 1);
}

static void
test_change_replaces(void **state)
{
	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	provider.count = 1;
	next_generation = 6;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 3);
	assert_removes(1, 5);
	assert_adds(2, "netobsd");
	provider.count = 2;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_removes(3, 6);
	assert_adds(4, "netobsd");
}

/* Generation 0 is one like the others. */
static void
test_generation_0(void **state)
{
	(void)state;
	next_generation = 0;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	dtprobed_remove(DEVICE, &entry);
	assert_int_equal(request_count, 2);
	assert_removes(1, 0);
}

static void
test_refusal_is_tried_again(void **state)
{
	(void)state;
	next_error = EFAULT;
	assert_false(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(errno, EFAULT);
	dtprobed_remove(DEVICE, &entry);
	assert_int_equal(request_count, 1); /* there is nothing to remove */
	next_error = 0;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 2);
	assert_adds(1, "netobsd");
}

/* The old description is removed first, so nothing is left. */
static void
test_refused_change(void **state)
{
	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	provider.count = 1;
	next_error = ENODEV;
	assert_false(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(errno, ENODEV);
	assert_int_equal(request_count, 3);
	dtprobed_remove(DEVICE, &entry);
	assert_int_equal(request_count, 3);
	next_error = 0;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 4);
	assert_adds(3, "netobsd");
}

static void
test_empty_provider_removes(void **state)
{
	(void)state;
	provider.count = 0;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 0);
	provider.count = 2;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	provider.count = 0;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(request_count, 2);
	assert_removes(1, 5);
	dtprobed_remove(DEVICE, &entry);
	assert_int_equal(request_count, 2);
}

static void
test_what_cannot_be_written(void **state)
{
	static struct dof_probe many[4096];

	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	provider.stability[2] = "Evolving";
	assert_false(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(request_count, 2);
	assert_removes(1, 5);
	provider.stability[2] = COMMON;
	for (size_t i = 0; i < sizeof many / sizeof many[0]; i++)
		many[i] = probes[0];
	provider.probes = many;
	provider.count = sizeof many / sizeof many[0];
	assert_false(dtprobed_set(DEVICE, &entry, "netobsd", &provider));
	assert_int_equal(errno, E2BIG);
	assert_int_equal(request_count, 2);
}

static void
test_module_name(void **state)
{
	(void)state;
	assert_true(dtprobed_set(DEVICE, &entry, BYTES_63 "3456789", &provider));
	assert_adds(0, BYTES_63);
}

/* The line of /proc/self/maps with an address; its device and inode. */
static bool
find_mapping(const void *address, unsigned *major_number, unsigned *minor_number, unsigned long *inode)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof line, maps) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx %*s %*s %x:%x %lu", &from, &to, major_number, minor_number, inode) == 5)
			found = from <= (uintptr_t)address && (uintptr_t)address + DTPROBED_DOF_MAX <= to;
	}
	fclose(maps);
	return found;
}

/* dtprobed reads the DOF from the process and looks up its address among the mappings, of which only those of a file
 * count, each of another file. */
static void
test_memory_is_of_a_file(void **state)
{
	struct dtprobed_entry other;
	unsigned major_number, minor_number;
	unsigned long inode, other_inode;

	(void)state;
	assert_int_equal((uintptr_t)entry.dof % 8, 0);
	assert_true(dtprobed_entry_open(&other));
	assert_true(find_mapping(entry.dof, &major_number, &minor_number, &inode));
	assert_true(inode != 0);
	assert_true(find_mapping(other.dof, &major_number, &minor_number, &other_inode));
	assert_true(other_inode != 0 && other_inode != inode);
	dtprobed_entry_close(&other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_device),
	    TEST(test_add),
	    TEST(test_same_is_not_repeated),
	    TEST(test_change_replaces),
	    TEST(test_generation_0),
	    TEST(test_refusal_is_tried_again),
	    TEST(test_refused_change),
	    TEST(test_empty_provider_removes),
	    TEST(test_what_cannot_be_written),
	    TEST(test_module_name),
	    TEST(test_memory_is_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
