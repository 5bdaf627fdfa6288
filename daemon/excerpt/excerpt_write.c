/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing the frames of an excerpt, in the second pass or when they leave the ring. */
#include <errno.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/excerpt/excerpts_internal.h"

static void
excerpts_add_comment(struct excerpts *excerpts, uint32_t connection, const char *text)
{
	excerpts->comments[excerpts->comment_count] = text;
	excerpts->comment_connections[excerpts->comment_count++] = connection;
}

/* Writes a frame to one file, with the comments on the connections of the file. */
static bool
excerpt_write_frame(const struct excerpts *excerpts, struct excerpt *excerpt, struct excerpt_frame *frame)
{
	const char *comments[EXCERPT_COMMENTS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < excerpts->comment_count; i++)
		if (excerpt_selection_has(&excerpt->connections, excerpts->comment_connections[i]))
			comments[count++] = excerpts->comments[i];
	frame->comments = comments;
	frame->comment_count = count;
	return excerpt_file_add(excerpt->file, frame);
}

static void
excerpts_stop_writing(struct excerpts *excerpts)
{
	excerpts->failed = true;
	loop_stop(excerpts->loop);
}

/* ------------------------------------------------------------------------------------------------- the second pass */

static bool
excerpts_indexed_is_selected(const struct excerpts *excerpts, const struct excerpt_selection *selection,
			     const struct indexed_frame *frame)
{
	for (size_t i = 0; i <= frame->further_count; i++)
		if (excerpt_selection_has(selection, excerpt_index_connection(&excerpts->index, frame, i)))
			return true;
	return false;
}

static void
excerpts_collect_indexed_comments(struct excerpts *excerpts, const struct indexed_frame *frame)
{
	uint32_t connection;
	const void *note;
	const char *text;

	excerpts->comment_count = 0;
	while (excerpts->comment_count < EXCERPT_COMMENTS_MAX &&
	       (note = excerpt_cursor_next_note(&excerpts->cursor, &connection)) != NULL) {
		if (!excerpt_selection_has(&excerpts->any, connection))
			continue;
		ring_note_text(note, excerpts->texts[excerpts->comment_count]);
		excerpts_add_comment(excerpts, connection, excerpts->texts[excerpts->comment_count]);
	}
	while (excerpts->comment_count < EXCERPT_COMMENTS_MAX &&
	       (text = excerpt_late_next(&excerpts->late, frame->number, &connection)) != NULL)
		excerpts_add_comment(excerpts, connection, text);
}

static void
excerpts_write_indexed(struct excerpts *excerpts, const struct frame *frame, const struct indexed_frame *indexed)
{
	struct excerpt_frame written = {
	    .interface = frame->interface,
	    .dlt = frame->dlt,
	    .ts = frame->ts,
	    .data = frame->data,
	    .caplen = frame->caplen,
	    .len = frame->len,
	    .direction = indexed->direction,
	    .packet_id = indexed->packet_id,
	};

	excerpts_collect_indexed_comments(excerpts, indexed);
	for (size_t i = 0; i < excerpts->count; i++) {
		struct excerpt *excerpt = &excerpts->excerpts[i];

		if (excerpts_indexed_is_selected(excerpts, &excerpt->connections, indexed) &&
		    !excerpt_write_frame(excerpts, excerpt, &written))
			excerpts_stop_writing(excerpts);
	}
}

/* Frames that were appended to the file meanwhile are not written. */
static void
excerpts_visit(void *context, const struct frame *frame, uint64_t now)
{
	struct excerpts *excerpts = context;
	struct indexed_frame indexed;

	(void)now;
	if (excerpts->failed || !excerpt_cursor_next(&excerpts->cursor, &indexed))
		return;
	frame_tally_add(&excerpts->second, 0, frame->len, frame->ts);
	if (excerpts_indexed_is_selected(excerpts, &excerpts->any, &indexed))
		excerpts_write_indexed(excerpts, frame, &indexed);
}

