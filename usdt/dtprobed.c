/* SPDX-License-Identifier: BSD-2-Clause */
#include "usdt/dtprobed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- the format */

struct dof_header {
	uint8_t ident[16];
	uint32_t flags;
	uint32_t header_size;
	uint32_t section_size; /* of a section header */
	uint32_t section_count;
	uint64_t section_offset; /* of the first section header */
	uint64_t load_size;
	uint64_t file_size;
	uint64_t reserved;
};

struct dof_section {
	uint32_t type;
	uint32_t alignment;
	uint32_t flags;
	uint32_t entry_size; /* 0: not a table */
	uint64_t offset;
	uint64_t size;
};

struct dof_section_provider {
	uint32_t strings, probes, arguments, offsets; /* numbers of sections */
	uint32_t name;				      /* texts are offsets in the strings */
	uint32_t stability[DOF_ELEMENTS];
	uint32_t enabled_offsets; /* number of a section */
};

struct dof_section_probe {
	uint64_t address; /* the offsets are relative to it */
	uint32_t function;
	uint32_t name;
	uint32_t native;     /* the first of consecutive texts */
	uint32_t translated; /* likewise */
	uint32_t arguments;  /* index of the first */
	uint32_t offsets;    /* index of the first */
	uint8_t native_count;
	uint8_t translated_count;
	uint16_t offset_count;
	uint32_t enabled_offsets;
	uint16_t enabled_count;
	uint16_t reserved1;
	uint32_t reserved2;
};

/* The sections, in the order in which the file has them.  There are no is-enabled sites, but dtprobed requires
 * their section. */
enum section { STRINGS, PROBES, ARGUMENTS, OFFSETS, PROVIDER, ENABLED_OFFSETS, SECTIONS };

static const struct {
	uint32_t type, alignment, entry_size;
} section_kinds[SECTIONS] = {
    [STRINGS] = {8, 1, 0},	    [PROBES] = {16, 8, sizeof(struct dof_section_probe)},
    [ARGUMENTS] = {17, 1, 1}, /* for each translated argument the number of the native one */
    [OFFSETS] = {18, 4, 4},	    [PROVIDER] = {15, 4, 0},
    [ENABLED_OFFSETS] = {26, 4, 4},
};

#define DOF_IDENT      "\177DOF"
#define DOF_LP64       2
#define DOF_LSB	       1
#define DOF_MSB	       2
#define DOF_VERSION    2
#define DIF_VERSION    2
#define DIF_REGISTERS  8
#define SECTION_LOADED 1

/* ------------------------------------------------------------------------------------------------------- writing */

struct dof_writer {
	uint8_t *bytes; /* NULL: only sizes are counted */
	struct dof_section sections[SECTIONS];
	uint32_t used[SECTIONS]; /* bytes */
};

/* Appends to a section; returns the offset in it. */
static uint32_t
dof_append(struct dof_writer *writer, enum section section, const void *from, size_t size)
{
	uint32_t at = writer->used[section];

	if (writer->bytes != NULL && size > 0)
		memcpy(writer->bytes + writer->sections[section].offset + at, from, size);
	writer->used[section] += (uint32_t)size;
	return at;
}

static uint32_t
dof_append_text(struct dof_writer *writer, const char *text)
{
	return dof_append(writer, STRINGS, text, strlen(text) + 1);
}

/* Appends texts one after the other; returns the offset of the first, or that of the empty text if there is none: an
 * offset must be inside the section. */
static uint32_t
dof_append_texts(struct dof_writer *writer, const char *const *texts, unsigned count)
{
	uint32_t at = count > 0 ? writer->used[STRINGS] : 0;

	for (unsigned i = 0; i < count; i++)
		dof_append_text(writer, texts[i]);
	return at;
}

