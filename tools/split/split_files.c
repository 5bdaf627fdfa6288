/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/split/split_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "flight/format/capture_writer.h"

/* The longest frame that libpcap accepts (MAXIMUM_SNAPLEN). */
#define SNAPSHOT_LENGTH 262144

/* Descriptors of a run besides those of the captures: standard streams, two inputs for each file, the loop. */
#define OTHER_DESCRIPTORS 64u

/* Most names that are tried for a temporary file: others may be left of processes that were killed. */
#define NAMES_TRIED 100u

enum { WRITE_BUFFER = 65536 };

/* An interface of the input.  Equal ones of several files are one. */
struct split_interface {
	char name[sizeof((struct interface *)0)->name];
	int dlt;
};

struct split_file {
	char *name, *temporary_name; /* as given, with the directory */
	int directory;		     /* of all files */
	int fd;		     /* -1: not open */
	bool created;	     /* it exists, under one of the names */
	bool named;	     /* it exists under its name */
	FILE *stream;		       /* NULL: not begun, or ended */
	struct capture_writer *writer; /* likewise */
	unsigned *interfaces; /* by number in `split_files`: 1 + number in this file, 0: it has no frame of it */
	size_t interface_count, interface_capacity;
	unsigned latest; /* number in this file, of the latest frame */
};

