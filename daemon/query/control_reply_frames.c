/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies to "write": a capture made from the flight memory of all workers, merged by packet time.
 *
 * After "ok" the capture follows in chunks: the length in four bytes, network order, and that many bytes.  Length 0
 * ends it and is followed by a line of JSON; CHUNK_ERROR is followed by a line with the reason why the capture breaks
 * off.  Before any other chunk it means that the flight memory has no frame of the connection.
 * The bytes are made in parts with the locks of the workers held, and the rings may wrap between two parts.
 */
#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/query/control_reply.h"
#include "daemon/query/frame_programs.h"
#include "flight/format/capture_writer.h"
#include "flight/ring.h"

/* Most replies of this kind at the same time, which limits their memory. */
#define CAPTURES_MAX 8u

#define CHUNK_ERROR UINT32_MAX

/* A part ends with the frame that makes it this long, or after this many frames; capture is blocked meanwhile.  With a
 * filter there may be fewer frames, so that a part runs at most so many instructions: half a millisecond. */
#define PART_BYTES	  ((size_t)48 * 1024)
#define PART_FRAMES	  1024u
#define PART_INSTRUCTIONS (32u * FRAME_PROGRAM_MAX)

/* Connections examined in one part to find the owners. */
#define PART_FLOWS 4096u

/* Bytes of the buffer: a part, and the largest frame with its comments. */
#define BUFFER_SIZE ((size_t)512 * 1024)

/* Comments of a frame, and the bytes of their texts. */
#define COMMENTS_MAX 64u

/* Bytes of the last line of a reply and its chunk. */
#define END_SIZE 512u

struct frames_interface {
	const struct interface *interface; /* of any ring */
	int dlt;
	unsigned number;
};

struct frames_source {
	struct ring_reader *reader; /* NULL: not opened yet */
	struct ring_frame next;
	bool has_next, ended;
};

struct frames_reply {
	struct query_context *query;
	enum capture_format format;
	struct ring_selection selection;
	struct frame_programs *programs; /* the filter; NULL: all frames */
	struct capture_writer *writer; /* NULL before the first frame */
	int dlt;		       /* of the first frame */
	bool owners_sought, ended;
	bool empty; /* the reason of the failure is that there is no frame */
	uint64_t frames, bytes, first, last;
	char failure[320];

	/* Owners of the selected connection: */
	uint32_t position;
	uint64_t cid; /* of its endpoint 0, 0: unknown */
	unsigned local;
	int32_t pids[2];

	struct frames_interface *interfaces;
	unsigned interface_count, interface_space;

	size_t used, sent; /* bytes of the buffer: made, handed over */
	char *buffer;
	char comments[COMMENTS_MAX][RING_COMMENT_MAX];

	unsigned source_count;
	struct frames_source sources[];
};

static void __attribute__((format(printf, 2, 3))) frames_fail(struct frames_reply *frames, const char *format, ...)
{
	va_list arguments;

	if (frames->failure[0] != '\0')
		return;
	va_start(arguments, format);
	vsnprintf(frames->failure, sizeof frames->failure, format, arguments);
	va_end(arguments);
}

static bool
frames_receive_bytes(void *context, const void *bytes, size_t size)
{
	struct frames_reply *frames = context;

	if (size > BUFFER_SIZE - frames->used) {
		frames_fail(frames, "a frame is too large");
		return false;
	}
	memcpy(frames->buffer + frames->used, bytes, size);
	frames->used += size;
	frames->bytes += size;
	return true;
}

/* ------------------------------------------------------------------------------------------------- begin and end */

/* The time of --last ends now; in a replay, at the latest packet. */
static uint64_t
frames_first_time(const struct frames_reply *frames, uint64_t last_ns)
{
	const struct workers *workers = frames->query->workers;
	uint64_t now = 0;

	if (last_ns == 0)
		return 0;
	if (frames->query->config->capture_paths[0] == NULL)
		now = clock_realtime_ns();
	for (unsigned i = 0; i < workers->count && frames->query->config->capture_paths[0] != NULL; i++) {
		struct ring_counters counters = ring_counters(workers->worker[i].ring);

		now = counters.newest > now ? counters.newest : now;
	}
	return now > last_ns ? now - last_ns : 1;
}

