/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/stats/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t
note_align(size_t length)
{
	return (length + 3) & ~(size_t)3;
}

/* Finds NT_GNU_BUILD_ID among the notes of a segment of netobsd's binary. */
static bool
build_id_find_note(const char *at, size_t length, struct build_id *id)
{
	while (length >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t description, total;

		memcpy(&note, at, sizeof note);
		description = sizeof note + note_align(note.n_namesz);
		total = description + note_align(note.n_descsz);
		if (total > length)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof note, "GNU", 4) == 0) {
			for (size_t i = 0; i < note.n_descsz && 2 * i + 2 < sizeof id->hex; i++)
				snprintf(id->hex + 2 * i, 3, "%02x", (unsigned char)at[description + i]);
			return true;
		}
		at += total;
		length -= total;
	}
	return false;
}

/* The first object is the program itself; libraries follow. */
static int
build_id_visit_program(struct dl_phdr_info *info, size_t size, void *id)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		/* The loader reports addresses as integers. */
		if (segment->p_type == PT_NOTE && build_id_find_note((const char *)at, segment->p_memsz, id))
			break;
	}
	return 1;
}

void
build_id_read(struct build_id *id)
{
	struct stat status;
	ssize_t length;

	memset(id, 0, sizeof *id);
	dl_iterate_phdr(build_id_visit_program, id);
	length = readlink("/proc/self/exe", id->path, sizeof id->path - 1);
	if (length < 0)
		id->path[0] = '\0';
	if (stat("/proc/self/exe", &status) == 0) {
		id->inode = status.st_ino;
		id->device = status.st_dev;
	}
}

bool
build_id_is_replaced(const struct build_id *id)
{
	struct stat status;

	return id->inode != 0 && id->path[0] == '/' &&
	       (stat(id->path, &status) < 0 || status.st_ino != id->inode || status.st_dev != id->device);
}
