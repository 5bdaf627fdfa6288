/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DOF read back by offsets and numbers, as <dtrace/dof.h> and <dtrace/dof_defines.h> of DTrace state them, and with the
 * checks of dtprobed's own reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "usdt/dtprobed.h"

#define DOF_MAX	 65536
#define COMMON	 "Evolving/Evolving/Common"
#define NAME_63	 "a23456789b123456789c123456789d123456789e123456789f123456789g123"
#define NAME_127 NAME_63 "_" NAME_63

/* What a section is by its type. */
enum { STRINGS = 8, PROVIDER = 15, PROBES = 16, ARGUMENTS = 17, OFFSETS = 18, ENABLED = 26 };

static _Alignas(8) uint8_t dof[DOF_MAX];
static size_t dof_size;

/* A section as the file describes it. */
struct found {
	uint64_t at, size;
	uint32_t entry;
};

static uint64_t
number(uint64_t at, unsigned bytes)
{
	uint64_t value = 0;
	uint32_t value32;
	uint16_t value16;

	assert_true(at + bytes <= dof_size);
	assert_int_equal(at % bytes, 0); /* dtprobed reads it where it is */
	switch (bytes) {
	case 8: memcpy(&value, dof + at, 8); break;
	case 4: memcpy(&value32, dof + at, 4); value = value32; break;
	case 2: memcpy(&value16, dof + at, 2); value = value16; break;
	default: value = dof[at];
	}
	return value;
}

/* The header of the section with a number. */
static struct found
section(uint64_t index, uint32_t type, uint32_t alignment, uint32_t entry)
{
	uint64_t header = 64 + 32 * index;
	struct found found = {number(header + 16, 8), number(header + 24, 8), entry};

	assert_true(index < 6);
	assert_int_equal(number(header, 4), type);
	assert_int_equal(number(header + 4, 4), alignment);
	assert_int_equal(number(header + 8, 4), 1); /* to be loaded */
	assert_int_equal(number(header + 12, 4), entry);
	assert_true(found.at >= 64 + 6 * 32);
	assert_true(found.at + found.size <= dof_size);
	assert_int_equal(found.at % alignment, 0);
	return found;
}

static const char *
text(const struct found *strings, uint64_t offset)
{
	assert_true(offset < strings->size);
	assert_int_equal(dof[strings->at + strings->size - 1], '\0');
	return (const char *)dof + strings->at + offset;
}

static void
check_header(void)
{
	static const uint8_t ident[16] = {
	    0x7f, 'D', 'O', 'F', 2, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 2 : 1, 2, 2, 8, 8};

	assert_memory_equal(dof, ident, sizeof ident);
	assert_int_equal(number(16, 4), 0);	    /* flags */
	assert_int_equal(number(20, 4), 64);	    /* size of this header */
	assert_int_equal(number(24, 4), 32);	    /* of a section header */
	assert_int_equal(number(28, 4), 6);	    /* sections */
	assert_int_equal(number(32, 8), 64);	    /* where their headers begin */
	assert_int_equal(number(40, 8), dof_size);  /* to be loaded */
	assert_int_equal(number(48, 8), dof_size);  /* all */
	assert_int_equal(number(56, 8), 0);
}

/* The section of the provider: the only one of its type. */
static struct found
find_provider(void)
{
	struct found found = {0};
	unsigned count = 0;

	for (unsigned i = 0; i < 6; i++)
		if (number(64 + 32 * i, 4) == PROVIDER) {
			found = section(i, PROVIDER, 4, 0);
			count++;
		}
	assert_int_equal(count, 1);
	assert_int_equal(found.size, 44);
	return found;
}

static void
check_texts(const struct found *strings, uint64_t at, const char *const *wanted, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		assert_string_equal(text(strings, at), wanted[i]);
		assert_true(strlen(wanted[i]) < 128); /* DTRACE_ARGTYPELEN */
		at += strlen(wanted[i]) + 1;
	}
}

static void
check_arguments(const struct found *arguments, uint64_t first, unsigned count)
{
	assert_true(first + count <= arguments->size);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(number(arguments->at + first + i, 1), i);
}

/* No section but the headers overlaps another, and bytes between them are zero. */
static void
check_no_overlap(void)
{
	static uint8_t used[DOF_MAX];

	memset(used, 0, sizeof used);
	memset(used, 1, 64 + 6 * 32);
	for (unsigned i = 0; i < 6; i++) {
		uint64_t at = number(64 + 32 * i + 16, 8), size = number(64 + 32 * i + 24, 8);

		for (uint64_t j = at; j < at + size; j++)
			assert_int_equal(used[j]++, 0);
	}
	for (size_t i = 0; i < dof_size; i++)
		assert_true(used[i] == 1 || dof[i] == 0);
}

