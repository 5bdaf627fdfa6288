/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of a connection that wait for their response (pipelining, RFC 9112 section 9.3.2), the oldest first.
 *
 * The texts of all of them share one small memory: of a single request they always fit; of pipelined requests with long
 * texts, those behind the limit are cut.  Methods are not: a registered one takes no memory, another one takes that of
 * the texts before it.
 */
#ifndef NETOBS_APPS_HTTP_HTTP_QUEUE_H
#define NETOBS_APPS_HTTP_HTTP_QUEUE_H

#include "apps/http/http_message.h"

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

/* Sets another text of the last request, which had none of this kind.  A NUL byte becomes "%00".  Returns false if no
 * memory is left for all of it: it is cut. */
bool http_queue_set_text(struct http_queue *queue, enum http_text kind, struct slice text);

/* A text of request number `i` of the queue, from 0. */
struct slice http_queue_text(const struct http_queue *queue, unsigned i, enum http_text kind);

/* Removes the oldest request; the last one; all. */
void http_queue_remove_front(struct http_queue *queue);
void http_queue_remove_last(struct http_queue *queue);
void http_queue_clear(struct http_queue *queue);

#endif
