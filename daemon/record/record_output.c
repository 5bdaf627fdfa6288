/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/record/record_output.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/output.h"
#include "base/output_file.h"
#include "engine/engine.h"
#include "probes/print/writer.h"
#include "records/record_columns.h"
#include "records/record_filter.h"
#include "records/record_json.h"
#include "records/record_sort.h"
#include "records/service_lines.h"

/* Memory for sorting, bytes; more records are sorted in a temporary file. */
#define SORT_MEMORY ((size_t)64 * 1024 * 1024)

/* Longest wait at the end of a live run for output that is not read, ms. */
#define FINISH_MS 400

/* Time between two attempts to write to a full disk, ns. */
#define FULL_NS 100000000u

struct record_output {
	pthread_mutex_t mutex;
	const struct config *config;
	struct output_file *file;
	struct writer out;
	bool out_open;
	struct record_filter *filter; /* NULL: all records */
	struct record_json *json;     /* NULL: a table */
	struct record_columns *table;
	struct record_tally tally;
	struct services *services; /* NULL: records are written, and no table of services */
	struct record_sort *sort;  /* NULL: records are not sorted */
	int spill_fd;
	bool at_end;   /* all is written at the end, not as records come */
	bool titled;   /* the table's titles have been written */
	bool reported; /* record_output_flush() has returned false */
	uint64_t unwritten; /* lines since the last flush */
};

/* --------------------------------------------------------------------------------------------------------- opening */

/* JSON for a file, which programs read; a table for standard output. */
static enum print_format
record_output_format(const struct config *config)
{
	if (config->records_format != PRINT_OFF)
		return config->records_format;
	return config->records_path != NULL ? PRINT_JSON : PRINT_TEXT;
}

static bool
record_output_prepare_lines(struct record_output *output)
{
	const struct config *config = output->config;
	struct record_fields fields, *chosen = config->records_fields != NULL ? &fields : NULL;
	char error[RECORD_ERROR_MAX];

	/* The options have been checked. */
	if (chosen != NULL && !record_fields_parse(config->records_fields, chosen, error))
		return false;
	if (config->records_where != NULL) {
		output->filter = record_filter_compile(config->records_where, error);
		if (output->filter == NULL)
			return false;
	}
	if (config->records_services) {
		output->services = services_new();
		return output->services != NULL;
	}
	if (record_output_format(config) == PRINT_JSON)
		output->json = record_json_new(chosen, false);
	else
		output->table = record_columns_new(chosen, false);
	return output->json != NULL || output->table != NULL;
}

static bool
record_output_prepare_sort(struct record_output *output)
{
	const struct config *config = output->config;
	struct record_sort_settings settings = {.limit = config->records_limit, .memory = SORT_MEMORY};
	char error[RECORD_ERROR_MAX];

	if (!output->at_end || output->services != NULL)
		return true;
	if (config->records_sort != NULL && !record_order_parse(config->records_sort, &settings.order, error))
		return false;
	output->spill_fd = output_file_open_temporary(output->file);
	if (output->spill_fd < 0)
		return false;
	settings.spill_fd = output->spill_fd;
	output->sort = record_sort_new(&settings);
	if (output->sort == NULL)
		log_out_of_memory();
	return output->sort != NULL;
}

/* A field of open connections is 0 or empty in each record: an expression may never be true. */
static void
record_output_warn_open_fields(const struct config *config)
{
	const char *const texts[] = {config->records_where, config->records_fields, config->records_sort};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const char *name = record_fields_find_open(texts[i]);

		if (name != NULL) {
			log_warning("%s is known of open connections only: it is 0 or empty in records", name);
			return;
		}
	}
}

static bool
record_output_open_file(struct record_output *output)
{
	const struct config *config = output->config;
	char error[OUTPUT_PATH_ERROR_MAX];

	if (output_file_is_input(config->records_path, config->capture_paths)) {
		log_error("cannot write records to %s: it is the capture that is read", config->records_path);
		return false;
	}
	output->file = output_file_open(config->records_path, !output->at_end, error);
	if (output->file == NULL)
		log_error("cannot write records to %s: %s", config->records_path, error);
	return output->file != NULL;
}

struct record_output *
record_output_open(const struct config *config)
{
	struct record_output *output = calloc(1, sizeof *output);

	if (output == NULL) {
		log_out_of_memory();
		return NULL;
	}
	output->config = config;
	record_output_warn_open_fields(config);
	output->at_end = config->capture_paths[0] != NULL || config->records_sort != NULL ||
			 config->records_limit != 0 || config->records_services;
	output->spill_fd = -1;
	pthread_mutex_init(&output->mutex, NULL);
	if (!record_output_prepare_lines(output))
		log_out_of_memory();
	else if (record_output_open_file(output) && record_output_prepare_sort(output))
		return output;
	record_output_free(output);
	return NULL;
}

