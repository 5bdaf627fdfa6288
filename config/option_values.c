/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of values that options take. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"
#include "config/formula_names.h"
#include "config/metrics_address.h"
#include "config/options.h"
#include "flight/format/capture_writer.h"
#include "formulas/formula.h"
#include "formulas/match/filter_text.h"
#include "probes/manifest.h"
#include "probes/print/print_fields.h"
#include "records/record_filter.h"

static void *
option_field(struct config *config, const struct option_row *row)
{
	return (char *)config + row->config_offset;
}

static const void *
option_field_const(const struct config *config, const struct option_row *row)
{
	return (const char *)config + row->config_offset;
}

/* -------------------------------------------------------------------------------------------------------- numbers */

#define LIMIT_TEXT_MAX 40

static bool
value_parse_int(const struct option_row *row, const char *text, long long *value, char *error, size_t size)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && (double)*value >= row->min && (double)*value <= row->max)
		return true;
	snprintf(error, size, "expected a whole number from %.0f to %.0f", row->min, row->max);
	return false;
}

/* Formats a limit as a user writes it: without an exponent and without trailing zeros. */
static void
value_format_limit(double limit, char text[LIMIT_TEXT_MAX])
{
	size_t length = (size_t)snprintf(text, LIMIT_TEXT_MAX, "%.9f", limit);

	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[length - 1] = '\0';
}

static bool
value_parse_double(const struct option_row *row, const char *text, double *value, char *error, size_t size)
{
	char *end, min[LIMIT_TEXT_MAX], max[LIMIT_TEXT_MAX];

	*value = strtod(text, &end);
	/* This form of the comparison rejects NaN too. */
	if (end != text && *end == '\0' && *value >= row->min && *value <= row->max)
		return true;
	value_format_limit(row->min, min);
	value_format_limit(row->max, max);
	snprintf(error, size, "expected a number from %s to %s", min, max);
	return false;
}

/* File permissions in octal. */
static bool
value_set_file_mode(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	char *end;
	unsigned long value = strtoul(text, &end, 8);

	if (*text >= '0' && *text <= '7' && *end == '\0' && value <= 0777) {
		*(uint32_t *)option_field(config, row) = (uint32_t)value;
		return true;
	}
	snprintf(error, size, "expected octal permissions such as 660");
	return false;
}

static const char *
value_get_file_mode(const struct config *config, const struct option_row *row, size_t index,
		    char buffer[OPTIONS_VALUE_MAX])
{
	snprintf(buffer, OPTIONS_VALUE_MAX, "%03o", (unsigned)*(const uint32_t *)option_field_const(config, row));
	return index == 0 ? buffer : NULL;
}

const struct option_kind value_file_mode = {.set = value_set_file_mode, .get = value_get_file_mode};

static bool
value_set_uint32(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	long long value;

	if (!value_parse_int(row, text, &value, error, size))
		return false;
	*(uint32_t *)option_field(config, row) = (uint32_t)value;
	return true;
}

/* A value below the minimum is that of an option that is not given. */
static const char *
value_get_uint32(const struct config *config, const struct option_row *row, size_t index,
		 char buffer[OPTIONS_VALUE_MAX])
{
	uint32_t value = *(const uint32_t *)option_field_const(config, row);

	snprintf(buffer, OPTIONS_VALUE_MAX, "%u", (unsigned)value);
	return index == 0 && value >= row->min ? buffer : NULL;
}

const struct option_kind value_uint32 = {.set = value_set_uint32, .get = value_get_uint32};

/* ------------------------------------------------------------------------------------------------- times and sizes */

static bool
value_parse_quantity(const struct option_row *row, const char *text, uint64_t *value, char *error, size_t size)
{
	char message[UNITS_ERROR_MAX];

	if (units_parse(&row->quantity, text, value, message))
		return true;
	snprintf(error, size, "%s", message);
	return false;
}

static bool
value_set_quantity(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	return value_parse_quantity(row, text, option_field(config, row), error, size);
}