struct split_files {
	int directory;
	struct split_file manifest;
	struct split_interface *interfaces;
	size_t interface_count, interface_capacity;
	const struct interface *latest; /* of the latest frame, whose number is `latest_number` */
	int latest_dlt;
	size_t latest_number;
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
	log_error("%u captures need %u open files, and at most %llu are allowed (ulimit -n)", count,
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
		log_out_of_memory();
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
		return log_out_of_memory();
	}
	if (!split_file_create(&files->manifest))
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (asprintf(&files->file[i].name, "%s-%04u-of-%04u.pcapng", prefix, i + 1, count) < 0) {
			files->file[i].name = NULL;
			return log_out_of_memory();
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
		log_out_of_memory();
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

/* The sink of the writer. */
static bool
split_file_take_bytes(void *context, const void *bytes, size_t size)
{
	const struct split_file *file = context;

	return fwrite(bytes, 1, size, file->stream) == size;
}

static bool
split_file_begin(struct split_file *file, int link_type)
{
	const struct byte_sink sink = {.write = split_file_take_bytes, .context = file};

	file->stream = fdopen(file->fd, "w");
	if (file->stream == NULL)
		return split_file_log_error(file);
	file->fd = -1;
	setvbuf(file->stream, NULL, _IOFBF, WRITE_BUFFER);
	file->writer = capture_writer_new(CAPTURE_PCAPNG, link_type, SNAPSHOT_LENGTH, &sink);
	if (file->writer == NULL)
		return log_out_of_memory();
	return capture_writer_begin(file->writer) || split_file_log_error(file);
}

bool
split_files_begin(struct split_files *files, int link_type)
{
	for (unsigned i = 0; i < files->count; i++)
		if (!split_file_begin(&files->file[i], link_type))
			return false;
	return true;
}

/* Adds an interface of the input. */
static bool
split_files_add_interface(struct split_files *files, const struct frame *frame)
{
	struct split_interface *added;
	void *array = files->interfaces;

	if (!array_reserve_one(&array, files->interface_count, &files->interface_capacity, sizeof *added))
		return false;
	files->interfaces = array;
	added = &files->interfaces[files->interface_count++];
	memcpy(added->name, frame->interface->name, sizeof added->name);
	added->dlt = frame->dlt;
	return true;
}

/* Sets the number of the frame's interface in the input.  False if out of memory. */
static bool
split_files_find_interface(struct split_files *files, const struct frame *frame)
{
	size_t i = 0;

	if (frame->interface == files->latest && frame->dlt == files->latest_dlt)
		return true;
	while (i < files->interface_count && (files->interfaces[i].dlt != frame->dlt ||
					      strcmp(files->interfaces[i].name, frame->interface->name) != 0))
		i++;
	if (i == files->interface_count && !split_files_add_interface(files, frame))
		return false;
	files->latest = frame->interface;
	files->latest_dlt = frame->dlt;
	files->latest_number = i;
	return true;
}

/* An error of the writer: its own is want of memory. */
static int
split_file_error(const struct split_file *file)
{
	if (capture_writer_error(file->writer) != NULL)
		return ENOMEM;
	return errno != 0 ? errno : EIO;
}

/* Sets `latest` to interface `number` of the input.  Returns an errno value, 0 on success. */
static int
split_file_set_interface(struct split_file *file, const struct split_interface *interface, size_t number)
{
	const struct written_interface written = {
	    .name = interface->name, .dlt = interface->dlt, .snaplen = SNAPSHOT_LENGTH};

	while (file->interface_count <= number) {
		void *array = file->interfaces;

		if (!array_reserve_one(&array, file->interface_count, &file->interface_capacity,
				       sizeof *file->interfaces))
			return ENOMEM;
		file->interfaces = array;
		file->interfaces[file->interface_count++] = 0;
	}
	if (file->interfaces[number] == 0) {
		errno = 0;
		if (!capture_writer_add_interface(file->writer, &written, &file->latest))
			return split_file_error(file);
		file->interfaces[number] = file->latest + 1;
	}
	file->latest = file->interfaces[number] - 1;
	return 0;
}

/* Writes a frame of the latest interface.  Returns an errno value, 0 on success. */
static int
split_file_write(struct split_file *file, const uint8_t *data, uint32_t caplen, uint32_t len, uint64_t now)
{
	const struct written_frame written = {
	    .interface = file->latest, .ts = now, .data = data, .caplen = caplen, .len = len, .pid = -1};

	errno = 0;
	return capture_writer_add_frame(file->writer, &written) ? 0 : split_file_error(file);
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
	int error = ENOMEM;

	counters->frames++;
	counters->last = now;
	if (split_files_find_interface(files, frame))
		error = split_file_set_interface(file, &files->interfaces[files->latest_number], files->latest_number);
	if (error == 0)
		error = split_file_write(file, frame->data, frame->caplen, frame->len, now);
	return split_files_check(files, file, error);
}

void
split_files_log_error(const struct split_files *files)
{
	if (files->failed != NULL)
		log_error("cannot write %s: %s", files->failed->temporary_name, strerror(files->error));
}

/* Returns an errno value, 0 on success. */
static int
split_file_end(struct split_file *file, struct split_file_counters *counters, uint64_t now)
{
	static const uint8_t nothing[1];
	static const struct written_statistics none;
	int error = 0;

	if (counters->frames > 0 && counters->last != now)
		error = split_file_write(file, nothing, 0, 0, now);
	errno = 0;
	if (error == 0 && (!capture_writer_end(file->writer, &none) || fflush(file->stream) != 0))
		error = split_file_error(file);
	counters->bytes = error == 0 ? (uint64_t)ftello(file->stream) : 0;
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
	struct json json;
	uint64_t frames = 0;
	bool good;

	if (stream == NULL)
		return split_file_log_error(file);
	file->fd = -1;
	for (unsigned i = 0; i < files->count; i++)
		frames += files->counters[i].frames;
	json = json_to_file(stream);
	json_begin_object(&json, NULL);
	json_add_unsigned(&json, "split", files->count);
	json_add_unsigned(&json, "frames", frames);
	json_begin_array(&json, "captures");
	for (unsigned i = 0; i < files->count; i++) {
		char name[32];

		snprintf(name, sizeof name, "%04u-of-%04u", i + 1, files->count);
		json_break_line(&json);
		json_begin_object(&json, NULL);
		json_add_string(&json, "capture", name);
		json_add_unsigned(&json, "frames", files->counters[i].frames);
		json_add_unsigned(&json, "bytes", files->counters[i].bytes);
		json_end_object(&json);
	}
	putc('\n', stream);
	json_end_array(&json);
	json_end_line(&json);
	good = fflush(stream) == 0 && !ferror(stream) && fsync(fileno(stream)) == 0;
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
	capture_writer_free(file->writer);
	if (file->stream != NULL)
		fclose(file->stream);
	free(file->interfaces);
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
	free(files->interfaces);
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
