/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.0 and 1.1 (RFC 9110, RFC 9112): splits both directions of a connection into messages and pairs each response
 * with its request.
 *
 * A body ends as section 6.3 says, except that nothing is rejected: Transfer-Encoding counts more than Content-Length;
 * a response whose Content-Length is invalid lasts until the connection closes; a request whose end cannot be
 * determined makes the reader search for the next one.
 *
 * A body that waits for 100 (RFC 9110 section 10.1.1) may never come: behind a final response the client may send its
 * next request instead, which its first line tells.
 *
 * A server that answers with what is no HTTP has answered all requests that wait: they are done without a status.
 *
 * In mid-stream and after a gap that a body of known length does not contain, a request is accepted at the beginning of
 * a segment only, while no other request waits for its response, and a response at the beginning of a segment only,
 * while a request waits.
 *
 * A request that was not read has a response all the same, which must not become that of the next one.  A client that
 * does not pipeline sends the next one behind that response, and so no request is accepted before it.  How many
 * responses are owed to a client that pipelines is unknown: the connection is no longer read.
 */
#ifndef NETOBS_APPS_HTTP_HTTP_READER_H
#define NETOBS_APPS_HTTP_HTTP_READER_H

#include "apps/http/http_line.h"
#include "apps/http/http_queue.h"
#include "flow/stream/app_flow.h"

/* Connections that are read at once. */
#define HTTP_CONNECTIONS_MAX 131072u

/* Bytes kept of a line of a request and of a response while it is incomplete: a field that is examined fits. */
#define HTTP_REQUEST_LINE_MAX  272u
#define HTTP_RESPONSE_LINE_MAX 64u

/* Bytes of a header, or of the trailers of a message, whose fields are examined; of the rest only those that decide
 * where the body ends. */
#define HTTP_HEADER_MAX 65536u

/* Bytes of the line with a chunk's size; a longer one is no such line. */
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
	HTTP_READ_CHUNK_END,  /* the line end behind the data */
	HTTP_READ_TRAILERS,
	HTTP_READ_TUNNEL,     /* requests behind CONNECT: skipped until its response */
};

/* State of one direction. */
struct http_stream {
	uint8_t read_state;    /* enum http_read_state */
	bool started;	       /* on_start() was called */
	bool asked;	       /* a request waited when the first byte of this response came */
	bool ended;	       /* on_end() was called */
	bool searched;	       /* the message was found by a search, and its first line is incomplete */
	bool skipped;	       /* bytes were skipped by the search or in the tunnel */
	bool foreign;	       /* a search: what the server sends is no HTTP, so that no response is missed */
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

/* --- shared by the files of the reader --- */

/* Arguments of the reader's functions, for one direction. */
struct http_reader_ctx {
	struct app_context *app_ctx;
	struct http_connection *connection;
	struct http_stream *stream; /* the direction of `sender` */
	unsigned sender;
	bool from_server;
};

static inline void
http_report_anomaly(const struct http_reader_ctx *ctx, enum anomaly a)
{
	ctx->app_ctx->on_anomaly(ctx->app_ctx->context, a);
}

/* http_reader.c: the direction is not read again; both directions are not. */
void http_stop_stream(struct http_stream *stream);
void http_stop(struct http_reader_ctx *ctx);

/* http_reader.c: the boundary of a direction is lost; its beginning of a message is searched. */
void http_lose_sync(struct http_reader_ctx *ctx);

/* http_reader.c: the next message of this direction follows. */
void http_expect_message(struct http_stream *stream);

/* http_request.c, http_response.c: a first line is complete; a field; the header; the message.  False of a first line
 * that is none. */
bool http_begin_request(struct http_reader_ctx *ctx, const struct http_line *line);
void http_add_request_field(struct http_reader_ctx *ctx, const struct http_field_line *field);
void http_finish_request_header(struct http_reader_ctx *ctx);
bool http_begin_response(struct http_reader_ctx *ctx, const struct http_line *line);
void http_finish_response_header(struct http_reader_ctx *ctx);
void http_finish_response(struct http_reader_ctx *ctx);

/* http_request.c: the request being read is dropped, unless its header is complete. */
void http_drop_request(struct http_connection *connection);

/* http_request.c: all requests whose header is complete are dropped. */
void http_drop_waiting(struct http_connection *connection);

/* http_reader.c: whether pipelined requests cannot be paired with their responses; the connection is then stopped. */
bool http_check_pipelining(struct http_reader_ctx *ctx);

/* http_response.c: a final response has come that no request waits for. */
void http_note_unasked(struct http_connection *connection);

/* http_response.c: the boundary of the responses is lost: requests that wait for one get none. */
void http_lose_response(struct http_reader_ctx *ctx);

/* http_response.c: no response follows: every request whose header is complete is done. */
void http_finish_waiting(struct http_reader_ctx *ctx);

/* http_response.c: the server has ended its direction: every request that waits is done. */
void http_end_responses(struct http_reader_ctx *ctx);

/* http_response.c: reports the oldest or the last request of the queue. */
void http_report_request(struct http_reader_ctx *ctx, unsigned number, bool done);

/* http_body.c: reads bytes behind a header, in one of the states of a body.  Returns the number of bytes taken. */
uint32_t http_read_body(struct http_reader_ctx *ctx, struct slice bytes);

/* http_body.c: whether the body of a request may never come: a final response has come instead of 100. */
bool http_may_lack_body(const struct http_reader_ctx *ctx);

/* http_body.c: skips missing bytes of a body of known length.  Returns how many of them are. */
uint32_t http_skip_body(struct http_reader_ctx *ctx, uint32_t length);

/* http_reader.c: the input of a line of this direction. */
struct http_line_input http_line_input(struct http_reader_ctx *ctx, bool foldable);

/* http_reader.c: the body of the message is complete. */
void http_finish_body(struct http_reader_ctx *ctx);

/* http_reader.c: counts bytes of the message being read. */
void http_count_bytes(struct http_reader_ctx *ctx, uint64_t n);

/* http_reader.c: reads a header of fields or trailers. */
uint32_t http_read_fields(struct http_reader_ctx *ctx, struct slice bytes);

#endif