/* Seconds; a point and their fraction are printed if there is one. */
static const char *
value_get_seconds(const struct config *config, const struct option_row *row, size_t index,
		  char buffer[OPTIONS_VALUE_MAX])
{
	uint64_t ns = *(const uint64_t *)option_field_const(config, row);
	size_t length = (size_t)snprintf(buffer, OPTIONS_VALUE_MAX, "%llu.%09u",
					 (unsigned long long)(ns / UNITS_SECOND), (unsigned)(ns % UNITS_SECOND));

	while (buffer[length - 1] == '0')
		buffer[--length] = '\0';
	if (buffer[length - 1] == '.')
		buffer[length - 1] = '\0';
	return index == 0 ? buffer : NULL;
}

const struct option_kind value_seconds = {.set = value_set_quantity, .get = value_get_seconds};

/* Interval of records of open connections if the option has no value, minutes. */
#define ACTIVE_RECORDS_DEFAULT "5"

static bool
value_set_minutes(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	return value_set_quantity(config, row, text != NULL ? text : ACTIVE_RECORDS_DEFAULT, error, size);
}

/* With their unit, because a plain number is minutes. */
static const char *
value_get_minutes(const struct config *config, const struct option_row *row, size_t index,
		  char buffer[OPTIONS_VALUE_MAX])
{
	char seconds[OPTIONS_VALUE_MAX];

	if (value_get_seconds(config, row, index, seconds) == NULL)
		return NULL;
	snprintf(buffer, OPTIONS_VALUE_MAX, "%.*s%s", OPTIONS_VALUE_MAX - 2, seconds,
		 strcmp(seconds, "0") != 0 ? "s" : "");
	return buffer;
}

const struct option_kind value_minutes = {.set = value_set_minutes, .get = value_get_minutes};

static const char *
value_get_size(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	char text[UNITS_TEXT_MAX];

	snprintf(buffer, OPTIONS_VALUE_MAX, "%s",
		 units_format_size(*(const uint64_t *)option_field_const(config, row), text));
	return index == 0 ? buffer : NULL;
}

const struct option_kind value_size = {.set = value_set_quantity, .get = value_get_size};

/* A size of which the field has 32 bits. */
static bool
value_set_size32(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	uint64_t value;

	if (!value_parse_quantity(row, text, &value, error, size))
		return false;
	*(uint32_t *)option_field(config, row) = (uint32_t)value;
	return true;
}

/* As a plain number if it is one.  A value below the minimum is that of an option that is not given. */
static const char *
value_get_size32(const struct config *config, const struct option_row *row, size_t index,
		 char buffer[OPTIONS_VALUE_MAX])
{
	uint32_t value = *(const uint32_t *)option_field_const(config, row);
	bool plain = value % row->quantity.plain == 0;

	snprintf(buffer, OPTIONS_VALUE_MAX, "%u%s", (unsigned)(plain ? value / row->quantity.plain : value),
		 plain ? "" : "B");
	return index == 0 && value >= row->quantity.min ? buffer : NULL;
}

const struct option_kind value_size32 = {.set = value_set_size32, .get = value_get_size32};

/* ---------------------------------------------------------------------------------------------------------- words */

static const char *
value_get_none(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	(void)config;
	(void)row;
	(void)index;
	(void)buffer;
	return NULL;
}

static bool
value_set_none(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	(void)config;
	(void)row;
	(void)text;
	(void)error;
	(void)size;
	return true;
}

const struct option_kind value_none = {.set = value_set_none, .get = value_get_none};

/* The option alone means yes on the command line; the file has true or false. */
static bool
value_parse_bool(const char *text, bool *value, char *error, size_t size)
{
	*value = text == NULL || strcmp(text, "true") == 0;
	if (*value || strcmp(text, "false") == 0)
		return true;
	snprintf(error, size, "expected true or false");
	return false;
}

static bool
value_set_flag(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	return value_parse_bool(text, option_field(config, row), error, size);
}

static const char *
value_get_flag(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	(void)buffer;
	return index > 0 ? NULL : *(const bool *)option_field_const(config, row) ? "true" : "false";
}

const struct option_kind value_flag = {.set = value_set_flag, .get = value_get_flag, .toggle = true};

