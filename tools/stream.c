/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/output_file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/units.h"
#include "tools/control_client.h"
#include "tools/json_reader.h"

/*
 * A directory of zstd files with the lines of a stream: NAME-20261122T194000Z-000001.jsonl.zst, with the time (UTC) at
 * which the file was begun, and a number.
 *
 * A file is complete or absent: it is written under a temporary name, .NAME-...-000001.jsonl.zst.part, and gets its own
 * name when it is complete and on the disk.  Its zstd frames end with a line, so that after an error, such as a full
 * disk, the complete frames are kept; the number of lines after them is printed.
 */

/* When a file is complete: one of the two, the other is 0. */
struct stream_rotation {
	uint64_t bytes;	  /* of its lines, before compression */
	uint64_t ns;	/* after its first line */
};

struct stream_files;

#define SUFFIX	    ".jsonl.zst"
#define PART_SUFFIX SUFFIX ".part"

/* Bytes of lines in a zstd frame, and thus the most that a full disk takes from a file. */
#define FRAME_BYTES ((size_t)1024 * 1024)

/* Attempts to find a name that no file has. */
#define NUMBERS_TRIED 1000u

struct stream_files {
	const char *path; /* of the directory, borrowed */
	const char *name; /* borrowed */
	struct stream_rotation rotation;
	int directory;
	ZSTD_CCtx *context;
	char *compressed;
	size_t compressed_size;
	unsigned number; /* of the last file */

	/* The present file: */
	int fd; /* -1: none */
	char part_name[256], final_name[256];
	time_t begun;	      /* wall clock, for its name */
	uint64_t begun_ms;    /* monotonic */
	uint64_t bytes;	      /* of its lines */
	size_t frame_bytes;   /* of the lines of the present frame */
	uint64_t frame_lines; /* lines of the present frame */
	uint64_t lines;	      /* lines of complete frames */
	off_t complete;	      /* length of the file up to the end of the last complete frame */
};

static uint64_t
files_now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* Parses a size such as 100M, or a time from a second on such as 1h.  False if it is neither. */
static bool
stream_rotation_parse(const char *word, struct stream_rotation *rotation)
{
	static const struct quantity time = {DIMENSION_TIME, 0, UNITS_SECOND, 100 * UNITS_YEAR, false};
	static const struct quantity size = {DIMENSION_SIZE, 0, 1, UINT64_C(1) << 60, false};
	char error[UNITS_ERROR_MAX];

	*rotation = (struct stream_rotation){0};
	return units_parse(&time, word, &rotation->ns, error) || units_parse(&size, word, &rotation->bytes, error);
}

/* -------------------------------------------------------------------------------------------------------- leftovers */

static bool
name_has_ends(const char *file, const char *start, const char *end)
{
	size_t length = strlen(file), at = strlen(start), tail = strlen(end);

	return length > at + tail && strncmp(file, start, at) == 0 && strcmp(file + length - tail, end) == 0;
}

/* Whether a file is one of this stream: the name, a hyphen, the time. */
static bool
files_own_name(const struct stream_files *files, const char *file)
{
	size_t length = strlen(files->name);

	return file[0] == '.' && strncmp(file + 1, files->name, length) == 0 && file[1 + length] == '-' &&
	       strspn(file + length + 2, "0123456789") == 8 && file[length + 10] == 'T';
}

