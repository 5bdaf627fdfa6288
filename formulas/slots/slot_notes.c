/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/slots/slot_notes.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define PROVIDER      "netobs"
#define TRACER_OWNER  "stapsdt"
#define TRACER_TYPE   3
#define OWNER_SIZE    8	 /* bytes of either owner's name in a note */
#define HEADER_SIZE   12 /* of a note: size of the owner's name, size of the description, type */
#define ADDRESSES     3	 /* of a site: the site, the base, the semaphore */
#define DEFAULT_SIZE  sizeof SLOTS_DEFAULT_PREFIX "01"
#define OPERANDS_MAX  256
#define SECTIONS_MAX  256 /* a limit that hostile files meet only */
#define NOTE_SECTION  ".note.stapsdt"
#define BUILD_SECTION ".note.gnu.build-id"

_Static_assert(SLOTS_SITE_NAME_MAX == 2 * FORMULA_NAME_MAX - 1, "each byte but the first may be a hyphen");
_Static_assert(SLOTS_FILLER_SPARE == SLOTS_SITE_NAME_MAX + 1 - DEFAULT_SIZE, "the longest name has its bytes");

static bool
slot_notes_fail(char error[SLOT_ERROR_MAX], const char *reason)
{
	snprintf(error, SLOT_ERROR_MAX, "%s", reason);
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static uint64_t
slot_notes_load(const struct slot_notes *notes, size_t at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | notes->image[at + (notes->big_endian ? i : bytes - 1 - i)];
	return value;
}

static void
slot_notes_store_u32(struct slot_notes *notes, size_t at, size_t value)
{
	for (size_t i = 0; i < 4; i++)
		notes->image[at + (notes->big_endian ? 3 - i : i)] = (uint8_t)(value >> 8 * i);
}

/* A number that is an address or an offset of the ELF file. */
static uint64_t
slot_notes_load_word(const struct slot_notes *notes, size_t at)
{
	return slot_notes_load(notes, at, notes->word);
}

static size_t
slot_notes_align(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static bool
slot_range_fits(uint64_t at, uint64_t size, size_t whole)
{
	return at <= whole && size <= whole - at;
}

/* Whether two ranges have a byte in common. */
static bool
slot_range_overlaps(const struct slot_range *a, const struct slot_range *b)
{
	return a->size > 0 && b->size > 0 && a->at < b->at + b->size && b->at < a->at + a->size;
}

/* --------------------------------------------------------------------------------------------------------- sections */

/* The fields of the ELF header and of a section header, by the word size. */
#define ELF_FIELD(notes, type, field) \
	((notes)->word == 8 ? offsetof(Elf64_##type, field) : offsetof(Elf32_##type, field))
#define ELF_SIZE(notes, type) ((notes)->word == 8 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

struct section_table {
	struct slot_range range; /* the headers */
	size_t count;
	struct slot_range names; /* the section with the names of the sections */
};

/* The type of a section, and its bytes in the file.  False if the file does not have them. */
static bool
section_table_row(const struct slot_notes *notes, const struct section_table *table, size_t index, uint64_t *type,
		  struct slot_range *range)
{
	size_t row = table->range.at + index * ELF_SIZE(notes, Shdr);
	uint64_t at = slot_notes_load_word(notes, row + ELF_FIELD(notes, Shdr, sh_offset));
	uint64_t size = slot_notes_load_word(notes, row + ELF_FIELD(notes, Shdr, sh_size));

	*type = slot_notes_load(notes, row + ELF_FIELD(notes, Shdr, sh_type), 4);
	if (*type == SHT_NOBITS || *type == SHT_NULL)
		at = size = 0;
	if (!slot_range_fits(at, size, notes->size))
		return false;
	*range = (struct slot_range){(size_t)at, (size_t)size};
	return true;
}

/* Reads the ELF header. */
static bool
section_table_find(struct slot_notes *notes, struct section_table *table, char error[SLOT_ERROR_MAX])
{
	static const uint8_t magic[SELFMAG] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
	const uint8_t *image = notes->image;
	uint64_t at, names_index, type;

	if (notes->size < sizeof(Elf64_Ehdr) || notes->size > SLOT_IMAGE_MAX || memcmp(image, magic, SELFMAG) != 0 ||
	    (image[EI_CLASS] != ELFCLASS32 && image[EI_CLASS] != ELFCLASS64) ||
	    (image[EI_DATA] != ELFDATA2LSB && image[EI_DATA] != ELFDATA2MSB))
		return slot_notes_fail(error, "not an ELF file of a size that is possible");
	notes->word = image[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	notes->big_endian = image[EI_DATA] == ELFDATA2MSB;
	at = slot_notes_load_word(notes, ELF_FIELD(notes, Ehdr, e_shoff));
	table->count = (size_t)slot_notes_load(notes, ELF_FIELD(notes, Ehdr, e_shnum), 2);
	names_index = slot_notes_load(notes, ELF_FIELD(notes, Ehdr, e_shstrndx), 2);
	if (slot_notes_load(notes, ELF_FIELD(notes, Ehdr, e_type), 2) != ET_DYN ||
	    slot_notes_load(notes, ELF_FIELD(notes, Ehdr, e_shentsize), 2) != ELF_SIZE(notes, Shdr) ||
	    table->count == 0 || table->count > SECTIONS_MAX || names_index >= table->count ||
	    !slot_range_fits(at, table->count * ELF_SIZE(notes, Shdr), notes->size))
		return slot_notes_fail(error, "not a shared object with sections");
	table->range = (struct slot_range){(size_t)at, table->count * ELF_SIZE(notes, Shdr)};
	if (!section_table_row(notes, table, names_index, &type, &table->names) || type != SHT_STRTAB)
		return slot_notes_fail(error, "its sections have no names");
	return true;
}

/* Whether the section has this name. */
static bool
section_table_matches(const struct slot_notes *notes, const struct section_table *table, size_t index, const char *name)
{
	size_t row = table->range.at + index * ELF_SIZE(notes, Shdr);
	uint64_t at = slot_notes_load(notes, row + ELF_FIELD(notes, Shdr, sh_name), 4);

	return slot_range_fits(at, strlen(name) + 1, table->names.size) &&
	       memcmp(notes->image + table->names.at + at, name, strlen(name) + 1) == 0;
}

/* Finds a section of notes; no other part of the file may share its bytes, because they are overwritten. */
static bool
section_table_find_notes(const struct slot_notes *notes, const struct section_table *table, const char *name,
			 struct slot_range *found)
{
	const struct slot_range header = {0, ELF_SIZE(notes, Ehdr)};
	uint64_t programs = slot_notes_load_word(notes, ELF_FIELD(notes, Ehdr, e_phoff));
	uint64_t programs_size = slot_notes_load(notes, ELF_FIELD(notes, Ehdr, e_phnum), 2) * ELF_SIZE(notes, Phdr);
	struct slot_range range, segments;
	uint64_t type;
	size_t index = 0;

	while (index < table->count && !section_table_matches(notes, table, index, name))
		index++;
	if (index == table->count || !section_table_row(notes, table, index, &type, found) || type != SHT_NOTE ||
	    !slot_range_fits(programs, programs_size, notes->size))
		return false;
	segments = (struct slot_range){(size_t)programs, (size_t)programs_size};
	if (slot_range_overlaps(found, &header) || slot_range_overlaps(found, &table->range) ||
	    slot_range_overlaps(found, &segments))
		return false;
	for (size_t i = 0; i < table->count; i++)
		if (!section_table_row(notes, table, i, &type, &range) ||
		    (i != index && slot_range_overlaps(found, &range)))
			return false;
	return found->at % 4 == 0;
}

/* ------------------------------------------------------------------------------------------------------------ notes */

/* A note whose owner's name has OWNER_SIZE bytes. */
struct note {
	size_t type;
	struct slot_range description;
	size_t end; /* where the next one begins */
};

/* Reads the note at `at`, which the section must contain. */
static bool
slot_notes_take(const struct slot_notes *notes, size_t at, const char *owner, struct note *note)
{
	size_t end = notes->names.at + notes->names.size, size;
	char padded[OWNER_SIZE] = {0};

	memcpy(padded, owner, strlen(owner));
	if (at > end || end - at < HEADER_SIZE + OWNER_SIZE)
		return false;
	size = (size_t)slot_notes_load(notes, at + 4, 4);
	note->type = (size_t)slot_notes_load(notes, at + 8, 4);
	note->description = (struct slot_range){at + HEADER_SIZE + OWNER_SIZE, size};
	if (size > SLOT_IMAGE_MAX || slot_notes_align(size) > end - note->description.at)
		return false;
	note->end = note->description.at + slot_notes_align(size);
	return slot_notes_load(notes, at, 4) == strlen(owner) + 1 &&
	       memcmp(notes->image + at + HEADER_SIZE, padded, sizeof padded) == 0;
}

/* The length of the string at `at`, which ends before `end`; -1 if it does not. */
static long
slot_notes_string_length(const struct slot_notes *notes, size_t at, size_t end)
{
	const uint8_t *nul = at < end ? memchr(notes->image + at, '\0', end - at) : NULL;

	return nul != NULL ? nul - (notes->image + at) : -1;
}

/* The strings of a site's note: the name and after it the operands. */
struct site_strings {
	size_t name, name_length, operands, operands_length;
};

static bool
slot_notes_take_strings(const struct slot_notes *notes, const struct slot_range *description,
			struct site_strings *strings)
{
	size_t at = description->at + ADDRESSES * notes->word, end = description->at + description->size;
	long length = slot_notes_string_length(notes, at, end);

	if (length != (long)strlen(PROVIDER) || memcmp(notes->image + at, PROVIDER, sizeof PROVIDER) != 0)
		return false;
	strings->name = at + sizeof PROVIDER;
	length = slot_notes_string_length(notes, strings->name, end);
	if (length < 1 || length > SLOTS_SITE_NAME_MAX)
		return false;
	strings->name_length = (size_t)length;
	strings->operands = strings->name + strings->name_length + 1;
	length = slot_notes_string_length(notes, strings->operands, end);
	strings->operands_length = (size_t)length;
	return length >= 0 && length < OPERANDS_MAX && strings->operands + (size_t)length + 1 == end;
}

/* Bytes of a site's note with the longest name and of the filler after it. */
static size_t
slot_notes_pair_size(const struct slot_notes *notes, size_t operands_length)
{
	return 2 * (HEADER_SIZE + OWNER_SIZE) + slot_notes_align(DEFAULT_SIZE) +
	       slot_notes_align(ADDRESSES * notes->word + sizeof PROVIDER + SLOTS_SITE_NAME_MAX + 1 + operands_length +
				1);
}

/* The slot that a filler belongs to; SLOTS_COUNT if it is not a filler. */
static unsigned
slot_notes_filler_slot(const struct slot_notes *notes, const struct note *filler)
{
	const char *text = (const char *)notes->image + filler->description.at;
	unsigned number;

	if (filler->type != SLOTS_FILLER_TYPE || filler->description.size < DEFAULT_SIZE ||
	    memcmp(text, SLOTS_DEFAULT_PREFIX, sizeof SLOTS_DEFAULT_PREFIX - 1) != 0)
		return SLOTS_COUNT;
	text += sizeof SLOTS_DEFAULT_PREFIX - 1;
	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9' || text[2] != '\0')
		return SLOTS_COUNT;
	number = (unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0');
	return number >= 1 && number <= SLOTS_COUNT ? number - 1 : SLOTS_COUNT;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* "slow__handshake", from "slow-handshake". */
static size_t
slot_name_to_site(const char *name, char site[SLOTS_SITE_NAME_MAX + 1])
{
	size_t length = 0;

	for (; *name != '\0'; name++) {
		site[length++] = *name == '-' ? '_' : *name;
		if (*name == '-')
			site[length++] = '_';
	}
	site[length] = '\0';
	return length;
}

/* Whether it may name a formula: not "formula-01", which is a default name. */
static bool
slot_name_is_valid(const char *name)
{
	static const char digits[] = "0123456789", others[] = "abcdefghijklmnopqrstuvwxyz-";
	size_t length = strnlen(name, FORMULA_NAME_MAX + 1), reserved = strlen("formula-");

	if (length < 1 || length > FORMULA_NAME_MAX || name[0] < 'a' || name[0] > 'z')
		return false;
	for (size_t i = 0; i < length; i++)
		if (strchr(digits, name[i]) == NULL && strchr(others, name[i]) == NULL)
			return false;
	return length != reserved + 2 || strncmp(name, "formula-", reserved) != 0 ||
	       strspn(name + reserved, digits) != 2;
}

/* "slow-handshake", from the site's name; false if it is not that of a formula. */
static bool
slot_name_from_site(const uint8_t *site, size_t length, char name[FORMULA_NAME_MAX + 1])
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		bool hyphen = site[i] == '_' && i + 1 < length && site[i + 1] == '_';

		if (used == FORMULA_NAME_MAX)
			return false;
		name[used++] = hyphen ? '-' : (char)site[i];
		i += hyphen;
	}
	name[used] = '\0';
	return slot_name_is_valid(name);
}

/* "formula__01". */
static void
slot_name_default_site(unsigned slot, char site[SLOTS_SITE_NAME_MAX + 1])
{
	snprintf(site, SLOTS_SITE_NAME_MAX + 1, SLOTS_DEFAULT_PREFIX "%02u", slot + 1);
}

/* The name in the first note of a slot, empty for the default. */
static bool
slot_notes_read_name(const struct slot_notes *notes, unsigned slot, const struct site_strings *strings,
		     char name[FORMULA_NAME_MAX + 1])
{
	char site[SLOTS_SITE_NAME_MAX + 1];

	slot_name_default_site(slot, site);
	name[0] = '\0';
	if (strings->name_length == strlen(site) &&
	    memcmp(notes->image + strings->name, site, strings->name_length) == 0)
		return true;
	return slot_name_from_site(notes->image + strings->name, strings->name_length, name);
}

/* ---------------------------------------------------------------------------------------------------------- parsing */

/* Reads the pair of notes at `at` and adds it to its slot; 0 if it is not such a pair, else where the next begins. */
static size_t
slot_notes_parse_pair(struct slot_notes *notes, size_t at)
{
	char first[FORMULA_NAME_MAX + 1], name[FORMULA_NAME_MAX + 1];
	struct site_strings strings;
	struct note site, filler;
	unsigned slot;

	if (!slot_notes_take(notes, at, TRACER_OWNER, &site) || site.type != TRACER_TYPE ||
	    !slot_notes_take_strings(notes, &site.description, &strings) ||
	    !slot_notes_take(notes, site.end, PROVIDER, &filler))
		return 0;
	slot = slot_notes_filler_slot(notes, &filler);
	if (slot == SLOTS_COUNT || notes->note_count[slot] == SLOT_NOTES_MAX ||
	    filler.end - at != slot_notes_pair_size(notes, strings.operands_length) ||
	    !slot_notes_read_name(notes, slot, &strings, name))
		return 0;
	if (notes->note_count[slot] > 0) {
		struct site_strings other;

		slot_notes_take(notes, notes->notes[slot][0].at, TRACER_OWNER, &site);
		if (!slot_notes_take_strings(notes, &site.description, &other) ||
		    !slot_notes_read_name(notes, slot, &other, first) || strcmp(first, name) != 0)
			return 0;
	}
	notes->notes[slot][notes->note_count[slot]++] = (struct slot_range){at, filler.end - at};
	return filler.end;
}

/* The section has the notes of all slots, as many of each, and nothing else. */
static bool
slot_notes_parse_names(struct slot_notes *notes)
{
	size_t end = notes->names.at + notes->names.size;

	for (size_t at = notes->names.at; at < end;) {
		at = slot_notes_parse_pair(notes, at);
		if (at == 0)
			return false;
	}
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (notes->note_count[i] == 0 || notes->note_count[i] != notes->note_count[0])
			return false;
	return true;
}

static bool
slot_notes_parse_build_id(struct slot_notes *notes)
{
	const struct slot_range section = notes->build_id;
	const uint8_t *image = notes->image + section.at;

	if (section.size < HEADER_SIZE + 4 + SLOT_BUILD_ID_MIN || slot_notes_load(notes, section.at, 4) != 4 ||
	    slot_notes_load(notes, section.at + 4, 4) != section.size - HEADER_SIZE - 4 ||
	    slot_notes_load(notes, section.at + 8, 4) != NT_GNU_BUILD_ID || memcmp(image + HEADER_SIZE, "GNU", 4) != 0)
		return false;
	notes->build_id = (struct slot_range){section.at + HEADER_SIZE + 4, section.size - HEADER_SIZE - 4};
	return true;
}

bool
slot_notes_parse(struct slot_notes *notes, uint8_t *image, size_t size, char error[SLOT_ERROR_MAX])
{
	struct section_table table;

	*notes = (struct slot_notes){.image = image, .size = size};
	if (!section_table_find(notes, &table, error))
		return false;
	if (!section_table_find_notes(notes, &table, NOTE_SECTION, &notes->names) || !slot_notes_parse_names(notes))
		return slot_notes_fail(error, "it does not have the notes of formulas.so");
	if (!section_table_find_notes(notes, &table, BUILD_SECTION, &notes->build_id) ||
	    !slot_notes_parse_build_id(notes))
		return slot_notes_fail(error, "it has no build id");
	return true;
}

void
slot_notes_read(const struct slot_notes *notes, struct slot_names *names)
{
	memset(names, 0, sizeof *names);
	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		struct site_strings strings;
		struct note site;

		if (slot_notes_take(notes, notes->notes[i][0].at, TRACER_OWNER, &site) &&
		    slot_notes_take_strings(notes, &site.description, &strings))
			slot_notes_read_name(notes, i, &strings, names->of[i]);
	}
}

/* ---------------------------------------------------------------------------------------------------------- writing */

/* Writes the header of a note; gives where its description begins. */
static size_t
slot_notes_put_header(struct slot_notes *notes, size_t at, const char *owner, size_t size, size_t type)
{
	slot_notes_store_u32(notes, at, strlen(owner) + 1);
	slot_notes_store_u32(notes, at + 4, size);
	slot_notes_store_u32(notes, at + 8, type);
	memcpy(notes->image + at + HEADER_SIZE, owner, strlen(owner) + 1);
	return at + HEADER_SIZE + OWNER_SIZE;
}

/* Writes one note of a slot and its filler anew, with another name. */
static void
slot_notes_put_pair(struct slot_notes *notes, unsigned slot, const struct slot_range *pair, const char *name)
{
	uint8_t addresses[ADDRESSES * sizeof(uint64_t)], operands[OPERANDS_MAX];
	char filler[SLOTS_SITE_NAME_MAX + 1];
	struct site_strings strings;
	struct note site;
	size_t at, end, length = strlen(name);

	slot_notes_take(notes, pair->at, TRACER_OWNER, &site);
	if (!slot_notes_take_strings(notes, &site.description, &strings))
		return;
	memcpy(addresses, notes->image + site.description.at, ADDRESSES * notes->word);
	memcpy(operands, notes->image + strings.operands, strings.operands_length + 1);

	memset(notes->image + pair->at, 0, pair->size);
	end = ADDRESSES * notes->word + sizeof PROVIDER + length + 1 + strings.operands_length + 1;
	at = slot_notes_put_header(notes, pair->at, TRACER_OWNER, end, TRACER_TYPE);
	memcpy(notes->image + at, addresses, ADDRESSES * notes->word);
	end = slot_notes_align(at + end);
	at += ADDRESSES * notes->word;
	memcpy(notes->image + at, PROVIDER, sizeof PROVIDER);
	at += sizeof PROVIDER;
	memcpy(notes->image + at, name, length + 1);
	memcpy(notes->image + at + length + 1, operands, strings.operands_length + 1);

	slot_name_default_site(slot, filler);
	at = slot_notes_put_header(notes, end, PROVIDER, pair->at + pair->size - end - HEADER_SIZE - OWNER_SIZE,
				   SLOTS_FILLER_TYPE);
	memcpy(notes->image + at, filler, strlen(filler) + 1);
}

/* Makes the build id a hash of all other bytes: equal files have equal ones, whatever their names were before. */
static void
slot_notes_put_build_id(struct slot_notes *notes)
{
	uint8_t *id = notes->image + notes->build_id.at;
	size_t left = notes->build_id.size;
	XXH128_canonical_t blocks[4];

	memset(id, 0, left);
	for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
		XXH128_canonicalFromHash(&blocks[i], XXH3_128bits_withSeed(notes->image, notes->size, i));
	memcpy(id, blocks, left < sizeof blocks ? left : sizeof blocks);
}

static bool
slot_names_are_valid(const struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		const char *name = names->of[i];

		if (name[0] == '\0')
			continue;
		if (!slot_name_is_valid(name)) {
			snprintf(
			    error, SLOT_ERROR_MAX,
			    "\"%.*s\" is not a name: expected a-z, then up to %u of a-z, 0-9 and -; formula-01 and the "
			    "like are default names",
			    FORMULA_NAME_MAX, name, FORMULA_NAME_MAX - 1);
			return false;
		}
		for (unsigned j = 0; j < i; j++) {
			if (strcmp(names->of[j], name) == 0) {
				snprintf(error, SLOT_ERROR_MAX, "two slots would have the name \"%s\"", name);
				return false;
			}
		}
	}
	return true;
}

bool
slot_notes_write(struct slot_notes *notes, const struct slot_names *names, char error[SLOT_ERROR_MAX])
{
	char site[SLOTS_SITE_NAME_MAX + 1];

	if (!slot_names_are_valid(names, error))
		return false;
	for (unsigned i = 0; i < SLOTS_COUNT; i++) {
		if (names->of[i][0] == '\0')
			slot_name_default_site(i, site);
		else
			slot_name_to_site(names->of[i], site);
		for (unsigned j = 0; j < notes->note_count[i]; j++)
			slot_notes_put_pair(notes, i, &notes->notes[i][j], site);
	}
	slot_notes_put_build_id(notes);
	return true;
}
