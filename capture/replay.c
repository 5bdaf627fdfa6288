/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/input.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output.h"
#include "capture/batch.h"
#include "capture/file/file_stream.h"
#include "capture/file/frame_reader.h"
#include "capture/file/pcap_reader.h"
#include "capture/link_filters.h"
#include "capture/packet_clock.h"
#include "dissect/dissect.h"
#include "probes/site/semaphores.h"

/* Frames read between two polls of the event loop: about a millisecond of work. */
#define FRAMES_PER_POLL 4096

/* A paced replay does not sleep for less than this, the resolution of timers. */
#define PACE_SLACK_NS 1000000u

/* A paced replay does not wait for a longer gap if too few frames confirm the time stamps before or after it. */
#define UNCONFIRMED_GAP_NS (3600ull * 1000000000)

/* A position between two frames of a capture file. */
struct replay_mark {
	uint64_t read_frames; /* frames before the position, including filtered ones */
	uint64_t bytes;	  /* decompressed bytes before the position; 0 unless the progress is shown */
};

struct replay_file {
	struct replay *replay;
	struct file_stream *stream;
	pcap_t *pcap;		     /* pcap files; otherwise NULL */
	struct frame_reader *frames; /* pcapng and snoop files; otherwise NULL */
	struct link_filters links;
	struct interface interface; /* of pcap files */
	int dlt;		    /* of pcap files */
	uint64_t read_frames;	    /* frames read so far, including filtered ones */
	struct pcap_reader *reader; /* of pcap files; NULL: libpcap reads the file */
	bool read_in_bulk;	    /* by `reader`, not by libpcap */
	bool ended;
	bool unsupported_logged; /* a link type that is not supported */
	/* If files are read frame by frame: */
	struct frame next_frame; /* next frame that passes the filter */
	struct packet_clock clock;
	uint64_t next_time; /* packet time of next_frame, which decides its turn and its pace */
	struct replay_mark replayed, next_end; /* end of the last replayed frame; end of next_frame */
	/* Frames after next_frame, read ahead to decide about its time stamp; copies. */
	struct frame ahead[PACKET_CLOCK_LOOKAHEAD];
	struct replay_mark ahead_end[PACKET_CLOCK_LOOKAHEAD]; /* end of each of them */
	unsigned ahead_count;
	uint8_t *ahead_bytes[PACKET_CLOCK_LOOKAHEAD + 1]; /* the last one is next_frame's */
	bool all_read, damaged;				  /* no frame is left to be read */
};

struct replay {
	struct input input;
	const struct config *config;
	struct loop *loop;
	struct batch *batch; /* NULL until the replay runs */
	struct input_counters counters;
	struct progress progress;
	struct reader_threads *threads; /* while the replay runs; NULL: this thread decompresses */
	bool merged;			/* files are read frame by frame */
	uint64_t first_time;		/* packet time of the first frame, for the pace */
	uint64_t start_time;		/* monotonic time of the first frame; 0 before */
	bool paced;			/* a second frame has been paced */
	int *link_types;		/* of all files */
	size_t link_type_count;
	size_t count;
	struct replay_file files[];
};

/* -------------------------------------------------------------------------------------------------- opening */

static void
replay_flush_output(struct replay *replay)
{
	if (replay->batch != NULL && !batch_flush_output(replay->batch))
		loop_stop(replay->loop);
}

/* The position up to which a file has been read. */
static struct replay_mark
replay_read_mark(const struct replay_file *file)
{
	struct replay_mark mark = {.read_frames = file->read_frames};
	off_t at = 0;

	if (!file->replay->progress.enabled || !file_stream_is_file(file->stream))
		at = 0;
	else if (file->frames != NULL)
		at = (off_t)frame_reader_position(file->frames);
	else
		at = file->read_in_bulk ? pcap_reader_position(file->reader) : ftello(pcap_file(file->pcap));
	mark.bytes = at > 0 ? (uint64_t)at : 0;
	return mark;
}

