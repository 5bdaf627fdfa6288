/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/feeds.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "daemon/query/server.h"
#include "probes/feed/feed.h"
#include "probes/manifest.h"
#include "probes/nearest.h"

/* Without names a feed has the firings of this probe. */
#define DEFAULT_PROBE "connection-end"

/* The last places, which only privileged clients may take. */
#define PRIVILEGED_MAX 16u

/* Most bytes sent to a client in one turn of the loop, so that the capture of the main thread is not delayed. */
#define TURN_MAX ((size_t)64 * 1024)

/* At the end: longest wait for a client that accepts nothing, and for all clients. */
#define FINISH_IDLE_MS 400
#define FINISH_MS      2000

struct feed_client {
	struct feeds *feeds;
	struct feed *feed;
	int fd;
	bool closed;		/* by the client, or an error */
	struct watch *input;	/* the client closes the connection */
	struct watch *writable; /* NULL unless the socket is full, or a turn was over */
};

struct feeds {
	struct loop *loop;
	struct query_context *query;
	struct feed_set *set;
	struct wakeup *wakeup;
	_Atomic bool woken; /* the wakeup was sent */
	struct feed_client *clients[FEEDS_MAX];
};

/* ---------------------------------------------------------------------------------------------------------- sending */

static void
feed_client_close(struct feed_client *client)
{
	struct feeds *feeds = client->feeds;

	for (unsigned i = 0; i < FEEDS_MAX; i++)
		if (feeds->clients[i] == client)
			feeds->clients[i] = NULL;
	watch_free(client->input);
	watch_free(client->writable);
	client_descriptors_close(client->fd);
	feeds_end(feeds, client->feed);
	free(client);
	log_debug(DEBUG_QUERY, "control: a stream has ended");
}

/* Sends what waits, at most `most` bytes.  False if the socket accepts no more now; sets `closed` on an error. */
static bool
feed_client_send(struct feed_client *client, size_t most)
{
	const char *bytes;
	size_t length;

	while (most > 0 && (length = feed_peek(client->feed, &bytes)) > 0) {
		ssize_t sent = send(client->fd, bytes, length < most ? length : most, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			client->closed = errno != EAGAIN;
			return false;
		}
		feed_remove(client->feed, (size_t)sent);
		most -= (size_t)sent;
	}
	return true;
}

static void
feed_client_on_writable(void *context)
{
	struct feed_client *client = context;

	(void)feed_client_send(client, TURN_MAX);
	if (client->closed) {
		feed_client_close(client);
	} else if (feed_waiting(client->feed) == 0) {
		watch_free(client->writable);
		client->writable = NULL;
		feed_part_flush(feed_set_part(client->feeds->set, 0)); /* part 0 is that of this thread */
	}
}

static void
feed_client_on_wakeup(struct feed_client *client)
{
	if (client->writable != NULL)
		return;
	(void)feed_client_send(client, TURN_MAX);
	if (!client->closed && feed_waiting(client->feed) > 0) {
		client->writable =
		    loop_watch_writable(client->feeds->loop, client->fd, feed_client_on_writable, client);
		client->closed = client->writable == NULL;
	}
	if (client->closed)
		feed_client_close(client);
}

/* What a client sends after its request is ignored. */
static void
feed_client_on_input(void *context)
{
	struct feed_client *client = context;
	char ignored[512];
	ssize_t got = recv(client->fd, ignored, sizeof ignored, MSG_DONTWAIT);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		feed_client_close(client);
}

/* Called by the workers. */
static void
feeds_wake(void *context)
{
	struct feeds *feeds = context;

	if (!atomic_exchange_explicit(&feeds->woken, true, memory_order_acq_rel))
		wakeup_send(feeds->wakeup);
}

static void
feeds_on_wakeup(void *context)
{
	struct feeds *feeds = context;

	/* Exchanged, not stored, so that the lines of a worker that found `woken` set are visible from here on. */
	(void)atomic_exchange_explicit(&feeds->woken, false, memory_order_acq_rel);
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		if (feeds->clients[i] != NULL)
			feed_client_on_wakeup(feeds->clients[i]);
}

/* ------------------------------------------------------------------------------------------------------ subscribing */

static bool
feeds_select_formulas(const struct feeds *feeds, const char *word, struct feed_choice *choice)
{
	const struct formula_set *formulas = feeds->query->formulas;
	bool found = false;

	for (unsigned i = 0; formulas != NULL && i < formula_set_count(formulas); i++) {
		const struct formula *formula = formula_set_status(formulas, i).formula;

		if (!feed_names_select(word, formula_name(formula)))
			continue;
		found = true;
		for (unsigned probe = 0; probe < PROBE_COUNT; probe++)
			choice->of_formulas[probe] |= formula_has_probe(formula, (enum probe_id)probe);
	}
	return found;
}