/* Call it while the workers are paused: every source reads what is in the rings now. */
static bool
frames_open_sources(struct frames_reply *frames, const struct control_request *request)
{
	const struct workers *workers = frames->query->workers;
	bool good = true;

	frames->selection =
	    (struct ring_selection){.cid = request->cid, .from = frames_first_time(frames, request->last_ns)};
	for (unsigned i = 0; i < workers->count; i++) {
		frames->sources[i].reader = ring_reader_new(workers->worker[i].ring, &frames->selection);
		good &= frames->sources[i].reader != NULL;
	}
	return good;
}

static struct frames_reply *
frames_new(struct query_context *query)
{
	unsigned count = query->workers->count;
	struct frames_reply *frames = calloc(1, sizeof *frames + count * sizeof frames->sources[0]);

	if (frames == NULL)
		return NULL;
	frames->buffer = malloc(BUFFER_SIZE);
	if (frames->buffer == NULL) {
		free(frames);
		return NULL;
	}
	frames->query = query;
	frames->source_count = count;
	frames->pids[0] = frames->pids[1] = -1;
	query->captures++;
	return frames;
}

bool
control_reply_begin_frames(struct control_reply *reply, char *error, size_t size)
{
	struct query_context *query = reply->query;
	const struct control_request *request = &reply->request;
	bool good;

	if (query->workers->worker[0].ring == NULL) {
		snprintf(error, size,
			 "no frames are kept: start netobsd with --flight-memory=SIZE, "
			 "or set flight-memory in netobs.conf");
		return false;
	}
	if (request->link_types)
		return true;
	if (query->captures >= CAPTURES_MAX) {
		snprintf(error, size, "%u captures are being written already, as many as there can be", CAPTURES_MAX);
		return false;
	}
	reply->frames = frames_new(query);
	if (reply->frames == NULL) {
		snprintf(error, size, "netobsd is out of memory");
		return false;
	}
	reply->frames->format = request->format;
	reply->frames->owners_sought = request->cid == 0 || request->format != CAPTURE_PCAPNG;
	if (request->operand != NULL) {
		reply->frames->programs = frame_programs_new(request->operand, error, size);
		if (reply->frames->programs == NULL)
			return false;
	}
	workers_pause(query->workers);
	good = frames_open_sources(reply->frames, request);
	workers_resume(query->workers);
	if (!good)
		snprintf(error, size, "netobsd is out of memory");
	return good;
}

void
control_reply_end_frames(struct control_reply *reply)
{
	struct frames_reply *frames = reply->frames;

	if (frames == NULL)
		return;
	workers_pause(frames->query->workers);
	for (unsigned i = 0; i < frames->source_count; i++)
		ring_reader_free(frames->sources[i].reader);
	workers_resume(frames->query->workers);
	frames->query->captures--;
	capture_writer_free(frames->writer);
	frame_programs_free(frames->programs);
	free(frames->interfaces);
	free(frames->buffer);
	free(frames);
	reply->frames = NULL;
}

/* ----------------------------------------------------------------------------------------------------- the owners */

/* Searches some flows for the selected connection. */
static void
frames_find_owners(struct control_reply *reply)
{
	struct frames_reply *frames = reply->frames;
	const struct worker *worker = &frames->query->workers->worker[reply->worker];
	const struct flow_table *table = observer_flows(worker->observer);
	const struct flow *flow;
	bool more = true;

	fair_lock_acquire(worker->lock);
	for (unsigned i = 0; i < PART_FLOWS && more && frames->cid == 0; i++) {
		more = flow_table_next(table, &frames->position, &flow);
		if (!more || flow == NULL ||
		    (flow_cid(table, flow, 0) != frames->selection.cid &&
		     flow_cid(table, flow, 1) != frames->selection.cid))
			continue;
		frames->cid = flow_cid(table, flow, 0);
		frames->local = flow->local;
		for (unsigned endpoint = 0; endpoint < 2; endpoint++)
			frames->pids[endpoint] = reply_owner_pid(reply, table, flow, endpoint);
	}
	fair_lock_release(worker->lock);
	if (!more) {
		frames->position = 0;
		reply->worker++;
	}
	frames->owners_sought = frames->cid != 0 || reply->worker == frames->query->workers->count;
}