/* Shows how far the replay is, but not among the output of a tracer on the same terminal. */
static void
replay_show_progress(struct replay *replay)
{
	uint64_t frames = 0, done = 0, total = 0;
	bool known = true;

	if (!progress_is_due(&replay->progress))
		return;
	if (replay->progress.shares_terminal && semaphores_sum() != 0) {
		progress_hide(&replay->progress);
		return;
	}
	for (size_t i = 0; i < replay->count; i++) {
		const struct replay_file *file = &replay->files[i];
		uint64_t size = file_stream_size(file->stream);
		struct replay_mark mark = replay->merged && !file->ended ? file->replayed : replay_read_mark(file);

		frames += mark.read_frames;
		known = known && size > 0;
		total += size;
		done += file->ended ? size : file_stream_bytes_after(file->stream, mark.bytes);
	}
	progress_draw(&replay->progress, frames, done, known ? total : 0);
}

/* Whether further frames have no effect. */
static bool
replay_is_complete(const struct replay *replay)
{
	struct frame_sink *sink = batch_sink(replay->batch);

	return sink->ops->is_complete(sink);
}

/* Called before a file's stream waits for bytes: observes what has been read so far. */
static void
replay_on_wait(void *context)
{
	struct replay *replay = context;

	if (replay->batch != NULL)
		batch_flush_held(replay->batch);
	replay_flush_output(replay);
	replay_show_progress(replay);
}

static void
replay_log_not_a_capture(const struct replay_file *file, const char *error)
{
	const char *name = file_stream_name(file->stream), *stream_error = file_stream_error(file->stream);

	if (loop_is_stopped(file->replay->loop))
		return;
	log_error(
	    "%s is not a readable capture: %s; netobsd reads pcap, pcapng and snoop files, plain or compressed with "
	    "gzip or zstd",
	    name, stream_error != NULL ? stream_error : error);
}

static bool
replay_open_pcap(struct replay_file *file)
{
	char errbuf[PCAP_ERRBUF_SIZE] = "";
	FILE *stream = file_stream_fopen(file->stream);

	if (stream == NULL) {
		log_error("cannot read %s: out of memory", file_stream_name(file->stream));
		return false;
	}
	file->pcap = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, errbuf);
	if (file->pcap == NULL) {
		replay_log_not_a_capture(file, errbuf);
		fclose(stream);
		return false;
	}
	return true;
}

/* Adds link types that the file did not have before.  Logs the first that is not supported. */
static bool
replay_add_link_types(struct replay_file *file, const int *dlts, size_t count)
{
	struct link_filters *links = &file->links;
	size_t known = links->count;
	bool good = link_filters_add(links, file->replay->config, dlts, count);

	for (size_t i = known; i < links->count; i++) {
		const char *dlt_name = pcap_datalink_val_to_name(dlts[i]);

		if (links->list[i].supported || file->unsupported_logged)
			continue;
		file->unsupported_logged = true;
		log_warning("%s: frames of interfaces with link type %s (%d) are skipped: it is not supported; these "
			    "are: %s",
			    links->name, dlt_name != NULL ? dlt_name : "without a name", dlts[i], dissect_link_names());
	}
	return good;
}

/* A file without a supported link type is an error, which names its first one. */
static bool
replay_check_link_types(const struct replay_file *file, const int *dlts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (dissect_link_supported(dlts[i]))
			return true;
	return capture_check_link_type(dlts[0], file_stream_name(file->stream));
}

static bool
replay_start_reader(struct replay_file *file)
{
	const int *dlts;
	size_t count;

	if (!frame_reader_start(file->frames)) {
		replay_log_not_a_capture(file, frame_reader_error(file->frames));
		return false;
	}
	dlts = frame_reader_link_types(file->frames, &count);
	return replay_check_link_types(file, dlts, count) && replay_add_link_types(file, dlts, count);
}

static bool
replay_start_pcap(struct replay_file *file)
{
	uint8_t first[4] = {0};
	uint32_t magic;

	(void)file_stream_peek(file->stream, first, sizeof first);
	memcpy(&magic, first, sizeof magic);
	if (!replay_open_pcap(file))
		return false;
	file->reader = pcap_reader_new(file->stream, file->pcap, magic, &file->interface);
	file->read_in_bulk = file->reader != NULL;
	file->dlt = pcap_datalink(file->pcap);
	file->links.pcap = file->pcap;
	return replay_check_link_types(file, &file->dlt, 1) && replay_add_link_types(file, &file->dlt, 1);
}

/* After privileges are dropped: reads everything before the first frame. */
static bool
replay_start_file(struct replay_file *file)
{
	bool good;

	if (!file_stream_detect_format(file->stream))
		return false;
	file->links.name = file_stream_name(file->stream);
	file->frames = frame_reader_new(file->stream, &good);
	if (!good)
		return false;
	return file->frames != NULL ? replay_start_reader(file) : replay_start_pcap(file);
}

