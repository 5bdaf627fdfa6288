/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/file/file_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/file/decompress.h"
#include "capture/file/reader_threads.h"

#define INPUT_BYTES  (128u * 1024)
#define STREAM_BYTES (256u * 1024)
#define MAGIC_BYTES  4
#define PEEK_BYTES   8

struct file_stream {
	const char *name;
	int fd;
	bool regular_file; /* reads never block */
	bool eof;	 /* read() has returned 0 */
	bool may_end;	 /* the compressed data is complete up to here */
	struct loop *loop;
	loop_callback *on_wait;
	void *wait_context;
	const struct decompressor *format; /* NULL: not compressed */
	void *decompress_state;
	off_t offset; /* bytes that the reader has received */
	bool failed;  /* the reader has received an error */
	const char *error; /* perhaps of bytes after those that the reader has received */
	uint8_t peeked[PEEK_BYTES]; /* the first bytes */
	size_t peeked_count;
	const uint8_t *unread; /* bytes that are received before all others */
	size_t unread_count;
	char error_text[224];
	struct read_queue *queue; /* NULL: the stream is not read ahead */
	const uint8_t *ahead;	  /* bytes of the queue that are not received yet */
	size_t ahead_left;
	struct decompress_buffers input; /* in, in_left: bytes read but not used yet */
	uint8_t buffer[INPUT_BYTES];
	char stream_buffer[STREAM_BYTES];
};

static void
file_stream_set_error(struct file_stream *stream, const char *what)
{
	if (stream->format != NULL)
		snprintf(stream->error_text, sizeof stream->error_text, "the %s data %s", stream->format->name, what);
	else
		snprintf(stream->error_text, sizeof stream->error_text, "%s", what);
	stream->error = stream->error_text;
}

static void
file_stream_set_decompress_error(struct file_stream *stream, enum decompress_result result)
{
	char what[160];

	snprintf(what, sizeof what,
		 "need a window of more than %u MiB (zstd --long, --ultra); decompress them first, with "
		 "zstd -d --long=31, or compress them without these options",
		 1u << (DECOMPRESS_WINDOW_LOG_MAX - 20));
	file_stream_set_error(stream, result == DECOMPRESS_TOO_LARGE ? what : "are damaged");
}

/* Waits until a read will not block.  False if the loop was stopped. */
static bool
file_stream_wait_readable(struct file_stream *stream)
{
	struct pollfd ready = {.fd = stream->fd, .events = POLLIN};

	if (stream->regular_file || poll(&ready, 1, 0) > 0)
		return true;
	stream->on_wait(stream->wait_context);
	return loop_wait_readable(stream->loop, stream->fd);
}

/* read(2) that waits in the loop.  0 at the end and if the loop was stopped, -1 with `error` set on an error. */
static ssize_t
file_stream_read_fd(struct file_stream *stream, void *to, size_t size)
{
	while (!stream->eof && file_stream_wait_readable(stream)) {
		ssize_t got = read(stream->fd, to, size);

		if (got > 0)
			return got;
		if (got == 0) {
			stream->eof = true;
		} else if (errno != EINTR && errno != EAGAIN) {
			file_stream_set_error(stream, strerror(errno));
			return -1;
		}
	}
	return 0;
}

/* Reads until the buffer holds `wanted` bytes, or the file ends. */
static bool
file_stream_fill(struct file_stream *stream, size_t wanted)
{
	struct decompress_buffers *input = &stream->input;

	while (input->in_left < wanted) {
		ssize_t got =
		    file_stream_read_fd(stream, stream->buffer + input->in_left, INPUT_BYTES - input->in_left);

		if (got < 0)
			return false;
		if (got == 0)
			break;
		input->in_left += (size_t)got;
	}
	return true;
}

/* -------------------------------------------------------------------------------------------------- the bytes */

/* A small read goes through the buffer, where the bytes after it stay. */
static ssize_t
file_stream_copy_uncompressed(struct file_stream *stream, char *to, size_t size)
{
	struct decompress_buffers *input = &stream->input;
	size_t n;

	if (input->in_left == 0) {
		if (size >= INPUT_BYTES)
			return file_stream_read_fd(stream, to, size);
		input->in = stream->buffer;
		if (!file_stream_fill(stream, 1))
			return -1;
	}
	n = input->in_left < size ? input->in_left : size;
	memcpy(to, input->in, n);
	input->in += n;
	input->in_left -= n;
	return (ssize_t)n;
}

