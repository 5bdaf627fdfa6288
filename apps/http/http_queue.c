/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/http/http.h"

static const uint8_t http_text_limits[HTTP_TEXTS] = {
    [HTTP_TEXT_METHOD] = HTTP_METHOD_MAX,
    [HTTP_TEXT_URI] = HTTP_URI_MAX,
    [HTTP_TEXT_HOST] = HTTP_HOST_MAX,
    [HTTP_TEXT_AGENT] = HTTP_AGENT_MAX,
};

/* Bytes of text before a text of request `i`.  Texts lie in the order of the requests, then of enum http_text. */
static uint32_t
http_queue_text_offset(const struct http_queue *queue, unsigned i, enum http_text kind)
{
	uint32_t at = 0;

	for (unsigned r = 0; r < i; r++)
		for (unsigned k = 0; k < HTTP_TEXTS; k++)
			at += queue->requests[r].texts[k];
	for (unsigned k = 0; k < kind; k++)
		at += queue->requests[i].texts[k];
	return at;
}

static uint32_t
http_queue_text_used(const struct http_queue *queue)
{
	return queue->count > 0 ? http_queue_text_offset(queue, queue->count - 1u, HTTP_TEXTS) : 0;
}

struct http_request *
http_queue_add(struct http_queue *queue, uint64_t now)
{
	struct http_request *request;

	if (queue->count == HTTP_QUEUE_MAX)
		return NULL;
	request = &queue->requests[queue->count++];
	*request = (struct http_request){.started = now};
	return request;
}

/* Cuts the texts of the requests before the last one, which has no texts yet, until `length` bytes of memory are
 * free. */
static void
http_queue_make_room(struct http_queue *queue, uint32_t length)
{
	for (unsigned r = queue->count - 1u; r-- > 0;) {
		for (unsigned kind = HTTP_TEXTS - 1; kind > HTTP_TEXT_METHOD; kind--) {
			uint32_t used = http_queue_text_used(queue), at = http_queue_text_offset(queue, r, kind + 1);
			uint32_t missing = used + length > HTTP_TEXT_MAX ? used + length - HTTP_TEXT_MAX : 0;
			uint32_t cut = queue->requests[r].texts[kind];

			cut = missing < cut ? missing : cut;
			memmove(queue->text + at - cut, queue->text + at, used - at);
			queue->requests[r].texts[kind] = (uint8_t)(queue->requests[r].texts[kind] - cut);
		}
	}
}

bool
http_queue_set_method(struct http_queue *queue, struct slice method)
{
	struct http_request *request = http_queue_last(queue);
	uint32_t length = method.len < HTTP_METHOD_MAX ? method.len : HTTP_METHOD_MAX;
	bool fits = http_queue_text_used(queue) + length <= HTTP_TEXT_MAX;

	request->method = (uint8_t)http_method_number(method);
	if (request->method != 0)
		return true;
	http_queue_make_room(queue, length);
	http_queue_set_text(queue, HTTP_TEXT_METHOD, slice_sub(method, 0, length));
	return fits;
}

bool
http_queue_set_text(struct http_queue *queue, enum http_text kind, struct slice text)
{
	struct http_request *request = http_queue_last(queue);
	uint32_t used = http_queue_text_used(queue), at = http_queue_text_offset(queue, queue->count - 1u, kind);
	uint32_t room = HTTP_TEXT_MAX - used, limit = http_text_limits[kind], n = 0;
	char escaped[UINT8_MAX];

	for (uint32_t i = 0; i < text.len; i++) {
		char c = (char)slice_u8(text, i);
		uint32_t length = c != '\0' ? 1 : 3;

		if (n + length > limit)
			break;
		memcpy(escaped + n, c != '\0' ? &c : "%00", length);
		n += length;
	}
	limit = n < room ? n : room;
	memmove(queue->text + at + limit, queue->text + at, used - at);
	memcpy(queue->text + at, escaped, limit);
	request->texts[kind] = (uint8_t)limit;
	return limit == n;
}

struct slice
http_queue_text(const struct http_queue *queue, unsigned i, enum http_text kind)
{
	uint32_t at = http_queue_text_offset(queue, i, kind);

	if (kind == HTTP_TEXT_METHOD && queue->requests[i].method != 0)
		return http_method_name(queue->requests[i].method);
	return (struct slice){(const uint8_t *)queue->text + at, queue->requests[i].texts[kind]};
}

void
http_queue_remove_front(struct http_queue *queue)
{
	uint32_t used = http_queue_text_used(queue), texts = http_queue_text_offset(queue, 0, HTTP_TEXTS);

	memmove(queue->text, queue->text + texts, used - texts);
	queue->count--;
	queue->front_number++;
	memmove(queue->requests, queue->requests + 1, queue->count * sizeof queue->requests[0]);
}

void
http_queue_remove_last(struct http_queue *queue)
{
	queue->count--;
}

void
http_queue_clear(struct http_queue *queue)
{
	queue->front_number += queue->count;
	queue->count = 0;
}
