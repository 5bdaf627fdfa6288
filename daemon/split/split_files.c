/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/split/split_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "paths/output_path.h"
#include "paths/unit_clause.h"

#define NANOSECONDS 1000000000u

/* The longest frame that libpcap accepts (MAXIMUM_SNAPLEN). */
#define SNAPSHOT_LENGTH 262144

/* Descriptors of a run besides those of the captures: standard streams, two inputs for each file, the loop. */
#define OTHER_DESCRIPTORS 64u

/* Most names that are tried for a temporary file: others may be left of processes that were killed. */
#define NAMES_TRIED 100u

/* The seconds of a pcap file have 32 bits: until February 2106. */
#define SECONDS_END (UINT64_C(1) << 32)

enum { WRITE_BUFFER = 65536 };

struct split_file {
	char *name, *temporary_name; /* as given, with the directory */
	int directory;		     /* of all files */
	int fd;		     /* -1: not open */
	bool created;	     /* it exists, under one of the names */
	bool named;	     /* it exists under its name */
	pcap_dumper_t *dump; /* NULL: not begun, or ended */
};

struct split_files {
	int directory;
	struct split_file manifest;
	pcap_t *pcap;
	struct split_file_counters *counters;
	const struct split_file *failed; /* file that could not be written, NULL none */
	int error;			 /* why, an errno value */
	unsigned count;
	struct split_file file[];
};

/* -------------------------------------------------------------------------------------------------------- creating */

/* Raises the limit on open files if that is allowed.  False if the captures need more than that. */
static bool
split_files_check_limit(unsigned count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count + OTHER_DESCRIPTORS)
		return true;
	if (limit.rlim_max >= count + OTHER_DESCRIPTORS) {
		limit.rlim_cur = count + OTHER_DESCRIPTORS;
		if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
			return true;
	}
	log_error("--split %u needs %u open files, and at most %llu are allowed (ulimit -n)", count,
		  count + OTHER_DESCRIPTORS, (unsigned long long)limit.rlim_max);
	return false;
}