static void
feeds_fail_unknown(const struct feeds *feeds, const char *word, char *error, size_t size)
{
	const struct formula_set *formulas = feeds->query->formulas;
	char hint[NEAREST_HINT_MAX];
	struct nearest nearest;

	nearest_begin(&nearest, word, strlen(word));
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		nearest_consider(&nearest, manifest_probes[i].name);
	for (unsigned i = 0; formulas != NULL && i < formula_set_count(formulas); i++)
		nearest_consider(&nearest, formula_name(formula_set_status(formulas, i).formula));
	snprintf(error, size, "there is no probe or formula \"%.60s\"%s", word, nearest_hint(&nearest, "", hint));
}

/* Selects the probes and formulas of the names.  Call it while the workers are paused. */
static bool
feeds_select(const struct feeds *feeds, struct feed_choice *choice, char *error, size_t size)
{
	const char *names = choice->names, *unknown;
	char word[128];
	size_t length;

	for (;; names += length + 1) {
		bool selected[PROBE_COUNT];

		length = strcspn(names, ",");
		snprintf(word, sizeof word, "%.*s", (int)length, names);
		if (length == 0 || length >= sizeof word) {
			snprintf(error, size, "stream: a name is empty or too long");
			return false;
		}
		if (manifest_select_probes(word, selected, &unknown, &(size_t){0})) {
			for (unsigned i = 0; i < PROBE_COUNT; i++)
				choice->probes[i] |= selected[i];
			feeds_select_formulas(feeds, word, choice);
		} else if (!feeds_select_formulas(feeds, word, choice)) {
			feeds_fail_unknown(feeds, word, error, size);
			return false;
		}
		if (names[length] == '\0')
			return true;
	}
}

/* False if all places are taken, those of the client's kind at least. */
static bool
feeds_enable(struct feeds *feeds, struct feed *feed, bool privileged)
{
	struct query_context *query = feeds->query;
	bool added;

	workers_pause(query->workers);
	added = (privileged || feed_set_counters(feeds->set).feeds < FEEDS_MAX - PRIVILEGED_MAX) &&
		feed_set_add(feeds->set, feed);
	if (added && query->formulas != NULL) {
		formula_set_select_fed(query->formulas, feeds->set);
		formula_set_poll(query->formulas);
	}
	workers_resume(query->workers);
	return added;
}

struct feed *
feeds_begin(struct feeds *feeds, const struct control_request *request, bool privileged, char *error, size_t size)
{
	struct feed_choice choice = {.names = request->operand != NULL ? request->operand : DEFAULT_PROBE,
				     .fields = request->fields,
				     .text = request->text};
	struct feed *feed;
	bool known;

	workers_pause(feeds->query->workers);
	known = feeds_select(feeds, &choice, error, size);
	workers_resume(feeds->query->workers);
	if (!known)
		return NULL;
	feed = feed_new(feeds->set, &choice, error, size);
	if (feed == NULL || feeds_enable(feeds, feed, privileged))
		return feed;
	if (privileged)
		snprintf(error, size, "there are %u streams already, as many as there can be", FEEDS_MAX);
	else
		snprintf(error, size,
			 "there are at least %u streams already, and only root and the user that netobsd runs as may "
			 "have the last %u",
			 FEEDS_MAX - PRIVILEGED_MAX, PRIVILEGED_MAX);
	feed_free(feed);
	return NULL;
}

void
feeds_end(struct feeds *feeds, struct feed *feed)
{
	struct query_context *query = feeds->query;

	workers_pause(query->workers);
	feed_set_remove(feeds->set, feed);
	if (query->formulas != NULL) {
		formula_set_select_fed(query->formulas, feeds->set);
		formula_set_poll(query->formulas);
	}
	workers_resume(query->workers);
	feed_free(feed);
}

/* A new socket accepts the line at once. */
static bool
feed_client_begin(struct feed_client *client)
{
	client->input = loop_watch_readable(client->feeds->loop, client->fd, feed_client_on_input, client);
	return client->input != NULL && send(client->fd, "ok\n", 3, MSG_NOSIGNAL | MSG_DONTWAIT) == 3;
}

