/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a file that may be compressed.  The first byte is the size of the pieces in which the stream is read and
 * in which a pipe delivers the file.  The stream has the same bytes and the same end whatever these sizes are; an
 * uncompressed file is its own content, and a decoder that has the whole file in memory agrees.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/log.h"
#include "capture/file/decompress.h"
#include "capture/file/file_stream.h"
#include "tests/fuzz/fuzz_must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A pipe has this many pieces without a reader. */
#define PIECES	16u
#define FILE_MAX 32768u

/* No more is read: small files can be large. */
#define CONTENT_MAX (1u << 20)

/* Content of a stream. */
struct content {
	bool detected, failed, compressed;
	size_t length;
	uint8_t bytes[CONTENT_MAX];
};

static struct content from_file, from_pipe, expected;
static struct loop *loop;

/* Replaces base/log.c. */
void
log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

static void
on_wait(void *context)
{
	(void)context;
}

/* Reads the stream of a descriptor, in pieces, and closes the descriptor. */
static void
read_stream(int fd, size_t piece, struct content *content)
{
	char path[32];
	struct file_stream *stream;
	FILE *file;
	size_t got;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	stream = file_stream_open(path, loop, on_wait, NULL);
	must(stream != NULL);
	close(fd);
	content->length = 0;
	content->failed = content->compressed = false;
	content->detected = file_stream_detect_format(stream);
	if (!content->detected) {
		file_stream_free(stream);
		return;
	}
	file = file_stream_fopen(stream);
	must(file != NULL);
	do {
		if (piece > CONTENT_MAX - content->length)
			piece = CONTENT_MAX - content->length;
		got = fread(content->bytes + content->length, 1, piece, file);
		content->length += got;
	} while (got > 0);
	content->compressed = file_stream_compression(stream) != NULL;
	content->failed = content->length < CONTENT_MAX && file_stream_error(stream) != NULL;
	must(content->length == CONTENT_MAX || (ferror(file) != 0) == content->failed);
	fclose(file);
	file_stream_free(stream);
}

static int
make_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("content", 0);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	return fd;
}

/* A pipe that delivers pieces: a read gives at most one. */
static int
make_pipe(const uint8_t *bytes, size_t size, size_t piece)
{
	int ends[2];
	char path[32];
	int fd;

	if (piece < (size + PIECES - 2) / (PIECES - 1))
		piece = (size + PIECES - 2) / (PIECES - 1);
	must(pipe2(ends, O_DIRECT) == 0);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;

		must(write(ends[1], bytes + at, n) == (ssize_t)n);
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	must(fd >= 0);
	close(ends[0]);
	close(ends[1]);
	return fd;
}

/* ----------------------------------------------------------------------------------------- what is expected */

static bool
begins_with(const uint8_t *data, size_t size, const char *magic, size_t length)
{
	return size >= length && memcmp(data, magic, length) == 0;
}

static void
expect_gzip(const uint8_t *data, size_t size)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = expected.bytes,
			   .avail_out = CONTENT_MAX};
	int result = Z_STREAM_END;

	must(inflateInit2(&stream, 15 + 16) == Z_OK);
	while (stream.avail_in > 0 && stream.avail_out > 0 && result == Z_STREAM_END) {
		must(inflateReset(&stream) == Z_OK);
		result = inflate(&stream, Z_SYNC_FLUSH);
	}
	expected.length = CONTENT_MAX - stream.avail_out;
	expected.failed = stream.avail_out > 0 && result != Z_STREAM_END;
	inflateEnd(&stream);
}

/* zstd gives no byte of a step that ends in an error: byte by byte it gives all before a damage.  A frame of zstd
 * before 1.0, which begins with 0x22 to 0x27, counts as one. */
static void
expect_zstd(const uint8_t *data, size_t size)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {.src = data};
	ZSTD_outBuffer out = {.dst = expected.bytes, .size = CONTENT_MAX};
	size_t result = 0, before;
	bool old = false;

	must(stream != NULL &&
	     !ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, DECOMPRESS_WINDOW_LOG_MAX)));
	while (in.size < size && !ZSTD_isError(result) && out.pos < CONTENT_MAX) {
		old = result == 0 && in.pos == in.size && data[in.size] >= 0x22 && data[in.size] <= 0x27;
		if (old)
			break;
		in.size++;
		do {
			before = in.pos + out.pos;
			expected.length = out.pos;
			result = ZSTD_decompressStream(stream, &out, &in);
		} while (!ZSTD_isError(result) && result != 0 && in.pos + out.pos > before);
	}
	if (!ZSTD_isError(result))
		expected.length = out.pos;
	expected.failed = old || ZSTD_isError(result) || (out.pos < CONTENT_MAX && result != 0);
	ZSTD_freeDStream(stream);
}

static void
expect(const uint8_t *data, size_t size)
{
	if (begins_with(data, size, "\x1f\x8b", 2)) {
		expect_gzip(data, size);
	} else if (begins_with(data, size, "\x28\xb5\x2f\xfd", 4)) {
		expect_zstd(data, size);
	} else {
		expected.length = size;
		expected.failed = false;
		memcpy(expected.bytes, data, size);
	}
}

static void
must_be_equal(const struct content *a, const struct content *b)
{
	size_t n = a->length < b->length ? a->length : b->length;

	must(a->failed == b->failed && a->compressed == b->compressed);
	must(a->length == b->length || a->failed);
	must(memcmp(a->bytes, b->bytes, n) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece;

	if (size < 2 || size > FILE_MAX)
		return 0;
	if (loop == NULL)
		loop = loop_new();
	must(loop != NULL);
	piece = data[0] < 128 ? data[0] + 1u : (data[0] - 127) * 1000u;
	data++;
	size--;
	read_stream(make_file(data, size), piece, &from_file);
	read_stream(make_pipe(data, size, piece), CONTENT_MAX, &from_pipe);
	must(from_file.detected && from_pipe.detected);
	must_be_equal(&from_file, &from_pipe);
	expect(data, size);
	expected.compressed = from_file.compressed;
	must_be_equal(&from_file, &expected);
	must(from_file.length <= expected.length && from_pipe.length <= expected.length);
	return 0;
}
