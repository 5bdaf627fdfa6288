/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files, and over the files of directories, given as arguments: so every fuzz target is a
 * plain test with any compiler.  -mutations=N runs each file N times more, changed at random but always in the same
 * way; other options, which begin with '-', are libFuzzer's and mean nothing here.  No file at all is a failure, so
 * that a test of nothing does not pass.  An input that ends the program is written to standard error, in hexadecimal.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
const char *__asan_default_options(void);

/* A target may have a mutator of its own. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* Most bytes that a mutation adds. */
#define GROWTH_MAX 64u

static unsigned long files, runs, mutations;

/* The present input. */
static const char *input_path;
static const uint8_t *input;
static size_t input_size;

/* AddressSanitizer's options: it ends the program with a signal, so that the input is reported, and keeps little freed
 * memory, because new memory costs more than the rest of most runs. */
const char *
__asan_default_options(void)
{
	return "abort_on_error=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2:quarantine_size_mb=16";
}

static void
fuzz_report_input(int number)
{
	dprintf(STDERR_FILENO, "signal %d with an input made of %s, %zu bytes: ", number, input_path, input_size);
	for (size_t i = 0; i < input_size; i++)
		dprintf(STDERR_FILENO, "%02x", input[i]);
	dprintf(STDERR_FILENO, "\n");
}

static void
fuzz_run_input(const char *path, const uint8_t *data, size_t size)
{
	input_path = path;
	input = data;
	input_size = size;
	LLVMFuzzerTestOneInput(data, size);
	input_size = 0;
	runs++;
}

/* -------------------------------------------------------------------------------------------------------- mutations */

static uint32_t
fuzz_random(uint64_t *state, size_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % below);
}

/* Changes one thing.  Gives the new size, at most `most`. */
static size_t
fuzz_mutate_once(uint8_t *data, size_t size, size_t most, uint64_t *random)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff, ' ', '"', '\\', '\n', 0xc2, 0xe2, 0x1b};
	size_t at = fuzz_random(random, size), n = 1 + fuzz_random(random, GROWTH_MAX);
	size_t from = fuzz_random(random, size);

	switch (fuzz_random(random, 6)) {
	case 0:
		data[at] ^= (uint8_t)(1u << fuzz_random(random, 8));
		return size;
	case 1:
		data[at] = values[fuzz_random(random, sizeof values)];
		return size;
	case 2:
		data[at] = (uint8_t)(data[at] + fuzz_random(random, 33) - 16);
		return size;
	case 3: /* cut at the end or in the middle */
		n = n < size - at ? n : size - at;
		memmove(data + at, data + at + n, size - at - n);
		return size - n > 0 ? size - n : size;
	case 4: /* repeat a part */
		n = n < size - at ? n : size - at;
		n = n < most - size ? n : most - size;
		memmove(data + at + n, data + at, size - at);
		memmove(data + at, data + (from < at ? from : at), n);
		return size + n;
	default: /* copy a part */
		n = n < size - at ? n : size - at;
		n = n < size - from ? n : size - from;
		memmove(data + at, data + from, n);
		return size;
	}
}

static uint64_t mutation_state;

size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
	return fuzz_mutate_once(data, size, most, &mutation_state);
}

static size_t
fuzz_mutate(uint8_t *data, size_t size, size_t most)
{
	if (LLVMFuzzerCustomMutator != NULL)
		return LLVMFuzzerCustomMutator(data, size, most, fuzz_random(&mutation_state, UINT32_MAX));
	return LLVMFuzzerMutate(data, size, most);
}

static void
fuzz_run_mutations(const char *path, const uint8_t *data, size_t size)
{
	mutation_state = size;
	for (size_t i = 0; i < size; i++)
		mutation_state = mutation_state * 31 + data[i];
	for (unsigned long i = 0; i < mutations && size > 0; i++) {
		size_t changes = 1 + fuzz_random(&mutation_state, 4), changed = size;
		size_t most = size + changes * GROWTH_MAX;
		uint8_t *copy = malloc(most), *exact;

		if (copy == NULL)
			exit(1);
		memcpy(copy, data, size);
		while (changes-- > 0)
			changed = fuzz_mutate(copy, changed, most);
		exact = realloc(copy, changed); /* so that a sanitizer finds a read past the end */
		fuzz_run_input(path, exact != NULL ? exact : copy, changed);
		free(exact);
	}
}

/* ------------------------------------------------------------------------------------------------------------ files */

static void
fuzz_fail(const char *path)
{
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}

static void
fuzz_run_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(size > 0 ? size : 1);

	if (file == NULL || data == NULL)
		fuzz_fail(path);
	if (fread(data, 1, size, file) != size)
		fuzz_fail(path);
	fclose(file);
	fuzz_run_input(path, data, size);
	fuzz_run_mutations(path, data, size);
	free(data);
	files++;
}

static void fuzz_run_path(const char *path);

static void
fuzz_run_directory(const char *path)
{
	struct dirent **names;
	char inside[4096];
	int count = scandir(path, &names, NULL, alphasort);

	if (count < 0)
		fuzz_fail(path);
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.') {
			snprintf(inside, sizeof inside, "%s/%s", path, names[i]->d_name);
			fuzz_run_path(inside);
		}
		free(names[i]);
	}
	free(names);
}

static void
fuzz_run_path(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		fuzz_fail(path);
	if (S_ISDIR(status.st_mode))
		fuzz_run_directory(path);
	else
		fuzz_run_file(path, (size_t)status.st_size);
}

int
main(int argc, char **argv)
{
	static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	struct sigaction report = {.sa_handler = fuzz_report_input, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &report, NULL);
	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "-mutations=", 11) == 0)
			mutations = strtoul(argv[i] + 11, NULL, 10);
		else if (argv[i][0] != '-')
			fuzz_run_path(argv[i]);
	}
	printf("%lu inputs, run %lu times\n", files, runs);
	return files > 0 ? 0 : 1;
}