/* The process of the local end of a frame, of the sender if both ends are local. */
static int32_t
frames_pid(const struct frames_reply *frames, const struct ring_frame *frame)
{
	unsigned endpoint = frame->sender;

	if (frames->cid == 0 || frame->cid_count == 0 || frame->cids[0] != frames->cid)
		return -1;
	if ((frames->local >> endpoint & 1) == 0)
		endpoint = 1 - endpoint;
	return frames->pids[endpoint];
}

/* ----------------------------------------------------------------------------------------------------- the frames */

static const char *
frames_link_type_name(int dlt)
{
	const char *name = pcap_datalink_val_to_name(dlt);

	return name != NULL ? name : "without a name";
}

/* Begins the capture, whose first frame has this link type. */
static bool
frames_begin_capture(struct frames_reply *frames, int dlt)
{
	const struct byte_sink sink = {.write = frames_receive_bytes, .context = frames};

	if (!capture_format_holds(frames->format, dlt)) {
		frames_fail(frames, "%s holds no frames of link type %s; use --format=pcapng",
			    capture_format_name(frames->format), frames_link_type_name(dlt));
		return false;
	}
	frames->dlt = dlt;
	frames->writer = capture_writer_new(frames->format, dlt, (uint32_t)frames->query->config->snaplen, &sink);
	if (frames->writer != NULL && capture_writer_begin(frames->writer))
		return true;
	frames_fail(frames, "netobsd is out of memory");
	return false;
}

/* Appends an interface.  NULL if out of memory. */
static struct frames_interface *
frames_add_interface(struct frames_reply *frames, const struct ring_frame *frame)
{
	struct written_interface interface = {
	    .name = frame->interface->name, .dlt = frame->dlt, .snaplen = (uint32_t)frames->query->config->snaplen};
	struct frames_interface *entry;

	if (frames->interface_count == frames->interface_space) {
		unsigned space = frames->interface_space == 0 ? 16 : 2 * frames->interface_space;
		struct frames_interface *interfaces = realloc(frames->interfaces, space * sizeof *interfaces);

		if (interfaces == NULL)
			return NULL;
		frames->interfaces = interfaces;
		frames->interface_space = space;
	}
	entry = &frames->interfaces[frames->interface_count++];
	*entry = (struct frames_interface){.interface = frame->interface, .dlt = frame->dlt};
	return capture_writer_add_interface(frames->writer, &interface, &entry->number) ? entry : NULL;
}

/* Finds the interface of a frame, moves it to the front, and returns its number.  False if out of memory. */
static bool
frames_find_interface(struct frames_reply *frames, const struct ring_frame *frame, unsigned *number)
{
	const struct interface *wanted = frame->interface;
	struct frames_interface found;
	unsigned i = 0;

	for (; i < frames->interface_count; i++) {
		const struct interface *known = frames->interfaces[i].interface;

		if (frames->interfaces[i].dlt == frame->dlt &&
		    (known == wanted || (known->ifindex == wanted->ifindex && known->netns == wanted->netns &&
					 strcmp(known->name, wanted->name) == 0)))
			break;
	}
	if (i == frames->interface_count && frames_add_interface(frames, frame) == NULL) {
		frames_fail(frames, "netobsd is out of memory");
		return false;
	}
	found = frames->interfaces[i];
	memmove(frames->interfaces + 1, frames->interfaces, i * sizeof found);
	frames->interfaces[0] = found;
	*number = found.number;
	return true;
}

static size_t
frames_read_comments(struct frames_reply *frames, const struct ring *ring, const struct ring_frame *frame,
		     const char *comments[COMMENTS_MAX])
{
	size_t count = frame->notes < COMMENTS_MAX ? frame->notes : COMMENTS_MAX;

	if (frames->format != CAPTURE_PCAPNG)
		return 0;
	for (size_t i = 0; i < count; i++) {
		ring_frame_comment(ring, frame, i, frames->comments[i]);
		comments[i] = frames->comments[i];
	}
	if (frame->notes > COMMENTS_MAX)
		snprintf(frames->comments[COMMENTS_MAX - 1], RING_COMMENT_MAX, "%zu further events of this frame",
			 frame->notes - COMMENTS_MAX + 1);
	return count;
}