static void
replay_close_file(struct replay_file *file)
{
	for (unsigned i = 0; i <= PACKET_CLOCK_LOOKAHEAD; i++)
		free(file->ahead_bytes[i]);
	link_filters_free(&file->links);
	pcap_reader_free(file->reader);
	frame_reader_free(file->frames);
	if (file->pcap != NULL)
		pcap_close(file->pcap);
	file_stream_free(file->stream);
}

/* -------------------------------------------------------------------------------------------------- reading */

/* The reason why reading a file ended early, and the offset. */
static const char *
replay_damage(const struct replay_file *file, long long *at)
{
	const char *stream_error = file_stream_error(file->stream), *error;

	if (file->frames != NULL) {
		error = frame_reader_error(file->frames);
		*at = (long long)frame_reader_position(file->frames);
	} else {
		error = pcap_geterr(file->pcap);
		*at = pcap_file(file->pcap) != NULL ? (long long)ftello(pcap_file(file->pcap)) : -1;
	}
	return stream_error != NULL ? stream_error : error;
}

/* Logs where a file ended early. */
static void
replay_log_damage(struct replay_file *file)
{
	const char *name = file_stream_name(file->stream), *compression = file_stream_compression(file->stream);
	long long at;
	const char *error = replay_damage(file, &at);

	file->replay->counters.damaged++;
	log_error("%s ends unexpectedly or is damaged at frame %llu, byte %lld%s%s: %s; everything before was "
		  "observed",
		  name, (unsigned long long)file->read_frames + 1, at, compression != NULL ? " decompressed from " : "",
		  compression != NULL ? compression : "", error);
}

/* Marks a file as ended or damaged.  A stopped loop ends pipes early, which is not damage. */
static void
replay_end_file(struct replay_file *file, bool damaged)
{
	file->ended = true;
	if (file->frames != NULL) {
		struct frame_reader_dropped dropped = frame_reader_dropped(file->frames);

		file->replay->counters.dropped += dropped.system;
		file->replay->counters.interface_dropped += dropped.interface;
	}
	if (!damaged || loop_is_stopped(file->replay->loop))
		return;
	replay_flush_output(file->replay); /* output of observed frames comes before the message */
	replay_log_damage(file);
}

/* Counts a frame.  Whether it is observed. */
static bool
replay_passes_filter(struct replay_file *file, const struct frame *frame)
{
	struct input_counters *counters = &file->replay->counters;
	enum link_verdict verdict = LINK_PASSES;

	file->read_frames++;
	if (file->links.selects)
		verdict = link_filters_check(&file->links, frame);
	counters->filtered += verdict == LINK_FILTERED;
	counters->unsupported += verdict == LINK_UNSUPPORTED;
	return verdict == LINK_PASSES;
}

/* libpcap's callback.  The filter is applied here and not by libpcap so that every frame is counted. */
static void
replay_handle_frame(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	struct replay_file *file = (struct replay_file *)user;
	struct batch *batch = file->replay->batch;
	struct frame *frame = batch_next_frame(batch);

	*frame = capture_make_frame(&file->interface, file->dlt, header, data);
	if (replay_passes_filter(file, frame))
		batch_commit_frame(batch);
}

/* Whether no further frame is needed. */
static bool
replay_is_over(const struct replay *replay)
{
	return loop_is_stopped(replay->loop) || replay_is_complete(replay);
}

/* Handles signals, flushes the printer and shows the progress.  False: stop. */
static bool
replay_poll_loop(struct replay *replay)
{
	replay_show_progress(replay);
	replay_flush_output(replay);
	loop_poll(replay->loop);
	return !loop_is_stopped(replay->loop);
}

/* Drops frames that do not pass the filter. */
static unsigned
replay_filter_frames(struct replay_file *file, struct frame *frames, unsigned count)
{
	unsigned kept = 0;

	if (!file->links.selects) {
		file->read_frames += count;
		return count;
	}
	for (unsigned i = 0; i < count; i++)
		if (replay_passes_filter(file, &frames[i]))
			frames[kept++] = frames[i];
	return kept;
}

