/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fire_slots KIND [PATH]: maps formulas.so, a private copy without PATH, with the sites of that kind (auto, plain or
 * fast), and reads commands from standard input.  Each prints one line:
 *
 *	path			where the file is
 *	fire SLOT COUNT		"fired"; the first three arguments are the text "slot SLOT", "second" and a counter
 *	semaphore SLOT		its value
 *	name SLOT [NAME]	"named", or why it is not; without NAME the default
 *	name-of SLOT		the name in the file, "-" for the default
 *	confine			"confined": from now on the process may do what netobsd may
 *
 * Slots count from 1.  The program ends at the end of its input.
 *
 * fire_slots install PATH [NAME...]: gives the file these names.
 * fire_slots names PATH: prints the names in the file with the numbers of their slots.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "confine/sandbox.h"
#include "formulas/slots/slots.h"
#include "probes/site/site_select.h"

static void
fire(const struct slots *slots, unsigned index, unsigned count)
{
	static const char others[3][8] = {"fourth", "fifth", "sixth"};
	char text[32];

	snprintf(text, sizeof text, "slot %u", index + 1);
	for (uint64_t i = 1; i <= count; i++) {
		const void *args[6] = {text, "second", &i, others[0], others[1], others[2]};

		if (slots_semaphore(slots_object(slots), index) != 0)
			slots_fire(slots_object(slots), index, args);
	}
	printf("fired\n");
}

static void
name(const struct slots *slots, unsigned index, const char *wanted)
{
	char error[SLOT_ERROR_MAX];

	if (slots_write_name(slots_path(slots), index, wanted, error))
		printf("named\n");
	else
		printf("%s\n", error);
}

static void
print_name(const struct slots *slots, unsigned index)
{
	char error[SLOT_ERROR_MAX];
	struct slot_names names;

	if (slots_current_names(slots, &names, error))
		printf("%s\n", names.of[index][0] != '\0' ? names.of[index] : "-");
	else
		printf("%s\n", error);
}

/* As daemon/run.c does, for a process that observes interfaces. */
static void
confine(void)
{
	static struct config config;
	static const char *interfaces[] = {"lo", NULL};
	static const struct sandbox_process process = {.live = true};

	config.interface_names = interfaces;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && landlock_prepare(&config) && sandbox_enter(&process) &&
	    landlock_enter())
		printf("confined\n");
	else
		printf("not confined\n");
}

static void
run(const struct slots *slots, const char *line)
{
	char command[16] = "", word[256];
	unsigned slot = 1, words = (unsigned)sscanf(line, "%15s %u %255s", command, &slot, word);

	if (slot < 1 || slot > SLOTS_COUNT)
		printf("there is no slot %u\n", slot);
	else if (strcmp(command, "path") == 0)
		printf("%s\n", slots_path(slots));
	else if (strcmp(command, "fire") == 0 && words == 3)
		fire(slots, slot - 1, (unsigned)strtoul(word, NULL, 10));
	else if (strcmp(command, "semaphore") == 0)
		printf("%u\n", slots_semaphore(slots_object(slots), slot - 1));
	else if (strcmp(command, "name") == 0)
		name(slots, slot - 1, words == 3 ? word : NULL);
	else if (strcmp(command, "name-of") == 0)
		print_name(slots, slot - 1);
	else if (strcmp(command, "confine") == 0)
		confine();
	else
		printf("unknown command\n");
}

static int
install(const char *path, char **wanted, int count)
{
	char error[SLOT_ERROR_MAX];

	if (slots_install(path, (const char *const *)wanted, (size_t)count, (gid_t)-1, error))
		return 0;
	fprintf(stderr, "%s\n", error);
	return 1;
}

static int
print_names(const char *path)
{
	char error[SLOT_ERROR_MAX];
	struct slot_names names;

	if (!slots_read_names(path, &names, error)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	for (unsigned i = 0; i < SLOTS_COUNT; i++)
		if (names.of[i][0] != '\0')
			printf("%u %s\n", i + 1, names.of[i]);
	return 0;
}

int
main(int argc, char **argv)
{
	static const enum site_kind kinds[] = {SITE_AUTO, SITE_PLAIN, SITE_FAST};
	char error[SLOT_ERROR_MAX], line[300];
	struct slots *slots;
	unsigned kind = 0;

	if (argc >= 3 && strcmp(argv[1], "install") == 0)
		return install(argv[2], argv + 3, argc - 3);
	if (argc == 3 && strcmp(argv[1], "names") == 0)
		return print_names(argv[2]);
	while (argc > 1 && kind < 3 && strcmp(argv[1], site_kind_name(kinds[kind])) != 0)
		kind++;
	if (argc < 2 || argc > 3 || kind == 3 || !site_select(kinds[kind])) {
		fprintf(stderr, "usage: fire_slots auto|plain|fast [PATH]\n");
		return 2;
	}
	slots = slots_open(argv[2], error);
	if (slots == NULL) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof line, stdin) != NULL)
		run(slots, line);
	slots_close(slots);
	return 0;
}
