/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing the frames of an excerpt, in the second pass or when they leave the ring. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "flight/excerpt/excerpts_internal.h"

/* Room for the next comment of the frame; NULL after an error. */
static struct excerpt_comment *
excerpts_next_comment(struct excerpts *excerpts)
{
	struct excerpt_comment *comment = excerpt_comments_reserve(&excerpts->comments);

	if (comment == NULL)
		excerpts_fail(excerpts, ENOMEM);
	return comment;
}

/* Adds the comment for which there is room, or counts it if the frame has too many. */
static void
excerpts_add_comment(struct excerpts *excerpts, const struct excerpt_comment *comment)
{
	if (excerpts->comments.count < EXCERPT_COMMENTS_MAX) {
		excerpts->comments.count++;
		return;
	}
	for (size_t i = 0; i < excerpts->count; i++)
		excerpts->excerpts[i].comments_left_out +=
		    excerpt_selection_has(&excerpts->excerpts[i].connections, comment->connection);
}

/* Writes a frame to one file, with the comments on the connections of the file. */
static bool
excerpt_write_frame(const struct excerpts *excerpts, struct excerpt *excerpt, struct excerpt_frame *frame)
{
	const struct excerpt_comments *comments = &excerpts->comments;
	size_t count = 0;

	for (size_t i = 0; i < comments->count; i++)
		if (excerpt_selection_has(&excerpt->connections, comments->comments[i].connection))
			comments->selected[count++] = comments->comments[i].text;
	frame->comments = comments->selected;
	frame->comment_count = count;
	return excerpt_file_add(excerpt->file, frame);
}

/* A file cannot be written: the run stops, unless only the reader of this file has gone and there are others. */
static void
excerpts_stop_writing(struct excerpts *excerpts, const struct excerpt_file *file)
{
	if (excerpt_file_is_closed(file) && !excerpts_are_closed(excerpts))
		return;
	excerpts->failed = true;
	loop_stop(excerpts->loop);
}

/* ------------------------------------------------------------------------------------------------- the second pass */

static bool
excerpts_indexed_is_selected(struct excerpts *excerpts, const struct excerpt_selection *selection,
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
	struct excerpt_comment *comment;

	excerpts->comments.count = 0;
	while ((comment = excerpts_next_comment(excerpts)) != NULL &&
	       excerpt_cursor_next_note(&excerpts->cursor, &comment->connection, comment->text))
		if (excerpt_selection_has(&excerpts->any, comment->connection))
			excerpts_add_comment(excerpts, comment);
	while (comment != NULL &&
	       excerpt_late_next(&excerpts->late, frame->number, &comment->connection, comment->text)) {
		excerpts_add_comment(excerpts, comment);
		comment = excerpts_next_comment(excerpts);
	}
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
			excerpts_stop_writing(excerpts, excerpt->file);
	}
}

/* Frames that were appended to the file meanwhile are not written. */
static void
excerpts_visit(void *context, const struct frame *frame, uint64_t now)
{
	struct excerpts *excerpts = context;
	struct indexed_frame indexed;

	(void)now;
	if (excerpts->failed || excerpts->error != 0 || !excerpt_cursor_next(&excerpts->cursor, &indexed))
		return;
	frame_tally_add(&excerpts->second, 0, frame->len, frame->ts);
	if (excerpts_indexed_is_selected(excerpts, &excerpts->any, &indexed))
		excerpts_write_indexed(excerpts, frame, &indexed);
}

/* Whether the second pass had no error of its own; a message is logged. */
static bool
excerpts_check_second_pass(const struct excerpts *excerpts)
{
	int error = excerpts->error != 0	 ? excerpts->error
		    : excerpts->index.error != 0 ? excerpts->index.error
						 : excerpts->late.error;

	if (error != 0)
		log_error("cannot write the captures: the index of the frames cannot be read: %s", strerror(error));
	return error == 0;
}

bool
excerpts_write_again(struct excerpts *excerpts)
{
	bool good;

	if (!excerpt_late_resolve(&excerpts->late, &excerpts->index))
		return log_out_of_memory();
	excerpt_cursor_begin(&excerpts->cursor, &excerpts->index);
	if (excerpts->any.count == 0)
		return true;
	good = second_pass_run(excerpts->second_pass, excerpts_visit, excerpts) != INPUT_FAILED;
	if (excerpts->failed || !excerpts_check_second_pass(excerpts) || loop_is_stopped(excerpts->loop))
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

/* Comments that are not kept must not stay in memory either. */
static void
excerpts_collect_delayed_comments(struct excerpts *excerpts, const struct ring_frame *frame)
{
	struct excerpt_comment *comment;
	struct ring_note note;

	excerpts->comments.count = 0;
	comment = excerpts_next_comment(excerpts);
	for (size_t i = 0; comment != NULL && i < frame->notes; i++) {
		if (!ring_frame_note(excerpts->ring, frame, i, &note))
			break;
		comment->connection = (uint32_t)excerpt_connection_number(note.cid);
		if (!excerpt_selection_has(&excerpts->any, comment->connection))
			continue;
		ring_note_text(note.bytes, comment->text);
		excerpts_add_comment(excerpts, comment);
		comment = excerpts_next_comment(excerpts);
	}
	while (comment != NULL && excerpt_waiting_take(excerpts->waiting, frame->position, &comment->connection,
						       comment->text, sizeof comment->text)) {
		excerpts_add_comment(excerpts, comment);
		comment = excerpts_next_comment(excerpts);
	}
}

/* Counts a frame that is not written for each of its connections, in case one matches later. */
static bool
excerpt_count_left(struct excerpt *excerpt, const struct ring_frame *frame)
{
	for (size_t i = 0; i < frame->cid_count; i++)
		if (!excerpt_left_add(&excerpt->left, (uint32_t)excerpt_connection_number(frame->cids[i])))
			return false;
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

	if (excerpts->failed || excerpts->error != 0 || excerpts_is_behind_window(excerpts, frame->ts, frame->now))
		return;
	if (any)
		excerpts_collect_delayed_comments(excerpts, frame);
	for (size_t i = 0; i < excerpts->count; i++) {
		struct excerpt *excerpt = &excerpts->excerpts[i];

		if (!any || !excerpts_delayed_is_selected(&excerpt->connections, frame)) {
			if (!excerpt_count_left(excerpt, frame))
				excerpts_fail(excerpts, errno);
		} else if (!excerpt_write_frame(excerpts, excerpt, &written)) {
			excerpts_stop_writing(excerpts, excerpt->file);
		}
	}
}
