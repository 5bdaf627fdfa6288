/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket of netobsd: sends requests, reads replies. */
#ifndef NETOBS_TOOLS_CONTROL_CLIENT_H
#define NETOBS_TOOLS_CONTROL_CLIENT_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define CLIENT_REQUEST_MAX 4096 /* bytes of a request with its newline and a NUL */

/* Prints a message of a program as one line in which everything but printable ASCII is escaped: names of files and
 * replies are text of others. */
void client_log(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "netobsctl: WHAT: ERROR", without ERROR if it is NULL.  Returns EXIT_FAILURE. */
int client_log_error(const char *what, const char *error);

/* Passes on what was printed to standard output.  False, with a message printed, if that or an earlier output has
 * failed. */
bool client_end_output(void);

/* Whether the value of an option remains one word in a request.  True for NULL. */
bool client_is_word(const char *value);

/* Most bytes of a reply that is printed: a list of connections, of which there are at most 100 million, and another. */
#define CLIENT_LIST_MAX	 (UINT64_C(32) << 30)
#define CLIENT_REPLY_MAX (UINT64_C(64) << 20)

/* Sends a request and writes the reply to `to` (NULL: nowhere), like put_foreign_lines().  False, with a message
 * printed, on failure, if netobsd rejects the request, and if a line of the reply is too long or not complete in
 * time, or the whole of it is larger than CLIENT_REPLY_MAX or takes too long. */
bool client_print_reply(const char *path, const char *request, FILE *to);

/* Takes a line of a reply, a JSON object.  Returns the name of a member that the object lacks, up to a blank, a colon
 * or a brace, or NULL. */
typedef const char *client_visitor(void *context, json_t *object);

/* Like client_print_reply(), but hands each line, of at most `most` bytes in all, to a function that prints it to
 * standard output. */
bool client_visit_reply(const char *path, const char *request, uint64_t most, client_visitor *visit, void *context);

/* Likewise, with a reason instead of a message. */
bool client_read_objects(const char *path, const char *request, uint64_t most, client_visitor *visit, void *context,
			 char *error, size_t size);

/* Likewise, as an array of the objects, which the caller frees with json_decref(); NULL with a reason on failure. */
json_t *client_read_array(const char *path, const char *request, size_t most, char *error, size_t size);

/* Like client_print_reply() to standard output, with a list, of at most CLIENT_LIST_MAX bytes.  A line {"note":"TEXT"},
 * which is about the others, becomes a message. */
bool client_print_records(const char *path, const char *request);

/* Sends a request and reads the first line of the reply; the rest follows on the returned descriptor.  -1, with a
 * message printed, on failure and if netobsd rejects the request. */
int client_open_stream(const char *path, const char *request);

/* Like client_open_stream(), with a reason instead of a message, and errno, which is EPERM if this user may not make
 * the request, and 0 if netobsd rejects it for another reason.  `timeout`: longest wait for each part, seconds. */
int client_open_reply(const char *path, const char *request, unsigned timeout, char *error, size_t size);

/* What was received of a reply, and for how long it was waited for, from 0. */
struct client_meter {
	uint64_t bytes, waited_ns;
	unsigned most_wait_s; /* besides a second for each MiB received */
};

/* Like recv(2), but a signal does not end it: the terminal has another size, or the program continues after a stop.
 * Fails with ETIMEDOUT when the whole reply was waited for too long: one that comes in drops ends.  The time in which
 * the caller writes what it got does not count. */
ssize_t client_receive_metered(int fd, void *bytes, size_t size, struct client_meter *meter);

/* Sets the handler of the signals that end the program and of a further one, 0: none; those that are ignored stay so.
 * They are blocked, and interrupt only ppoll(2) with the mask `unblocked`.  SIGPIPE is ignored. */
void client_watch_signals(void (*handler)(int number), int further, sigset_t *unblocked);

/* Reads a reply, of which the first line is read, to its end, or until it has more than `most` lines; 0: to its end.
 * NULL with errno on failure: EPROTO if the reply breaks off within a line, ETIMEDOUT if it takes more than a minute,
 * EMSGSIZE if it takes a GiB together with the `line_memory` bytes that the caller needs for each line.  The caller
 * frees the text. */
char *client_read_lines(int fd, size_t most, size_t line_memory);

#endif
