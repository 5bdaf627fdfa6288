/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_capture FORMAT WHAT: writes a capture to standard output.
 *
 *	frames		frames of 0, 1, 3, 4, 60 and 262144 bytes on one interface; byte I of frame F is F + 31 * I;
 *			with comments, packet ids and directions
 *	interfaces	a frame on each of 1000 interfaces, if0 to if999
 *	time SECONDS	one frame at this time, and 123456789 ns
 *	link DLT	one frame of this link type
 *	comments COUNT	one frame with COUNT comments of 65535 bytes
 *
 * Exits with 1 and the reason on standard error if a frame cannot be written.
 */
#include <pcap/dlt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/format/capture_writer.h"

#define FRAME_MAX      262144u
#define COMMENT_SIZE   65535u
#define COMMENTS_MAX   1000u
#define INTERFACES     1000u
#define FIRST_SECONDS  UINT64_C(1700000000)
#define SECOND	       UINT64_C(1000000000)

static uint8_t data[FRAME_MAX];

static bool
write_standard_output(void *context, const void *bytes, size_t size)
{
	(void)context;
	return fwrite(bytes, 1, size, stdout) == size;
}

static bool
add_interface(struct capture_writer *writer, const char *name, int dlt)
{
	const struct written_interface interface = {.name = name, .dlt = dlt, .snaplen = FRAME_MAX};
	unsigned number;

	return capture_writer_add_interface(writer, &interface, &number);
}

static bool
add_plain_frame(struct capture_writer *writer, unsigned interface, uint64_t ts)
{
	const struct written_frame frame = {
	    .interface = interface, .ts = ts, .data = data, .caplen = 60, .len = 60, .pid = -1};

	return capture_writer_add_frame(writer, &frame);
}

static bool
write_frames(struct capture_writer *writer)
{
	static const uint32_t sizes[] = {0, 1, 3, 4, 60, FRAME_MAX};
	static const char *const comments[] = {"first comment", "second, caf\xc3\xa9"};
	bool good = add_interface(writer, "eth0", DLT_EN10MB);

	for (unsigned i = 0; good && i < sizeof sizes / sizeof sizes[0]; i++) {
		const struct written_frame frame = {
		    .ts = (FIRST_SECONDS + i) * SECOND + 123456789,
		    .data = data,
		    .caplen = sizes[i],
		    .len = sizes[i] == FRAME_MAX ? FRAME_MAX : sizes[i] + i,
		    .direction = (enum written_direction)(i % 3),
		    .packet_id = i == 0 ? 0 : (UINT64_C(1) << 40) + i,
		    .pid = i == 2 ? 917 : -1,
		    .comments = comments,
		    .comment_count = i % 3,
		};

		for (uint32_t at = 0; at < sizes[i]; at++)
			data[at] = (uint8_t)(i + 31 * at);
		good = capture_writer_add_frame(writer, &frame);
	}
	return good;
}

static bool
write_interfaces(struct capture_writer *writer)
{
	char name[16];
	bool good = true;

	for (unsigned i = 0; good && i < INTERFACES; i++) {
		snprintf(name, sizeof name, "if%u", i);
		good = add_interface(writer, name, DLT_EN10MB);
	}
	for (unsigned i = 0; good && i < INTERFACES; i++)
		good = add_plain_frame(writer, i, (FIRST_SECONDS + i) * SECOND);
	return good;
}

static bool
write_comments(struct capture_writer *writer, size_t count)
{
	static char text[COMMENT_SIZE + 1];
	const char *comments[COMMENTS_MAX];
	const struct written_frame frame = {
	    .ts = FIRST_SECONDS * SECOND, .data = data, .caplen = 60, .len = 60, .pid = -1, .comments = comments,
	    .comment_count = count < COMMENTS_MAX ? count : COMMENTS_MAX};

	memset(text, 'x', COMMENT_SIZE);
	for (size_t i = 0; i < COMMENTS_MAX; i++)
		comments[i] = text;
	return add_interface(writer, "eth0", DLT_EN10MB) && capture_writer_add_frame(writer, &frame);
}

static bool
write_what(struct capture_writer *writer, const char *what, uint64_t value)
{
	if (strcmp(what, "frames") == 0)
		return write_frames(writer);
	if (strcmp(what, "interfaces") == 0)
		return write_interfaces(writer);
	if (strcmp(what, "comments") == 0)
		return write_comments(writer, value);
	if (strcmp(what, "time") == 0)
		return add_interface(writer, "eth0", DLT_EN10MB) &&
		       add_plain_frame(writer, 0, value * SECOND + 123456789);
	return add_interface(writer, "any0", (int)value) && add_plain_frame(writer, 0, FIRST_SECONDS * SECOND);
}

int
main(int argc, char **argv)
{
	const struct byte_sink sink = {.write = write_standard_output};
	const struct written_statistics statistics = {.comment = "the end"};
	uint64_t value = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	struct capture_writer *writer;
	int dlt;

	if (argc < 3)
		return 2;
	dlt = strcmp(argv[2], "link") == 0 ? (int)value : DLT_EN10MB;
	if (!capture_format_holds(capture_format_parse(argv[1]), dlt)) {
		fprintf(stderr, "the format does not hold this link type\n");
		return 1;
	}
	writer = capture_writer_new(capture_format_parse(argv[1]), dlt, FRAME_MAX, &sink);
	if (writer == NULL)
		return 2;
	if (!capture_writer_begin(writer) || !write_what(writer, argv[2], value) ||
	    !capture_writer_end(writer, &statistics)) {
		const char *error = capture_writer_error(writer);

		fprintf(stderr, "%s\n", error != NULL ? error : "the sink has failed");
		capture_writer_free(writer);
		return 1;
	}
	capture_writer_free(writer);
	return fflush(stdout) == 0 ? 0 : 1;
}