/* Whether the filter selects a frame.  A link type without a program can only be that of an interface that has appeared
 * since the client has asked for them. */
static bool
frames_select(struct frames_reply *frames, const struct ring_frame *frame)
{
	if (frames->programs == NULL)
		return true;
	if (!frame_programs_have(frames->programs, frame->dlt))
		frames_fail(frames, "the filter has no program for link type %s, which is new: try again",
			    frames_link_type_name(frame->dlt));
	return frame_programs_select(frames->programs, frame->dlt, frame->data, frame->caplen, frame->len);
}

static void
frames_write_frame(struct frames_reply *frames, const struct ring *ring, const struct ring_frame *frame)
{
	static const enum written_direction directions[] = {[DIRECTION_UNKNOWN] = WRITTEN_UNKNOWN,
							    [DIRECTION_IN] = WRITTEN_INBOUND,
							    [DIRECTION_OUT] = WRITTEN_OUTBOUND,
							    [DIRECTION_OTHER] = WRITTEN_INBOUND};
	const char *comments[COMMENTS_MAX];
	struct written_frame written = {.ts = frame->ts,
					.data = frame->data,
					.caplen = frame->caplen,
					.len = frame->len,
					.direction = directions[frame->direction],
					.packet_id = frame->packet_id,
					.pid = frames_pid(frames, frame),
					.comments = comments};

	if (!frames_select(frames, frame))
		return;
	if (frames->writer == NULL && !frames_begin_capture(frames, frame->dlt))
		return;
	if (frames->format != CAPTURE_PCAPNG && frame->dlt != frames->dlt) {
		frames_fail(frames, "the frames have the link types %s and %s, and %s holds one; use --format=pcapng",
			    frames_link_type_name(frames->dlt), frames_link_type_name(frame->dlt),
			    capture_format_name(frames->format));
		return;
	}
	if (!frames_find_interface(frames, frame, &written.interface))
		return;
	written.comment_count = frames_read_comments(frames, ring, frame, comments);
	if (!capture_writer_add_frame(frames->writer, &written)) {
		const char *reason = capture_writer_error(frames->writer);

		frames_fail(frames, "%s; use --format=pcapng", reason != NULL ? reason : "a frame cannot be written");
		return;
	}
	frames->first = frames->frames == 0 ? frame->ts : frames->first;
	frames->last = frame->ts;
	frames->frames++;
}

/* ------------------------------------------------------------------------------------------------------ the parts */

static uint64_t
frames_count_lost(const struct frames_reply *frames, bool *cut)
{
	uint64_t lost = 0;

	*cut = false;
	for (unsigned i = 0; i < frames->source_count; i++) {
		lost += ring_reader_lost(frames->sources[i].reader);
		*cut |= ring_reader_is_cut(frames->sources[i].reader);
	}
	return lost;
}

/* The comment at the end of the capture: what the flight memory no longer had.  NULL if nothing is missing. */
static const char *
frames_describe_missing(const struct frames_reply *frames, char text[RING_COMMENT_MAX])
{
	const struct workers *workers = frames->query->workers;
	struct text_buffer buffer = {.bytes = text, .size = RING_COMMENT_MAX};
	uint64_t lost, overwritten = 0, left_out = 0;
	bool cut;

	lost = frames_count_lost(frames, &cut);
	for (unsigned i = 0; i < workers->count; i++) {
		struct ring_counters counters = ring_counters(workers->worker[i].ring);

		overwritten += counters.overwritten;
		left_out += counters.left_out;
	}
	text[0] = '\0';
	if (lost > 0)
		text_add_format(&buffer, "%llu frames were overwritten while the capture was read; ",
				(unsigned long long)lost);
	if (cut)
		text_add_format(&buffer, "frames of the connection were overwritten or left out before; ");
	if (frames->selection.cid == 0 && overwritten > 0)
		text_add_format(&buffer, "the flight memory has overwritten %llu earlier frames; ",
				(unsigned long long)overwritten);
	if (frames->selection.cid == 0 && left_out > 0)
		text_add_format(&buffer, "it has left out %llu frames of long connections; ",
				(unsigned long long)left_out);
	if (buffer.used < 2)
		return NULL;
	text[buffer.used - 2] = '\0';
	return text;
}