void
record_output_free(struct record_output *output)
{
	if (output == NULL)
		return;
	if (output->out_open)
		(void)writer_close(&output->out);
	output_file_free(output->file);
	record_sort_free(output->sort);
	services_free(output->services);
	record_filter_free(output->filter);
	record_json_free(output->json);
	record_columns_free(output->table);
	if (output->spill_fd >= 0)
		close(output->spill_fd);
	pthread_mutex_destroy(&output->mutex);
	free(output);
}

/* --------------------------------------------------------------------------------------------------------- writing */

static uint64_t full_until; /* monotonic time before which a full disk is not tried again, ns; 0: it is not full */

/* A full disk is waited for like a reader that does not read: lines are dropped meanwhile, and a part of one is
 * completed later. */
static ssize_t
record_output_write_live(int fd, const void *from, size_t size)
{
	ssize_t done = -1;

	errno = EAGAIN;
	if (full_until != 0 && clock_monotonic_ns() < full_until)
		return -1;
	full_until = 0;
	done = output_write(fd, from, size);
	if (done < 0 && (errno == ENOSPC || errno == EDQUOT)) {
		full_until = clock_monotonic_ns() + FULL_NS;
		log_warning("cannot write records: %s; lines are dropped until there is space", strerror(errno));
		errno = EAGAIN;
	}
	return done;
}

static unsigned stops_before_output;

/* At the end of a replay output may take long, and a signal that ends the replay does not end it; the next one does. */
static bool
record_output_is_stopping(void)
{
	return loop_stop_requests() != stops_before_output;
}

/* Standard output gets its descriptor only in output_open(), which precedes this. */
static bool
record_output_open_writer(struct record_output *output)
{
	const bool append = !output->at_end;
	const struct writer_policy policy = {.write = append ? record_output_write_live : output_write,
					     .stopping = append ? loop_stop_requested : record_output_is_stopping,
					     .drop = append};

	if (output->out_open)
		return true;
	stops_before_output = loop_stop_requests();
	output->out_open = writer_open(&output->out, output_file_fd(output->file)) &&
			   writer_set_policy(&output->out, &policy);
	if (output->out_open && output_file_is_cut(output->file)) { /* buffered, because the disk may still be full */
		char *at = writer_reserve(&output->out, 1);

		*at = '\n';
		writer_commit(&output->out, at + 1);
	}
	return output->out_open;
}

static void
record_output_put_titles(struct record_output *output)
{
	char *at;

	if (output->table == NULL || output->titled)
		return;
	output->titled = true;
	if (!output->at_end)
		record_columns_set_usual_widths(output->table);
	if (!output_file_is_empty(output->file) && !output->at_end)
		return;
	at = writer_reserve(&output->out, RECORD_LINE_MAX);
	writer_commit(&output->out, record_columns_put_titles(output->table, at));
}

static void
record_output_put_line(struct record_output *output, const struct connrow *row)
{
	char *at = writer_reserve(&output->out, RECORD_LINE_MAX);

	if (output->json != NULL)
		at = record_json_put_line(output->json, row, at);
	else
		at = record_columns_put_line(output->table, row, at);
	writer_commit(&output->out, at);
}

void
record_output_take(void *context, const struct connrec *record)
{
	struct record_output *output = context;
	struct connrow row = {.record = *record};

	connrow_set_ended(&row);
	if (output->filter != NULL && !record_filter_selects(output->filter, &row))
		return;
	pthread_mutex_lock(&output->mutex);
	record_tally_add(&output->tally, record);
	if (output->services != NULL) {
		services_take(output->services, record, false);
	} else if (output->sort != NULL) {
		if (output->table != NULL)
			record_columns_measure(output->table, &row);
		(void)record_sort_add(output->sort, &row);
	} else if (record_output_open_writer(output)) {
		record_output_put_titles(output);
		record_output_put_line(output, &row);
		output->unwritten++;
	}
	pthread_mutex_unlock(&output->mutex);
}

static void
record_output_report_written(struct record_output *output)
{
	if (output->unwritten != 0)
		engine_record_write(output->unwritten);
	output->unwritten = 0;
}

