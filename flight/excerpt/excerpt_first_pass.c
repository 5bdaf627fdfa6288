/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpt_first_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight/fragment_frames.h"
#include "observe/frame_listener.h"
#include "observe/observer.h"

/* A connection of the frame in progress. */
struct pass_connection {
	uint32_t number;
	unsigned fragments; /* earlier frames that belong to it, from the first on */
};

struct excerpt_first_pass {
	struct excerpt_input *input;
	struct excerpt_index *index;
	const struct flow_table *flows;
	uint32_t *numbers; /* of the connections, by flow_table_index(); 0 unknown */
	struct fragment_frames *fragment_frames;
	uint64_t now; /* packet time of the latest frame off the fast path */
	uint64_t left_out;
	/* The latest copy of a loopback frame that waits for the connections of the frame after it. */
	bool has_copy;
	uint64_t copy; /* its number */
	uint32_t copy_len;
	struct fragment_key copy_key;
	/* The frame in progress. */
	bool in_frame, has_packet, has_fragment;
	struct fragment_key fragment;
	unsigned direction;
	uint64_t packet_id;
	size_t notes_size;
	unsigned connection_count, fragment_count, fragment_links;
	struct pass_connection connections[RING_CONNECTIONS_MAX];
	uint64_t fragments[RING_FRAGMENTS_MAX]; /* earlier frames of the datagrams that it has completed */
};

void
excerpt_input_fail(struct excerpt_input *input, int error)
{
	if (input->error == 0)
		input->error = error;
	loop_stop(input->loop);
}

/* -------------------------------------------------------------------------------------------------------- the frame */

/* Whether the frame belongs to the input that is indexed. */
static inline bool
pass_takes_frame(struct excerpt_input *input, const struct frame *frame, uint64_t now)
{
	if (__builtin_expect(input->error != 0, 0) || excerpt_input_is_after_window(input, frame->ts, now))
		return false;
	frame_tally_add(&input->tally, 0, frame->len, frame->ts);
	return true;
}

/* The number of a connection; 0, after an error, if there are too many. */
static uint32_t
pass_connection_number(struct excerpt_first_pass *pass, const struct flow *flow)
{
	uint64_t number = excerpt_connection_number(flow_cid(pass->flows, flow, 0));

	if (number <= EXCERPT_CONNECTIONS_MAX)
		return (uint32_t)number;
	excerpt_input_fail(pass->input, EOVERFLOW);
	return 0;
}

static void
pass_check(struct excerpt_first_pass *pass, bool added)
{
	if (__builtin_expect(!added, 0))
		excerpt_input_fail(pass->input, errno);
}

/* ---------------------------------------------------------------------------------------------------------- notes */

/* Whether a note with a text of this length fits. */
static bool
pass_has_room(struct excerpt_first_pass *pass, size_t length)
{
	size_t size = ring_note_size(length);

	if (!pass->in_frame)
		return false;
	if (size > RING_NOTES_SIZE - pass->notes_size) {
		pass->left_out++;
		return false;
	}
	pass->notes_size += size;
	return true;
}

static void
pass_add_note(struct excerpt_first_pass *pass, const struct flow *flow, unsigned endpoint,
	      const struct event_note *note)
{
	uint32_t number;

	if (!pass->input->commented || !pass_has_room(pass, 0))
		return;
	number = pass_connection_number(pass, flow);
	pass_check(pass, excerpt_index_add_note(pass->index, number, endpoint, note));
}

static void
pass_add_remark(struct excerpt_first_pass *pass, const struct frame_packet *packet, enum ring_remark remark)
{
	struct event_note note;

	event_note_from_remark(&note, remark);
	pass_add_note(pass, packet->flow, packet->sender, &note);
}

void
excerpt_first_pass_add_text(struct excerpt_first_pass *pass, uint32_t connection, const char *text)
{
	if (pass_has_room(pass, strnlen(text, RING_COMMENT_MAX - 1)))
		pass_check(pass, excerpt_index_add_text(pass->index, connection, text));
}

/* The start and the end of a UDP stream are not notes, as in ring_listener.c. */
static void
pass_on_event(void *context, const struct flow *flow, const struct flow_event *event)
{
	struct event_note note;

	if (event->kind == EVENT_UDP_STREAM_START || event->kind == EVENT_UDP_STREAM_END)
		return;
	event_note_from_event(&note, event);
	pass_add_note(context, flow, event->endpoint, &note);
}

