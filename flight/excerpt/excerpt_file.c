/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_file.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "base/output_file.h"
#include "dissect/packet.h"

/* The longest frame of a capture file (MAXIMUM_SNAPLEN of libpcap). */
#define SNAPLEN 262144u

enum { WRITE_BUFFER = 256 * 1024 };

/* An interface that the file has.  Equal ones have one number. */
struct excerpt_interface {
	char name[sizeof((struct interface *)0)->name];
	int dlt;
	unsigned number;
};

struct excerpt_file {
	const char *path;
	enum capture_format format;
	struct output_file *output;
	struct capture_writer *writer; /* NULL until the first frame */
	int dlt;		       /* link type of a format that has one */
	struct excerpt_interface *interfaces;
	size_t interface_count, interface_capacity;
	const struct interface *latest; /* of the latest frame, whose number is `latest_number` */
	int latest_dlt;
	unsigned latest_number;
	uint64_t frames;
	bool failed, reported;
	int error;	    /* why it has failed, an errno value; 0: `reason`, or the frame's link type */
	const char *reason; /* why the format cannot hold the frame; NULL: its link type */
	int other_dlt; /* link type that does not fit */
	size_t used; /* bytes of the buffer */
	uint8_t buffer[WRITE_BUFFER];
};

struct excerpt_file *
excerpt_file_open(const char *path, const struct config *config)
{
	char error[OUTPUT_PATH_ERROR_MAX];
	struct excerpt_file *file;

	if (output_file_is_input(path, config->capture_paths)) {
		log_error("cannot write the capture %s: it is the capture that is read", path);
		return NULL;
	}
	file = malloc(sizeof *file);
	if (file == NULL) {
		log_out_of_memory();
		return NULL;
	}
	memset(file, 0, offsetof(struct excerpt_file, buffer));
	file->path = path;
	file->format = (enum capture_format)config->write_format;
	file->output = output_file_open(path, false, error);
	if (file->output != NULL && isatty(output_file_fd(file->output)) == 0)
		return file;
	log_error("cannot write the capture %s: %s", path,
		  file->output != NULL ? "a capture is not written to a terminal" : error);
	output_file_free(file->output);
	free(file);
	return NULL;
}

int
excerpt_file_open_temporary(const struct excerpt_file *file)
{
	return output_file_open_temporary(file->output);
}

void
excerpt_file_free(struct excerpt_file *file)
{
	if (file == NULL)
		return;
	capture_writer_free(file->writer);
	output_file_free(file->output);
	free(file->interfaces);
	free(file);
}

uint64_t
excerpt_file_frames(const struct excerpt_file *file)
{
	return file->frames;
}

uint64_t
excerpt_file_shortened(const struct excerpt_file *file)
{
	return file->writer != NULL ? capture_writer_shortened(file->writer) : 0;
}

/* --------------------------------------------------------------------------------------------------------- writing */

static bool
excerpt_file_fail(struct excerpt_file *file, int error)
{
	if (!file->failed)
		file->error = error;
	file->failed = true;
	return false;
}

/* The writer has returned false: if the sink did, it has set the error. */
static bool
excerpt_file_fail_writer(struct excerpt_file *file)
{
	if (!file->failed)
		file->reason = capture_writer_error(file->writer);
	return excerpt_file_fail(file, 0);
}

static bool
excerpt_file_write(struct excerpt_file *file, const uint8_t *from, size_t size)
{
	return output_write_all(output_file_fd(file->output), from, size) || excerpt_file_fail(file, errno);
}

static bool
excerpt_file_flush(struct excerpt_file *file)
{
	size_t used = file->used;

	file->used = 0;
	return excerpt_file_write(file, file->buffer, used);
}

/* The sink of the writer. */
static bool
excerpt_file_take_bytes(void *context, const void *bytes, size_t size)
{
	struct excerpt_file *file = context;

	if (file->failed || (size > WRITE_BUFFER - file->used && !excerpt_file_flush(file)))
		return false;
	if (size > WRITE_BUFFER)
		return excerpt_file_write(file, bytes, size);
	memcpy(file->buffer + file->used, bytes, size);
	file->used += size;
	return true;
}

static bool
excerpt_file_begin(struct excerpt_file *file, int dlt)
{
	const struct byte_sink sink = {.write = excerpt_file_take_bytes, .context = file};

	file->dlt = dlt;
	file->writer = capture_writer_new(file->format, dlt, SNAPLEN, &sink);
	if (file->writer == NULL)
		return excerpt_file_fail(file, ENOMEM);
	return capture_writer_begin(file->writer);
}

