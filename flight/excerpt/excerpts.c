/* SPDX-License-Identifier: BSD-2-Clause */
#include "flight/excerpt/excerpts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "base/output_file.h"
#include "flight/excerpt/excerpt_first_pass.h"
#include "flight/excerpt/excerpt_index.h"
#include "observe/ring_listener.h"
#include "observe/workers.h"
#include "probes/manifest.h"

/* Most comments of a frame; further ones are counted.  So many fit into a block of a pcapng file. */
#define EXCERPT_COMMENTS_MAX ((size_t)4096)

struct excerpt_comment {
	uint32_t connection;
	char text[RING_COMMENT_MAX];
};

struct excerpt_comments {
	struct excerpt_comment *comments;
	const char **selected; /* room for as many */
	size_t count, capacity;
};

/* One --write. */
struct excerpt {
	char *name; /* of a formula or probe */
	const char *path;
	struct excerpt_file *file;
	struct excerpt_selection connections; /* with a firing */
	uint64_t firings, unconnected;	      /* firings; of them, those without a connection */
	struct excerpt_left left; /* delayed: frames that have left the ring unwritten */
	uint64_t missing;	  /* delayed: of these, frames of connections that matched later; at least as many if
				   * `left` has dropped counts */
	uint64_t comments_left_out; /* comments beyond EXCERPT_COMMENTS_MAX */
};

struct excerpts {
	struct excerpt_input input;
	bool twice;  /* the input is read twice; else it is delayed by the ring */
	bool failed; /* a file cannot be written */
	struct excerpt_first_pass *first_pass; /* of a run with two */
	struct ring *ring;		       /* of one that is delayed */
	struct excerpt_selection any; /* connections of any excerpt */
	struct excerpt_index index;
	struct excerpt_late late;
	struct excerpt_waiting *waiting; /* delayed: late comments */
	struct excerpt_cursor cursor;
	struct second_pass *second_pass;
	struct frame_tally second; /* frames of the second pass */
	struct excerpt_comments comments; /* of the frame that is written */
	size_t count;
	struct excerpt excerpts[];
};

/* ------------------------------------------------------------------------------------------------- excerpt comments */

/* Room for a comment after the last one, which becomes one when `count` is increased; NULL if out of memory.  After
 * EXCERPT_COMMENTS_MAX the room is that of a comment that is not kept. */
static struct excerpt_comment *
excerpt_comments_reserve(struct excerpt_comments *c)
{
	size_t capacity = c->capacity == 0 ? 64 : 2 * c->capacity;
	struct excerpt_comment *comments;
	const char **selected;

	if (c->count < c->capacity)
		return &c->comments[c->count];
	comments = realloc(c->comments, capacity * sizeof *comments);
	if (comments == NULL)
		return NULL;
	c->comments = comments;
	selected = realloc(c->selected, capacity * sizeof *selected);
	if (selected == NULL)
		return NULL;
	c->selected = selected;
	c->capacity = capacity;
	return &c->comments[c->count];
}

static void
excerpt_comments_free(struct excerpt_comments *c)
{
	free(c->comments);
	free(c->selected);
	*c = (struct excerpt_comments){.count = 0};
}

/* ---------------------------------------------------------------------------------------------------- excerpt write */

/* Writing the frames of an excerpt, in the second pass or when they leave the ring. */