/* Reads all of a DOF that was written from `provider`. */
static void
check_dof(const struct dof_provider *provider, const uint32_t stability[5])
{
	struct found row, strings, probes, arguments, offsets, enabled;

	check_header();
	check_no_overlap();
	row = find_provider();
	strings = section(number(row.at, 4), STRINGS, 1, 0);
	probes = section(number(row.at + 4, 4), PROBES, 8, 48);
	arguments = section(number(row.at + 8, 4), ARGUMENTS, 1, 1);
	offsets = section(number(row.at + 12, 4), OFFSETS, 4, 4);
	enabled = section(number(row.at + 40, 4), ENABLED, 4, 4);
	assert_true(number(row.at + 40, 4) != 0); /* 0 means: there are no arguments */
	assert_int_equal(enabled.size, 0);
	assert_string_equal(text(&strings, 0), "");
	assert_string_equal(text(&strings, number(row.at + 16, 4)), provider->name);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(number(row.at + 20 + 4 * i, 4), stability[i]);
	assert_int_equal(probes.size, 48 * provider->count);
	assert_int_equal(offsets.size, 4 * provider->count);
	for (size_t i = 0; i < provider->count; i++) {
		const struct dof_probe *probe = &provider->probes[i];
		uint64_t at = probes.at + 48 * i;

		assert_int_equal(number(at, 8), (uintptr_t)probe->site);
		assert_string_equal(text(&strings, number(at + 8, 4)), probe->function);
		assert_string_equal(text(&strings, number(at + 12, 4)), probe->name);
		assert_true(number(at + 16, 4) < strings.size && number(at + 20, 4) < strings.size);
		check_texts(&strings, number(at + 16, 4), probe->native, probe->arg_count);
		check_texts(&strings, number(at + 20, 4), probe->translated, probe->arg_count);
		check_arguments(&arguments, number(at + 24, 4), probe->arg_count);
		assert_int_equal(number(at + 32, 1), probe->arg_count);
		assert_int_equal(number(at + 33, 1), probe->arg_count);
		/* One site, at offset 0 from its own address. */
		assert_int_equal(number(at + 34, 2), 1);
		assert_int_equal(number(offsets.at + 4 * number(at + 28, 4), 4), 0);
		assert_true(number(at + 28, 4) < provider->count);
		/* No is-enabled site. */
		assert_int_equal(number(at + 36, 4), 0);
		assert_int_equal(number(at + 40, 2), 0);
		assert_int_equal(number(at + 42, 2), 0);
		assert_int_equal(number(at + 44, 4), 0);
	}
}

static const uint32_t all_common[5] = {0x05050500, 0x05050500, 0x05050500, 0x05050500, 0x05050500};

static const char sites[8];

static const struct dof_probe several[] = {
    {"tcp-receive", "site_tcp__receive", &sites[1], 6,
     {"netobs_pktinfo_t *", "netobs_csinfo_t *", "netobs_ipinfo_t *", "netobs_tcpsinfo_t *", "netobs_tcpinfo_t *",
      "void *"},
     {"nobs_pktinfo_t *", "nobs_csinfo_t *", "nobs_ipinfo_t *", "nobs_tcpsinfo_t *", "nobs_tcpinfo_t *", "void *"}},
    {"lag", "site_engine_lag", &sites[2], 1, {"uint64_t"}, {"uint64_t"}},
    {"two", "site_two", &sites[3], 2, {"a *", "b *"}, {"c *", "d *"}},
};

static void
write_dof(const struct dof_provider *provider)
{
	memset(dof, 0xa5, sizeof dof);
	dof_size = dof_write(provider, dof, sizeof dof);
	assert_in_range(dof_size, 64 + 6 * 32, sizeof dof);
	assert_int_equal(dof[dof_size], 0xa5);
}

static void
test_every_field(void **state)
{
	const struct dof_provider provider = {"netobs", {COMMON, COMMON, COMMON, COMMON, COMMON}, several, 3};

	(void)state;
	write_dof(&provider);
	check_dof(&provider, all_common);
}

/* The last of them has no text and no argument after it. */
static void
test_probes_without_arguments(void **state)
{
	static const struct dof_probe mixed[] = {
	    {.name = "first", .function = "f", .site = sites},
	    {"second", "g", sites, 1, {"int"}, {"long"}},
	    {.name = "third", .function = "h", .site = sites},
	};
	struct dof_provider provider = {"p", {COMMON, COMMON, COMMON, COMMON, COMMON}, mixed, 3};

	(void)state;
	write_dof(&provider);
	check_dof(&provider, all_common);
	provider.count = 1;
	write_dof(&provider);
	check_dof(&provider, all_common);
}