/* Whether the format can hold the frame. */
static bool
excerpt_file_check_link_type(struct excerpt_file *file, int dlt)
{
	if (file->format == CAPTURE_PCAPNG)
		return true;
	if (file->writer != NULL ? dlt == file->dlt : capture_format_holds(file->format, dlt))
		return true;
	file->other_dlt = dlt;
	return excerpt_file_fail(file, 0);
}

static const char *
excerpt_link_name(int dlt)
{
	const char *name = pcap_datalink_val_to_name(dlt);

	return name != NULL ? name : "without a name";
}

bool
excerpt_file_is_closed(const struct excerpt_file *file)
{
	return file->failed && file->error == EPIPE;
}

void
excerpt_file_log_error(struct excerpt_file *file)
{
	const char *format = capture_format_name(file->format);

	if (!file->failed || file->reported || excerpt_file_is_closed(file))
		return;
	file->reported = true;
	if (file->error != 0)
		log_error("cannot write the capture %s: %s", file->path, strerror(file->error));
	else if (file->reason != NULL)
		log_error("cannot write the capture %s: %s: --write-format pcapng", file->path, file->reason);
	else if (file->writer != NULL)
		log_error("cannot write the capture %s: its frames have link types %s and %s, and a %s file has one: "
			  "--write-format pcapng",
			  file->path, excerpt_link_name(file->dlt), excerpt_link_name(file->other_dlt), format);
	else
		log_error("cannot write the capture %s: a %s file cannot hold frames of link type %s: --write-format "
			  "pcapng",
			  file->path, format, excerpt_link_name(file->other_dlt));
}

static bool
excerpt_file_add_interface(struct excerpt_file *file, const struct interface *interface, int dlt)
{
	struct excerpt_interface *added;
	struct written_interface written = {.name = interface->name, .dlt = dlt, .snaplen = SNAPLEN};
	void *array = file->interfaces;

	if (!array_reserve_one(&array, file->interface_count, &file->interface_capacity, sizeof *added))
		return excerpt_file_fail(file, ENOMEM);
	file->interfaces = array;
	added = &file->interfaces[file->interface_count++];
	memcpy(added->name, interface->name, sizeof added->name);
	added->dlt = dlt;
	return capture_writer_add_interface(file->writer, &written, &added->number) ||
	       excerpt_file_fail(file, ENOMEM);
}

/* Sets the number of a frame's interface in the file. */
static bool
excerpt_file_find_interface(struct excerpt_file *file, const struct interface *interface, int dlt)
{
	size_t i = 0;

	if (interface == file->latest && dlt == file->latest_dlt)
		return true;
	while (i < file->interface_count && (file->interfaces[i].dlt != dlt ||
					     strcmp(file->interfaces[i].name, interface->name) != 0))
		i++;
	if (i == file->interface_count && !excerpt_file_add_interface(file, interface, dlt))
		return false;
	file->latest = interface;
	file->latest_dlt = dlt;
	file->latest_number = file->interfaces[i].number;
	return true;
}

static enum written_direction
excerpt_written_direction(unsigned direction)
{
	return direction == DIRECTION_IN    ? WRITTEN_INBOUND
	       : direction == DIRECTION_OUT ? WRITTEN_OUTBOUND
					    : WRITTEN_UNKNOWN;
}

bool
excerpt_file_add(struct excerpt_file *file, const struct excerpt_frame *frame)
{
	struct written_frame written = {
	    .ts = frame->ts,
	    .data = frame->data,
	    .caplen = frame->caplen,
	    .len = frame->len,
	    .direction = excerpt_written_direction(frame->direction),
	    .packet_id = frame->packet_id,
	    .pid = -1,
	    .comments = frame->comments,
	    .comment_count = frame->comment_count,
	};

	if (file->failed || !excerpt_file_check_link_type(file, frame->dlt) ||
	    (file->writer == NULL && !excerpt_file_begin(file, frame->dlt)) ||
	    !excerpt_file_find_interface(file, frame->interface, frame->dlt))
		return false;
	written.interface = file->latest_number;
	file->frames++;
	return capture_writer_add_frame(file->writer, &written) || excerpt_file_fail_writer(file);
}

bool
excerpt_file_complete(struct excerpt_file *file, int dlt, const struct written_statistics *statistics)
{
	int error;

	if (file->failed)
		return false;
	if (!capture_format_holds(file->format, dlt))
		dlt = DLT_EN10MB;
	if (file->writer == NULL && !excerpt_file_begin(file, dlt))
		return false;
	if (!capture_writer_end(file->writer, statistics))
		return excerpt_file_fail_writer(file);
	if (!excerpt_file_flush(file))
		return false; /* the error is set */
	error = output_file_complete(file->output);
	return error == 0 || excerpt_file_fail(file, error);
}
