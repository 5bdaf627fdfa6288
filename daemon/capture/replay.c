/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/capture/replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/capture/file_stream.h"
#include "daemon/capture/pcap_common.h"
#include "daemon/capture/pcap_reader.h"
#include "daemon/observe/batch.h"
#include "flow/flow.h"

/* Records read between two turns of the event loop: about a millisecond of work. */
#define RECORDS_PER_TURN 4096

/* A paced replay does not sleep for less than this, the resolution of timers. */
#define PACE_SLACK_NS 1000000u

struct replay_file {
	struct replay *replay;
	struct source *source;
	pcap_t *pcap;
	struct bpf_program filter; /* no instructions: everything passes */
	struct interface interface;
	int dlt;
	uint64_t records;  /* records read so far, including filtered ones */
	struct bulk *bulk; /* replaces libpcap for plain files; NULL: libpcap reads */
	bool ended;
	struct frame head; /* next record that passes the filter, if files are read record by record */
};

struct replay {
	struct input input;
	const struct config *config;
	struct loop *loop;
	struct batch *batch; /* NULL until the replay runs */
	struct input_counters counters;
	uint64_t first_ts; /* time stamp of the first frame, for the pace */
	uint64_t began;	   /* monotonic time at which it was due; 0 before */
	int *link_types;
	size_t count;
	struct replay_file files[];
};

/* -------------------------------------------------------------------------------------------------- opening */

/* Called before a file's stream waits for bytes: observes what has been read so far. */
static void
settle(void *context)
{
	struct replay *replay = context;

	if (replay->batch != NULL && !batch_settle(replay->batch))
		loop_stop(replay->loop);
}

static void
complain_not_a_capture(const struct replay_file *file, const char *libpcap_says)
{
	const char *name = source_name(file->source), *trouble = source_trouble(file->source);

	if (loop_stopped(file->replay->loop))
		return;
	log_error(
	    "%s is not a readable capture: %s; netobsd reads pcap and pcapng files, plain or compressed with gzip or "
	    "zstd",
	    name, trouble != NULL ? trouble : libpcap_says);
}

static bool
open_capture(struct replay_file *file)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	FILE *stream = source_stream(file->source);

	if (stream == NULL) {
		log_error("cannot read %s: out of memory", source_name(file->source));
		return false;
	}
	file->pcap = pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, why);
	if (file->pcap == NULL) {
		complain_not_a_capture(file, why);
		fclose(stream);
		return false;
	}
	return true;
}

/* After privileges are dropped: reads everything before the first record. */
static bool
begin_file(struct replay_file *file)
{
	const struct config *config = file->replay->config;

	if (!source_begin(file->source) || !open_capture(file) ||
	    !capture_link_supported(file->pcap, source_name(file->source)))
		return false;
	file->dlt = pcap_datalink(file->pcap);
	return config->filter == NULL ||
	       capture_compile(config, file->pcap, source_name(file->source), &file->filter);
}

static void
close_file(struct replay_file *file)
{
	pcap_freecode(&file->filter);
	bulk_free(file->bulk);
	if (file->pcap != NULL)
		pcap_close(file->pcap);
	source_free(file->source);
}

/* -------------------------------------------------------------------------------------------------- reading */

/* Logs where a file ended early. */
static void
complain_damaged(struct replay_file *file)
{
	const char *packing = source_packing(file->source), *trouble = source_trouble(file->source);
	FILE *stream = pcap_file(file->pcap);
	long long at = stream != NULL ? (long long)ftello(stream) : -1;

	file->replay->counters.damaged++;
	log_error("%s ends unexpectedly or is damaged at record %llu, byte %lld%s%s: %s; everything before was "
		  "observed",
		  source_name(file->source), (unsigned long long)file->records + 1, at,
		  packing != NULL ? " unpacked from " : "", packing != NULL ? packing : "",
		  trouble != NULL ? trouble : pcap_geterr(file->pcap));
}

/* Marks a file as ended or damaged.  A stopped loop ends pipes early, which is not damage. */
static void
end_file(struct replay_file *file, bool damaged)
{
	file->ended = true;
	if (!damaged || loop_stopped(file->replay->loop))
		return;
	settle(file->replay); /* output of observed frames comes before the message */
	complain_damaged(file);
}

