/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 (RFC 9112): lines of a message to fields.  Pure functions. */
#ifndef NETOBS_APPS_HTTP_HTTP_MESSAGE_H
#define NETOBS_APPS_HTTP_HTTP_MESSAGE_H

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_reader.h"

/* Most bytes kept of a method, a request target, a Host and a User-Agent. */
#define HTTP_METHOD_MAX 15u
#define HTTP_URI_MAX	255u
#define HTTP_HOST_MAX	255u
#define HTTP_AGENT_MAX	127u

/* Most bytes of a method; a longer word does not begin a request. */
#define HTTP_METHOD_WIRE_MAX 32u

/* Bytes kept of the end of a line whose beginning is all that fits: enough for " HTTP/1.1". */
#define HTTP_TAIL_MAX 12u

/* A line without its line end.  Of a long line only the beginning and the end are known. */
struct http_line {
	struct slice head; /* its first bytes: all of them unless `length` is larger */
	struct slice tail; /* its last bytes, at most HTTP_TAIL_MAX */
	uint32_t length;
};

struct http_request_line {
	struct slice method;
	struct slice target; /* its first bytes, at most HTTP_URI_MAX */
	uint32_t target_length;
	uint8_t minor;	     /* 1 of HTTP/1.1 */
	bool odd_target;     /* white space, control characters, or empty */
};

/* Offset of the status in a status line. */
#define HTTP_STATUS_AT 9u

struct http_status_line {
	uint16_t status;
	uint8_t minor;
};

/* Fields that are examined. */
enum http_field {
	HTTP_FIELD_OTHER,
	HTTP_FIELD_INVALID, /* no field: no colon, or no name before it */
	HTTP_FIELD_HOST,
	HTTP_FIELD_AGENT,
	HTTP_FIELD_LENGTH,
	HTTP_FIELD_ENCODING,
	HTTP_FIELD_EXPECT,
};

struct http_field_line {
	enum http_field field;
	struct slice value; /* without white space around it */
	bool cut;	    /* the line is longer than its head, and so is the value */
	bool odd;	    /* white space before the colon (section 5.1) */
};

/* How the end of a message's body is found (section 6.3), collected from the fields of its header. */
struct http_framing {
	uint64_t length;
	bool has_length;
	bool bad_length; /* not a number, or numbers that differ */
	bool encoded;	 /* a transfer coding other than identity */
	bool chunked;	 /* chunked is the last transfer coding */
};

/* False if the line is no request line of HTTP/1. */
bool http_parse_request_line(const struct http_line *line, struct http_request_line *request);

/* False if the line is no status line of HTTP/1. */
bool http_parse_status_line(const struct http_line *line, struct http_status_line *status);

/* Whether the first bytes of a line, at least one, may be of a request line or an empty line; of a status line. */
bool http_may_begin_request_line(struct slice head);
bool http_may_begin_status_line(struct slice head);

/* A line of a header, not empty. */
void http_parse_field(const struct http_line *line, struct http_field_line *field);

/* Adds a Content-Length field, which may be a list of equal numbers, or a Transfer-Encoding field. */
void http_add_length(struct http_framing *framing, const struct http_field_line *field);
void http_add_encoding(struct http_framing *framing, const struct http_field_line *field);

/* Whether an Expect field has 100-continue (RFC 9110 section 10.1.1). */
bool http_is_expectation(const struct http_field_line *field);

/* A decimal number of one digit or more.  False if it is none or exceeds 64 bits. */
bool http_parse_decimal(struct slice text, uint64_t *value);

/* The size in a chunk's first line (section 7.1), before any extension.  False if it is none or exceeds 64 bits. */
bool http_parse_chunk_size(const struct http_line *line, uint64_t *size);

/* Whether a connection that begins with these bytes is HTTP/1: a request line with a registered method, which may be
 * longer than they are, and empty lines before it (section 2.2). */
enum app_match http_recognise(struct slice first);

/* Whether these bytes, at a place where a request may begin, begin one for certain: a whole request line of HTTP/1 with
 * a registered method. */
bool http_is_request(struct slice bytes);

/* The number of a registered method, at least 1; 0 of another one.  The method of such a number. */
unsigned http_method_number(struct slice method);
struct slice http_method_name(unsigned number);

/* Whether this line is a request line of HTTP/1 with a registered method; whether the first bytes of a line, at least
 * one, may be of such a line. */
bool http_is_request_line(const struct http_line *line);
bool http_may_begin_known_request(struct slice head);

/* Whether these bytes may begin a request whose line may be longer than they are; whether they begin a response. */
bool http_may_be_request(struct slice bytes);
bool http_may_be_response(struct slice bytes);

#endif
