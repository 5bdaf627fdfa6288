/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target over files, and over the files of directories, given as arguments: so every fuzz target is a
 * plain test with any compiler.  Options, which begin with '-', are libFuzzer's and mean nothing here.  No file at all
 * is a failure, so that a test of nothing does not pass.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long files;

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
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	files++;
}

static void fuzz_run_input(const char *path);

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
			fuzz_run_input(inside);
		}
		free(names[i]);
	}
	free(names);
}

static void
fuzz_run_input(const char *path)
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
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			fuzz_run_input(argv[i]);
	printf("%lu inputs\n", files);
	return files > 0 ? 0 : 1;
}