static ssize_t
file_stream_decompress(struct file_stream *stream, char *to, size_t size)
{
	struct decompress_buffers *input = &stream->input;

	input->out = (uint8_t *)to;
	input->out_left = size;
	while (input->out_left == size) {
		enum decompress_result result;

		if (input->in_left == 0) {
			input->in = stream->buffer;
			if (!file_stream_fill(stream, 1))
				return -1;
		}
		if (input->in_left == 0 && (stream->may_end || !stream->eof))
			return 0; /* the end, or the loop was stopped */
		if (input->in_left == 0) {
			file_stream_set_error(stream, "break off");
			return -1;
		}
		result = stream->format->step(stream->decompress_state, input);
		stream->may_end = result == DECOMPRESS_END;
		if (result == DECOMPRESS_ERROR || result == DECOMPRESS_TOO_LARGE) {
			file_stream_set_decompress_error(stream, result);
			return size > input->out_left ? (ssize_t)(size - input->out_left) : -1;
		}
	}
	return (ssize_t)(size - input->out_left);
}

/* The next bytes of the content. */
static ssize_t
file_stream_produce(struct file_stream *stream, char *to, size_t size)
{
	if (stream->error != NULL)
		return -1;
	return stream->format == NULL ? file_stream_copy_uncompressed(stream, to, size)
				      : file_stream_decompress(stream, to, size);
}

/* The next bytes, read by another thread. */
static ssize_t
file_stream_copy_ahead(struct file_stream *stream, void *to, size_t size)
{
	if (stream->ahead_left == 0) {
		ssize_t got = read_queue_next(stream->queue, &stream->ahead);

		if (got <= 0)
			return got;
		stream->ahead_left = (size_t)got;
	}
	size = size < stream->ahead_left ? size : stream->ahead_left;
	memcpy(to, stream->ahead, size);
	stream->ahead += size;
	stream->ahead_left -= size;
	return (ssize_t)size;
}

size_t
file_stream_peek(struct file_stream *stream, uint8_t *to, size_t size)
{
	ssize_t got = 1;

	while (got > 0 && stream->peeked_count < size && stream->peeked_count < PEEK_BYTES) {
		got = file_stream_produce(stream, (char *)stream->peeked + stream->peeked_count,
					  PEEK_BYTES - stream->peeked_count);
		if (got > 0)
			stream->peeked_count += (size_t)got;
	}
	stream->unread = stream->peeked;
	stream->unread_count = stream->peeked_count;
	size = size < stream->peeked_count ? size : stream->peeked_count;
	memcpy(to, stream->peeked, size);
	return size;
}

static ssize_t
file_stream_copy_unread(struct file_stream *stream, void *to, size_t size)
{
	size_t n = stream->unread_count < size ? stream->unread_count : size;

	memcpy(to, stream->unread, n);
	stream->unread += n;
	stream->unread_count -= n;
	return (ssize_t)n;
}

ssize_t
file_stream_read(struct file_stream *stream, void *to, size_t size)
{
	ssize_t given;

	if (stream->unread_count > 0)
		given = file_stream_copy_unread(stream, to, size);
	else if (stream->queue != NULL)
		given = file_stream_copy_ahead(stream, to, size);
	else
		given = file_stream_produce(stream, to, size);
	if (given > 0)
		stream->offset += given;
	stream->failed |= given < 0;
	return given;
}

void
file_stream_unread(struct file_stream *stream, const void *bytes, size_t count)
{
	stream->unread = bytes;
	stream->unread_count = count;
	stream->offset -= (off_t)count;
}

/* The source of the queue. */
static ssize_t
file_stream_produce_ahead(void *stream, void *to, size_t size)
{
	return file_stream_produce(stream, to, size);
}

bool
file_stream_read_ahead(struct file_stream *stream, struct reader_threads *threads)
{
	if (stream->regular_file && stream->format != NULL)
		stream->queue = reader_threads_add(threads, file_stream_produce_ahead, stream);
	return stream->queue != NULL;
}

/* ----------------------------------------------------------------------------------------- libpcap's stream */

/* Reads no further than the header of the capture at first, so that stdio buffers nothing after it: another reader
 * than libpcap can go on there. */
static ssize_t
file_stream_cookie_read(void *cookie, char *to, size_t size)
{
	struct file_stream *stream = cookie;
	off_t header = FILE_STREAM_PCAP_HEADER - stream->offset;
	ssize_t given = file_stream_read(stream, to, header > 0 && size > (size_t)header ? (size_t)header : size);

	if (given < 0)
		errno = EIO;
	return given;
}

/* Supports ftello(). */
static int
file_stream_cookie_seek(void *cookie, off64_t *offset, int whence)
{
	const struct file_stream *stream = cookie;

	if (whence != SEEK_CUR || *offset != 0) {
		errno = ESPIPE;
		return -1;
	}
	*offset = stream->offset;
	return 0;
}

