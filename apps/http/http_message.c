/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http.h"

#include <strings.h>

static bool http_parse_decimal(struct slice text, uint64_t *value);

void
http_line_reset(struct http_line_buffer *buffer)
{
	buffer->length = 0;
	buffer->tail_have = 0;
	buffer->pending = buffer->folded = false;
}

/* Keeps the last HTTP_TAIL_MAX bytes of the line. */
static void
http_line_append_tail(struct http_line_buffer *buffer, struct slice part)
{
	uint32_t n = part.len < HTTP_TAIL_MAX ? part.len : HTTP_TAIL_MAX;
	uint32_t keep = HTTP_TAIL_MAX - n < buffer->tail_have ? HTTP_TAIL_MAX - n : buffer->tail_have;

	memmove(buffer->tail, buffer->tail + buffer->tail_have - keep, keep);
	slice_copy(part, part.len - n, buffer->tail + keep, n);
	buffer->tail_have = (uint8_t)(keep + n);
}

static void
http_line_append(const struct http_line_input *input, struct slice part)
{
	struct http_line_buffer *buffer = input->buffer;

	if (buffer->length < input->head_max) {
		uint32_t room = input->head_max - buffer->length;

		slice_copy(part, 0, input->head + buffer->length, part.len < room ? part.len : room);
	}
	http_line_append_tail(buffer, part);
	/* A line of 4 GiB or more: its length only has to stay larger than the head. */
	buffer->length = part.len > UINT32_MAX - buffer->length ? UINT32_MAX : buffer->length + part.len;
}

/* The line of these bytes, without the CR at its end. */
static struct http_line
http_line_make(struct slice head, struct slice tail, uint32_t length)
{
	if (tail.len > 0 && slice_u8(tail, tail.len - 1) == '\r') {
		length--;
		tail = slice_sub(tail, 0, tail.len - 1);
	}
	return (struct http_line){slice_sub(head, 0, length), tail, length};
}

static struct http_line
http_line_of_buffer(const struct http_line_input *input)
{
	const struct http_line_buffer *buffer = input->buffer;
	uint32_t have = buffer->length < input->head_max ? buffer->length : input->head_max;

	return http_line_make((struct slice){input->head, have}, (struct slice){buffer->tail, buffer->tail_have},
			      buffer->length);
}

/* A line that lies in one piece of the stream is not copied; its limits are those of the buffer all the same, so that
 * the result does not depend on the pieces. */
static struct http_line
http_line_of_slice(const struct http_line_input *input, struct slice part)
{
	uint32_t tail = part.len < HTTP_TAIL_MAX ? part.len : HTTP_TAIL_MAX;

	return http_line_make(slice_sub(part, 0, input->head_max), slice_sub(part, part.len - tail, tail), part.len);
}

/* Whether the line, of which `part` is the last piece, is empty but for its line end. */
static bool
http_line_is_empty(const struct http_line_input *input, struct slice part)
{
	uint32_t length = input->buffer->length + part.len;

	return length == 0 || (length == 1 && (part.len > 0 ? slice_u8(part, 0) : input->head[0]) == '\r');
}

static void
http_line_fold(const struct http_line_input *input)
{
	struct http_line_buffer *buffer = input->buffer;

	/* The CR before the LF is white space to the parser of the field. */
	http_line_append(input, (struct slice){(const uint8_t *)" ", 1});
	buffer->pending = false;
	buffer->folded = true;
}

/* Whether the byte at an offset continues a line that ends before it. */
static bool
http_line_continues(struct slice bytes, uint32_t at)
{
	return slice_u8(bytes, at) == ' ' || slice_u8(bytes, at) == '\t';
}

static void
http_line_finish(const struct http_line_input *input, struct http_line *line, struct slice part, bool *folded)
{
	struct http_line_buffer *buffer = input->buffer;

	if (buffer->length == 0) {
		*line = http_line_of_slice(input, part);
	} else {
		http_line_append(input, part);
		*line = http_line_of_buffer(input);
	}
	*folded = buffer->folded;
	/* The bytes stay where they are until the next line overwrites them. */
	http_line_reset(buffer);
}

