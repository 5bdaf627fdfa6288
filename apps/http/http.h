/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1 (RFC 9112): lines of a message to fields.  Pure functions. */
#ifndef NETOBS_APPS_HTTP_HTTP_H
#define NETOBS_APPS_HTTP_HTTP_H

#include "dissect/anomaly.h"
#include "dissect/cursor.h"
#include "flow/stream/app_flow.h"
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

/* False if the line is not a request line of HTTP/1. */
bool http_parse_request_line(const struct http_line *line, struct http_request_line *request);

/* False if the line is not a status line of HTTP/1. */
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

/* The size in a chunk's first line (section 7.1), before any extension.  False if it is not a number or exceeds 64
 * bits. */
bool http_parse_chunk_size(const struct http_line *line, uint64_t *size);

/* Whether a connection that begins with these bytes is HTTP/1: a request line with a registered method, which may be
 * longer than they are, and empty lines before it (section 2.2). */
enum app_match http_recognise(struct slice first);

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

/* Lines of a byte stream that arrives in arbitrary pieces. */

/* A line that is not complete: its first bytes are in memory that the caller provides.  Zero at the beginning. */
struct http_line_buffer {
	uint32_t length; /* bytes of the line so far */
	bool pending;	 /* the line has ended; the next byte decides whether it is folded */
	bool folded;	 /* the line has continued after a line end (section 5.2) */
	uint8_t tail_have;
	uint8_t tail[HTTP_TAIL_MAX];
};

struct http_line_input {
	struct http_line_buffer *buffer;
	uint8_t *head; /* memory of `head_max` bytes that belongs to the buffer */
	uint32_t head_max;
	bool foldable; /* a line that begins with white space continues the one before it */
};

/*
 * Takes bytes up to the end of a line, whose `*folded` says whether it was folded.  Returns the number of bytes taken;
 * `*whole` says whether the line is complete.  The line is valid until the next call, which begins another one.
 */
uint32_t http_line_take(const struct http_line_input *input, struct slice bytes, struct http_line *line, bool *folded,
			bool *whole);

/* Drops an incomplete line. */
void http_line_reset(struct http_line_buffer *buffer);

/*
 * Requests of a connection that wait for their response (pipelining, RFC 9112 section 9.3.2), the oldest first.
 *
 * The texts of all of them share one small memory: of a single request they always fit; of pipelined requests with long
 * texts, those beyond the limit are cut.  Methods are not: a registered one takes no memory, another one takes that of
 * the texts before it.
 */

/* Most requests without a response. */
#define HTTP_QUEUE_MAX 10u

/* Bytes of text of all requests in the queue. */
#define HTTP_TEXT_MAX 672u

_Static_assert(HTTP_METHOD_MAX + HTTP_URI_MAX + HTTP_HOST_MAX + HTTP_AGENT_MAX <= HTTP_TEXT_MAX,
	       "the texts of one request fit");

enum http_text {
	HTTP_TEXT_METHOD,
	HTTP_TEXT_URI,
	HTTP_TEXT_HOST,
	HTTP_TEXT_AGENT,
	HTTP_TEXTS
};

struct http_request {
	uint64_t started;	 /* time of its first byte, ns */
	uint64_t bytes;		 /* header and body, so far */
	uint32_t target_length;	 /* of the request target on the wire */
	uint8_t texts[HTTP_TEXTS]; /* lengths */
	uint8_t method;		 /* http_method_number(); 0: it is a text */
	uint8_t minor;		 /* 1 of HTTP/1.1 */
	bool complete;		 /* its header is complete */
	bool head, connect;	 /* methods that decide how the response ends */
};

struct http_queue {
	uint32_t front_number; /* number of the oldest request in its connection */
	uint8_t count;
	struct http_request requests[HTTP_QUEUE_MAX];
	char text[HTTP_TEXT_MAX];
};

static inline struct http_request *
http_queue_front(struct http_queue *queue)
{
	return queue->count > 0 ? &queue->requests[0] : NULL;
}

static inline struct http_request *
http_queue_last(struct http_queue *queue)
{
	return queue->count > 0 ? &queue->requests[queue->count - 1] : NULL;
}

/* Adds a request without texts.  NULL if the queue is full. */
struct http_request *http_queue_add(struct http_queue *queue, uint64_t now);

/* Sets the method of the last request, which has no text yet.  Returns false if texts of others were cut for it. */
bool http_queue_set_method(struct http_queue *queue, struct slice method);

/* Sets another text of the last request, which had no text of this kind.  A NUL byte becomes "%00".  Returns false if
 * no memory is left for all of it: it is cut. */
bool http_queue_set_text(struct http_queue *queue, enum http_text kind, struct slice text);

/* A text of request number `i` of the queue, from 0. */
struct slice http_queue_text(const struct http_queue *queue, unsigned i, enum http_text kind);

/* Removes the oldest request; the last one; all. */
void http_queue_remove_front(struct http_queue *queue);
void http_queue_remove_last(struct http_queue *queue);
void http_queue_clear(struct http_queue *queue);