/* Lets libpcap continue at the first frame that the pcap reader does not handle. */
static void
replay_hand_back(struct replay_file *file)
{
	file->read_in_bulk = false;
	pcap_reader_hand_back(file->reader);
}

/* Reads the next frames with the pcap reader. */
static void
replay_read_bulk(struct replay_file *file)
{
	struct frame frames[FRAME_SINK_FRAMES_MAX];
	unsigned count;

	for (unsigned reads = 0; reads < FRAMES_PER_POLL / FRAME_SINK_FRAMES_MAX; reads++) {
		count = pcap_reader_read(file->reader, frames, FRAME_SINK_FRAMES_MAX);
		if (count == 0) {
			replay_hand_back(file);
			return;
		}
		count = replay_filter_frames(file, frames, count);
		batch_take_in_place(file->replay->batch, frames, count);
	}
}

/* Reads frames of a pcapng or snoop file, and adds the link types of interfaces that appear. */
static unsigned
replay_read_frames(struct replay_file *file, struct frame *frames, unsigned most)
{
	unsigned count = frame_reader_read(file->frames, frames, most);
	size_t link_types;
	const int *dlts = frame_reader_link_types(file->frames, &link_types);

	if (link_types > file->links.count)
		(void)replay_add_link_types(file, dlts, link_types); /* a bad filter is logged; it selects nothing */
	return file->links.count == link_types ? count : 0;
}

/* Why replay_read_frames() has returned 0.  Without memory for a link type the file ends as if it were damaged. */
static enum frame_reader_status
replay_reader_status(const struct replay_file *file)
{
	size_t link_types;

	(void)frame_reader_link_types(file->frames, &link_types);
	return file->links.count == link_types ? frame_reader_status(file->frames) : FRAME_READER_DAMAGED;
}

/* The next frames of a pcapng or snoop file. */
static void
replay_read_reader(struct replay_file *file)
{
	struct frame frames[FRAME_SINK_FRAMES_MAX];
	unsigned count;

	for (unsigned reads = 0; reads < FRAMES_PER_POLL / FRAME_SINK_FRAMES_MAX; reads++) {
		count = replay_read_frames(file, frames, FRAME_SINK_FRAMES_MAX);
		if (count == 0) {
			enum frame_reader_status status = replay_reader_status(file);

			if (status != FRAME_READER_MORE)
				replay_end_file(file, status == FRAME_READER_DAMAGED);
			return;
		}
		count = replay_filter_frames(file, frames, count);
		batch_take_in_place(file->replay->batch, frames, count);
	}
}

/* The next frames, read by libpcap. */
static void
replay_read_libpcap(struct replay_file *file)
{
	int read = pcap_dispatch(file->pcap, FRAMES_PER_POLL, replay_handle_frame, (u_char *)file);

	if (read <= 0)
		replay_end_file(file, read < 0);
}

/* Reads a single file as fast as possible. */
static void
replay_run_single(struct replay *replay)
{
	struct replay_file *file = &replay->files[0];

	do {
		if (file->frames != NULL)
			replay_read_reader(file);
		else if (file->read_in_bulk)
			replay_read_bulk(file);
		else
			replay_read_libpcap(file);
	} while (replay_poll_loop(replay) && !file->ended && !replay_is_complete(replay));
}

/* ------------------------------------------------------------------------------------------ merging and pacing */

/* Polls the loop before every FRAMES_PER_POLL-th frame, including filtered ones.  False: stop. */
static bool
replay_poll_between_frames(const struct replay_file *file)
{
	if (file->read_frames % FRAMES_PER_POLL == 0)
		return replay_poll_loop(file->replay);
	return !loop_is_stopped(file->replay->loop);
}

/* Reads one frame.  False at the end, which sets all_read. */
static bool
replay_read_one(struct replay_file *file, struct frame *frame)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int got;

	if (file->frames != NULL) {
		while (replay_read_frames(file, frame, 1) == 0) {
			enum frame_reader_status status = replay_reader_status(file);

			file->damaged |= status == FRAME_READER_DAMAGED;
			file->all_read = status != FRAME_READER_MORE || !replay_poll_loop(file->replay);
			if (file->all_read)
				return false;
		}
		return true;
	}
	if (file->read_in_bulk) {
		if (pcap_reader_read(file->reader, frame, 1) == 1)
			return true;
		replay_hand_back(file);
	}
	got = pcap_next_ex(file->pcap, &header, &data);
	if (got == 1) {
		*frame = capture_make_frame(&file->interface, file->dlt, header, data);
		return true;
	}
	file->damaged |= got == PCAP_ERROR;
	file->all_read = true;
	return false;
}

