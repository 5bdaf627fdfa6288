/* SPDX-License-Identifier: BSD-2-Clause */
/* Events and remarks as numbers, whose text is made when it is read. */
#ifndef NETOBS_FLIGHT_RING_H
#define NETOBS_FLIGHT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dissect/frame.h"
#include "flow/event.h"
#include "flow/flow.h"
#include "probes/fire.h"

#define RING_COMMENT_MAX 512u /* bytes of a note as text, with its NUL */

/* The packet is a RST, or a segment with a window of 0. */
enum ring_remark { RING_RESET, RING_ZERO_WINDOW };

/* Events are numbered by enum flow_event_kind; these come after them. */
enum event_note_kind {
	EVENT_NOTE_TIMEOUT = 0x20, /* and the enum tcp_timeout */
	EVENT_NOTE_REMARK = 0x40,  /* and the enum ring_remark */
	EVENT_NOTE_TEXT = 0x60,	   /* for callers that store texts, too */
};

struct event_note {
	uint8_t event;
	uint8_t before, after;	    /* states; of a retransmission its kind */
	uint32_t count, elapsed_us; /* of a retransmission */
};

/* Set a note. */
void event_note_from_event(struct event_note *note, const struct flow_event *event);
void event_note_from_remark(struct event_note *note, enum ring_remark remark);

/* "tcp-state-change state-established -> state-fin-wait-1, cid 42"; ", pid 917 curl" unless `pid` is -1. */
void event_note_format(const struct event_note *note, uint64_t cid, int pid, const char *command,
		       char text[RING_COMMENT_MAX]);

/* ------------------------------------------------------------------------------------------------------------- ring */

/*
 * The flight memory: the latest frames of one observer, in memory of fixed size, the oldest overwritten first.
 *
 * The frames of a connection are linked, so that reading one connection touches only its own frames; events and true
 * formulas are notes of the frame at which they happened.  One thread adds; readers call the ring_reader functions
 * while that thread is paused, and may let it run between two calls: a frame that was overwritten meanwhile is counted,
 * never read.
 */

#define RING_MEMORY_MIN	 ((size_t)1024 * 1024)
#define RING_MEMORY_MAX	 ((size_t)1024 * 1024 * 1024 * (SIZE_MAX > UINT32_MAX ? 64 : 1))

/* A frame has no more than these connections (tunnels and quotes), and links to earlier fragments; its notes take no
 * more bytes, each ring_note_size(). */
#define RING_CONNECTIONS_MAX 16u
#define RING_FRAGMENTS_MAX   1024u
#define RING_NOTES_SIZE	     8192u

/* Beyond limits.bytes so many frames with notes, or that complete datagrams, are kept of each direction of a
 * connection. */
#define RING_KEPT_MAX	     1024u
#define RING_LIMIT_BYTES_MAX (UINT64_C(1) << 50)

/* Connections that a fragment may get later: that of its datagram, and one inside. */
#define RING_FRAGMENT_CONNECTIONS 2u

struct ring_limits {
	size_t memory;	/* bytes of the ring, RING_MEMORY_MIN to RING_MEMORY_MAX */
	uint32_t snap;	/* most bytes of a frame, 0: all that are captured */
	uint64_t bytes; /* most bytes of frames of each direction of a connection, at most RING_LIMIT_BYTES_MAX; then
			 * only frames with notes are kept, up to RING_KEPT_MAX; 0: no limit */
	uint32_t flows; /* flows of the flow table: one link for each */
	uint64_t seed;	/* makes hashes unpredictable; no result depends on it */
};

struct ring_counters {
	uint64_t frames, bytes;	 /* kept; captured bytes that were stored */
	uint64_t left_out;	 /* frames beyond limits.bytes */
	uint64_t cut;		 /* frames cut to limits.snap, or because the ring is too small */
	uint64_t overwritten;	 /* frames */
	uint64_t notes;		 /* kept */
	uint64_t notes_dropped;	 /* notes and connections that a frame had too many of; notes of frames left out */
	uint64_t oldest, newest; /* packet times in the ring now, 0 if it is empty */
	uint64_t frames_now;
};

struct ring;

/* All memory is present on return.  NULL with errno if there is not enough, EINVAL if a limit is out of range. */
struct ring *ring_new(const struct ring_limits *limits);
void ring_free(struct ring *ring);
size_t ring_memory_size(const struct ring_limits *limits); /* all of it: the ring and its links */
struct ring_counters ring_counters(const struct ring *ring);

/* Adds the link types of the frames in the ring, and perhaps of earlier ones, to `types`, which has `count` different
 * ones and space for `most`.  Returns their new number. */
unsigned ring_add_link_types(const struct ring *ring, int *types, unsigned count, unsigned most);

/* ------------------------------------------------------------------------------------------------------ adding */

/* Sets the table of the flows that are passed below, and what finds the owners of their ends for notes (NULL: owners
 * are unknown).  Both are borrowed; without a table no frame is linked. */
void ring_set_flow_table(struct ring *ring, const struct flow_table *flows);
void ring_set_owner_lookup(struct ring *ring, emitter_find_owner *find, void *context);