static bool
passes(struct replay_file *file, const struct pcap_pkthdr *header, const u_char *data)
{
	file->records++;
	if (file->filter.bf_insns == NULL || pcap_offline_filter(&file->filter, header, data) != 0)
		return true;
	file->replay->counters.filtered++;
	return false;
}

/* libpcap's callback.  The filter is applied here and not by libpcap so that every record is counted. */
static void
take_record(u_char *user, const struct pcap_pkthdr *header, const u_char *data)
{
	struct replay_file *file = (struct replay_file *)user;
	struct batch *batch = file->replay->batch;

	if (!passes(file, header, data))
		return;
	*batch_slot(batch) = capture_frame(&file->interface, file->dlt, header, data);
	batch_commit(batch);
}

/* Handles signals and flushes the printer.  False: stop. */
static bool
turn(struct replay *replay)
{
	settle(replay);
	loop_poll(replay->loop);
	return !loop_stopped(replay->loop);
}

/* Drops frames that do not pass the filter. */
static unsigned
sift(struct replay_file *file, struct frame *frames, unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		struct pcap_pkthdr header = {.caplen = frames[i].caplen, .len = frames[i].len};

		if (passes(file, &header, frames[i].data))
			frames[kept++] = frames[i];
	}
	return kept;
}

/* Reads the next records in bulk; at the end of what can be read so, libpcap continues. */
static void
take_in_bulk(struct replay_file *file)
{
	struct frame frames[OBSERVE_BATCH];
	unsigned count;

	for (unsigned records = 0; records < RECORDS_PER_TURN; records += count) {
		count = bulk_read(file->bulk, frames, OBSERVE_BATCH);
		if (count == 0) {
			if (!bulk_leave(file->bulk))
				end_file(file, true);
			bulk_free(file->bulk);
			file->bulk = NULL;
			return;
		}
		if (file->filter.bf_insns == NULL)
			file->records += count;
		else
			count = sift(file, frames, count);
		batch_observe(file->replay->batch, frames, count);
	}
}

/* The next records, read by libpcap. */
static void
take_from_libpcap(struct replay_file *file)
{
	int read = pcap_dispatch(file->pcap, RECORDS_PER_TURN, take_record, (u_char *)file);

	if (read <= 0)
		end_file(file, read < 0);
}

/* Reads a single file as fast as possible. */
static void
run_straight(struct replay *replay)
{
	struct replay_file *file = &replay->files[0];
	int fd = source_plain_file(file->source);

	if (fd >= 0)
		file->bulk = bulk_open(fd, file->pcap, &file->interface);
	do {
		if (file->bulk != NULL)
			take_in_bulk(file);
		else
			take_from_libpcap(file);
	} while (turn(replay) && !file->ended);
}

/* ------------------------------------------------------------------------------------- merging and the pace */

/* Reads on to the next record that passes the filter. */
static void
advance(struct replay_file *file)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int got;

	while ((got = pcap_next_ex(file->pcap, &header, &data)) == 1) {
		if (passes(file, header, data)) {
			file->head = capture_frame(&file->interface, file->dlt, header, data);
			return;
		}
	}
	end_file(file, got == PCAP_ERROR);
}

/* The file with the oldest head, the first among equals; NULL if all files have ended. */
static struct replay_file *
oldest(struct replay *replay)
{
	struct replay_file *found = NULL;

	for (size_t i = 0; i < replay->count; i++) {
		struct replay_file *file = &replay->files[i];

		if (!file->ended && (found == NULL || file->head.ts < found->head.ts))
			found = file;
	}
	return found;
}

/* Time of the oldest head of the other files: until then `file` stays the oldest. */
static uint64_t
oldest_but(const struct replay *replay, const struct replay_file *file)
{
	uint64_t bound = UINT64_MAX;

	for (size_t i = 0; i < replay->count; i++) {
		const struct replay_file *other = &replay->files[i];

		if (other != file && !other->ended && other->head.ts < bound)
			bound = other->head.ts;
	}
	return bound;
}