/* ------------------------------------------------------------------------------------------ connections, fragments */

static void
pass_begin_frame(void *context, const struct frame *frame, uint64_t now)
{
	struct excerpt_first_pass *pass = context;

	pass->in_frame = pass_takes_frame(pass->input, frame, now);
	pass->has_packet = pass->has_fragment = false;
	pass->direction = DIRECTION_UNKNOWN;
	pass->packet_id = 0;
	pass->now = now;
	pass->notes_size = 0;
	pass->connection_count = pass->fragment_count = pass->fragment_links = 0;
	/* The copy before is treated like a fragment of the frame's datagram. */
	if (pass->has_copy && pass->copy + 1 == pass->index->count && pass->copy_len == frame->len) {
		pass->fragment = pass->copy_key;
		pass->has_fragment = true;
	}
	pass->has_copy = false;
}

/* The connection's number in the frame in progress; RING_CONNECTIONS_MAX if there are too many. */
static unsigned
pass_find_connection(struct excerpt_first_pass *pass, const struct flow *flow)
{
	uint32_t number = pass_connection_number(pass, flow);
	unsigned at = 0;

	while (at < pass->connection_count && pass->connections[at].number != number)
		at++;
	if (at < pass->connection_count)
		return at;
	pass->numbers[flow_table_index(pass->flows, flow)] = number;
	if (at == RING_CONNECTIONS_MAX)
		pass->left_out++;
	else
		pass->connections[pass->connection_count++] = (struct pass_connection){.number = number};
	return at;
}

/* The latest fragment has completed its datagram. */
static void
pass_take_fragments(struct excerpt_first_pass *pass)
{
	if (pass->has_fragment)
		pass->fragment_count += fragment_frames_take(pass->fragment_frames, &pass->fragment,
							     pass->now, pass->fragments + pass->fragment_count,
							     RING_FRAGMENTS_MAX - pass->fragment_count);
	pass->has_fragment = false;
}

/* A packet is in all datagrams that the frame has completed so far: their earlier frames belong to its connection. */
static void
pass_link_fragments(struct excerpt_first_pass *pass, struct pass_connection *connection)
{
	unsigned more = pass->fragment_count - connection->fragments;
	unsigned left = RING_FRAGMENTS_MAX - pass->fragment_links;

	more = more < left ? more : left;
	connection->fragments += more;
	pass->fragment_links += more;
}

static void
pass_on_fragment(void *context, const struct packet *fragment)
{
	struct excerpt_first_pass *pass = context;

	fragment_key_set(&pass->fragment, fragment);
	pass->has_fragment = true;
}

static void
pass_on_packet(void *context, const struct frame_packet *packet)
{
	struct excerpt_first_pass *pass = context;
	unsigned connection;

	if (!pass->has_packet) {
		pass->has_packet = true;
		pass->direction = packet->direction;
		pass->packet_id = packet->packet_id;
	}
	if (packet->flow != NULL) {
		connection = pass_find_connection(pass, packet->flow);
		pass_take_fragments(pass);
		if (connection != RING_CONNECTIONS_MAX)
			pass_link_fragments(pass, &pass->connections[connection]);
	} else if (packet->datagram) {
		pass_take_fragments(pass);
	}
	if (packet->flow != NULL && packet->reset)
		pass_add_remark(pass, packet, RING_RESET);
	if (packet->flow != NULL && packet->zero_window)
		pass_add_remark(pass, packet, RING_ZERO_WINDOW);
}

static void
pass_resolve_fragments(struct excerpt_first_pass *pass)
{
	for (unsigned i = 0; i < pass->connection_count; i++)
		for (unsigned k = 0; k < pass->connections[i].fragments; k++)
			excerpt_index_resolve(pass->index, pass->fragments[k], pass->connections[i].number);
}