/* Reads up to the next frame that passes the filter.  Its bytes are valid until the next call.  False at the end, and
 * if the loop was stopped. */
static bool
replay_read_frame(struct replay_file *file, struct frame *frame)
{
	while (!file->all_read && replay_poll_between_frames(file) && replay_read_one(file, frame))
		if (replay_passes_filter(file, frame))
			return true;
	file->all_read = true;
	return false;
}

/* Copies the bytes of a frame into memory of the file, the `index`th.  False if out of memory. */
static bool
replay_keep_frame(struct replay_file *file, struct frame *frame, unsigned index)
{
	uint8_t *bytes;

	if (frame->data == file->ahead_bytes[index])
		return true; /* it was read ahead */
	bytes = realloc(file->ahead_bytes[index], frame->caplen > 0 ? frame->caplen : 1);
	if (bytes == NULL)
		return false;
	memcpy(bytes, frame->data, frame->caplen);
	file->ahead_bytes[index] = bytes;
	frame->data = bytes;
	return true;
}

/* Reads the frames after next_frame that decide about its time stamp, unless that would wait for a pipe. */
static void
replay_read_ahead(struct replay_file *file)
{
	struct frame *frame = &file->ahead[file->ahead_count];

	if (!file_stream_is_file(file->stream) ||
	    (file->ahead_count == 0 && !replay_keep_frame(file, &file->next_frame, PACKET_CLOCK_LOOKAHEAD)))
		return;
	while (file->ahead_count < PACKET_CLOCK_LOOKAHEAD && replay_read_frame(file, frame)) {
		if (!replay_keep_frame(file, frame, file->ahead_count)) {
			file->all_read = file->damaged = true;
			log_out_of_memory();
			return;
		}
		file->ahead_end[file->ahead_count] = replay_read_mark(file);
		frame = &file->ahead[++file->ahead_count];
	}
}

/* Makes the first frame that was read ahead next_frame. */
static void
replay_take_ahead(struct replay_file *file)
{
	uint8_t *bytes = file->ahead_bytes[0];

	file->next_frame = file->ahead[0];
	file->next_end = file->ahead_end[0];
	file->ahead_count--;
	memmove(file->ahead, file->ahead + 1, file->ahead_count * sizeof file->ahead[0]);
	memmove(file->ahead_end, file->ahead_end + 1, file->ahead_count * sizeof file->ahead_end[0]);
	/* The memory of next_frame is the last one; that of the frame before is free. */
	file->ahead_bytes[0] = file->ahead_bytes[PACKET_CLOCK_LOOKAHEAD];
	file->ahead_bytes[PACKET_CLOCK_LOOKAHEAD] = bytes;
	bytes = file->ahead_bytes[0];
	memmove(file->ahead_bytes, file->ahead_bytes + 1, file->ahead_count * sizeof file->ahead_bytes[0]);
	file->ahead_bytes[file->ahead_count] = bytes;
}

/* Sets next_time.  A lone time stamp, and a step of the clock, move neither the frame nor those after it. */
static void
replay_set_time(struct replay_file *file)
{
	struct packet_clock *clock = &file->clock, before = *clock;
	uint64_t ts = file->next_frame.ts;

	if (packet_clock_is_regular(clock, ts)) {
		clock->now = ts + clock->offset;
	} else if (packet_clock_decide(clock, ts, NULL, 0, false) == PACKET_CLOCK_UNDECIDED) {
		replay_read_ahead(file);
		packet_clock_decide(clock, ts, file->ahead, file->ahead_count, true);
		if (file->ahead_count < PACKET_CLOCK_LOOKAHEAD && clock->now - before.now > UNCONFIRMED_GAP_NS)
			*clock = before;
	}
	file->next_time = clock->now;
}

/* Moves to the next frame that passes the filter. */
static void
replay_read_next(struct replay_file *file)
{
	file->replayed = file->next_end;
	if (file->ahead_count > 0) {
		replay_take_ahead(file);
	} else if (replay_read_frame(file, &file->next_frame)) {
		file->next_end = replay_read_mark(file);
	} else {
		replay_end_file(file, file->damaged);
		return;
	}
	replay_set_time(file);
}