/* Room for the next comment of the frame; NULL after an error. */
static struct excerpt_comment *
excerpts_next_comment(struct excerpts *excerpts)
{
	struct excerpt_comment *comment = excerpt_comments_reserve(&excerpts->comments);

	if (comment == NULL)
		excerpt_input_fail(&excerpts->input, ENOMEM);
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

/* Whether the readers of all files have closed them. */
static bool
excerpts_are_closed(const struct excerpts *excerpts)
{
	for (size_t i = 0; i < excerpts->count; i++)
		if (!excerpt_file_is_closed(excerpts->excerpts[i].file))
			return false;
	return true;
}

/* A file cannot be written: the run stops, unless only the reader of this file has gone and there are others. */
static void
excerpts_stop_writing(struct excerpts *excerpts, const struct excerpt_file *file)
{
	if (excerpt_file_is_closed(file) && !excerpts_are_closed(excerpts))
		return;
	excerpts->failed = true;
	loop_stop(excerpts->input.loop);
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
	if (excerpts->failed || excerpts->input.error != 0 || !excerpt_cursor_next(&excerpts->cursor, &indexed))
		return;
	frame_tally_add(&excerpts->second, 0, frame->len, frame->ts);
	if (excerpts_indexed_is_selected(excerpts, &excerpts->any, &indexed))
		excerpts_write_indexed(excerpts, frame, &indexed);
}

/* Whether the second pass had no error of its own; a message is logged. */
static bool
excerpts_check_second_pass(const struct excerpts *excerpts)
{
	int error = excerpts->input.error != 0	 ? excerpts->input.error
		    : excerpts->index.error != 0 ? excerpts->index.error
						 : excerpts->late.error;

	if (error != 0)
		log_error("cannot write the captures: the index of the frames cannot be read: %s", strerror(error));
	return error == 0;
}

/* Reads the input again and writes the frames.  False with a message logged. */
static bool
excerpts_write_again(struct excerpts *excerpts)
{
	bool good;

	if (!excerpt_late_resolve(&excerpts->late, &excerpts->index))
		return log_out_of_memory();
	excerpt_cursor_begin(&excerpts->cursor, &excerpts->index);
	if (excerpts->any.count == 0)
		return true;
	good = second_pass_run(excerpts->second_pass, excerpts_visit, excerpts) != INPUT_FAILED;
	if (excerpts->failed || !excerpts_check_second_pass(excerpts) || loop_is_stopped(excerpts->input.loop))
		return false;
	if (good && excerpts->second.frames == excerpts->input.tally.frames &&
	    excerpts->second.hash == excerpts->input.tally.hash)
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

/* Writes a frame that leaves the ring. */
static void
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

	if (excerpts->failed || excerpts->input.error != 0 ||
	    excerpt_input_is_after_window(&excerpts->input, frame->ts, frame->now))
		return;
	if (any)
		excerpts_collect_delayed_comments(excerpts, frame);
	for (size_t i = 0; i < excerpts->count; i++) {
		struct excerpt *excerpt = &excerpts->excerpts[i];

		if (!any || !excerpts_delayed_is_selected(&excerpt->connections, frame)) {
			if (!excerpt_count_left(excerpt, frame))
				excerpt_input_fail(&excerpts->input, errno);
		} else if (!excerpt_write_frame(excerpts, excerpt, &written)) {
			excerpts_stop_writing(excerpts, excerpt->file);
		}
	}
}

/* --------------------------------------------------------------------------------------------------------- opening */

/* The file of "-": blocking output, unlike that of --print and --records. */
#define STANDARD_OUTPUT "/dev/stdout"

/* Delay of an input that is read once, unless flight-memory is set, bytes. */
#define DELAY_MEMORY ((size_t)64 * 1024 * 1024)

static struct excerpts *
excerpts_new(const struct config *config)
{
	size_t count = 0;
	struct excerpts *excerpts;

	while (config->writes[count] != NULL)
		count++;
	excerpts = calloc(1, sizeof *excerpts + count * sizeof excerpts->excerpts[0]);
	if (excerpts == NULL) {
		log_out_of_memory();
		return NULL;
	}
	excerpts->input.config = config;
	excerpts->count = count;
	excerpts->twice = second_pass_obstacle(config) == NULL;
	excerpts->input.commented = config->write_format == CAPTURE_PCAPNG;
	for (size_t i = 0; i < count; i++)
		excerpt_left_open(&excerpts->excerpts[i].left, EXCERPT_LEFT_MAX);
	excerpt_index_open(&excerpts->index, (const int[]){-1, -1, -1, -1}, SPOOL_MEMORY);
	excerpt_late_open(&excerpts->late, -1, SPOOL_MEMORY);
	return excerpts;
}

/* Whether a file of another option is written to this path. */
static bool
excerpts_use_path(const struct excerpts *excerpts, size_t count, const char *path)
{
	const struct config *config = excerpts->input.config;
	const char *records = config->records_path;
	bool prints = config->print != PRINT_OFF || (config->records && records == NULL);

	if (prints && output_file_is_same(path, STANDARD_OUTPUT))
		return true;
	if (records != NULL && output_file_is_same(path, records))
		return true;
	for (size_t i = 0; i < count; i++)
		if (output_file_is_same(path, excerpts->excerpts[i].path))
			return true;
	return false;
}

static bool
excerpts_open_one(struct excerpts *excerpts, size_t number)
{
	const char *option = excerpts->input.config->writes[number];
	struct excerpt *excerpt = &excerpts->excerpts[number];
	size_t length = strcspn(option, "=");

	excerpt->path = option + length + 1; /* the options have been checked */
	if (strcmp(excerpt->path, "-") == 0)
		excerpt->path = STANDARD_OUTPUT;
	excerpt->name = strndup(option, length);
	if (excerpt->name == NULL)
		return log_out_of_memory();
	if (excerpts_use_path(excerpts, number, excerpt->path)) {
		log_error("cannot write the capture %s: another option writes this file", excerpt->path);
		return false;
	}
	excerpt->file = excerpt_file_open(excerpt->path, excerpts->input.config);
	return excerpt->file != NULL;
}

/* Opens the temporary files. */
static bool
excerpts_open_spools(struct excerpts *excerpts)
{
	int fds[EXCERPT_INDEX_FILES + 1];

	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		fds[i] = excerpt_file_open_temporary(excerpts->excerpts[0].file);
		if (fds[i] < 0)
			return false;
	}
	excerpt_index_open(&excerpts->index, fds, SPOOL_MEMORY);
	excerpt_late_open(&excerpts->late, fds[EXCERPT_INDEX_FILES], SPOOL_MEMORY);
	return true;
}