static void
pass_end_frame(void *context)
{
	struct excerpt_first_pass *pass = context;
	unsigned spare = !pass->has_fragment ? 0 : RING_FRAGMENT_CONNECTIONS - (pass->connection_count == 0);
	bool good = true;

	if (!pass->in_frame)
		return;
	pass->in_frame = false;
	for (unsigned i = 1; good && i < pass->connection_count; i++)
		good = excerpt_index_add_further(pass->index, pass->connections[i].number);
	for (; good && spare > 0; spare--)
		good = excerpt_index_add_further(pass->index, 0);
	if (pass->has_fragment)
		fragment_frames_add(pass->fragment_frames, &pass->fragment, pass->index->count, pass->now);
	pass_resolve_fragments(pass);
	pass_check(pass, good && excerpt_index_add(pass->index, pass->connection_count == 0 ? 0
										   : pass->connections[0].number,
						   pass->direction, pass->packet_id));
}

/* The key of a copy is that of no datagram. */
static void
pass_on_copy(void *context, const struct frame *frame, uint64_t now, const struct packet *packet,
	     const struct frame_packet *found)
{
	struct excerpt_first_pass *pass = context;
	/* A SYN may begin another connection than the one that was found. */
	bool opens = packet->transport == TRANSPORT_TCP && (packet->tcp.flags & TCP_SYN) != 0;
	bool fragment = packet->ip.fragment;
	const struct frame_packet copied = {.flow = opens || fragment ? NULL : found->flow,
					    .direction = found->direction};

	pass_begin_frame(pass, frame, now);
	pass_on_packet(pass, &copied);
	if (fragment) {
		pass_on_fragment(pass, packet); /* it has the connection of its datagram */
	} else if (copied.flow == NULL) {
		pass->copy_key.version = UINT8_MAX;
		pass->copy_key.id++;
		pass->copy_len = frame->len;
		pass->copy = pass->index->count;
		pass->fragment = pass->copy_key;
		pass->has_fragment = true;
	}
	pass_end_frame(pass);
	pass->has_copy = copied.flow == NULL && !fragment;
}

/* ---------------------------------------------------------------------------------------------------- the fast path */

static void
pass_prefetch(void *context, const struct flow *const *flows, unsigned count)
{
	const struct excerpt_first_pass *pass = context;

	for (unsigned i = 0; i < count; i++)
		__builtin_prefetch(&pass->numbers[flow_table_index(pass->flows, flows[i])]);
}

static void
pass_on_fast_frame(void *context, const struct frame *frame, uint64_t now, const struct frame_packet *packet)
{
	struct excerpt_first_pass *pass = context;
	uint32_t number = pass->numbers[flow_table_index(pass->flows, packet->flow)];

	if (__builtin_expect(packet->zero_window || number == 0, 0)) {
		pass_begin_frame(pass, frame, now);
		pass_on_packet(pass, packet);
		pass_end_frame(pass);
	} else if (pass_takes_frame(pass->input, frame, now)) {
		pass_check(pass, excerpt_index_add(pass->index, number, packet->direction, packet->packet_id));
	}
}

/* -------------------------------------------------------------------------------------------------------- the pass */

static const struct frame_listener pass_listener = {
    .on_fast_frame = pass_on_fast_frame,
    .prefetch = pass_prefetch,
    .on_copy = pass_on_copy,
    .begin_frame = pass_begin_frame,
    .on_fragment = pass_on_fragment,
    .on_packet = pass_on_packet,
    .on_event = pass_on_event,
    .end_frame = pass_end_frame,
};

struct excerpt_first_pass *
excerpt_first_pass_new(struct excerpt_input *input, struct excerpt_index *index, struct observer *observer,
		       uint32_t flows, uint64_t seed)
{
	struct excerpt_first_pass *pass = calloc(1, sizeof *pass);

	if (pass == NULL)
		return NULL;
	pass->input = input;
	pass->index = index;
	pass->flows = observer_flows(observer);
	pass->numbers = calloc(flow_index_space(flows), sizeof *pass->numbers);
	pass->fragment_frames = fragment_frames_new(seed);
	if (pass->numbers != NULL && pass->fragment_frames != NULL) {
		observer_set_frame_listener(observer, &pass_listener, pass);
		return pass;
	}
	excerpt_first_pass_free(pass);
	return NULL;
}

void
excerpt_first_pass_free(struct excerpt_first_pass *pass)
{
	if (pass == NULL)
		return;
	if (pass->fragment_frames != NULL)
		fragment_frames_free(pass->fragment_frames);
	free(pass->numbers);
	free(pass);
}

uint64_t
excerpt_first_pass_left_out(const struct excerpt_first_pass *pass)
{
	return pass->left_out;
}