void
feeds_add_client(struct feeds *feeds, struct feed *feed, int fd)
{
	struct feed_client *client = calloc(1, sizeof *client);
	unsigned place = 0;

	while (place < FEEDS_MAX && feeds->clients[place] != NULL)
		place++;
	if (client == NULL || place == FEEDS_MAX) {
		feeds_end(feeds, feed);
		client_descriptors_close(fd);
		free(client);
		return;
	}
	*client = (struct feed_client){.feeds = feeds, .feed = feed, .fd = fd};
	feeds->clients[place] = client;
	if (feed_client_begin(client))
		feed_client_on_wakeup(client); /* lines may wait already */
	else
		feed_client_close(client);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

/* Connects all observers with their parts of the feeds, or disconnects them. */
static void
feeds_connect(const struct feeds *feeds, bool connect)
{
	struct workers *workers = feeds->query->workers;

	workers->feeds = connect ? feeds->set : NULL;
	for (unsigned i = 0; i < workers->count; i++) {
		struct feed_part *part = connect ? feed_set_part(feeds->set, i) : NULL;

		observer_set_feed(workers->worker[i].observer, part);
		if (feeds->query->formulas != NULL)
			formula_set_connect_feed(feeds->query->formulas, i, part);
	}
}

struct feeds *
feeds_new(struct loop *loop, struct query_context *query)
{
	struct feeds *feeds = calloc(1, sizeof *feeds);

	if (feeds == NULL) {
		log_out_of_memory();
		return NULL;
	}
	feeds->loop = loop;
	feeds->query = query;
	feeds->set = feed_set_new(query->workers->count, feeds_wake, feeds);
	if (feeds->set != NULL)
		feeds->wakeup = wakeup_new(loop, feeds_on_wakeup, feeds);
	if (feeds->wakeup == NULL) {
		log_out_of_memory();
		feed_set_free(feeds->set);
		free(feeds);
		return NULL;
	}
	feeds_connect(feeds, true);
	return feeds;
}

/* Sends to all clients what they accept now; returns whether one of them has more to accept. */
static bool
feeds_send_rest(struct feeds *feeds, bool *progress)
{
	bool waiting = false;

	for (unsigned i = 0; i < FEEDS_MAX; i++) {
		struct feed_client *client = feeds->clients[i];
		size_t before;

		if (client == NULL || client->closed)
			continue;
		before = feed_waiting(client->feed);
		(void)feed_client_send(client, before);
		feed_end_gaps(client->feed);
		*progress |= feed_waiting(client->feed) < before;
		waiting |= !client->closed && feed_waiting(client->feed) > 0;
	}
	return waiting;
}

/* Waits until a client whose lines wait accepts more, at most `ms`. */
static void
feeds_wait_writable(const struct feeds *feeds, int ms)
{
	struct pollfd ready[FEEDS_MAX];
	nfds_t count = 0;

	for (unsigned i = 0; i < FEEDS_MAX; i++) {
		const struct feed_client *client = feeds->clients[i];

		if (client != NULL && !client->closed && feed_waiting(client->feed) > 0)
			ready[count++] = (struct pollfd){.fd = client->fd, .events = POLLOUT};
	}
	(void)poll(ready, count, ms);
}

static void
feeds_send_all(struct feeds *feeds)
{
	uint64_t now = clock_monotonic_ns() / 1000000, end = now + FINISH_MS, idle_end = now + FINISH_IDLE_MS;
	bool progress = false;

	while (feeds_send_rest(feeds, &progress)) {
		now = clock_monotonic_ns() / 1000000;
		if (progress)
			idle_end = now + FINISH_IDLE_MS;
		if (now >= end || now >= idle_end)
			return;
		feeds_wait_writable(feeds, (int)((end < idle_end ? end : idle_end) - now));
		progress = false;
	}
}

void
feeds_finish(struct feeds *feeds)
{
	feeds_send_all(feeds);
	for (unsigned i = 0; i < FEEDS_MAX; i++) {
		struct feed_client *client = feeds->clients[i];

		if (client == NULL)
			continue;
		if (feed_waiting(client->feed) > 0 && !client->closed)
			log_warning("the last %zu bytes of a stream were not sent: its reader did not read them",
				    feed_waiting(client->feed));
		else
			(void)!send(client->fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		feed_client_close(client);
	}
}

void
feeds_free(struct feeds *feeds)
{
	if (feeds == NULL)
		return;
	for (unsigned i = 0; i < FEEDS_MAX; i++)
		if (feeds->clients[i] != NULL)
			feed_client_close(feeds->clients[i]);
	if (feeds->query->formulas != NULL)
		formula_set_select_fed(feeds->query->formulas, NULL);
	feeds_connect(feeds, false);
	wakeup_free(feeds->wakeup);
	feed_set_free(feeds->set);
	free(feeds);
}