/* An option "no-something", whose field has the opposite meaning. */
static bool
value_set_inverted_flag(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	bool value;

	if (!value_parse_bool(text, &value, error, size))
		return false;
	*(bool *)option_field(config, row) = !value;
	return true;
}

static const char *
value_get_inverted_flag(const struct config *config, const struct option_row *row, size_t index,
			char buffer[OPTIONS_VALUE_MAX])
{
	(void)buffer;
	return index > 0 ? NULL : *(const bool *)option_field_const(config, row) ? "false" : "true";
}

const struct option_kind value_inverted_flag = {
    .set = value_set_inverted_flag, .get = value_get_inverted_flag, .toggle = true};

/* Copies `text`, which must not be empty; otherwise NULL, with `error`. */
static const char *
value_copy_string(struct config *config, const char *text, char *error, size_t size)
{
	const char *kept = NULL;

	if (*text == '\0')
		snprintf(error, size, "it is empty");
	else if ((kept = options_strdup(config, text)) == NULL)
		snprintf(error, size, "out of memory");
	return kept;
}

static bool
value_set_string(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	const char *kept = value_copy_string(config, text, error, size);

	if (kept == NULL)
		return false;
	*(const char **)option_field(config, row) = kept;
	return true;
}

static const char *
value_get_string(const struct config *config, const struct option_row *row, size_t index,
		 char buffer[OPTIONS_VALUE_MAX])
{
	(void)buffer;
	return index == 0 ? *(const char *const *)option_field_const(config, row) : NULL;
}

const struct option_kind value_string = {.set = value_set_string, .get = value_get_string};

static bool
value_set_metrics(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	union metrics_address address;
	socklen_t length;

	if ((strncmp(text, "unix:", 5) == 0 && text[5] != '\0') || metrics_address_parse(text, &address, &length))
		return value_set_string(config, row, text, error, size);
	snprintf(error, size, "expected unix:PATH, ADDRESS:PORT or [ADDRESS]:PORT");
	return false;
}

static bool
value_check_metrics(const struct config *config, const struct option_row *row, char *error, size_t size)
{
	union metrics_address address;
	socklen_t length;

	(void)row;
	if (config->metrics_allow_remote || !metrics_address_parse(config->metrics_address, &address, &length) ||
	    metrics_address_is_loopback(&address))
		return true;
	snprintf(error, size, "other hosts can reach this address: metrics-anywhere allows that");
	return false;
}

const struct option_kind value_metrics = {
    .set = value_set_metrics, .get = value_get_string, .check = value_check_metrics};

/* Most values of a list: the time that is spent with them grows with the square of their number.  Files to replay have
 * no limit besides that of open files. */
#define LIST_VALUES_MAX 4096u

static bool
value_list_has_room(const struct option_row *row, size_t count, char *error, size_t size)
{
	if (count < LIST_VALUES_MAX || row->scope == OPTION_FOR_FILES)
		return true;
	snprintf(error, size, "too many values: there can be %u", LIST_VALUES_MAX);
	return false;
}

/* Appends a word to a NULL-terminated list. */
static bool
value_append_string(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	const char ***list = option_field(config, row), **longer, *kept = value_copy_string(config, text, error, size);
	size_t count = 0;

	if (kept == NULL)
		return false;
	while ((*list)[count] != NULL)
		count++;
	if (!value_list_has_room(row, count, error, size))
		return false;
	longer = realloc(*list, (count + 2) * sizeof *longer);
	if (longer == NULL) {
		snprintf(error, size, "out of memory");
		return false;
	}
	longer[count] = kept;
	longer[count + 1] = NULL;
	*list = longer;
	return true;
}

static const char *
value_get_string_item(const struct config *config, const struct option_row *row, size_t index,
		      char buffer[OPTIONS_VALUE_MAX])
{
	const char *const *list = *(const char *const *const *)option_field_const(config, row);

	(void)buffer;
	while (index > 0 && *list != NULL) {
		list++;
		index--;
	}
	return *list;
}

const struct option_kind value_string_list = {.set = value_append_string, .get = value_get_string_item, .list = true};