FILE *
file_stream_fopen(struct file_stream *stream)
{
	FILE *file = fopencookie(
	    stream, "r", (cookie_io_functions_t){.read = file_stream_cookie_read, .seek = file_stream_cookie_seek});

	if (file != NULL)
		setvbuf(file, stream->stream_buffer, _IOFBF, sizeof stream->stream_buffer);
	return file;
}

/* -------------------------------------------------------------------------------------------------- opening */

/* Opens a named pipe without waiting for its writer; the loop waits. */
static bool
file_stream_open_fd(struct file_stream *stream, const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0) {
		stream->fd = STDIN_FILENO;
		stream->name = "standard input";
	} else {
		stream->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	if (stream->fd < 0 || fstat(stream->fd, &status) < 0) {
		log_error("cannot read %s: %s%s", stream->name, strerror(errno), unit_clause_of_path(path, errno));
		return false;
	}
	if (S_ISDIR(status.st_mode)) {
		log_error("cannot read %s: it is a directory; expected a capture file", stream->name);
		return false;
	}
	if (isatty(stream->fd)) {
		log_error("cannot read %s: it is a terminal; expected a capture file or a pipe", stream->name);
		return false;
	}
	stream->regular_file = S_ISREG(status.st_mode);
	if (stream->regular_file)
		(void)posix_fadvise(stream->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* a hint only */
	return true;
}

/* Detects the format by the first bytes and creates the decompressor. */
bool
file_stream_detect_format(struct file_stream *stream)
{
	static const struct decompressor *const formats[] = {&decompress_gzip, &decompress_zstd};
	struct decompress_buffers *input = &stream->input;

	input->in = stream->buffer;
	if (!file_stream_fill(stream, MAGIC_BYTES)) {
		log_error("cannot read %s: %s", stream->name, stream->error);
		return false;
	}
	if (input->in_left == 0 && stream->eof) {
		log_error("%s is empty", stream->name);
		return false;
	}
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (input->in_left >= formats[i]->magic_length &&
		    memcmp(stream->buffer, formats[i]->magic, formats[i]->magic_length) == 0)
			stream->format = formats[i];
	if (stream->format == NULL)
		return true;
	stream->decompress_state = stream->format->start();
	if (stream->decompress_state == NULL)
		log_error("cannot read %s: out of memory", stream->name);
	return stream->decompress_state != NULL;
}

struct file_stream *
file_stream_open(const char *path, struct loop *loop, loop_callback *on_wait, void *context)
{
	struct file_stream *stream = malloc(sizeof *stream);

	if (stream == NULL) {
		log_error("cannot read %s: out of memory", path);
		return NULL;
	}
	memset(stream, 0, offsetof(struct file_stream, buffer));
	stream->name = path;
	stream->loop = loop;
	stream->on_wait = on_wait;
	stream->wait_context = context;
	if (!file_stream_open_fd(stream, path)) {
		file_stream_free(stream);
		return NULL;
	}
	return stream;
}

void
file_stream_free(struct file_stream *stream)
{
	if (stream == NULL)
		return;
	if (stream->decompress_state != NULL)
		stream->format->finish(stream->decompress_state);
	if (stream->fd > STDIN_FILENO)
		close(stream->fd);
	free(stream);
}

off_t
file_stream_position(const struct file_stream *stream)
{
	return stream->offset;
}

bool
file_stream_is_file(const struct file_stream *stream)
{
	return stream->regular_file;
}

uint64_t
file_stream_size(const struct file_stream *stream)
{
	struct stat status;

	return stream->regular_file && fstat(stream->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint64_t
file_stream_bytes_after(const struct file_stream *stream, uint64_t offset)
{
	off_t at = stream->regular_file ? lseek(stream->fd, 0, SEEK_CUR) : 0;
	/* With a queue, `input` is used by other threads, and the file is read at most a queue ahead. */
	double used = at > 0 ? (double)at - (stream->queue == NULL ? (double)stream->input.in_left : 0) : 0;

	if (stream->format == NULL)
		return offset;
	return stream->offset > 0 ? (uint64_t)(used * (double)offset / (double)stream->offset) : 0;
}

const char *
file_stream_name(const struct file_stream *stream)
{
	return stream->name;
}

const char *
file_stream_error(const struct file_stream *stream)
{
	return stream->failed ? stream->error : NULL;
}

const char *
file_stream_compression(const struct file_stream *stream)
{
	return stream->format != NULL ? stream->format->name : NULL;
}