/* Fetches the memory for frames of these flows that are added soon. */
void ring_prefetch(const struct ring *ring, const struct flow *const *flows, unsigned count);

/* A frame with one packet and no note, whose flow was added with an earlier frame. */
void ring_add_frame(struct ring *ring, const struct frame *frame, uint64_t now, const struct flow *flow,
		    unsigned sender, unsigned direction, uint64_t packet_id);

/* Begins any other frame, whose memory must stay valid until ring_end_frame(). */
void ring_begin_frame(struct ring *ring, const struct frame *frame, uint64_t now);
/* Links the frame with a connection.  Without one: `flow` NULL. */
void ring_add_packet(struct ring *ring, const struct flow *flow, unsigned sender, unsigned direction,
		     uint64_t packet_id);
/* A fragment: its frame is linked with the connection of the datagram, once that is complete, by the ring_add_packet()
 * with a flow that follows a fragment, and with those of the packets inside, by the calls that follow in the frame. */
void ring_add_fragment(struct ring *ring, const struct packet *fragment);
/* The outgoing copy of a loopback frame.  `flow` NULL: it has the connections of the next frame, if that has the same
 * length. */
void ring_add_copy(struct ring *ring, const struct frame *frame, uint64_t now, const struct flow *flow, unsigned sender,
		   unsigned direction);
/* The datagram of the latest fragment is complete; it belongs to no connection itself. */
void ring_complete_datagram(struct ring *ring);
void ring_add_event(struct ring *ring, const struct flow *flow, const struct flow_event *event);
/* The packet is a RST, or a segment with a window of 0. */
void ring_add_remark(struct ring *ring, const struct flow *flow, unsigned sender, enum ring_remark remark);
/* A formula has become true at the frame: `text` is its comment, cut to RING_COMMENT_MAX. */
void ring_add_text(struct ring *ring, uint64_t cid, const char *text);
void ring_end_frame(struct ring *ring);

/* Bytes of a note with a text of this length, 0 without. */
size_t ring_note_size(size_t length);

/* Called for each frame, in order, before it is overwritten, and by ring_drain() for all frames. */
struct ring_frame;
typedef void ring_leave_handler(void *context, const struct ring_frame *frame);
void ring_set_leave_handler(struct ring *ring, ring_leave_handler *handler, void *context);
void ring_drain(struct ring *ring);

/* ------------------------------------------------------------------------------------------------------ reading */

/* A frame in the ring; valid while the ring's thread is paused. */
struct ring_frame {
	const struct interface *interface; /* owned by the ring; equal interfaces have equal pointers, which stay the
					    * same as long as there is a reader */
	int dlt;
	uint64_t ts;  /* time stamp of the capture */
	uint64_t now; /* packet time */
	const uint8_t *data;
	uint32_t caplen, len;
	unsigned direction;   /* DIRECTION_ value */
	uint64_t packet_id;   /* of its first packet */
	const uint64_t *cids; /* its connections, in order of its packets, by the id of endpoint 0 */
	size_t cid_count;
	unsigned sender;   /* end of the first connection that sent it */
	uint64_t position; /* for ring_frame_comment() */
	size_t notes;
};

/* The text of note `index` of a frame, e.g. "tcp-state-change state-established -> state-fin-wait-1, cid 42". */
void ring_frame_comment(const struct ring *ring, const struct ring_frame *frame, size_t index,
			char text[RING_COMMENT_MAX]);

/* A note as the ring stores it, for a caller that needs its text later: it copies the bytes, aligned to 8. */
struct ring_note {
	uint64_t cid; /* 0: of no connection */
	const void *bytes;
	size_t size;
};

/* Note `index` of a frame; false if there is none. */
bool ring_frame_note(const struct ring *ring, const struct ring_frame *frame, size_t index, struct ring_note *note);

/* The text of the bytes of a note. */
void ring_note_text(const void *bytes, char text[RING_COMMENT_MAX]);

/* The position of the latest frame of a flow; 0 if the ring has no frame of it. */
uint64_t ring_latest_frame(const struct ring *ring, const struct flow *flow);

struct ring_selection {
	uint64_t cid;  /* of either endpoint; 0: every frame */
	uint64_t from; /* packet time; 0: from the oldest frame */
};

struct ring_reader;
enum ring_read { RING_FRAME, RING_LATER, RING_END, RING_NO_MEMORY };

/* Reads what is in the ring now; later frames are not read.  NULL if out of memory. */
struct ring_reader *ring_reader_new(struct ring *ring, const struct ring_selection *selection);
void ring_reader_free(struct ring_reader *reader);

/* The next frame.  RING_LATER: a bounded number of frames was examined; let the ring's thread run and call it again. */
enum ring_read ring_reader_next(struct ring_reader *reader, struct ring_frame *frame);

/* Whether the frame that ring_reader_next() returned last is still in the ring, after the ring's thread was let run.
 * If not, it is counted as lost. */
bool ring_reader_keeps(struct ring_reader *reader, const struct ring_frame *frame);

/* Frames of the selection that were overwritten before they were read.  For a connection also whether frames of it were
 * overwritten or left out before. */
uint64_t ring_reader_lost(const struct ring_reader *reader);
bool ring_reader_is_cut(const struct ring_reader *reader);

#endif