uint32_t
http_line_take(const struct http_line_input *input, struct slice bytes, struct http_line *line, bool *folded,
	       bool *whole)
{
	struct http_line_buffer *buffer = input->buffer;
	uint32_t done = 0;

	*whole = true;
	if (buffer->pending) {
		if (!http_line_continues(bytes, 0)) {
			http_line_finish(input, line, (struct slice){NULL, 0}, folded);
			return 0;
		}
		http_line_fold(input);
	}
	while (done < bytes.len) {
		struct slice rest = slice_sub(bytes, done, bytes.len);
		const uint8_t *end = memchr(rest.at, '\n', rest.len);
		struct slice part = slice_sub(rest, 0, end != NULL ? (uint32_t)(end - rest.at) : rest.len);

		done += part.len + (end != NULL);
		if (end == NULL) {
			http_line_append(input, part);
			break;
		}
		if (!input->foldable || http_line_is_empty(input, part) ||
		    (done < bytes.len && !http_line_continues(bytes, done))) {
			http_line_finish(input, line, part, folded);
			return done;
		}
		http_line_append(input, part);
		buffer->pending = true;
		if (done < bytes.len)
			http_line_fold(input);
	}
	*whole = false;
	return done;
}

/* --- text --- */

/* Characters of a token (RFC 9110 section 5.6.2). */
static bool
http_is_token_byte(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c > ' ' && c < 0x7f && memchr("!#$%&'*+-.^_`|~", c, 15) != NULL);
}

static bool
http_is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice
http_trim(struct slice s)
{
	uint32_t from = 0, to = s.len;

	while (from < to && http_is_space(slice_u8(s, from)))
		from++;
	while (to > from && http_is_space(slice_u8(s, to - 1)))
		to--;
	return slice_sub(s, from, to - from);
}

static bool
http_equals_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && strncasecmp((const char *)s.at, word, s.len) == 0;
}

/* The offset of a byte, or the length of the slice. */
static uint32_t
http_find_byte(struct slice s, char byte)
{
	const uint8_t *at = s.len > 0 ? memchr(s.at, byte, s.len) : NULL;

	return at != NULL ? (uint32_t)(at - s.at) : s.len;
}

/* Bytes of the token at the beginning. */
static uint32_t
http_token_length(struct slice s)
{
	uint32_t n = 0;

	while (n < s.len && http_is_token_byte(slice_u8(s, n)))
		n++;
	return n;
}

/* --- the first line --- */

#define HTTP_VERSION_LEN 8u /* "HTTP/1.1" */

/* "HTTP/1." and a digit at an offset (section 2.3). */
static bool
http_parse_version(struct slice s, uint32_t at, uint8_t *minor)
{
	uint8_t digit = slice_u8(s, at + HTTP_VERSION_LEN - 1);

	*minor = (uint8_t)(digit - '0');
	return slice_equal(s, at, "HTTP/1.", HTTP_VERSION_LEN - 1) && digit >= '0' && digit <= '9';
}

static bool
http_target_is_odd(struct slice target)
{
	for (uint32_t i = 0; i < target.len; i++)
		if (slice_u8(target, i) <= ' ' || slice_u8(target, i) == 0x7f)
			return true;
	return target.len == 0;
}

bool
http_parse_request_line(const struct http_line *line, struct http_request_line *request)
{
	uint32_t method = http_token_length(slice_sub(line->head, 0, HTTP_METHOD_WIRE_MAX + 1));
	uint32_t suffix = 1 + HTTP_VERSION_LEN, target;

	if (method == 0 || method > HTTP_METHOD_WIRE_MAX || slice_u8(line->head, method) != ' ' ||
	    line->tail.len < suffix || line->length < method + 1 + suffix ||
	    slice_u8(line->tail, line->tail.len - suffix) != ' ' ||
	    !http_parse_version(line->tail, line->tail.len - HTTP_VERSION_LEN, &request->minor))
		return false;
	target = line->length - method - 1 - suffix;
	request->method = slice_sub(line->head, 0, method);
	request->target = slice_sub(line->head, method + 1, target < HTTP_URI_MAX ? target : HTTP_URI_MAX);
	request->target_length = target;
	request->odd_target = http_target_is_odd(request->target);
	return true;
}

bool
http_parse_status_line(const struct http_line *line, struct http_status_line *status)
{
	uint64_t number;

	/* The space after the status is missing if the reason phrase is empty, in spite of section 4. */
	if (!http_parse_version(line->head, 0, &status->minor) || slice_u8(line->head, HTTP_VERSION_LEN) != ' ' ||
	    line->length < HTTP_VERSION_LEN + 4 ||
	    !http_parse_decimal(slice_sub(line->head, HTTP_VERSION_LEN + 1, 3), &number) || number < 100 ||
	    (line->length > HTTP_VERSION_LEN + 4 && slice_u8(line->head, HTTP_VERSION_LEN + 4) != ' '))
		return false;
	status->status = (uint16_t)number;
	return true;
}

bool
http_may_begin_request_line(struct slice head)
{
	uint32_t n = http_token_length(slice_sub(head, 0, HTTP_METHOD_WIRE_MAX + 1));

	if (n > HTTP_METHOD_WIRE_MAX)
		return false;
	return n == head.len || (n > 0 && slice_u8(head, n) == ' ') || (head.len == 1 && slice_u8(head, 0) == '\r');
}