struct excerpts *
excerpts_open(const struct config *config)
{
	struct excerpts *excerpts = excerpts_new(config);
	bool good = excerpts != NULL;

	for (size_t i = 0; good && i < excerpts->count; i++)
		good = excerpts_open_one(excerpts, i);
	good = good && ((excerpts->waiting = excerpt_waiting_new()) != NULL || log_out_of_memory());
	if (good && (!excerpts->twice || excerpts_open_spools(excerpts)))
		return excerpts;
	excerpts_free(excerpts);
	return NULL;
}

bool
excerpts_open_inputs(struct excerpts *excerpts, struct loop *loop)
{
	excerpts->input.loop = loop;
	if (excerpts->twice)
		excerpts->second_pass = second_pass_open(excerpts->input.config, loop);
	return !excerpts->twice || excerpts->second_pass != NULL;
}

void
excerpts_free(struct excerpts *excerpts)
{
	if (excerpts == NULL)
		return;
	second_pass_free(excerpts->second_pass);
	excerpt_index_close(&excerpts->index);
	excerpt_late_close(&excerpts->late);
	excerpt_waiting_free(excerpts->waiting);
	excerpt_comments_free(&excerpts->comments);
	excerpt_first_pass_free(excerpts->first_pass);
	ring_free(excerpts->ring);
	free(excerpts->any.bits);
	for (size_t i = 0; i < excerpts->count; i++) {
		excerpt_file_free(excerpts->excerpts[i].file);
		free(excerpts->excerpts[i].name);
		free(excerpts->excerpts[i].connections.bits);
		excerpt_left_close(&excerpts->excerpts[i].left);
	}
	free(excerpts);
}

/* -------------------------------------------------------------------------------------------------- the first pass */

/* A connection of an excerpt. */
static void
excerpt_select(struct excerpts *excerpts, struct excerpt *excerpt, uint32_t connection)
{
	if (excerpt_selection_has(&excerpt->connections, connection))
		return;
	if (!excerpt_selection_add(&excerpt->connections, connection) ||
	    (!excerpt_selection_has(&excerpts->any, connection) &&
	     !excerpt_selection_add(&excerpts->any, connection)))
		excerpt_input_fail(&excerpts->input, ENOMEM);
	else
		excerpt->missing += excerpt_left_frames(&excerpt->left, connection);
}

/* Adds the comment to the frame in progress, or to an earlier one if a timer has caused the firing. */
static void
excerpts_comment(struct excerpts *excerpts, const struct formula_match *match, uint32_t connection)
{
	const struct flow *flow = match->firing->flow;
	uint64_t latest;
	char text[RING_COMMENT_MAX];

	formula_describe_match(match->formula, match->firing, text, sizeof text);
	if (firing_is_of_packet(match->firing) && excerpts->twice) {
		excerpt_first_pass_add_text(excerpts->first_pass, connection, text);
	} else if (firing_is_of_packet(match->firing)) {
		ring_add_text(excerpts->ring, match->cid, text);
	} else if (excerpts->twice) {
		if (!excerpt_late_add(&excerpts->late, connection, excerpts->index.count, text))
			excerpt_input_fail(&excerpts->input, errno);
	} else if (flow != NULL && (latest = ring_latest_frame(excerpts->ring, flow)) != 0) {
		if (!excerpt_waiting_add(excerpts->waiting, latest, connection, text))
			excerpt_input_fail(&excerpts->input, ENOMEM);
	}
}