static bool
value_append_formula(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	struct formula_error mistake;
	struct formula *formula = formula_compile(text, &mistake);

	if (formula != NULL) {
		formula_free(formula);
		return value_append_string(config, row, text, error, size) && formula_names_check(config, error, size);
	}
	if (strchr(text, '\n') == NULL)
		snprintf(error, size, "column %u: %s", mistake.column, mistake.message);
	else
		snprintf(error, size, "line %u, column %u: %s", mistake.line, mistake.column, mistake.message);
	return false;
}

const struct option_kind value_formula = {.set = value_append_formula, .get = value_get_string_item, .list = true};

/* A path, or "-" for standard output; alone on the command line, standard output. */
static bool
value_set_records(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	config->records = true;
	config->records_path = NULL;
	return text == NULL || strcmp(text, "-") == 0 || value_set_string(config, row, text, error, size);
}

static const char *
value_get_records(const struct config *config, const struct option_row *row, size_t index,
		  char buffer[OPTIONS_VALUE_MAX])
{
	if (!config->records || index > 0)
		return NULL;
	return config->records_path != NULL ? value_get_string(config, row, index, buffer) : "-";
}

const struct option_kind value_records = {.set = value_set_records, .get = value_get_records};

/* NAME=FILE. */
static bool
value_append_write(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	size_t length = strcspn(text, "=");

	if (length > 0 && text[length] == '=' && text[length + 1] != '\0')
		return value_append_string(config, row, text, error, size);
	snprintf(error, size, "expected NAME=FILE, with the name of a formula or a probe");
	return false;
}

/* Formulas may be defined after the option, or in the file. */
static bool
value_check_writes(const struct config *config, const struct option_row *row, char *error, size_t size)
{
	(void)row;
	for (size_t i = 0; config->writes[i] != NULL; i++)
		if (!formula_names_check_one(config, config->writes[i], strcspn(config->writes[i], "="), error, size))
			return false;
	return true;
}

const struct option_kind value_write = {
    .set = value_append_write, .get = value_get_string_item, .check = value_check_writes, .list = true};

static bool
value_set_capture_format(struct config *config, const struct option_row *row, const char *text, char *error,
			 size_t size)
{
	enum capture_format format = capture_format_parse(text);

	*(unsigned *)option_field(config, row) = format;
	if (format == CAPTURE_FORMATS)
		snprintf(error, size, "expected pcapng, pcap or snoop");
	return format != CAPTURE_FORMATS;
}

static const char *
value_get_capture_format(const struct config *config, const struct option_row *row, size_t index,
			 char buffer[OPTIONS_VALUE_MAX])
{
	(void)buffer;
	return index == 0 ? capture_format_name((enum capture_format)*(const unsigned *)option_field_const(config, row))
			  : NULL;
}

const struct option_kind value_capture_format = {.set = value_set_capture_format, .get = value_get_capture_format};

static bool
value_set_record_filter(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	char mistake[RECORD_ERROR_MAX];
	struct record_filter *filter = record_filter_compile(text, mistake);

	if (filter == NULL) {
		snprintf(error, size, "%s", mistake);
		return false;
	}
	record_filter_free(filter);
	return value_set_string(config, row, text, error, size);
}

const struct option_kind value_record_filter = {.set = value_set_record_filter, .get = value_get_string};

static bool
value_set_record_fields(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	char mistake[RECORD_ERROR_MAX];
	struct record_fields fields;

	if (record_fields_parse(text, &fields, mistake))
		return value_set_string(config, row, text, error, size);
	snprintf(error, size, "%s", mistake);
	return false;
}

const struct option_kind value_record_fields = {.set = value_set_record_fields, .get = value_get_string};

static bool
value_set_record_order(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	char mistake[RECORD_ERROR_MAX];
	struct record_order order;

	if (record_order_parse(text, &order, mistake))
		return value_set_string(config, row, text, error, size);
	snprintf(error, size, "%s", mistake);
	return false;
}

const struct option_kind value_record_order = {.set = value_set_record_order, .get = value_get_string};

static const char *const view_mode_names[] = {[VIEW_HOST] = "host", [VIEW_BOTH] = "both", [VIEW_MONITOR] = "monitor"};