bool
http_may_begin_status_line(struct slice head)
{
	return slice_equal(head, 0, "HTTP/1.", head.len < HTTP_VERSION_LEN ? head.len : HTTP_VERSION_LEN - 1);
}

/* --- fields --- */

static enum http_field
http_find_field(struct slice name)
{
	if (http_equals_word(name, "Host"))
		return HTTP_FIELD_HOST;
	if (http_equals_word(name, "User-Agent"))
		return HTTP_FIELD_AGENT;
	if (http_equals_word(name, "Content-Length"))
		return HTTP_FIELD_LENGTH;
	if (http_equals_word(name, "Transfer-Encoding"))
		return HTTP_FIELD_ENCODING;
	if (http_equals_word(name, "Expect"))
		return HTTP_FIELD_EXPECT;
	return HTTP_FIELD_OTHER;
}

void
http_parse_field(const struct http_line *line, struct http_field_line *field)
{
	uint32_t colon = http_find_byte(line->head, ':');
	struct slice name = slice_sub(line->head, 0, colon), trimmed = http_trim(name);

	*field = (struct http_field_line){.field = HTTP_FIELD_OTHER, .cut = line->length > line->head.len};
	if (colon == line->head.len) {
		/* The colon of a long line may be after its head. */
		if (!field->cut)
			field->field = HTTP_FIELD_INVALID;
		return;
	}
	field->odd = trimmed.len != name.len;
	field->value = http_trim(slice_sub(line->head, colon + 1, line->head.len));
	field->field = trimmed.len == 0 || http_token_length(trimmed) != trimmed.len ? HTTP_FIELD_INVALID
										       : http_find_field(trimmed);
}

/* --- the length of a body --- */

/* A decimal number of one digit or more.  False if it is not a number or exceeds 64 bits. */
static bool
http_parse_decimal(struct slice text, uint64_t *value)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < text.len; i++) {
		uint8_t c = slice_u8(text, i);

		if (c < '0' || c > '9' || sum > (UINT64_MAX - (uint64_t)(c - '0')) / 10)
			return false;
		sum = sum * 10 + (uint64_t)(c - '0');
	}
	*value = sum;
	return text.len > 0;
}

/* Takes the first element of a list off `list`. */
static struct slice
http_take_element(struct slice *list)
{
	uint32_t comma = http_find_byte(*list, ',');
	struct slice element = http_trim(slice_sub(*list, 0, comma));

	*list = slice_sub(*list, comma + 1, list->len);
	return element;
}

void
http_add_length(struct http_framing *framing, const struct http_field_line *field)
{
	struct slice list = field->value;

	framing->bad_length |= field->cut || list.len == 0;
	while (list.len > 0) {
		uint64_t length;

		if (!http_parse_decimal(http_take_element(&list), &length) ||
		    (framing->has_length && length != framing->length)) {
			framing->bad_length = true;
			return;
		}
		framing->length = length;
		framing->has_length = true;
	}
}

void
http_add_encoding(struct http_framing *framing, const struct http_field_line *field)
{
	struct slice list = field->value;

	while (list.len > 0) {
		struct slice coding = http_take_element(&list);

		/* RFC 2616 section 3.6 had a coding for no coding. */
		if (coding.len == 0 || http_equals_word(coding, "identity"))
			continue;
		framing->encoded = true;
		framing->chunked = http_equals_word(coding, "chunked");
	}
	if (field->cut) {
		framing->encoded = true;
		framing->chunked = false;
	}
}

bool
http_is_expectation(const struct http_field_line *field)
{
	struct slice list = field->value;

	while (list.len > 0)
		if (http_equals_word(http_take_element(&list), "100-continue"))
			return true;
	return false;
}

static int
http_hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
http_parse_chunk_size(const struct http_line *line, uint64_t *size)
{
	uint32_t i = 0;

	*size = 0;
	for (; i < line->head.len; i++) {
		int digit = http_hex_digit(slice_u8(line->head, i));

		if (digit < 0)
			break;
		if (*size >> 60 != 0)
			return false;
		*size = *size << 4 | (uint64_t)digit;
	}
	/* Some servers pad the size with spaces. */
	return i > 0 && (i == line->length || slice_u8(line->head, i) == ';' || http_is_space(slice_u8(line->head, i)));
}

/* --- the beginning of a message --- */