bool
excerpts_write_again(struct excerpts *excerpts)
{
	bool good;

	if (!excerpt_late_resolve(&excerpts->late, &excerpts->index)) {
		log_error("out of memory");
		return false;
	}
	excerpt_cursor_begin(&excerpts->cursor, &excerpts->index);
	if (excerpts->any.count == 0)
		return true;
	good = second_pass_run(excerpts->second_pass, excerpts_visit, excerpts) != INPUT_FAILED;
	if (excerpts->failed || loop_is_stopped(excerpts->loop))
		return false;
	if (good && excerpts->second.frames == excerpts->first.frames && excerpts->second.hash == excerpts->first.hash)
		return true;
	log_error("the input changed while it was read");
	return false;
}

/* ------------------------------------------------------------------------------------------------------- the delay */

static bool
excerpts_delayed_is_selected(const struct excerpt_selection *selection, const struct ring_frame *frame)
{
	for (size_t i = 0; i < frame->cid_count; i++)
		if (excerpt_selection_has(selection, (uint32_t)excerpt_connection_number(frame->cids[i])))
			return true;
	return false;
}

static void
excerpts_collect_delayed_comments(struct excerpts *excerpts, const struct ring_frame *frame)
{
	struct ring_note note;
	uint32_t connection;
	char left_out[1];

	excerpts->comment_count = 0;
	for (size_t i = 0; i < frame->notes && excerpts->comment_count < EXCERPT_COMMENTS_MAX &&
			   ring_frame_note(excerpts->ring, frame, i, &note);
	     i++) {
		char *text = excerpts->texts[excerpts->comment_count];

		ring_note_text(note.bytes, text);
		excerpts_add_comment(excerpts, (uint32_t)excerpt_connection_number(note.cid), text);
	}
	while (excerpts->comment_count < EXCERPT_COMMENTS_MAX &&
	       excerpt_waiting_take(excerpts->waiting, frame->position, &connection,
				    excerpts->texts[excerpts->comment_count], RING_COMMENT_MAX))
		excerpts_add_comment(excerpts, connection, excerpts->texts[excerpts->comment_count]);
	/* Comments beyond the limit must not stay in memory. */
	while (excerpt_waiting_take(excerpts->waiting, frame->position, &connection, left_out, sizeof left_out))
		continue;
}

/* Counts a frame that is not written for each of its connections, in case one matches later. */
static bool
excerpt_count_left(struct excerpt *excerpt, const struct ring_frame *frame)
{
	for (size_t i = 0; i < frame->cid_count; i++) {
		size_t connection = (size_t)excerpt_connection_number(frame->cids[i]);

		if (!spool_extend(&excerpt->left, (connection + 1) * sizeof(uint32_t)))
			return false;
		((uint32_t *)(void *)excerpt->left.data)[connection]++;
	}
	return true;
}

void
excerpts_write_delayed(void *context, const struct ring_frame *frame)
{
	struct excerpts *excerpts = context;
	struct excerpt_frame written = {
	    .interface = frame->interface,
	    .dlt = frame->dlt,
	    .ts = frame->ts,
	    .data = frame->data,
	    .caplen = frame->caplen,
	    .len = frame->len,
	    .direction = frame->direction,
	    .packet_id = frame->packet_id,
	};
	bool any = excerpts_delayed_is_selected(&excerpts->any, frame);

	if (excerpts->failed || excerpts->error != 0 || excerpts_is_behind_window(excerpts, frame))
		return;
	if (any)
		excerpts_collect_delayed_comments(excerpts, frame);
	for (size_t i = 0; i < excerpts->count; i++) {
		struct excerpt *excerpt = &excerpts->excerpts[i];

		if (!any || !excerpts_delayed_is_selected(&excerpt->connections, frame)) {
			if (!excerpt_count_left(excerpt, frame))
				excerpts_fail(excerpts, errno);
		} else if (!excerpt_write_frame(excerpts, excerpt, &written)) {
			excerpts_stop_writing(excerpts);
		}
	}
}