/* The name in the directory. */
static const char *
split_file_base(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

/* Creates the file under the temporary name of this number.  Returns an errno value, 0 on success. */
static int
split_file_create_temporary(struct split_file *file, unsigned number)
{
	free(file->temporary_name);
	if (asprintf(&file->temporary_name, "%s.%ld.%u.tmp", file->name, (long)getpid(), number) < 0) {
		file->temporary_name = NULL;
		return ENOMEM;
	}
	file->fd = openat(file->directory, split_file_base(file->temporary_name),
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, OUTPUT_FILE_MODE);
	return file->fd >= 0 ? 0 : errno;
}

static bool
split_file_log_exists(const struct split_file *file)
{
	log_error("%s exists already: remove it, or give another prefix (-w)", file->name);
	return false;
}

static bool
split_file_create(struct split_file *file)
{
	int error = EEXIST;

	if (faccessat(file->directory, split_file_base(file->name), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return split_file_log_exists(file);
	for (unsigned i = 0; i < NAMES_TRIED && error == EEXIST; i++)
		error = split_file_create_temporary(file, i);
	file->created = error == 0;
	if (error == ENOMEM && file->temporary_name == NULL)
		log_error("out of memory");
	else if (error != 0)
		log_error("cannot create %s: %s%s", file->temporary_name, strerror(error),
			  unit_clause_of_path(file->temporary_name, error));
	return file->created;
}

static bool
split_files_open_directory(struct split_files *files, const char *prefix)
{
	char error[OUTPUT_PATH_ERROR_MAX];
	const char *name;

	files->directory = output_path_open_directory(prefix, O_PATH, &name, error);
	files->manifest.directory = files->directory;
	for (unsigned i = 0; i < files->count; i++)
		files->file[i].directory = files->directory;
	if (files->directory < 0)
		log_error("cannot create %s: %s", prefix, error);
	return files->directory >= 0;
}

static bool
split_files_create_all(struct split_files *files, const char *prefix)
{
	unsigned count = files->count;

	if (asprintf(&files->manifest.name, "%s.json", prefix) < 0) {
		files->manifest.name = NULL;
		log_error("out of memory");
		return false;
	}
	if (!split_file_create(&files->manifest))
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (asprintf(&files->file[i].name, "%s-%04u-of-%04u.pcap", prefix, i + 1, count) < 0) {
			files->file[i].name = NULL;
			log_error("out of memory");
			return false;
		}
		if (!split_file_create(&files->file[i]))
			return false;
	}
	return true;
}

struct split_files *
split_files_create(const char *prefix, unsigned count, struct split_file_counters *counters)
{
	struct split_files *files;

	if (!split_files_check_limit(count))
		return NULL;
	files = calloc(1, sizeof *files + count * sizeof files->file[0]);
	if (files == NULL) {
		log_error("out of memory");
		return NULL;
	}
	files->counters = counters;
	files->count = count;
	files->manifest.fd = -1;
	for (unsigned i = 0; i < count; i++)
		files->file[i].fd = -1;
	if (split_files_open_directory(files, prefix) && split_files_create_all(files, prefix))
		return files;
	split_files_discard(files);
	return NULL;
}

/* --------------------------------------------------------------------------------------------------------- writing */

static bool
split_file_log_error(const struct split_file *file)
{
	log_error("cannot write %s: %s", file->temporary_name, strerror(errno));
	return false;
}

static bool
split_file_begin(struct split_file *file, pcap_t *pcap)
{
	FILE *stream = fdopen(file->fd, "w");

	if (stream == NULL)
		return split_file_log_error(file);
	file->fd = -1;
	setvbuf(stream, NULL, _IOFBF, WRITE_BUFFER);
	file->dump = pcap_dump_fopen(pcap, stream);
	if (file->dump != NULL)
		return true;
	log_error("cannot write %s: %s", file->temporary_name, pcap_geterr(pcap));
	fclose(stream);
	return false;
}

bool
split_files_begin(struct split_files *files, int link_type)
{
	files->pcap =
	    pcap_open_dead_with_tstamp_precision(link_type, SNAPSHOT_LENGTH, PCAP_TSTAMP_PRECISION_NANO);
	if (files->pcap == NULL) {
		log_error("out of memory");
		return false;
	}
	for (unsigned i = 0; i < files->count; i++)
		if (!split_file_begin(&files->file[i], files->pcap))
			return false;
	return true;
}

/* Writes a record; libpcap does not report errors.  Returns an errno value, 0 on success. */
static int
split_file_write(struct split_file *file, const uint8_t *data, uint32_t caplen, uint32_t len, uint64_t now)
{
	struct pcap_pkthdr header = {.caplen = caplen, .len = len};

	if (now / NANOSECONDS >= SECONDS_END)
		return EOVERFLOW;
	header.ts.tv_sec = (time_t)(now / NANOSECONDS);
	header.ts.tv_usec = (suseconds_t)(now % NANOSECONDS);
	errno = 0;
	pcap_dump((u_char *)file->dump, &header, data);
	if (ferror(pcap_dump_file(file->dump)) == 0)
		return 0;
	return errno != 0 ? errno : EIO;
}

static bool
split_files_check(struct split_files *files, const struct split_file *file, int error)
{
	if (error == 0)
		return true;
	files->failed = file;
	files->error = error;
	return false;
}

bool
split_files_write(struct split_files *files, unsigned index, const struct frame *frame, uint64_t now)
{
	struct split_file_counters *counters = &files->counters[index];
	struct split_file *file = &files->file[index];

	counters->frames++;
	counters->last = now;
	return split_files_check(files, file, split_file_write(file, frame->data, frame->caplen, frame->len, now));
}

void
split_files_log_error(const struct split_files *files)
{
	if (files->failed != NULL && files->error == EOVERFLOW)
		log_error("cannot write %s: a time stamp is later than February 2106, where the time of pcap files "
			  "ends",
			  files->failed->temporary_name);
	else if (files->failed != NULL)
		log_error("cannot write %s: %s", files->failed->temporary_name, strerror(files->error));
}

/* Returns an errno value, 0 on success. */
static int
split_file_end(struct split_file *file, struct split_file_counters *counters, uint64_t now)
{
	static const uint8_t nothing[1];
	FILE *stream = pcap_dump_file(file->dump);
	int error = 0;

	if (counters->frames > 0 && counters->last != now)
		error = split_file_write(file, nothing, 0, 0, now);
	if (error == 0 && fflush(stream) != 0)
		error = errno;
	counters->bytes = error == 0 ? (uint64_t)ftello(stream) : 0;
	pcap_dump_close(file->dump);
	file->dump = NULL;
	return error;
}

bool
split_files_end(struct split_files *files, uint64_t now)
{
	for (unsigned i = 0; i < files->count; i++) {
		struct split_file *file = &files->file[i];

		if (!split_files_check(files, file, split_file_end(file, &files->counters[i], now))) {
			split_files_log_error(files);
			return false;
		}
	}
	return true;
}

/* ------------------------------------------------------------------------------------------------------ publishing */

static bool
split_files_write_manifest(struct split_files *files)
{
	struct split_file *file = &files->manifest;
	FILE *stream = fdopen(file->fd, "w");
	uint64_t frames = 0;
	bool good;

	if (stream == NULL)
		return split_file_log_error(file);
	file->fd = -1;
	for (unsigned i = 0; i < files->count; i++)
		frames += files->counters[i].frames;
	fprintf(stream, "{\"split\":%u,\"frames\":%llu,\"captures\":[", files->count, (unsigned long long)frames);
	for (unsigned i = 0; i < files->count; i++)
		fprintf(stream, "%s\n{\"capture\":\"%04u-of-%04u\",\"frames\":%llu,\"bytes\":%llu}", i > 0 ? "," : "",
			i + 1, files->count, (unsigned long long)files->counters[i].frames,
			(unsigned long long)files->counters[i].bytes);
	fprintf(stream, "\n]}\n");
	good = fflush(stream) == 0 && fsync(fileno(stream)) == 0;
	good = (fclose(stream) == 0 && good) || split_file_log_error(file);
	return good;
}

/* Some file systems report a full disk only here. */
static bool
split_file_sync(struct split_file *file)
{
	bool good = fsync(file->fd) == 0;

	good = close(file->fd) == 0 && good;
	file->fd = -1;
	return good || split_file_log_error(file);
}

/* Another run may have created a file of this name meanwhile. */
static bool
split_file_rename(struct split_file *file)
{
	const char *from = split_file_base(file->temporary_name), *to = split_file_base(file->name);
	int result = renameat2(file->directory, from, file->directory, to, RENAME_NOREPLACE);

	if (result != 0 && (errno == EINVAL || errno == ENOSYS)) /* the file system or the kernel has no such request */
		result = renameat(file->directory, from, file->directory, to);
	file->named = result == 0;
	if (!file->named && errno == EEXIST)
		return split_file_log_exists(file);
	if (!file->named)
		log_error("cannot rename %s: %s", file->temporary_name, strerror(errno));
	return file->named;
}

static void
split_file_free(struct split_file *file)
{
	if (file->dump != NULL)
		pcap_dump_close(file->dump);
	if (file->fd >= 0)
		close(file->fd);
	free(file->temporary_name);
	free(file->name);
}

static void
split_files_free(struct split_files *files)
{
	for (unsigned i = 0; i < files->count; i++)
		split_file_free(&files->file[i]);
	split_file_free(&files->manifest);
	if (files->pcap != NULL)
		pcap_close(files->pcap);
	if (files->directory >= 0)
		close(files->directory);
	free(files);
}

static void
split_file_remove(const struct split_file *file)
{
	if (file->created)
		unlinkat(file->directory, split_file_base(file->named ? file->name : file->temporary_name), 0);
}

void
split_files_discard(struct split_files *files)
{
	if (files == NULL)
		return;
	split_file_remove(&files->manifest);
	for (unsigned i = 0; i < files->count; i++)
		split_file_remove(&files->file[i]);
	split_files_free(files);
}

bool
split_files_publish(struct split_files *files)
{
	bool good = true;

	for (unsigned i = 0; i < files->count && good; i++)
		good = split_file_sync(&files->file[i]);
	good = good && split_files_write_manifest(files);
	for (unsigned i = 0; i < files->count && good; i++)
		good = split_file_rename(&files->file[i]);
	if (!good || !split_file_rename(&files->manifest)) {
		split_files_discard(files);
		return false;
	}
	split_files_free(files);
	return true;
}
