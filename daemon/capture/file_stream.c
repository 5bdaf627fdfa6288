/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/capture/decompress.h"

#define INPUT_BYTES (128u * 1024)
#define STREAM_BYTES (256u * 1024)
#define MAGIC_BYTES 4

struct source {
	const char *name;
	int fd;
	bool plain_file; /* a plain file: reads never block */
	bool ended;	 /* read() has returned 0 */
	bool whole;	 /* the compressed data is complete up to here */
	struct loop *loop;
	loop_callback *idle;
	void *idle_context;
	const struct unpack_format *format; /* NULL: not compressed */
	void *unpacker;
	off_t given; /* bytes that libpcap's stream has received */
	const char *trouble;
	char trouble_text[96];
	struct unpack_window input; /* in, in_left: bytes read but not used yet */
	uint8_t buffer[INPUT_BYTES];
	char stream_buffer[STREAM_BYTES];
};

static void
note_trouble(struct source *source, const char *what)
{
	if (source->format != NULL)
		snprintf(source->trouble_text, sizeof source->trouble_text, "the %s data %s", source->format->name,
			 what);
	else
		snprintf(source->trouble_text, sizeof source->trouble_text, "%s", what);
	source->trouble = source->trouble_text;
}

/* Waits until a read does not block.  False if the loop was stopped. */
static bool
wait_for_bytes(struct source *source)
{
	struct pollfd ready = {.fd = source->fd, .events = POLLIN};

	if (source->plain_file || poll(&ready, 1, 0) > 0)
		return true;
	source->idle(source->idle_context);
	return loop_wait_fd(source->loop, source->fd);
}

/* read(2) that waits in the loop.  0 at the end and if the loop was stopped, -1 with `trouble` set on an error. */
static ssize_t
read_bytes(struct source *source, void *to, size_t size)
{
	while (!source->ended && wait_for_bytes(source)) {
		ssize_t got = read(source->fd, to, size);

		if (got > 0)
			return got;
		if (got == 0) {
			source->ended = true;
		} else if (errno != EINTR && errno != EAGAIN) {
			note_trouble(source, strerror(errno));
			return -1;
		}
	}
	return 0;
}

/* Reads until the buffer holds `wanted` bytes, or the file ends. */
static bool
fill(struct source *source, size_t wanted)
{
	struct unpack_window *input = &source->input;

	while (input->in_left < wanted) {
		ssize_t got = read_bytes(source, source->buffer + input->in_left, INPUT_BYTES - input->in_left);

		if (got < 0)
			return false;
		if (got == 0)
			break;
		input->in_left += (size_t)got;
	}
	return true;
}

/* ----------------------------------------------------------------------------------------- libpcap's stream */

static ssize_t
give_plain(struct source *source, char *to, size_t size)
{
	struct unpack_window *input = &source->input;
	size_t n = input->in_left < size ? input->in_left : size;

	if (n == 0)
		return read_bytes(source, to, size);
	memcpy(to, input->in, n); /* bytes read to detect the compression */
	input->in += n;
	input->in_left -= n;
	return (ssize_t)n;
}

static ssize_t
give_unpacked(struct source *source, char *to, size_t size)
{
	struct unpack_window *input = &source->input;

	input->out = (uint8_t *)to;
	input->out_left = size;
	while (input->out_left == size) {
		enum unpack_result result;

		if (input->in_left == 0) {
			input->in = source->buffer;
			if (!fill(source, 1))
				return -1;
		}
		if (input->in_left == 0 && (source->whole || loop_stopped(source->loop)))
			return 0;
		if (input->in_left == 0 && source->ended) {
			note_trouble(source, "break off");
			return -1;
		}
		result = source->format->step(source->unpacker, input);
		source->whole = result == UNPACK_WHOLE;
		if (result == UNPACK_BAD) {
			note_trouble(source, "are damaged");
			return size > input->out_left ? (ssize_t)(size - input->out_left) : -1;
		}
	}
	return (ssize_t)(size - input->out_left);
}