static void
excerpts_on_match(void *context, const struct formula_match *match)
{
	struct excerpts *excerpts = context;
	uint64_t connection = excerpt_connection_number(match->cid);
	bool written = false;

	if (!match->is_written || excerpts->input.error != 0)
		return;
	if (connection > EXCERPT_CONNECTIONS_MAX) {
		excerpt_input_fail(&excerpts->input, EOVERFLOW);
		return;
	}
	for (size_t i = 0; i < excerpts->count; i++) {
		struct excerpt *excerpt = &excerpts->excerpts[i];

		if (strcmp(excerpt->name, formula_name(match->formula)) != 0)
			continue;
		excerpt->firings++;
		excerpt->unconnected += connection == 0;
		written = connection != 0;
		if (written)
			excerpt_select(excerpts, excerpt, (uint32_t)connection);
	}
	if (written && excerpts->input.commented)
		excerpts_comment(excerpts, match, (uint32_t)connection);
}

static bool
excerpts_writes(void *context, const char *name)
{
	const struct excerpts *excerpts = context;

	for (size_t i = 0; i < excerpts->count; i++)
		if (strcmp(excerpts->excerpts[i].name, name) == 0)
			return true;
	return false;
}

static bool
excerpts_make_ring(struct excerpts *excerpts, struct observer *observer, uint32_t flows, uint64_t seed)
{
	const size_t memory = excerpts->input.config->flight_memory;
	const struct ring_limits limits = {
	    .memory = memory != 0 ? memory : DELAY_MEMORY,
	    .flows = flows,
	    .seed = seed,
	};

	excerpts->ring = ring_new(&limits);
	if (excerpts->ring == NULL) {
		log_error("cannot write the captures: not enough memory for the frames: %s", strerror(errno));
		return false;
	}
	ring_set_leave_handler(excerpts->ring, excerpts_write_delayed, excerpts);
	ring_listener_attach_with_copies(excerpts->ring, observer);
	return true;
}

static bool
excerpts_listen(struct excerpts *excerpts, struct observer *observer)
{
	uint32_t flows = observer_flow_limit(excerpts->input.config, 1);
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
		seed = 0; /* a warning was logged for the flow table */
	if (!excerpts->twice)
		return excerpts_make_ring(excerpts, observer, flows, seed);
	excerpts->first_pass = excerpt_first_pass_new(&excerpts->input, &excerpts->index, observer, flows, seed);
	return excerpts->first_pass != NULL || log_out_of_memory();
}