static void
frames_end_capture(struct frames_reply *frames)
{
	char missing[RING_COMMENT_MAX];
	struct written_statistics statistics = {.first = frames->first, .last = frames->last};
	struct stats_totals totals;
	bool cut;

	frames->ended = true;
	if (frames->frames == 0 && frames->selection.cid != 0 && frames_count_lost(frames, &cut) == 0 &&
	    frames->programs == NULL) {
		frames->empty = true;
		frames_fail(frames, "no frame of connection %llu is in the flight memory",
			    (unsigned long long)frames->selection.cid);
		return;
	}
	if (frames->writer == NULL && !frames_begin_capture(frames, DLT_EN10MB))
		return;
	stats_collect(frames->query->workers, &totals);
	statistics.dropped = totals.input.dropped;
	workers_pause(frames->query->workers);
	statistics.comment = frames_describe_missing(frames, missing);
	workers_resume(frames->query->workers);
	if (!capture_writer_end(frames->writer, &statistics))
		frames_fail(frames, "the end of the capture cannot be written");
}

/* Fetches the next frame of every source that has no frame ready.  False if a source has to let its worker run. */
static bool
frames_fetch(struct frames_reply *frames)
{
	bool ready = true;

	for (unsigned i = 0; i < frames->source_count; i++) {
		struct frames_source *source = &frames->sources[i];

		if (source->has_next || source->ended)
			continue;
		switch (ring_reader_next(source->reader, &source->next)) {
		case RING_FRAME:
			source->has_next = true;
			break;
		case RING_LATER:
			ready = false;
			break;
		case RING_END:
			source->ended = true;
			break;
		case RING_NO_MEMORY:
			frames_fail(frames, "netobsd is out of memory");
			return false;
		}
	}
	return ready;
}

/* The source of the earliest frame, NULL if all have ended. */
static struct frames_source *
frames_earliest(struct frames_reply *frames)
{
	struct frames_source *earliest = NULL;

	for (unsigned i = 0; i < frames->source_count; i++) {
		struct frames_source *source = &frames->sources[i];

		if (source->has_next && (earliest == NULL || source->next.now < earliest->next.now))
			earliest = source;
	}
	return earliest;
}

/* Most frames of a part. */
static unsigned
frames_part_length(const struct frames_reply *frames)
{
	unsigned longest = frames->programs != NULL ? frame_programs_longest(frames->programs) : 0;

	return longest > PART_INSTRUCTIONS / PART_FRAMES ? PART_INSTRUCTIONS / longest : PART_FRAMES;
}

/* Makes a part while the workers are paused.  False after the last one. */
static bool
frames_make_part(struct frames_reply *frames)
{
	unsigned length = frames_part_length(frames);

	/* The workers ran since the part before. */
	for (unsigned i = 0; i < frames->source_count; i++) {
		struct frames_source *source = &frames->sources[i];

		source->has_next = source->has_next && ring_reader_keeps(source->reader, &source->next);
	}
	for (unsigned i = 0; i < length && frames->used < PART_BYTES && frames->failure[0] == '\0'; i++) {
		struct frames_source *source;

		if (!frames_fetch(frames))
			return true;
		source = frames_earliest(frames);
		if (source == NULL)
			return false;
		frames_write_frame(frames, frames->query->workers->worker[source - frames->sources].ring,
				   &source->next);
		source->has_next = false;
	}
	return true;
}