static uint64_t
monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/* Sleeps until a frame with this time stamp is due. */
static void
keep_pace(struct replay *replay, uint64_t ts)
{
	uint64_t now = monotonic_now();
	double ahead;

	if (replay->began == 0) {
		replay->began = now;
		replay->first_ts = ts;
	}
	if (ts <= replay->first_ts)
		return;
	ahead = (double)(ts - replay->first_ts) / replay->config->pace - (double)(now - replay->began);
	if (ahead < PACE_SLACK_NS)
		return;
	settle(replay);
	/* A damaged time stamp may be centuries ahead: limit it to what a timer accepts. */
	loop_sleep(replay->loop, ahead < 1e18 ? (uint64_t)ahead : (uint64_t)1e18);
}

/* Reads several files, or a paced one, record by record. */
static void
run_stepwise(struct replay *replay)
{
	struct replay_file *file;
	unsigned records = 0;

	for (size_t i = 0; i < replay->count; i++)
		advance(&replay->files[i]);
	while (!loop_stopped(replay->loop) && (file = oldest(replay)) != NULL) {
		uint64_t bound = oldest_but(replay, file);

		do {
			if (replay->config->pace > 0)
				keep_pace(replay, file->head.ts);
			if (loop_stopped(replay->loop))
				break;
			*batch_slot(replay->batch) = file->head;
			batch_commit(replay->batch);
			advance(file);
			if (++records % RECORDS_PER_TURN == 0)
				turn(replay);
		} while (!file->ended && file->head.ts < bound);
	}
	settle(replay);
}

/* ------------------------------------------------------------------------------------------------- the input */

static const int *
replay_link_types(const struct input *input, size_t *count)
{
	const struct replay *replay = (const struct replay *)input;

	*count = replay->count;
	return replay->link_types;
}

static enum input_result
replay_run(struct input *input, struct batch *batch)
{
	struct replay *replay = (struct replay *)input;

	replay->batch = batch;
	if (replay->count == 1 && replay->config->pace <= 0)
		run_straight(replay);
	else
		run_stepwise(replay);
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
		close_file(&replay->files[i]);
	free(replay->link_types);
	free(replay);
}

static bool
replay_begin(struct input *input)
{
	struct replay *replay = (struct replay *)input;

	for (size_t i = 0; i < replay->count; i++) {
		if (!begin_file(&replay->files[i]))
			return false;
		replay->link_types[i] = replay->files[i].dlt;
	}
	return true;
}

/* Sets the filter of every file or of none.  Records read ahead have passed the old filter and stay. */
static bool
replay_filter(struct input *input, const struct config *config)
{
	struct replay *replay = (struct replay *)input;
	struct bpf_program *programs = calloc(replay->count, sizeof *programs);
	size_t compiled = 0;
	bool good;

	if (programs == NULL) {
		log_error("out of memory");
		return false;
	}
	while (compiled < replay->count && config->filter != NULL &&
	       capture_compile(config, replay->files[compiled].pcap, source_name(replay->files[compiled].source),
			       &programs[compiled]))
		compiled++;
	good = config->filter == NULL || compiled == replay->count;
	for (size_t i = 0; i < replay->count; i++) {
		if (good)
			pcap_freecode(&replay->files[i].filter);
		if (good)
			replay->files[i].filter = programs[i];
		else
			pcap_freecode(&programs[i]);
	}
	free(programs);
	return good;
}

static const struct input_class replay_class = {
    .begin = replay_begin,
    .link_types = replay_link_types,
    .run = replay_run,
    .filter = replay_filter,
    .counters = replay_counters,
    .free = replay_free,
};

struct input *
replay_open(const struct config *config, struct loop *loop)
{
	struct replay *replay;
	size_t count = 0;

	while (config->files[count] != NULL)
		count++;
	replay = calloc(1, sizeof *replay + count * sizeof replay->files[0]);
	if (replay == NULL) {
		log_error("out of memory");
		return NULL;
	}
	replay->input.class = &replay_class;
	replay->config = config;
	replay->loop = loop;
	replay->link_types = calloc(count, sizeof *replay->link_types);
	for (; replay->link_types != NULL && replay->count < count; replay->count++) {
		struct replay_file *file = &replay->files[replay->count];

		file->replay = replay;
		file->source = source_open(config->files[replay->count], loop, settle, replay);
		if (file->source == NULL)
			break;
	}
	if (replay->count < count) {
		replay->count = count; /* close all files: those not opened yet are zero, which is safe to close */
		replay_free(&replay->input);
		return NULL;
	}
	return &replay->input;
}