bool
excerpts_connect(struct excerpts *excerpts, struct formula_set *formulas, struct observer *observer)
{
	char error[256];

	if (!excerpts_listen(excerpts, observer))
		return false;
	formula_set_set_match_handler(formulas, 0, excerpts_on_match, excerpts);
	formula_set_select_written(formulas, excerpts_writes, excerpts);
	for (unsigned probe = 0; probe < PROBE_COUNT; probe++) {
		if (!excerpts_writes(excerpts, manifest_probes[probe].name) ||
		    formula_set_write_probe(formulas, (enum probe_id)probe, error, sizeof error))
			continue;
		log_error("--write %s: %s", manifest_probes[probe].name, error);
		return false;
	}
	formula_set_poll(formulas);
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- ending */

static void
excerpt_log(const struct excerpt *excerpt)
{
	unsigned long long frames = excerpt_file_frames(excerpt->file), firings = excerpt->firings;
	unsigned long long connections = excerpt->connections.count;
	char missing[40];

	snprintf(missing, sizeof missing, "%llu%s", (unsigned long long)excerpt->missing,
		 excerpt->left.dropped ? " or more" : "");

	if (excerpt->firings == 0)
		log_notice("%s has not fired: the capture %s is empty", excerpt->name, excerpt->path);
	else
		log_notice("firings of %s: %llu, connections: %llu, frames in %s: %llu", excerpt->name, firings,
			   connections, excerpt->path, frames);
	if (excerpt->unconnected > 0)
		log_notice("firings of %s without a connection, so without frames: %llu", excerpt->name,
			   (unsigned long long)excerpt->unconnected);
	if (excerpt->missing > 0)
		log_warning("%s lacks the first %s frames of its connections, which had left the memory before %s "
			    "fired: give a larger --flight-memory, or a file instead of a pipe",
			    excerpt->path, missing, excerpt->name);
	if (excerpt_file_shortened(excerpt->file) > 0)
		log_warning("%s: %llu frames were longer than 262144 bytes, which snoop files cannot say: "
			    "--write-format pcapng",
			    excerpt->path, (unsigned long long)excerpt_file_shortened(excerpt->file));
	if (excerpt->comments_left_out > 0)
		log_warning("%s lacks %llu comments: a frame has at most %zu", excerpt->path,
			    (unsigned long long)excerpt->comments_left_out, EXCERPT_COMMENTS_MAX);
}

static bool
excerpt_complete(struct excerpts *excerpts, struct excerpt *excerpt, int dlt)
{
	struct written_statistics statistics = excerpts->input.statistics;
	char comment[160];

	if (excerpt->missing > 0) {
		snprintf(comment, sizeof comment, "%s%llu earlier frames of the connections are missing",
			 excerpt->left.dropped ? "at least " : "", (unsigned long long)excerpt->missing);
		statistics.comment = comment;
	}
	if (!excerpt_file_complete(excerpt->file, dlt, &statistics))
		return excerpt_file_is_closed(excerpt->file);
	excerpt_log(excerpt);
	return true;
}

/* Writes the frames that are not written yet. */
static bool
excerpts_write_rest(struct excerpts *excerpts)
{
	if (excerpts->ring != NULL)
		ring_drain(excerpts->ring);
	if (excerpts->input.error == EOVERFLOW)
		log_error(
		    "cannot write the captures: more than %u connections: read a part of the input (--from, --to)",
		    EXCERPT_CONNECTIONS_MAX);
	else if (excerpts->input.error != 0)
		log_error("cannot write the captures: the index of the frames cannot grow: %s",
			  strerror(excerpts->input.error));
	if (excerpts->input.error != 0 || excerpts->failed)
		return false;
	return !excerpts->twice || excerpts_write_again(excerpts);
}

/* The same number from a file and from a pipe. */
static void
excerpts_log_left_out(const struct excerpts *excerpts)
{
	uint64_t left_out = excerpts->twice ? excerpt_first_pass_left_out(excerpts->first_pass)
					    : ring_counters(excerpts->ring).notes_dropped;

	if (left_out > 0)
		log_warning("%llu comments and connections of frames that have too many of them are left out",
			    (unsigned long long)left_out);
}

static void
excerpts_log_unwritten(const struct excerpts *excerpts)
{
	for (size_t i = 0; i < excerpts->count; i++)
		log_warning("not all input was read: %s is not written", excerpts->excerpts[i].path);
}

static bool
excerpts_complete(struct excerpts *excerpts, const struct workers *workers, bool complete)
{
	size_t count;
	bool good = true;
	int dlt;

	if (!complete && excerpts->input.error == 0 && !excerpts->failed) {
		excerpts_log_unwritten(excerpts);
		return false;
	}
	if (!excerpts_write_rest(excerpts)) {
		if (excerpts->input.error == 0 && !excerpts->failed && loop_is_stopped(excerpts->input.loop))
			excerpts_log_unwritten(excerpts);
		return false;
	}
	dlt = input_link_types(workers->worker[0].input, &count)[0];
	for (size_t i = 0; i < excerpts->count; i++)
		good = excerpt_complete(excerpts, &excerpts->excerpts[i], dlt) && good;
	excerpts_log_left_out(excerpts);
	return good;
}

bool
excerpts_finish(struct excerpts *excerpts, const struct workers *workers, bool complete)
{
	bool good = excerpts_complete(excerpts, workers, complete) || excerpts_are_closed(excerpts);

	for (size_t i = 0; i < excerpts->count; i++)
		excerpt_file_log_error(excerpts->excerpts[i].file);
	return good;
}