/* The registry of RFC 9110 section 16.1.1 but for PRI, which is of HTTP/2, and what media players and proxies send. */
static const char *const http_methods[] = {
    "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PATCH", "QUERY", "PROPFIND",
    "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "CHECKOUT", "CHECKIN", "UNCHECKOUT",
    "MERGE", "SEARCH", "BIND", "REBIND", "UNBIND", "ACL", "MKCALENDAR", "MKWORKSPACE", "LABEL", "LINK",
    "UNLINK", "UPDATE", "ORDERPATCH", "MKACTIVITY", "MKREDIRECTREF", "UPDATEREDIRECTREF", "VERSION-CONTROL",
    "BASELINE-CONTROL", "M-SEARCH", "SUBSCRIBE", "UNSUBSCRIBE", "NOTIFY", "PURGE",
};

unsigned
http_method_number(struct slice method)
{
	for (unsigned i = 0; i < sizeof http_methods / sizeof http_methods[0]; i++)
		if (strlen(http_methods[i]) == method.len && slice_equal(method, 0, http_methods[i], method.len))
			return i + 1;
	return 0;
}

struct slice
http_method_name(unsigned number)
{
	uint32_t length = (uint32_t)strlen(http_methods[number - 1]);

	return (struct slice){(const uint8_t *)http_methods[number - 1],
			      length < HTTP_METHOD_MAX ? length : HTTP_METHOD_MAX};
}

/* Length of the registered method that a space follows; 0 if there is none. */
static uint32_t
http_known_method(struct slice bytes)
{
	uint32_t n = http_token_length(slice_sub(bytes, 0, HTTP_METHOD_WIRE_MAX));

	return n > 0 && slice_u8(bytes, n) == ' ' && http_method_number(slice_sub(bytes, 0, n)) != 0 ? n : 0;
}

/* The line at the beginning; false if its end is missing. */
static bool
http_first_line(struct slice bytes, struct http_line *line)
{
	uint32_t length = http_find_byte(bytes, '\n');
	uint32_t tail;

	if (length == bytes.len)
		return false;
	if (length > 0 && slice_u8(bytes, length - 1) == '\r')
		length--;
	tail = length < HTTP_TAIL_MAX ? length : HTTP_TAIL_MAX;
	*line = (struct http_line){slice_sub(bytes, 0, length), slice_sub(bytes, length - tail, tail), length};
	return true;
}

bool
http_is_request_line(const struct http_line *line)
{
	struct http_request_line request;

	return http_known_method(line->head) > 0 && http_parse_request_line(line, &request) && !request.odd_target;
}

bool
http_may_begin_known_request(struct slice head)
{
	for (unsigned i = 0; i < sizeof http_methods / sizeof http_methods[0]; i++)
		if (head.len <= strlen(http_methods[i]) && slice_equal(head, 0, http_methods[i], head.len))
			return true;
	return http_known_method(head) > 0;
}

/* Whether these bytes, at a place where a request may begin, begin one for certain: a whole request line of HTTP/1 with
 * a registered method. */
static bool
http_is_request(struct slice bytes)
{
	struct http_line line;

	return http_first_line(bytes, &line) && http_is_request_line(&line);
}

enum app_match
http_recognise(struct slice first)
{
	bool more = first.len < APP_FIRST_BYTES_MAX;
	struct http_line line;

	while (http_first_line(first, &line) && line.length == 0)
		first = slice_sub(first, http_find_byte(first, '\n') + 1, first.len);
	if (first.len == 0 || (first.len == 1 && slice_u8(first, 0) == '\r'))
		return more ? APP_MATCH_UNDECIDED : APP_MATCH_NO;
	if (!http_may_begin_known_request(first))
		return APP_MATCH_NO;
	if (http_first_line(first, &line))
		return http_is_request_line(&line) ? APP_MATCH_YES : APP_MATCH_NO;
	/* The reader tells whether a longer line is one. */
	return more ? APP_MATCH_UNDECIDED : APP_MATCH_YES;
}

bool
http_may_be_request(struct slice bytes)
{
	struct http_line line;

	return http_known_method(bytes) > 0 && (!http_first_line(bytes, &line) || http_is_request(bytes));
}

bool
http_may_be_response(struct slice bytes)
{
	struct http_line line = {bytes, {NULL, 0}, bytes.len};
	struct http_status_line status;

	line.length = bytes.len < HTTP_VERSION_LEN + 5 ? bytes.len : HTTP_VERSION_LEN + 5;
	/* "HTTP/1.1 200\r\n": the line ends after the status. */
	if (slice_u8(bytes, HTTP_VERSION_LEN + 4) == '\r' || slice_u8(bytes, HTTP_VERSION_LEN + 4) == '\n')
		line.length = HTTP_VERSION_LEN + 4;
	return http_parse_status_line(&line, &status);
}