static void
test_stability(void **state)
{
	const struct dof_provider provider = {"netobs",
					      {"Internal/Private/Unknown", "Obsolete/External/CPU",
					       "Unstable/Evolving/Platform", "Stable/Standard/Group",
					       "Standard/Internal/ISA"},
					      several, 1};
	static const uint32_t numbers[5] = {0x00010000, 0x02030100, 0x04050200, 0x06070300, 0x07000400};

	(void)state;
	write_dof(&provider);
	check_dof(&provider, numbers);
}

static void
test_unknown_stability(void **state)
{
	static const char *const wrong[] = {"",
					    "/",
					    "//",
					    "Evolving",
					    "Evolving/Evolving",
					    "Evolving/Evolving/",
					    "Evolving/Evolving/Commo",
					    "Evolving/Evolving/Commons",
					    "Evolving/Evolving/Common/",
					    "Evolving//Common",
					    "/Evolving/Common",
					    "evolving/Evolving/Common",
					    "Evolving/Common/Common",
					    "Common/Evolving/Common",
					    "Evolving/Evolving/Evolving",
					    "Evolving Evolving Common",
					    " Evolving/Evolving/Common"};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		for (unsigned element = 0; element < 5; element++) {
			struct dof_provider provider = {"netobs", {COMMON, COMMON, COMMON, COMMON, COMMON}, several, 3};

			provider.stability[element] = wrong[i];
			memset(dof, 0xa5, sizeof dof);
			assert_int_equal(dof_write(&provider, NULL, 0), 0);
			assert_int_equal(dof_write(&provider, dof, sizeof dof), 0);
			assert_int_equal(dof[0], 0xa5);
		}
}

static void
test_size(void **state)
{
	const struct dof_provider provider = {"netobs", {COMMON, COMMON, COMMON, COMMON, COMMON}, several, 3};
	static _Alignas(8) uint8_t small[DOF_MAX];
	size_t size = dof_write(&provider, NULL, 0);

	(void)state;
	assert_int_equal(dof_write(&provider, NULL, SIZE_MAX), size);
	memset(small, 0xa5, sizeof small);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(dof_write(&provider, small, i), size);
	for (size_t i = 0; i < sizeof small; i++)
		assert_int_equal(small[i], 0xa5);
	assert_int_equal(dof_write(&provider, small, size), size);
	assert_int_equal(small[size], 0xa5);
	write_dof(&provider);
	assert_int_equal(dof_size, size);
	assert_memory_equal(small, dof, size);
}

/* Equal descriptions are equal bytes, whatever the memory had before: that is how a change is noticed. */
static void
test_deterministic(void **state)
{
	const struct dof_provider provider = {"netobs", {COMMON, COMMON, COMMON, COMMON, COMMON}, several, 3};
	static _Alignas(8) uint8_t again[DOF_MAX];

	(void)state;
	write_dof(&provider);
	memset(again, 0x5a, sizeof again);
	assert_int_equal(dof_write(&provider, again, sizeof again), dof_size);
	assert_memory_equal(again, dof, dof_size);
}

/* The longest texts that DTrace takes: 63 bytes of a provider and of a probe, 127 of a function and of a type. */
static void
test_longest_names(void **state)
{
	static struct dof_probe probes[64];
	const struct dof_provider provider = {NAME_63, {COMMON, COMMON, COMMON, COMMON, COMMON}, probes, 64};

	(void)state;
	for (size_t i = 0; i < 64; i++)
		probes[i] = (struct dof_probe){NAME_63, NAME_127, sites, 6,
					       {NAME_127, NAME_127, NAME_127, NAME_127, NAME_127, NAME_127},
					       {NAME_127, NAME_127, NAME_127, NAME_127, NAME_127, NAME_127}};
	_Static_assert(sizeof NAME_63 == 64 && sizeof NAME_127 == 128, "the limits of DTrace with the NUL");
	/* More than the other tests have room for: a size only, and the texts are not shared. */
	assert_true(dof_write(&provider, NULL, 0) > 64 * (64 + 13 * 128));
	for (size_t i = 0; i < 64; i++)
		probes[i].arg_count = 2;
	write_dof(&provider);
	check_dof(&provider, all_common);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_field),	      cmocka_unit_test(test_probes_without_arguments),
	    cmocka_unit_test(test_stability),	      cmocka_unit_test(test_unknown_stability),
	    cmocka_unit_test(test_size),	      cmocka_unit_test(test_deterministic),
	    cmocka_unit_test(test_longest_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