/* The file with the oldest next frame, the first among equals; NULL if all files have ended. */
static struct replay_file *
replay_oldest_file(struct replay *replay)
{
	struct replay_file *found = NULL;

	for (size_t i = 0; i < replay->count; i++) {
		struct replay_file *file = &replay->files[i];

		if (!file->ended && (found == NULL || file->next_time < found->next_time))
			found = file;
	}
	return found;
}

/* Time of the oldest next frame of the other files: until then `file` stays the oldest. */
static uint64_t
replay_oldest_other(const struct replay *replay, const struct replay_file *file)
{
	uint64_t bound = UINT64_MAX;

	for (size_t i = 0; i < replay->count; i++) {
		const struct replay_file *other = &replay->files[i];

		if (other != file && !other->ended && other->next_time < bound)
			bound = other->next_time;
	}
	return bound;
}

/* Sleeps for `ns` nanoseconds, or until the progress line must be drawn. */
static void
replay_sleep(struct replay *replay, double ns)
{
	/* Damaged time stamps may be centuries ahead: limit the time to what a timer accepts. */
	uint64_t limit = progress_wait(&replay->progress, (uint64_t)1e18);

	loop_sleep(replay->loop, ns < (double)limit ? (uint64_t)ns : limit);
}

/* Sleeps until a frame of this packet time is due. */
static void
replay_wait_until_due(struct replay *replay, uint64_t time)
{
	uint64_t now = clock_monotonic_ns();
	bool first = replay->start_time == 0;
	double due, ahead; /* nanoseconds after the first frame; from now */

	/* A long gap after the first frame: its time stamp is the only one before. */
	if (first || (!replay->paced && time > replay->first_time + UNCONFIRMED_GAP_NS)) {
		replay->start_time = now;
		replay->first_time = time;
	}
	replay->paced = !first;
	replay_show_progress(replay);
	if (time <= replay->first_time)
		return;
	due = (double)(time - replay->first_time) / replay->config->replay_speed;
	while (!loop_is_stopped(replay->loop)) {
		ahead = due - (double)(clock_monotonic_ns() - replay->start_time);
		if (ahead < PACE_SLACK_NS)
			return;
		replay_flush_output(replay);
		replay_sleep(replay, ahead);
		replay_show_progress(replay);
	}
}

/* Reads several files, or a paced one, frame by frame. */
static void
replay_run_merged(struct replay *replay)
{
	struct replay_file *file;

	for (size_t i = 0; i < replay->count; i++)
		replay_read_next(&replay->files[i]);
	while (!replay_is_over(replay) && (file = replay_oldest_file(replay)) != NULL) {
		uint64_t bound = replay_oldest_other(replay, file);

		do {
			if (replay->config->replay_speed > 0 && file->next_time >= replay->config->from)
				replay_wait_until_due(replay, file->next_time);
			if (loop_is_stopped(replay->loop))
				break;
			*batch_next_frame(replay->batch) = file->next_frame;
			batch_commit_frame(replay->batch);
			replay_read_next(file);
		} while (!file->ended && file->next_time < bound && !replay_is_over(replay));
	}
	replay_flush_output(replay);
}

/* ------------------------------------------------------------------------------------------------- the input */

static const int *
replay_link_types(const struct input *input, size_t *count)
{
	const struct replay *replay = (const struct replay *)input;

	*count = replay->link_type_count;
	return replay->link_types;
}

/* With --workers, further threads decompress the files ahead.  If out of memory, this thread decompresses. */
static void
replay_start_threads(struct replay *replay)
{
	size_t files = 0;
	int error;

	replay->threads = reader_threads_new(replay->count);
	if (replay->threads == NULL)
		return;
	for (size_t i = 0; i < replay->count; i++)
		files += file_stream_read_ahead(replay->files[i].stream, replay->threads);
	if (files == 0 && replay->config->config_path == NULL)
		log_notice("--workers has no effect: other threads only decompress regular files, and no given "
			   "file is compressed");
	error = reader_threads_start(replay->threads, replay->config->workers - 1);
	if (error != 0)
		log_warning("cannot start a reader thread: %s; the other threads do its work", strerror(error));
	log_debug(DEBUG_CAPTURE, "reader threads: %u; files read ahead: %zu", reader_threads_started(replay->threads),
		  files);
}

