/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of values that options take. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/options.h"

static void *
field_of(struct config *config, const struct option_row *row)
{
	return (char *)config + row->field;
}

static const void *
value_of(const struct config *config, const struct option_row *row)
{
	return (const char *)config + row->field;
}

/* -------------------------------------------------------------------------------------------------------- numbers */

static bool
read_whole(const struct option_row *row, const char *text, long long *value, char *why, size_t size)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && (double)*value >= row->min && (double)*value <= row->max)
		return true;
	snprintf(why, size, "a whole number from %.0f to %.0f is wanted", row->min, row->max);
	return false;
}

static bool
read_real(const struct option_row *row, const char *text, double *value, char *why, size_t size)
{
	char *end;

	*value = strtod(text, &end);
	/* Written so that a NaN is refused too. */
	if (end != text && *end == '\0' && *value >= row->min && *value <= row->max)
		return true;
	snprintf(why, size, "a number from %g to %.0f is wanted", row->min, row->max);
	return false;
}

static bool
set_whole(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	long long value;

	if (!read_whole(row, text, &value, why, size))
		return false;
	*(int *)field_of(config, row) = (int)(value * (long long)row->unit);
	return true;
}

static void
show_whole(const struct config *config, const struct option_row *row, char *text, size_t size)
{
	snprintf(text, size, "%lld", *(const int *)value_of(config, row) / (long long)row->unit);
}

const struct option_kind value_whole = {set_whole, show_whole};

/* A whole number whose 0 means that somebody else decides. */
static void
show_bytes(const struct config *config, const struct option_row *row, char *text, size_t size)
{
	show_whole(config, row, text, size);
	if (*(const int *)value_of(config, row) == 0)
		text[0] = '\0';
}

const struct option_kind value_bytes = {set_whole, show_bytes};

static bool
set_count(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	long long value;

	if (!read_whole(row, text, &value, why, size))
		return false;
	*(uint32_t *)field_of(config, row) = (uint32_t)value;
	return true;
}

static void
show_count(const struct config *config, const struct option_row *row, char *text, size_t size)
{
	snprintf(text, size, "%u", (unsigned)*(const uint32_t *)value_of(config, row));
}

const struct option_kind value_count = {set_count, show_count};

/* Seconds for the user, nanoseconds in the field. */
static bool
set_seconds(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	double value;

	if (!read_real(row, text, &value, why, size))
		return false;
	*(uint64_t *)field_of(config, row) = (uint64_t)llround(value * row->unit);
	return true;
}

static void
show_seconds(const struct config *config, const struct option_row *row, char *text, size_t size)
{
	snprintf(text, size, "%g", (double)*(const uint64_t *)value_of(config, row) / row->unit);
}

const struct option_kind value_seconds = {set_seconds, show_seconds};

/* ---------------------------------------------------------------------------------------------------------- words */

static void
show_nothing(const struct config *config, const struct option_row *row, char *text, size_t size)
{
	(void)config;
	(void)row;
	if (size > 0)
		text[0] = '\0';
}

static bool
set_flag(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	(void)text;
	(void)why;
	(void)size;
	*(bool *)field_of(config, row) = true;
	return true;
}

const struct option_kind value_flag = {set_flag, show_nothing};

static bool
set_flag_off(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	(void)text;
	(void)why;
	(void)size;
	*(bool *)field_of(config, row) = false;
	return true;
}

const struct option_kind value_flag_off = {set_flag_off, show_nothing};

static bool
set_nothing(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	(void)config;
	(void)row;
	(void)text;
	(void)why;
	(void)size;
	return true;
}

const struct option_kind value_none = {set_nothing, show_nothing};

/* One more word of a NULL-terminated list. */
static bool
set_words(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	const char ***list = field_of(config, row), **longer;
	size_t count = 0;

	if (*text == '\0') {
		snprintf(why, size, "it is empty");
		return false;
	}
	while ((*list)[count] != NULL)
		count++;
	longer = realloc(*list, (count + 2) * sizeof *longer);
	if (longer == NULL) {
		snprintf(why, size, "out of memory");
		return false;
	}
	longer[count] = text;
	longer[count + 1] = NULL;
	*list = longer;
	return true;
}

const struct option_kind value_words = {set_words, show_nothing};

static bool
set_view(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	static const struct {
		const char *word;
		enum view_kind view;
	} views[] = {{"host", VIEW_HOST}, {"both", VIEW_BOTH}, {"monitor", VIEW_MONITOR}};

	(void)row;
	for (size_t i = 0; i < sizeof views / sizeof views[0]; i++) {
		if (strcmp(text, views[i].word) == 0) {
			config->view = views[i].view;
			return true;
		}
	}
	snprintf(why, size, "host, both or monitor is wanted");
	return false;
}

const struct option_kind value_view = {set_view, show_nothing};

static bool
set_prefix(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	struct prefix prefix = {.version = strchr(text, ':') != NULL ? 6 : 4}, *longer;
	long bits = prefix.version == 6 ? 128 : 32, most = bits;
	size_t length = strcspn(text, "/");
	char addr[INET6_ADDRSTRLEN], *end;

	(void)row;
	if (text[length] == '/') {
		const char *digits = text + length + 1;

		bits = strtol(digits, &end, 10);
		if (end == digits || *end != '\0')
			bits = -1;
	}
	if (length >= sizeof addr)
		length = 0; /* no address is that long */
	memcpy(addr, text, length);
	addr[length] = '\0';
	if (bits < 0 || bits > most || inet_pton(prefix.version == 6 ? AF_INET6 : AF_INET, addr, prefix.addr) != 1) {
		snprintf(why, size, "an address prefix like 192.0.2.0/24 or 2001:db8::/32 is wanted");
		return false;
	}
	prefix.bits = (uint8_t)bits;
	longer = realloc(config->locals, (config->local_count + 1) * sizeof *longer);
	if (longer == NULL) {
		snprintf(why, size, "out of memory");
		return false;
	}
	longer[config->local_count++] = prefix;
	config->locals = longer;
	return true;
}

const struct option_kind value_prefix = {set_prefix, show_nothing};

/* --------------------------------------------------------------------------------------------- values of their own */

static bool
set_pace(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	config->pace = 1.0;
	return text == NULL || read_real(row, text, &config->pace, why, size);
}

const struct option_kind value_pace = {set_pace, show_nothing};

static bool
set_wait(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	config->wait_tracer = true;
	config->wait_seconds = 0;
	return text == NULL || read_real(row, text, &config->wait_seconds, why, size);
}

const struct option_kind value_wait = {set_wait, show_nothing};

/* --print and --format: the format is settled when both are known. */
static bool
set_print(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	(void)row;
	if (text != NULL && *text == '\0') {
		snprintf(why, size, "a probe like tcp-receive or tcp-* is wanted");
		return false;
	}
	config->print = PRINT_TEXT;
	config->print_probes = text;
	return true;
}

const struct option_kind value_print = {set_print, show_nothing};

static bool
set_format(struct config *config, const struct option_row *row, const char *text, char *why, size_t size)
{
	(void)row;
	if (strcmp(text, "text") == 0) {
		config->list_format = PRINT_TEXT;
	} else if (strcmp(text, "json") == 0) {
		config->list_format = PRINT_JSON;
	} else {
		snprintf(why, size, "text or json is wanted");
		return false;
	}
	return true;
}

const struct option_kind value_format = {set_format, show_nothing};