/* A temporary file that no process has locked was left behind by a run that was killed. */
static void
files_remove_leftover(const struct stream_files *files, const char *file)
{
	int fd = openat(files->directory, file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	bool own;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	own = files_own_name(files, file) && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	      status.st_uid == geteuid();
	if (own && unlinkat(files->directory, file, 0) == 0)
		client_log("netobsctl", "removed %s/%s: a killed run left it behind, and it was not complete",
			files->path, file);
	else
		client_log("netobsctl", "%s/%s was left behind by another run and is not complete", files->path,
			file);
	close(fd);
}

static void
files_remove_leftovers(const struct stream_files *files)
{
	int fd = openat(files->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (list != NULL && (entry = readdir(list)) != NULL)
		if (name_has_ends(entry->d_name, ".", PART_SUFFIX))
			files_remove_leftover(files, entry->d_name);
	if (list != NULL)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

/* ----------------------------------------------------------------------------------------------------------- a file */

static bool
files_fail(const struct stream_files *files, const char *what, const char *name, const char *reason)
{
	client_log("netobsctl", "cannot %s %s/%s: %s", what, files->path, name, reason);
	return false;
}

static void
files_set_names(struct stream_files *files)
{
	char when[32];
	struct tm utc;

	gmtime_r(&files->begun, &utc);
	strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
	snprintf(files->final_name, sizeof files->final_name, "%s-%s-%06u" SUFFIX, files->name, when, files->number);
	snprintf(files->part_name, sizeof files->part_name, ".%s-%s-%06u" PART_SUFFIX, files->name, when,
		 files->number);
}

/* Locks the temporary file that was just created, so that no other run takes it for a leftover; its name then reserves
 * the final one.  False if another run is removing it already, or if a file has the final name. */
static bool
files_lock(const struct stream_files *files)
{
	struct stat status;

	if (flock(files->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return false;
	if (fstat(files->fd, &status) != 0 || status.st_nlink == 0)
		return false;
	if (fstatat(files->directory, files->final_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return true;
	(void)unlinkat(files->directory, files->part_name, 0);
	return false;
}

/* Creates the temporary file, with the next number for which no file exists. */
static bool
files_begin(struct stream_files *files)
{
	files->begun = time(NULL);
	files->begun_ms = files_now_ms();
	files->bytes = files->frame_lines = files->lines = 0;
	files->frame_bytes = 0;
	files->complete = 0;
	for (unsigned i = 0; i < NUMBERS_TRIED; i++) {
		files->number++;
		files_set_names(files);
		files->fd = openat(files->directory, files->part_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				   OUTPUT_FILE_MODE);
		if (files->fd >= 0 && files_lock(files))
			return true;
		if (files->fd >= 0)
			close(files->fd);
		else if (errno != EEXIST)
			break;
		files->fd = -1;
		errno = EEXIST;
	}
	return files_fail(files, "create", files->part_name, strerror(errno));
}

/* Compresses bytes and writes them; `end` ends the frame.  False with a message printed. */
static bool
files_compress(struct stream_files *files, const char *bytes, size_t length, bool end)
{
	ZSTD_inBuffer in = {bytes, length, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {files->compressed, files->compressed_size, 0};

		left = ZSTD_compressStream2(files->context, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return files_fail(files, "compress", files->part_name, ZSTD_getErrorName(left));
		if (!output_write_all(files->fd, files->compressed, out.pos))
			return files_fail(files, "write", files->part_name, strerror(errno));
	} while (end ? left != 0 : in.pos < in.size);
	return true;
}

static bool
files_end_frame(struct stream_files *files)
{
	if (files->frame_bytes == 0)
		return true;
	if (!files_compress(files, NULL, 0, true))
		return false;
	files->complete = lseek(files->fd, 0, SEEK_CUR);
	files->lines += files->frame_lines;
	files->frame_lines = 0;
	files->frame_bytes = 0;
	return true;
}

/* Gives the file its name: first its content, then its name is made durable. */
static bool
files_publish(struct stream_files *files)
{
	int failed;

	if (fsync(files->fd) != 0)
		return files_fail(files, "write", files->part_name, strerror(errno));
	failed = renameat2(files->directory, files->part_name, files->directory, files->final_name, RENAME_NOREPLACE);
	if (failed != 0 && errno == EINVAL) /* the file system does not support the flag; files_begin() has checked */
		failed = renameat(files->directory, files->part_name, files->directory, files->final_name);
	if (failed != 0)
		return files_fail(files, "complete", files->final_name, strerror(errno));
	(void)fsync(files->directory);
	return true;
}

static void
files_print_lost(const struct stream_files *files, uint64_t lines)
{
	if (lines > 0)
		client_log("netobsctl", "%llu lines for %s/%s are lost", (unsigned long long)lines, files->path,
			files->final_name);
}

/* After an error: keeps the complete frames of the file, without which it is removed. */
static void
files_salvage(struct stream_files *files)
{
	uint64_t lost = files->frame_lines;
	bool kept = files->complete > 0 && ftruncate(files->fd, files->complete) == 0 && files_publish(files);

	if (!kept) {
		lost += files->lines;
		(void)unlinkat(files->directory, files->part_name, 0);
	}
	files_print_lost(files, lost);
	close(files->fd);
	files->fd = -1;
}

/* Completes the present file, if there is one. */
static bool
files_complete(struct stream_files *files)
{
	if (files->fd < 0)
		return true;
	if (!files_end_frame(files)) {
		files_salvage(files);
		return false;
	}
	if (!files_publish(files)) {
		files_print_lost(files, files->lines);
		(void)unlinkat(files->directory, files->part_name, 0);
		close(files->fd);
		files->fd = -1;
		return false;
	}
	close(files->fd);
	files->fd = -1;
	return true;
}

/* -------------------------------------------------------------------------------------------------------- the files */

/* Bytes of the leading lines that belong to the present file and frame; at least one line. */
static size_t
files_take_lines(const struct stream_files *files, const char *lines, size_t length, uint64_t *count)
{
	size_t taken = 0;

	*count = 0;
	do {
		const char *end = memchr(lines + taken, '\n', length - taken);

		taken = end != NULL ? (size_t)(end - lines) + 1 : length;
		++*count;
	} while (taken < length && files->frame_bytes + taken < FRAME_BYTES &&
		 (files->rotation.bytes == 0 || files->bytes + taken < files->rotation.bytes));
	return taken;
}

/* Adds complete lines.  False, with a message printed, on failure. */
static bool
stream_files_add(struct stream_files *files, const char *lines, size_t length)
{
	while (length > 0) {
		uint64_t count;
		size_t taken;

		if (files->fd < 0 && !files_begin(files))
			return false;
		taken = files_take_lines(files, lines, length, &count);
		files->bytes += taken;
		files->frame_bytes += taken;
		files->frame_lines += count;
		if (!files_compress(files, lines, taken, false) ||
		    (files->frame_bytes >= FRAME_BYTES && !files_end_frame(files))) {
			files_salvage(files);
			return false;
		}
		if (files->rotation.bytes != 0 && files->bytes >= files->rotation.bytes && !files_complete(files))
			return false;
		lines += taken;
		length -= taken;
	}
	return true;
}

/* Milliseconds until stream_files_rotate() has something to do, -1 for ever. */
static int
stream_files_wait_ms(const struct stream_files *files)
{
	uint64_t end = files->begun_ms + files->rotation.ns / 1000000, now = files_now_ms();

	if (files->rotation.ns == 0 || files->fd < 0)
		return -1;
	if (now >= end)
		return 0;
	return end - now < 3600000 ? (int)(end - now) : 3600000;
}

/* Completes the file whose time is over.  False, with a message printed, on failure. */
static bool
stream_files_rotate(struct stream_files *files)
{
	return stream_files_wait_ms(files) != 0 || files_complete(files);
}

static void
stream_files_free(struct stream_files *files)
{
	ZSTD_freeCCtx(files->context);
	free(files->compressed);
	if (files->directory >= 0)
		close(files->directory);
	free(files);
}

/* Opens a directory for files NAME-...  Removes temporary files that killed runs with this name left behind, and prints
 * a message for each.  NULL, with a message printed, on failure. */
static struct stream_files *
stream_files_open(const char *directory, const char *name, const struct stream_rotation *rotation)
{
	struct stream_files *files = calloc(1, sizeof *files);
	char reason[OUTPUT_PATH_ERROR_MAX];

	if (files == NULL) {
		client_log_error("out of memory", NULL);
		return NULL;
	}
	*files =
	    (struct stream_files){.path = directory, .name = name, .rotation = *rotation, .directory = -1, .fd = -1};
	files->compressed_size = ZSTD_CStreamOutSize();
	files->compressed = malloc(files->compressed_size);
	files->context = ZSTD_createCCtx();
	files->directory = output_path_open(directory, O_RDONLY | O_DIRECTORY, reason);
	if (files->directory < 0)
		client_log_error(directory, reason);
	else if (files->compressed == NULL || files->context == NULL)
		client_log_error("out of memory", NULL);
	else if (faccessat(files->directory, ".", W_OK, AT_EACCESS) != 0) {
		output_path_fail(directory, reason);
		client_log_error(directory, reason);
	} else {
		(void)ZSTD_CCtx_setParameter(files->context, ZSTD_c_checksumFlag, 1);
		files_remove_leftovers(files);
		return files;
	}
	stream_files_free(files);
	return NULL;
}

/* Completes the last file.  False, with a message printed, on failure. */
static bool
stream_files_close(struct stream_files *files)
{
	bool done = files_complete(files);

	stream_files_free(files);
	return done;
}

/* ------------------------------------------------------------------------------------------------------- the stream */

/* More than the longest line. */
#define BUFFER_SIZE ((size_t)256 * 1024)

/* Longest line of a gap, with its newline. */
#define GAP_LINE_MAX 64

#define DEFAULT_ROTATION "100M"

struct stream_reader {
	int fd;			    /* the connection */
	struct stream_files *files; /* NULL: standard output */
	char *buffer;		    /* BUFFER_SIZE bytes */
	char *cleaned;		    /* what is passed on of them */
	size_t used;
	uint64_t lost;	     /* lines that netobsd dropped */
	bool ended;	     /* netobsd has ended the stream */
	bool text;	     /* lines are printed as text */
	const char *mistake; /* why the lines are not those of netobsd; NULL: they are */
	bool failed; /* lines cannot be written: a message was printed, unless the reader has closed the output */
	int status;
};

static volatile sig_atomic_t stop_signal;

static void
stream_on_signal(int number)
{
	stop_signal = number;
}

/* -------------------------------------------------------------------------------------------------------- the lines */

/* Writes all, waiting for the reader; a signal ends the wait. */
static bool
stream_write_output(struct stream_reader *reader, const char *bytes, size_t length, const sigset_t *unblocked)
{
	while (length > 0) {
		struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
		ssize_t written;

		/* A blocking write(2) of more than PIPE_BUF bytes may wait although the output is ready. */
		if (ppoll(&ready, 1, NULL, unblocked) < 0 && stop_signal != 0)
			return false;
		written = write(STDOUT_FILENO, bytes, length < 4096 ? length : 4096);
		if (written < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (written < 0) {
			reader->failed = true;
			if (errno != EPIPE)
				reader->status = client_log_error("cannot write to standard output", strerror(errno));
			return false;
		}
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

/* Writes a line as it is passed on, and counts the lines that netobsd has dropped if it says so: its only member is
 * their number.  Returns the end. */
static char *
stream_pass_line(struct stream_reader *reader, const char *line, size_t length, char *at)
{
	static const char key[] = "\"lost\"";
	bool may_be_gap = length < GAP_LINE_MAX && memmem(line, length, key, sizeof key - 1) != NULL;
	json_t *object = reader->text || may_be_gap ? json_read_object(line, length) : NULL;
	const char *text = reader->text ? json_read_string(object, "text") : NULL;
	uint64_t lost = 0;
	bool gap = json_object_size(object) == 1 && json_read_unsigned(object, "lost", &lost);

	reader->lost = lost < UINT64_MAX - reader->lost ? reader->lost + lost : UINT64_MAX;
	if (!reader->text)
		at = put_foreign_lines(at, line, length);
	else if (text != NULL)
		at = PUT(put_foreign_lines(at, text, strlen(text)), "\n");
	else if (gap)
		at = PUT(put_u64(PUT(at, "lost "), lost), "\n");
	else
		reader->mistake = "its lines are not firings";
	json_decref(object);
	return at;
}

/* Passes on the complete lines of the buffer.  An empty line ends the stream. */
static bool
stream_pass_lines(struct stream_reader *reader, const sigset_t *unblocked)
{
	char *last = memrchr(reader->buffer, '\n', reader->used);
	size_t length = last != NULL ? (size_t)(last - reader->buffer) + 1 : 0, passed = length;
	char *to = reader->cleaned;

	if (length == 0)
		return true;
	if (reader->buffer[length - 1] == '\n' && (length == 1 || reader->buffer[length - 2] == '\n')) {
		reader->ended = true;
		passed--;
	}
	for (const char *line = reader->buffer, *end = line + passed; line < end;) {
		size_t size = (size_t)((const char *)memchr(line, '\n', (size_t)(end - line)) - line) + 1;

		to = stream_pass_line(reader, line, size, to);
		line += size;
	}
	passed = (size_t)(to - reader->cleaned);
	if (reader->files != NULL)
		reader->failed = !stream_files_add(reader->files, reader->cleaned, passed);
	else if (!stream_write_output(reader, reader->cleaned, passed, unblocked))
		return false;
	memmove(reader->buffer, reader->buffer + length, reader->used - length);
	reader->used -= length;
	if (reader->files != NULL && reader->failed)
		reader->status = EXIT_FAILURE;
	return !reader->failed;
}

/* ------------------------------------------------------------------------------------------------------- the stream */

/* Waits for lines, for the end of the output, or for a file to be completed.  False on a signal. */
static bool
stream_wait(struct stream_reader *reader, const sigset_t *unblocked, bool *readable)
{
	struct pollfd ready[] = {{.fd = reader->fd, .events = POLLIN},
				 {.fd = reader->files == NULL ? STDOUT_FILENO : -1, .events = 0}};
	int ms = reader->files != NULL ? stream_files_wait_ms(reader->files) : -1;
	const struct timespec timeout = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
	int got = ppoll(ready, 2, ms >= 0 ? &timeout : NULL, unblocked);

	*readable = got > 0 && ready[0].revents != 0;
	if (got > 0 && (ready[1].revents & (POLLERR | POLLHUP)) != 0) {
		reader->failed = true; /* the reader has closed the pipe (POLLERR) or the socket (POLLHUP) */
		return false;
	}
	if (reader->files != NULL && !stream_files_rotate(reader->files)) {
		reader->failed = true;
		reader->status = EXIT_FAILURE;
		return false;
	}
	return stop_signal == 0;
}

static void
stream_copy(struct stream_reader *reader, const sigset_t *unblocked)
{
	bool readable;

	while (!reader->ended && stream_wait(reader, unblocked, &readable)) {
		ssize_t got;

		if (!readable)
			continue;
		got = recv(reader->fd, reader->buffer + reader->used, BUFFER_SIZE - reader->used, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return;
		reader->used += (size_t)got;
		if (!stream_pass_lines(reader, unblocked))
			return;
		if (reader->used == BUFFER_SIZE)
			reader->mistake = "its lines are too long";
		if (reader->mistake != NULL)
			return;
	}
}

static void
stream_log_end(struct stream_reader *reader)
{
	if (reader->lost > 0)
		client_log("netobsctl", "%llu lines were lost because they were not read in time",
			   (unsigned long long)reader->lost);
	if (reader->failed || stop_signal != 0)
		return;
	if (reader->ended && reader->mistake == NULL) {
		client_log("netobsctl", "netobsd has ended the stream");
		return;
	}
	client_log("netobsctl", "the stream broke off: %s%s",
		   reader->mistake != NULL ? "the process listening there is not netobsd: " : "",
		   reader->mistake != NULL ? reader->mistake : "netobsd has closed the connection or was killed");
	reader->status = EXIT_BROKE_OFF;
}

/* The name of files: that of the probe or formula if there is one, without wildcards. */
static const char *
stream_file_name(char *const names[], int count)
{
	if (count == 1 && strspn(names[0], "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(names[0]) &&
	    strlen(names[0]) < 64)
		return names[0];
	return count == 0 ? "connection-end" : "stream";
}

static bool
stream_make_request(char request[CLIENT_REQUEST_MAX], char *const names[], int count,
		    const struct stream_options *options)
{
	size_t used = (size_t)snprintf(
	    request, CLIENT_REQUEST_MAX, "stream%s%s%s", options->json || options->directory != NULL ? "" : " --text",
	    options->fields != NULL ? " --fields=" : "", options->fields != NULL ? options->fields : "");

	for (int i = 0; i < count && used < CLIENT_REQUEST_MAX; i++)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, " %s", names[i]);
	if (used < CLIENT_REQUEST_MAX)
		used += (size_t)snprintf(request + used, CLIENT_REQUEST_MAX - used, "\n");
	if (!client_is_word(options->fields))
		client_log_error("stream: a value of an option is empty or contains a blank", NULL);
	else if (used < CLIENT_REQUEST_MAX && strcspn(request, "\n\r") == used - 1)
		return true;
	else
		client_log_error("the command is too long or contains a line break", NULL);
	return false;
}

static bool
stream_open_files(struct stream_reader *reader, const char *name, const struct stream_options *options)
{
	const char *rotate = options->rotate != NULL ? options->rotate : DEFAULT_ROTATION;
	struct stream_rotation rotation;

	if (options->directory == NULL && options->rotate != NULL)
		client_log_error("--rotate needs --dir", NULL);
	else if (!stream_rotation_parse(rotate, &rotation))
		client_log_error("--rotate", "expected a size or a time from 1s on, with a unit as in 100M, 1h");
	else if (options->directory == NULL)
		return true;
	else
		reader->files = stream_files_open(options->directory, name, &rotation);
	return reader->files != NULL;
}

int
stream_run(const char *path, char *const names[], int count, const struct stream_options *options)
{
	struct stream_reader reader = {
	    .fd = -1, .text = !options->json && options->directory == NULL, .status = EXIT_SUCCESS};
	char request[CLIENT_REQUEST_MAX];
	sigset_t unblocked;

	if (!stream_make_request(request, names, count, options) ||
	    !stream_open_files(&reader, stream_file_name(names, count), options))
		return EXIT_FAILURE;
	reader.buffer = malloc(BUFFER_SIZE);
	reader.cleaned = malloc(BUFFER_SIZE * JSON_BYTE_MAX + 8);
	if (reader.buffer == NULL || reader.cleaned == NULL) {
		client_log_error("out of memory", NULL);
	} else {
		client_watch_signals(stream_on_signal, 0, &unblocked);
		reader.fd = client_open_stream(path, request);
	}
	if (reader.fd >= 0) {
		stream_copy(&reader, &unblocked);
		stream_log_end(&reader);
		close(reader.fd);
	} else {
		reader.status = EXIT_FAILURE;
	}
	if (reader.files != NULL && !stream_files_close(reader.files))
		reader.status = EXIT_FAILURE;
	free(reader.buffer);
	free(reader.cleaned);
	return reader.status;
}