static bool
value_set_view(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	(void)row;
	for (unsigned i = VIEW_HOST; i <= VIEW_MONITOR; i++) {
		if (strcmp(text, view_mode_names[i]) == 0) {
			config->view = (enum view_mode)i;
			return true;
		}
	}
	snprintf(error, size, "expected host, both or monitor");
	return false;
}

static const char *
value_get_view(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	(void)row;
	(void)buffer;
	return index == 0 ? view_mode_names[config->view] : NULL; /* NULL for VIEW_AUTO */
}

const struct option_kind value_view = {.set = value_set_view, .get = value_get_view};

static bool
value_append_prefix(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	struct ip_prefix prefix = {.version = strchr(text, ':') != NULL ? 6 : 4}, *longer;
	long bits = prefix.version == 6 ? 128 : 32, most = bits;
	size_t length = strcspn(text, "/");
	char addr[INET6_ADDRSTRLEN], *end;

	if (text[length] == '/') {
		const char *digits = text + length + 1;

		bits = strtol(digits, &end, 10);
		if (end == digits || *end != '\0')
			bits = -1;
	}
	if (length >= sizeof addr)
		length = 0; /* longer than any address */
	memcpy(addr, text, length);
	addr[length] = '\0';
	if (bits < 0 || bits > most || inet_pton(prefix.version == 6 ? AF_INET6 : AF_INET, addr, prefix.addr) != 1) {
		snprintf(error, size, "expected an address prefix such as 192.0.2.0/24 or 2001:db8::/32");
		return false;
	}
	if (!value_list_has_room(row, config->local_prefix_count, error, size))
		return false;
	prefix.bits = (uint8_t)bits;
	longer = realloc(config->local_prefixes, (config->local_prefix_count + 1) * sizeof *longer);
	if (longer == NULL) {
		snprintf(error, size, "out of memory");
		return false;
	}
	longer[config->local_prefix_count++] = prefix;
	config->local_prefixes = longer;
	return true;
}

static const char *
value_get_prefix_item(const struct config *config, const struct option_row *row, size_t index,
		      char buffer[OPTIONS_VALUE_MAX])
{
	const struct ip_prefix *prefix;
	char addr[INET6_ADDRSTRLEN];

	(void)row;
	if (index >= config->local_prefix_count)
		return NULL;
	prefix = &config->local_prefixes[index];
	inet_ntop(prefix->version == 6 ? AF_INET6 : AF_INET, prefix->addr, addr, sizeof addr);
	snprintf(buffer, OPTIONS_VALUE_MAX, "%s/%u", addr, (unsigned)prefix->bits);
	return buffer;
}

const struct option_kind value_prefix = {.set = value_append_prefix, .get = value_get_prefix_item, .list = true};

/* ------------------------------------------------------------------------------------------ values of one option */

static bool
value_set_replay_speed(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	config->replay_speed = 1.0;
	return text == NULL || value_parse_double(row, text, &config->replay_speed, error, size);
}

const struct option_kind value_replay_speed = {.set = value_set_replay_speed, .get = value_get_none};

static bool
value_set_wait_tracer(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	uint64_t ns = 0;

	if (text != NULL && !value_parse_quantity(row, text, &ns, error, size))
		return false;
	config->wait_tracer = true;
	config->wait_timeout = (double)ns / (double)UNITS_SECOND;
	return true;
}

const struct option_kind value_wait_tracer = {.set = value_set_wait_tracer, .get = value_get_none};

/* Copies a list of probes to `*list`; value_check_probes() checks it, because it may name formulas. */
static bool
value_copy_probes(struct config *config, const char *text, const char **list, char *error, size_t size)
{
	if (*text == '\0') {
		snprintf(error, size, "expected a probe such as tcp-receive or tcp-*");
		return false;
	}
	*list = value_copy_string(config, text, error, size);
	return *list != NULL;
}

/* Each word of the list must select a probe or a formula. */
static bool
value_check_probes(const struct config *config, const char *list, char *error, size_t size)
{
	bool selected[PROBE_COUNT];
	const char *unknown;
	size_t length;
	char hint[NEAREST_HINT_MAX];

	if (formula_names_select_probes(config, list, selected, &unknown, &length))
		return true;
	snprintf(error, size, "there is no probe \"%.*s\"%s; netobsd --list-probes lists them all",
		 length < 60 ? (int)length : 60, unknown, formula_names_hint(config, unknown, length, hint));
	return false;
}