/*
 * HTTP/1.0 and 1.1 (RFC 9110, RFC 9112): splits both directions of a connection into messages and pairs each response
 * with its request.
 *
 * A body ends as section 6.3 says, except that nothing is rejected: Transfer-Encoding counts more than Content-Length;
 * a response whose Content-Length is invalid lasts until the connection closes; a request whose end cannot be
 * determined makes the reader search for the next one.
 *
 * A body that waits for 100 (RFC 9110 section 10.1.1) may never come: after a final response the client may send its
 * next request instead, which its first line tells.
 *
 * A server that answers with what is not HTTP has answered all requests that wait: they are done without a status.
 *
 * In mid-stream and after a gap that a body of known length does not contain, a request is accepted at the beginning of
 * a segment only, while no other request waits for its response, and a response at the beginning of a segment only,
 * while a request waits.
 *
 * A request that was not read has a response all the same, which must not become that of the next one.  A client that
 * does not pipeline sends the next one after that response, and so no request is accepted before it.  How many
 * responses are owed to a client that pipelines is unknown: the connection is no longer read.
 */

/* Connections that are read at once. */
#define HTTP_CONNECTIONS_MAX 131072u

/* Bytes kept of a line of a request and of a response while it is incomplete: a field that is examined fits. */
#define HTTP_REQUEST_LINE_MAX  272u
#define HTTP_RESPONSE_LINE_MAX 64u

/* Bytes of a header, or of the trailers of a message, whose fields are examined; of the rest only those that decide
 * where the body ends. */
#define HTTP_HEADER_MAX 65536u

/* Bytes of the line with a chunk's size; a longer one is not such a line. */
#define HTTP_CHUNK_LINE_MAX 16384u

/* Part of the message that is read next. */
enum http_read_state {
	HTTP_READ_NOTHING,    /* not begun, or no longer HTTP/1 */
	HTTP_READ_SEARCH,     /* the beginning of a message is searched */
	HTTP_READ_FIRST_LINE, /* empty lines before a request are skipped */
	HTTP_READ_FIELDS,
	HTTP_READ_BODY,	      /* of known length */
	HTTP_READ_UNTIL_END,  /* a body that ends with the connection */
	HTTP_READ_CHUNK_SIZE,
	HTTP_READ_CHUNK_DATA,
	HTTP_READ_CHUNK_END,  /* the line end after the data */
	HTTP_READ_TRAILERS,
	HTTP_READ_TUNNEL,     /* requests after CONNECT: skipped until its response */
};

/* State of one direction. */
struct http_stream {
	uint8_t read_state;    /* enum http_read_state */
	bool started;	       /* on_start() was called */
	bool asked;	       /* a request waited when the first byte of this response came */
	bool ended;	       /* on_end() was called */
	bool searched;	       /* the message was found by a search, and its first line is incomplete */
	bool skipped;	       /* bytes were skipped by the search or in the tunnel */
	bool foreign;	       /* a search: what the server sends is not HTTP, so that no response is missed */
	bool expects;	       /* the header had Expect: 100-continue, and no byte of the body has come */
	bool instead;	       /* the first line may be the beginning of that body: */
	uint8_t instead_of;    /* enum http_read_state */
	bool limited;	       /* the header has exceeded HTTP_HEADER_MAX */
	uint8_t hosts;	       /* Host fields of this header, at most 2 */
	uint8_t minor;	       /* version of the message */
	uint16_t status;       /* of the response being read, 0 none */
	uint64_t first;	       /* time of the first byte of the message, ns */
	uint64_t body_left;    /* bytes of the body or the chunk that are left */
	uint32_t part_bytes;   /* bytes of this header, these trailers or this line of a chunk */
	struct http_framing framing;
	struct http_line_buffer line;
};

/* State of an app flow: both directions.  Zero at the beginning. */
struct http_connection {
	struct http_queue queue;
	struct http_stream client, server;
	uint8_t server_endpoint;
	bool numbered;		 /* queue.front_number is set */
	bool proven;		 /* a request line was read: the connection is HTTP */
	bool sending;		 /* the body of the last request in the queue is being read */
	bool upgraded;		 /* the response ends HTTP on this connection */
	bool pipelined;		 /* a request came before the response to another one */
	bool lost;		 /* requests or responses were not read */
	bool owed;		 /* the response to a request that was not read has not come */
	bool unasked;		 /* a response that no request waits for has come since the last request */
	uint64_t response_bytes; /* of the response being read, header and body */
	uint64_t response_last;	 /* time of its last byte so far, ns; 0 unknown */
	uint8_t request_head[HTTP_REQUEST_LINE_MAX];
	uint8_t response_head[HTTP_RESPONSE_LINE_MAX];
};

_Static_assert(sizeof(struct http_connection) <= 1536, "many thousands of connections are read at once");

/* A request as the reader reports it: when its header is complete, and when its response is, or will not be. */
struct http_message {
	bool done;
	bool upgraded;	 /* another protocol follows */
	uint8_t minor;	 /* 1 of HTTP/1.1 */
	uint16_t status; /* of the response; 0 none */
	uint32_t target_length;
	uint64_t id;
	uint64_t request_bytes, response_bytes;
	int64_t first_byte_us, total_us; /* -1 unknown */
	struct slice texts[HTTP_TEXTS];	 /* by enum http_text */
};

extern const struct app_reader http_reader;

/* Fills the argument of both http probes for a request of `flow`, as endpoint `endpoint` sees it. */
struct httpinfo;
void args_httpinfo(struct httpinfo *info, const struct http_message *message, const struct flow *flow,
		   unsigned endpoint);

#endif