static void
dof_append_probe(struct dof_writer *writer, const struct dof_probe *probe)
{
	static const uint32_t at_address = 0;
	struct dof_section_probe row = {
	    .address = (uintptr_t)probe->site,
	    .function = dof_append_text(writer, probe->function),
	    .name = dof_append_text(writer, probe->name),
	    .native = dof_append_texts(writer, probe->native, probe->arg_count),
	    .translated = dof_append_texts(writer, probe->translated, probe->arg_count),
	    .arguments = writer->used[ARGUMENTS],
	    .offsets = writer->used[OFFSETS] / (uint32_t)sizeof at_address,
	    .native_count = (uint8_t)probe->arg_count,
	    .translated_count = (uint8_t)probe->arg_count,
	    .offset_count = 1,
	};

	for (uint8_t i = 0; i < probe->arg_count; i++)
		dof_append(writer, ARGUMENTS, &i, sizeof i);
	dof_append(writer, OFFSETS, &at_address, sizeof at_address);
	dof_append(writer, PROBES, &row, sizeof row);
}

static void
dof_append_all(struct dof_writer *writer, const struct dof_provider *provider, const uint32_t stability[DOF_ELEMENTS])
{
	struct dof_section_provider row = {.strings = STRINGS,
					   .probes = PROBES,
					   .arguments = ARGUMENTS,
					   .offsets = OFFSETS,
					   .enabled_offsets = ENABLED_OFFSETS};

	dof_append_text(writer, ""); /* offset 0 is the empty text */
	row.name = dof_append_text(writer, provider->name);
	memcpy(row.stability, stability, sizeof row.stability);
	for (size_t i = 0; i < provider->count; i++)
		dof_append_probe(writer, &provider->probes[i]);
	dof_append(writer, PROVIDER, &row, sizeof row);
}

/* Places the sections, whose sizes are known; returns the size of all. */
static size_t
dof_place_sections(struct dof_writer *writer)
{
	uint64_t end = sizeof(struct dof_header) + sizeof writer->sections;

	for (unsigned i = 0; i < SECTIONS; i++) {
		end = (end + 7) & ~UINT64_C(7);
		writer->sections[i] = (struct dof_section){.type = section_kinds[i].type,
							   .alignment = section_kinds[i].alignment,
							   .flags = SECTION_LOADED,
							   .entry_size = section_kinds[i].entry_size,
							   .offset = end,
							   .size = writer->used[i]};
		end += writer->used[i];
	}
	return (size_t)end;
}

static void
dof_write_headers(const struct dof_writer *writer, size_t size)
{
	struct dof_header header = {.ident = DOF_IDENT,
				    .header_size = sizeof header,
				    .section_size = sizeof(struct dof_section),
				    .section_count = SECTIONS,
				    .section_offset = sizeof header,
				    .load_size = size,
				    .file_size = size};

	header.ident[4] = DOF_LP64;
	header.ident[5] = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? DOF_MSB : DOF_LSB;
	header.ident[6] = DOF_VERSION;
	header.ident[7] = DIF_VERSION;
	header.ident[8] = header.ident[9] = DIF_REGISTERS; /* of integers, of tuples */
	memcpy(writer->bytes, &header, sizeof header);
	memcpy(writer->bytes + sizeof header, writer->sections, sizeof writer->sections);
}

/* ----------------------------------------------------------------------------------------------------- stability */

/* The number of the word of `length` bytes; `count` if it is unknown. */
static uint32_t
dof_number_of(const char *const *words, uint32_t count, const char *word, size_t length)
{
	uint32_t i = 0;

	while (i < count && (strlen(words[i]) != length || strncmp(words[i], word, length) != 0))
		i++;
	return i;
}

/* "Evolving/Evolving/Common" as the three upper bytes of a number. */
static bool
dof_encode_stability(const char *text, uint32_t *number)
{
	static const char *const levels[] = {"Internal", "Private",  "Obsolete", "External",
					     "Unstable", "Evolving", "Stable",	 "Standard"};
	static const char *const classes[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};
	const char *data = strchr(text, '/'), *class = data != NULL ? strchr(data + 1, '/') : NULL;
	uint32_t name_level, data_level, class_number;

	if (class == NULL)
		return false;
	name_level = dof_number_of(levels, 8, text, (size_t)(data - text));
	data_level = dof_number_of(levels, 8, data + 1, (size_t)(class - data - 1));
	class_number = dof_number_of(classes, 6, class + 1, strlen(class + 1));
	*number = name_level << 24 | data_level << 16 | class_number << 8;
	return name_level < 8 && data_level < 8 && class_number < 6;
}