/* Makes bytes, if there are none left to hand over. */
static void
frames_make(struct control_reply *reply)
{
	struct frames_reply *frames = reply->frames;
	bool more;

	if (frames->sent < frames->used || frames->ended || frames->failure[0] != '\0')
		return;
	frames->used = frames->sent = 0;
	if (!frames->owners_sought) {
		frames_find_owners(reply);
		return;
	}
	workers_pause(frames->query->workers);
	more = frames_make_part(frames);
	workers_resume(frames->query->workers);
	if (!more && frames->failure[0] == '\0')
		frames_end_capture(frames);
}

static void
frames_add_length(struct text_buffer *text, uint32_t length)
{
	length = htonl(length);
	memcpy(text->bytes + text->used, &length, sizeof length);
	text->used += sizeof length;
}

/* Hands over a chunk, as large as it can be. */
static void
frames_add_chunk(struct frames_reply *frames, struct text_buffer *text)
{
	size_t length = frames->used - frames->sent, space = text_space_left(text);

	if (space < END_SIZE || length == 0)
		return;
	if (length > space - sizeof(uint32_t))
		length = space - sizeof(uint32_t);
	frames_add_length(text, (uint32_t)length);
	memcpy(text->bytes + text->used, frames->buffer + frames->sent, length);
	text->used += length;
	frames->sent += length;
}

static void
frames_add_end(const struct frames_reply *frames, struct text_buffer *text)
{
	bool cut;
	uint64_t lost = frames_count_lost(frames, &cut);
	struct json json = text_json(text);

	frames_add_length(text, 0);
	json_begin_object(&json, NULL);
	json_add_unsigned(&json, "frames", frames->frames);
	json_add_unsigned(&json, "bytes", frames->bytes);
	json_add_unsigned(&json, "lost", lost);
	json_add_bool(&json, "cut", cut);
	json_end_line(&json);
}

/* ------------------------------------------------------------------------------------------------ the link types */

struct link_types {
	unsigned count;
	int types[FRAME_PROGRAMS_MAX];
};

static void
link_types_add_interface(void *context, const struct input_interface *observed)
{
	struct link_types *link_types = context;
	unsigned known = 0;

	while (known < link_types->count && link_types->types[known] != observed->link_type)
		known++;
	if (known == link_types->count && known < FRAME_PROGRAMS_MAX)
		link_types->types[link_types->count++] = observed->link_type;
}

/* The link types of which a capture can have frames now: those in the rings, and of the interfaces. */
static void
frames_write_link_types(const struct query_context *query, struct text_buffer *text)
{
	struct workers *workers = query->workers;
	struct link_types link_types = {.count = 0};
	struct json json;

	workers_pause(workers);
	for (unsigned i = 0; i < workers->count; i++)
		link_types.count = ring_add_link_types(workers->worker[i].ring, link_types.types, link_types.count,
						       FRAME_PROGRAMS_MAX);
	workers_resume(workers);
	stats_visit_interfaces(workers, link_types_add_interface, &link_types);
	text_add_format(text, "ok\n");
	json = text_json(text);
	json_begin_object(&json, NULL);
	json_begin_array(&json, "link_types");
	for (unsigned i = 0; i < link_types.count; i++)
		json_add_signed(&json, NULL, link_types.types[i]);
	json_end_array(&json);
	json_end_line(&json);
}

void
control_reply_write_frames(struct control_reply *reply, struct text_buffer *text)
{
	struct frames_reply *frames = reply->frames;

	if (reply->request.link_types) {
		frames_write_link_types(reply->query, text);
		reply->done = true;
		return;
	}
	frames_make(reply);
	if (frames->failure[0] != '\0') {
		if (!reply->begun)
			text_add_format(text, "%s", frames->empty ? "ok\n" : "error ");
		if (reply->begun || frames->empty)
			frames_add_length(text, CHUNK_ERROR);
		text_add_escaped(text, frames->failure);
		text_add_format(text, "\n");
		reply->done = true;
		return;
	}
	if (!reply->begun && frames->used > 0) {
		text_add_format(text, "ok\n");
		reply->begun = true;
	}
	frames_add_chunk(frames, text);
	if (frames->ended && frames->sent == frames->used && text_space_left(text) >= END_SIZE) {
		frames_add_end(frames, text);
		reply->done = true;
	}
}