static bool
value_check_wait_probes(const struct config *config, const struct option_row *row, char *error, size_t size)
{
	(void)row;
	if (config->wait_probes == NULL)
		return true;
	return value_check_probes(config, config->wait_probes, error, size);
}

static bool
value_check_print(const struct config *config, const struct option_row *row, char *error, size_t size)
{
	(void)row;
	return value_check_probes(config, config->print_probes, error, size);
}

/* The last name may be a probe of netobs_engine: wait-done. */
static bool
value_set_wait_probes(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	static const char done[] = "wait-done";
	size_t length = strlen(text), tail = sizeof done - 1;
	char *others;
	bool copied;

	(void)row;
	config->wait_tracer = true;
	config->wait_probes = NULL;
	config->wait_done = length >= tail && strcmp(text + length - tail, done) == 0 &&
			    (length == tail || (length > tail + 1 && text[length - tail - 1] == ','));
	if (config->wait_done && length == tail)
		return true;
	if (!config->wait_done)
		return value_copy_probes(config, text, &config->wait_probes, error, size);
	others = strndup(text, length - tail - 1);
	copied = others != NULL && value_copy_probes(config, others, &config->wait_probes, error, size);
	if (others == NULL)
		snprintf(error, size, "out of memory");
	free(others);
	return copied;
}

const struct option_kind value_wait_probes = {
    .set = value_set_wait_probes, .get = value_get_none, .check = value_check_wait_probes};

/* --print and --format: the format is determined when both have been parsed. */
static bool
value_set_print(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	(void)row;
	config->print = PRINT_TEXT;
	config->print_probes = NULL;
	return text == NULL || value_copy_probes(config, text, &config->print_probes, error, size);
}

static const char *
value_get_print(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	(void)row;
	(void)buffer;
	if (index > 0 || config->print == PRINT_OFF)
		return NULL;
	return config->print_probes != NULL ? config->print_probes : "*";
}

const struct option_kind value_print = {.set = value_set_print, .get = value_get_print, .check = value_check_print};

/* Each field must be one of a probe that is printed; a formula may be one of any probe. */
static bool
value_check_print_fields(const struct config *config, const struct option_row *row, char *error, size_t size)
{
	bool selected[PROBE_COUNT];
	struct print_fields *fields;
	const char *unknown;
	size_t length;

	(void)row;
	if (config->formulas[0] != NULL ||
	    !formula_names_select_probes(config, config->print_probes, selected, &unknown, &length))
		memset(selected, true, sizeof selected);
	fields = print_fields_new(config->print_fields, selected, error, size);
	print_fields_free(fields);
	return fields != NULL;
}

const struct option_kind value_print_fields = {
    .set = value_set_string, .get = value_get_string, .check = value_check_print_fields};

static bool
value_set_format(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	(void)row;
	if (strcmp(text, "text") == 0) {
		config->list_format = PRINT_TEXT;
	} else if (strcmp(text, "json") == 0) {
		config->list_format = PRINT_JSON;
	} else {
		snprintf(error, size, "expected text or json");
		return false;
	}
	return true;
}

static const char *
value_get_format(const struct config *config, const struct option_row *row, size_t index,
		 char buffer[OPTIONS_VALUE_MAX])
{
	(void)row;
	(void)buffer;
	if (index > 0 || config->print == PRINT_OFF)
		return NULL;
	return config->print == PRINT_JSON ? "json" : "text";
}

const struct option_kind value_format = {.set = value_set_format, .get = value_get_format};

/* Compiles the filter for Ethernet as a first check, so that an error can name the line of the file.  It is compiled
 * again for the link types of the inputs. */