static ssize_t
stream_read(void *cookie, char *to, size_t size)
{
	struct source *source = cookie;
	ssize_t given;

	if (source->trouble != NULL) {
		errno = EIO;
		return -1;
	}
	given = source->format == NULL ? give_plain(source, to, size) : give_unpacked(source, to, size);
	if (given > 0)
		source->given += given;
	else if (given < 0)
		errno = EIO;
	return given;
}

/* Supports ftello(), and seeking within a plain file. */
static int
stream_seek(void *cookie, off64_t *offset, int whence)
{
	struct source *source = cookie;

	if (whence == SEEK_SET && source_plain_file(source) >= 0) {
		if (lseek(source->fd, *offset, SEEK_SET) < 0)
			return -1;
		source->input.in_left = 0;
		source->ended = false;
		source->given = *offset;
		return 0;
	}
	if (whence != SEEK_CUR || *offset != 0) {
		errno = ESPIPE;
		return -1;
	}
	*offset = source->given;
	return 0;
}

FILE *
source_stream(struct source *source)
{
	FILE *stream = fopencookie(source, "r", (cookie_io_functions_t){.read = stream_read, .seek = stream_seek});

	if (stream != NULL)
		setvbuf(stream, source->stream_buffer, _IOFBF, sizeof source->stream_buffer);
	return stream;
}

/* -------------------------------------------------------------------------------------------------- opening */

/* Opens a named pipe without waiting for its writer; the loop waits. */
static bool
open_file(struct source *source, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0) {
		source->fd = STDIN_FILENO;
		source->name = "standard input";
	} else {
		source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	if (source->fd < 0 || fstat(source->fd, &status) < 0) {
		log_error("cannot read %s: %s", source->name, strerror(errno));
		return false;
	}
	if (S_ISDIR(status.st_mode)) {
		log_error("cannot read %s: it is a directory, a capture file is wanted", source->name);
		return false;
	}
	if (isatty(source->fd)) {
		log_error("cannot read %s: it is a terminal, a capture file or a pipe is wanted", source->name);
		return false;
	}
	source->plain_file = S_ISREG(status.st_mode);
	if (source->plain_file)
		(void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* a hint only */
	return true;
}

/* Detects the format by the first bytes and creates the decompressor. */
bool
source_begin(struct source *source)
{
	static const struct unpack_format *const formats[] = {&unpack_gzip, &unpack_zstd};
	struct unpack_window *input = &source->input;

	input->in = source->buffer;
	if (!fill(source, MAGIC_BYTES)) {
		log_error("cannot read %s: %s", source->name, source->trouble);
		return false;
	}
	if (input->in_left == 0 && source->ended) {
		log_error("%s is empty", source->name);
		return false;
	}
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (input->in_left >= formats[i]->magic_length &&
		    memcmp(source->buffer, formats[i]->magic, formats[i]->magic_length) == 0)
			source->format = formats[i];
	if (source->format == NULL)
		return true;
	source->unpacker = source->format->start();
	if (source->unpacker == NULL)
		log_error("cannot read %s: out of memory", source->name);
	return source->unpacker != NULL;
}

struct source *
source_open(const char *path, struct loop *loop, loop_callback *idle, void *context)
{
	struct source *source = malloc(sizeof *source);

	if (source == NULL) {
		log_error("cannot read %s: out of memory", path);
		return NULL;
	}
	memset(source, 0, offsetof(struct source, buffer));
	source->name = path;
	source->loop = loop;
	source->idle = idle;
	source->idle_context = context;
	if (!open_file(source, path)) {
		source_free(source);
		return NULL;
	}
	return source;
}

void
source_free(struct source *source)
{
	if (source == NULL)
		return;
	if (source->unpacker != NULL)
		source->format->finish(source->unpacker);
	if (source->fd > STDIN_FILENO)
		close(source->fd);
	free(source);
}

int
source_plain_file(const struct source *source)
{
	return source->plain_file && source->format == NULL && source->fd != STDIN_FILENO ? source->fd : -1;
}

const char *
source_name(const struct source *source)
{
	return source->name;
}

const char *
source_trouble(const struct source *source)
{
	return source->trouble;
}

const char *
source_packing(const struct source *source)
{
	return source->format != NULL ? source->format->name : NULL;
}