bool
record_output_flush(void *context)
{
	struct record_output *output = context;
	bool good = true;

	pthread_mutex_lock(&output->mutex);
	if (output->at_end) {
		good = output->sort == NULL || record_sort_error(output->sort) == 0;
	} else if (record_output_open_writer(output)) {
		record_output_put_titles(output);
		writer_flush(&output->out);
		record_output_report_written(output);
		good = writer_error(&output->out) == 0;
	}
	good = good || output->reported;
	output->reported = output->reported || !good;
	pthread_mutex_unlock(&output->mutex);
	return good;
}

uint64_t
record_output_dropped(const struct record_output *output)
{
	return output->out_open ? output->out.dropped : 0;
}

/* ---------------------------------------------------------------------------------------------------------- ending */

static void
record_output_put_service(struct record_output *output, const struct service *service)
{
	char *at = writer_reserve(&output->out, RECORD_LINE_MAX);
	struct text_buffer text = {.bytes = at, .size = RECORD_LINE_MAX};
	struct json json = text_json(&text);

	if (record_output_format(output->config) != PRINT_JSON) {
		writer_commit(&output->out, service_put_line(service, at));
		return;
	}
	json_begin_object(&json, NULL);
	service_add_members(&json, service);
	json_end_line(&json);
	writer_commit(&output->out, at + text.used);
}

/* Writes the table of services. */
static int
record_output_write_services(struct record_output *output)
{
	const struct service **list = calloc(SERVICES_MAX + 1, sizeof *list);
	uint64_t limit = output->config->records_limit;
	size_t count;

	if (list == NULL)
		return ENOMEM;
	count = services_list(output->services, 0, list);
	if (record_output_format(output->config) != PRINT_JSON)
		writer_commit(&output->out, service_put_titles(writer_reserve(&output->out, SERVICE_LINE_MAX)));
	for (size_t i = 0; i < count && (limit == 0 || i < limit) && writer_error(&output->out) == 0; i++)
		record_output_put_service(output, list[i]);
	free(list);
	writer_flush(&output->out);
	return writer_error(&output->out);
}

/* Writes all records in their order. */
static int
record_output_write_sorted(struct record_output *output)
{
	const struct connrow *row;

	if (record_sort_error(output->sort) != 0)
		return 0; /* nothing is written of a result that is not complete */
	record_output_put_titles(output);
	while (writer_error(&output->out) == 0 && (row = record_sort_next(output->sort)) != NULL)
		record_output_put_line(output, row);
	writer_flush(&output->out);
	return writer_error(&output->out);
}

static int
record_output_log_failure(const struct record_output *output, int error)
{
	if (error != 0 && error != EPIPE)
		log_error("cannot write records to %s: %s", output_file_name(output->file), strerror(error));
	return error;
}

/* Logs the counts below a table on a terminal. */
static void
record_output_log_tally(const struct record_output *output)
{
	char text[RECORD_TALLY_MAX];

	if ((output->table == NULL && output->services == NULL) || isatty(output_file_fd(output->file)) == 0 ||
	    (output->tally.lines == 0 && output->filter == NULL))
		return;
	record_tally_format(&output->tally, output->services == NULL ? output->config->records_limit : 0, text);
	log_notice("%s", text);
}

static int
record_output_finish_at_end(struct record_output *output, bool complete)
{
	bool failed = output->sort != NULL && record_sort_error(output->sort) != 0; /* which has ended the replay */
	int error;

	if (!complete && !failed && output->config->records_path != NULL) {
		log_warning("not all input was read: %s is not written", output->config->records_path);
		return ECANCELED;
	}
	error = output->services != NULL ? record_output_write_services(output) : record_output_write_sorted(output);
	if (output->sort != NULL && record_sort_error(output->sort) != 0) {
		log_error("cannot sort records in a temporary file: %s", strerror(record_sort_error(output->sort)));
		return record_sort_error(output->sort);
	}
	if (error == 0 && record_output_dropped(output) == 0)
		error = output_file_complete(output->file);
	else if (error == 0 && output->config->records_path != NULL)
		error = ECANCELED; /* a signal has ended the writing: the caller reports the dropped lines */
	return record_output_log_failure(output, error);
}

int
record_output_finish(struct record_output *output, bool complete)
{
	int error;

	if (!record_output_open_writer(output))
		return record_output_log_failure(output, ENOMEM);
	if (output->at_end) {
		error = record_output_finish_at_end(output, complete);
	} else {
		record_output_put_titles(output);
		writer_finish(&output->out, FINISH_MS);
		record_output_report_written(output);
		error = record_output_log_failure(output, writer_error(&output->out));
	}
	if (error == 0)
		record_output_log_tally(output);
	return error;
}