size_t
dof_write(const struct dof_provider *provider, void *to, size_t size)
{
	struct dof_writer writer = {0};
	uint32_t stability[DOF_ELEMENTS];
	size_t needed;

	for (unsigned i = 0; i < DOF_ELEMENTS; i++)
		if (!dof_encode_stability(provider->stability[i], &stability[i]))
			return 0;
	dof_append_all(&writer, provider, stability);
	needed = dof_place_sections(&writer);
	if (to == NULL || needed > size)
		return needed;
	memset(to, 0, needed);
	writer.bytes = to;
	memset(writer.used, 0, sizeof writer.used);
	dof_append_all(&writer, provider, stability);
	dof_write_headers(&writer, needed);
	return needed;
}

/* --------------------------------------------------------------------------------------------------------- dtprobed */

int
dtprobed_open(void)
{
	return open(DTPROBED_DEVICE, O_RDWR | O_CLOEXEC);
}

/* dtprobed identifies the DOFs of a process by the files that they are mapped from, and refuses memory without one:
 * hence a file in memory for each. */
bool
dtprobed_entry_open(struct dtprobed_entry *entry)
{
	int file = memfd_create("netobs-dof", MFD_CLOEXEC), error;
	void *memory = MAP_FAILED;

	if (file < 0)
		return false;
	if (ftruncate(file, DTPROBED_DOF_MAX) == 0)
		memory = mmap(NULL, DTPROBED_DOF_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	error = errno;
	close(file);
	errno = error;
	*entry = (struct dtprobed_entry){.dof = memory != MAP_FAILED ? memory : NULL};
	return entry->dof != NULL;
}

void
dtprobed_entry_close(struct dtprobed_entry *entry)
{
	if (entry->dof != NULL)
		munmap(entry->dof, DTPROBED_DOF_MAX);
	*entry = (struct dtprobed_entry){0};
}

bool
dtprobed_remove(int device, struct dtprobed_entry *entry)
{
	if (entry->size == 0)
		return true;
	entry->size = 0;
	/* The generation is the argument, not a pointer to it. */
	return ioctl(device, DTPROBED_REMOVE, (unsigned long)entry->generation) >= 0;
}

/* Hands over `size` bytes of DOF in place of what dtprobed has. */
static bool
dtprobed_replace(int device, struct dtprobed_entry *entry, const char *module, const void *dof, size_t size)
{
	struct dtprobed_request request = {.dof = (uintptr_t)entry->dof};

	if (!dtprobed_remove(device, entry))
		return false;
	memcpy(entry->dof, dof, size);
	snprintf(request.module, sizeof request.module, "%s", module);
	entry->generation = ioctl(device, DTPROBED_ADD, &request);
	entry->size = entry->generation >= 0 ? size : 0;
	return entry->generation >= 0;
}

bool
dtprobed_set(int device, struct dtprobed_entry *entry, const char *module, const struct dof_provider *provider)
{
	size_t size = dof_write(provider, NULL, 0);
	bool done;
	void *dof;

	if (provider->count == 0) {
		dtprobed_remove(device, entry);
		return true;
	}
	if (size == 0 || size > DTPROBED_DOF_MAX) {
		dtprobed_remove(device, entry);
		errno = size == 0 ? EINVAL : E2BIG;
		return false;
	}
	dof = malloc(size);
	if (dof == NULL) {
		dtprobed_remove(device, entry);
		errno = ENOMEM;
		return false;
	}
	dof_write(provider, dof, size);
	done = (entry->size == size && memcmp(entry->dof, dof, size) == 0) ||
	       dtprobed_replace(device, entry, module, dof, size);
	free(dof);
	return done;
}