static bool
value_set_filter(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	struct bpf_program program;
	pcap_t *ethernet;
	bool good;

	if (!filter_size_check(text, FILTER_SIZE_CAPTURE_MAX, error, size))
		return false;
	ethernet = pcap_open_dead(DLT_EN10MB, 65535);
	if (ethernet == NULL) {
		snprintf(error, size, "out of memory");
		return false;
	}
	good = pcap_compile(ethernet, &program, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
	if (good)
		pcap_freecode(&program);
	else
		snprintf(error, size, "%s%s", pcap_geterr(ethernet), unit_clause_of_filter(pcap_geterr(ethernet)));
	pcap_close(ethernet);
	return good && value_set_string(config, row, text, error, size);
}

const struct option_kind value_filter = {.set = value_set_filter, .get = value_get_string};

static bool
value_set_user(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	struct passwd *entry = *text != '\0' ? getpwnam(text) : NULL;

	if (entry == NULL || entry->pw_uid == 0) {
		snprintf(error, size, "%s", entry == NULL ? "there is no such user" : "the user must not be root");
		return false;
	}
	return value_set_string(config, row, text, error, size);
}

const struct option_kind value_user = {.set = value_set_user, .get = value_get_string};

/* ---------------------------------------------------------------------------------------------------------- ports */

/* A comma-separated list. */
static bool
value_set_ports(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	struct app_ports ports = {.count = 0};

	for (;;) {
		char *end;
		unsigned long port;

		errno = 0;
		port = strtoul(text, &end, 10);
		if (errno != 0 || *text < '0' || *text > '9' || (*end != ',' && *end != '\0') || port < 1 ||
		    port > 65535) {
			snprintf(error, size, "expected ports from 1 to 65535, separated by commas");
			return false;
		}
		if (ports.count == APP_PORTS_MAX) {
			snprintf(error, size, "at most %d ports can be given", APP_PORTS_MAX);
			return false;
		}
		ports.port[ports.count++] = (uint16_t)port;
		if (*end == '\0')
			break;
		text = end + 1;
	}
	*(struct app_ports *)option_field(config, row) = ports;
	return true;
}

static const char *
value_get_ports(const struct config *config, const struct option_row *row, size_t index, char buffer[OPTIONS_VALUE_MAX])
{
	const struct app_ports *ports = option_field_const(config, row);
	size_t at = 0;

	_Static_assert(APP_PORTS_MAX * sizeof "65535" < OPTIONS_VALUE_MAX, "the buffer holds all ports");
	for (unsigned i = 0; i < ports->count; i++)
		at += (size_t)snprintf(buffer + at, OPTIONS_VALUE_MAX - at, "%s%u", i > 0 ? "," : "",
				       (unsigned)ports->port[i]);
	return index == 0 && ports->count > 0 ? buffer : NULL;
}

const struct option_kind value_ports = {.set = value_set_ports, .get = value_get_ports};

/* ------------------------------------------------------------------------------------------------------ probe site */

static bool
value_set_probe_site(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	(void)row;
	for (enum site_kind kind = SITE_AUTO; kind <= SITE_FAST; kind++) {
		if (strcmp(text, site_kind_name(kind)) == 0) {
			config->probe_site = kind;
			return true;
		}
	}
	snprintf(error, size, "expected auto, plain or fast");
	return false;
}

static const char *
value_get_probe_site(const struct config *config, const struct option_row *row, size_t index,
		     char buffer[OPTIONS_VALUE_MAX])
{
	(void)row;
	(void)buffer;
	return index == 0 ? site_kind_name(config->probe_site) : NULL;
}

const struct option_kind value_probe_site = {.set = value_set_probe_site, .get = value_get_probe_site};

/* ---------------------------------------------------------------------------------------------------- debug topics */

static bool
value_set_debug_topics(struct config *config, const struct option_row *row, const char *text, char *error, size_t size)
{
	return log_debug_parse(text, option_field(config, row), error, size);
}

static const char *
value_get_debug_topic(const struct config *config, const struct option_row *row, size_t index,
		      char buffer[OPTIONS_VALUE_MAX])
{
	uint32_t topics = *(const uint32_t *)option_field_const(config, row);

	(void)buffer;
	for (unsigned i = 0; i < DEBUG_TOPIC_COUNT; i++)
		if ((topics >> i & 1) != 0 && index-- == 0)
			return debug_topics[i].name;
	return NULL;
}

const struct option_kind value_debug_topics = {
    .set = value_set_debug_topics, .get = value_get_debug_topic, .list = true};