static enum input_result
replay_run(struct input *input, struct batch *batch)
{
	struct replay *replay = (struct replay *)input;

	replay->batch = batch;
	if (replay->config->workers > 1)
		replay_start_threads(replay);
	progress_begin(&replay->progress, replay->config->print != PRINT_OFF);
	replay->merged = replay->count > 1 || replay->config->replay_speed > 0;
	if (!replay->merged)
		replay_run_single(replay);
	else
		replay_run_merged(replay);
	progress_hide(&replay->progress);
	reader_threads_free(replay->threads); /* before another replay reads the same standard input */
	replay->threads = NULL;
	replay->batch = NULL;
	return replay->counters.damaged > 0 ? INPUT_DAMAGED : INPUT_DONE;
}

static const struct input_counters *
replay_counters(struct input *input)
{
	return &((struct replay *)input)->counters;
}

static void
replay_free(struct input *input)
{
	struct replay *replay = (struct replay *)input;

	for (size_t i = 0; i < replay->count; i++)
		replay_close_file(&replay->files[i]);
	free(replay->link_types);
	free(replay);
}

/* Adds the supported link types of a file to those of the replay. */
static bool
replay_collect_link_types(struct replay *replay, const struct link_filters *links)
{
	int *list = realloc(replay->link_types, (replay->link_type_count + links->count) * sizeof *list);

	if (list == NULL)
		return log_out_of_memory();
	replay->link_types = list;
	for (size_t i = 0; i < links->count; i++)
		if (links->list[i].supported)
			list[replay->link_type_count++] = links->list[i].dlt;
	return true;
}

static bool
replay_start(struct input *input)
{
	struct replay *replay = (struct replay *)input;

	for (size_t i = 0; i < replay->count; i++)
		if (!replay_start_file(&replay->files[i]) ||
		    !replay_collect_link_types(replay, &replay->files[i].links))
			return false;
	return true;
}

/* Compiles the filter of a file for all its link types. */
static bool
replay_compile_filter(const struct replay_file *file, const struct config *config, struct link_filters *result)
{
	int dlts[FRAME_READER_LINK_TYPES];

	*result = (struct link_filters){.name = file->links.name, .pcap = file->links.pcap};
	for (size_t i = 0; i < file->links.count; i++)
		dlts[i] = file->links.list[i].dlt;
	return link_filters_add(result, config, dlts, file->links.count);
}

/* Sets the filter of every file or of no file.  Frames read ahead have passed the old filter and stay. */
static bool
replay_set_filter(struct input *input, const struct config *config)
{
	struct replay *replay = (struct replay *)input;
	struct link_filters *filters = calloc(replay->count, sizeof *filters);
	bool good = true;

	if (filters == NULL)
		return log_out_of_memory();
	for (size_t i = 0; i < replay->count && good; i++)
		good = replay_compile_filter(&replay->files[i], config, &filters[i]);
	for (size_t i = 0; i < replay->count; i++) {
		struct link_filters old = replay->files[i].links;

		if (good)
			replay->files[i].links = filters[i];
		link_filters_free(good ? &old : &filters[i]);
	}
	free(filters);
	return good;
}

static const struct input_ops replay_ops = {
    .start = replay_start,
    .link_types = replay_link_types,
    .run = replay_run,
    .set_filter = replay_set_filter,
    .counters = replay_counters,
    .free = replay_free,
};

struct input *
replay_open(const struct config *config, struct loop *loop)
{
	struct replay *replay;
	size_t count = 0;

	while (config->capture_paths[count] != NULL)
		count++;
	replay = calloc(1, sizeof *replay + count * sizeof replay->files[0]);
	if (replay == NULL) {
		log_out_of_memory();
		return NULL;
	}
	replay->input.ops = &replay_ops;
	replay->config = config;
	replay->loop = loop;
	for (; replay->count < count; replay->count++) {
		struct replay_file *file = &replay->files[replay->count];

		file->replay = replay;
		file->stream = file_stream_open(config->capture_paths[replay->count], loop, replay_on_wait, replay);
		if (file->stream == NULL)
			break;
	}
	if (replay->count < count) {
		replay->count = count; /* close all files: those not opened yet are zero, which is safe to close */
		replay_free(&replay->input);
		return NULL;
	}
	return &replay->input;
}
