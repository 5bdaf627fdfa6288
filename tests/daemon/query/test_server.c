/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of the control socket and the metrics: clients that stall keep no other client
 * out, and no client keeps root out. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/high_sockets.h"
#include "daemon/query/server.h"

/* Places of the server and some that wait for one; within the backlog of the listening socket. */
#define STALLED (2 * SERVER_CLIENTS_MAX)

/* Times that a reply is not ready. */
#define LATER 5

/* A user that may connect and is not privileged, and the user that netobsd would run as. */
#define MEMBER 65534
#define DAEMON 65533

/* Lowest descriptor of sockets that capture. */
#define BOUNDARY 64

/* A minute, after which a test fails. */
#define PATIENCE_MS 60000

static struct loop *loop;
static struct server *server;
static struct sockaddr_un address;
static int stalled[STALLED];
static unsigned replies_written;

struct job {
	bool endless, waits, too_long;
	unsigned later; /* times that the reply is not ready */
};

static size_t
request_length(const char *bytes, size_t length)
{
	const char *end = memchr(bytes, '\n', length);

	return end != NULL ? (size_t)(end - bytes) + 1 : 0;
}

static void
handle_request(void *context, void *memory, char *request, size_t length, uid_t uid)
{
	struct job *job = memory;

	(void)context;
	(void)length;
	(void)uid;
	job->endless = request[0] == 'e';
	job->waits = request[0] == 'w';
	job->too_long = request[0] == 't';
	job->later = request[0] == 'l' ? LATER : 0;
}

static enum server_next
write_reply(void *context, void *memory, struct text_buffer *text)
{
	struct job *job = memory;

	(void)context;
	replies_written++;
	if (job->waits)
		return SERVER_NEXT_LATER;
	if (job->later > 0) {
		job->later--;
		return SERVER_NEXT_LATER;
	}
	if (job->too_long)
		text_add_format(text, "a\nb\n");
	if (job->too_long)
		text_add_format(text, "%*s\n", (int)SERVER_PART_SIZE, "reply");
	text_add_format(text, "%*s\n", job->endless ? 60000 : 5, "reply");
	return job->endless ? SERVER_NEXT_PART : SERVER_NEXT_END;
}

static const char *
error_reply(enum server_error error)
{
	switch (error) {
	case SERVER_REQUEST_TOO_LONG:
		return "long\n";
	case SERVER_BUSY:
		return "busy\n";
	case SERVER_NO_DESCRIPTORS:
		return "full\n";
	case SERVER_OUT_OF_MEMORY:
	case SERVER_NOT_PERMITTED:
		break;
	}
	return "error\n";
}

static const struct server_ops ops = {.name = "test",
				      .request_max = SERVER_REQUEST_MAX,
				      .request_length = request_length,
				      .handle_request = handle_request,
				      .write_reply = write_reply,
				      .error_reply = error_reply};

/* The server has no users to tell apart, or those of `access`. */
static void
start_server(const struct unix_socket_access *access)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = sizeof address;

	/* An abstract address that the kernel chooses. */
	address = (struct sockaddr_un){.sun_family = AF_UNIX};
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	loop = loop_new();
	assert_non_null(loop);
	server = server_new(&ops, NULL, loop, fd, access);
	assert_non_null(server);
}

static int
set_up(void **state)
{
	(void)state;
	start_server(NULL);
	return 0;
}

static int
set_up_users(void **state)
{
	(void)state;
	start_server(&(struct unix_socket_access){.uid = DAEMON, .mode = 0666});
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	server_free(server);
	loop_free(loop);
	return 0;
}

static int
connect_client(const char *bytes)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* The kernel's name is a NUL and five digits. */
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(sa_family_t) + 6), 0);
	assert_int_equal(send(fd, bytes, strlen(bytes), MSG_NOSIGNAL), strlen(bytes));
	return fd;
}

/* Runs the server until the client can read, or until a minute is over. */
static bool
wait_for_reply(int fd)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};

	for (unsigned ms = 0; ms < PATIENCE_MS; ms++) {
		if (poll(&readable, 1, 0) > 0)
			return true;
		loop_sleep(loop, 1000000);
	}
	return false;
}

/* Reads the first bytes of the reply. */
static void
assert_reply(int fd, const char *wanted)
{
	char got[8] = "";

	assert_true(wait_for_reply(fd));
	assert_int_equal(recv(fd, got, strlen(wanted), MSG_WAITALL), strlen(wanted));
	assert_string_equal(got, wanted);
}

static void
stall(const char *even, const char *odd)
{
	for (unsigned i = 0; i < STALLED; i++)
		stalled[i] = connect_client(i % 2 == 0 ? even : odd);
}

/* A client that comes after the stalled ones gets its reply, and another one after it. */
static void
check_served(void)
{
	for (unsigned i = 0; i < 2; i++) {
		int fd = connect_client("request\n");

		assert_reply(fd, "reply\n");
		close(fd);
	}
	for (unsigned i = 0; i < STALLED; i++)
		close(stalled[i]);
}

static void
test_silent(void **state)
{
	(void)state;
	stall("", "reque");
	check_served();
}

static void
test_not_reading(void **state)
{
	(void)state;
	stall("endless\n", "endless\n");
	check_served();
}

/* The server has sent the whole reply and waits for the end of the connection. */
static void
test_not_closing(void **state)
{
	(void)state;
	stall("request\n", "request\n");
	check_served();
}

static void
test_mixed(void **state)
{
	(void)state;
	stall("endless\n", "");
	check_served();
}

/* The client that has been silent for longest is the one that is disconnected. */
static void
test_oldest_first(void **state)
{
	int fd;

	(void)state;
	stall("", "");
	fd = connect_client("request\n");
	assert_reply(fd, "reply\n");
	assert_true(wait_for_reply(stalled[0])); /* the end */
	assert_int_equal(recv(stalled[0], (char[8]){""}, 8, 0), 0);
	close(fd);
	for (unsigned i = 0; i < STALLED; i++)
		close(stalled[i]);
}

/* A pause of the server, while requests wait to be read, is not a stall of their clients. */
static void
test_server_pauses(void **state)
{
	int fd;

	(void)state;
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++) {
		stalled[i] = connect_client("");
		loop_poll(loop);
	}
	fd = connect_client("request\n"); /* before the others' requests: the server handles it first */
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		assert_int_equal(send(stalled[i], "request\n", 8, MSG_NOSIGNAL), 8);
	usleep(150000); /* no event: the server pauses for longer than a client may stall */
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		assert_reply(stalled[i], "reply\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX; i++)
		close(stalled[i]);
}

/* A reply that is not ready is written again after a pause each time, and does not keep the loop busy. */
static void
test_later(void **state)
{
	uint64_t began = clock_monotonic_ns();
	int fd = connect_client("later\n");

	(void)state;
	replies_written = 0;
	assert_reply(fd, "reply\n");
	/* The clock of the loop is coarse: a pause may seem shorter by one tick. */
	assert_true(clock_monotonic_ns() - began >= (LATER - 1) * SERVER_LATER_NS);
	assert_int_equal(replies_written, LATER + 1);
	close(fd);
}

/* The client ends the connection before its reply is ready. */
static void
test_later_gone(void **state)
{
	int fd = connect_client("later\n");

	(void)state;
	replies_written = 0;
	for (unsigned ms = 0; ms < PATIENCE_MS && replies_written == 0; ms++)
		loop_sleep(loop, 1000000);
	assert_true(replies_written > 0);
	close(fd);
	fd = connect_client("request\n");
	assert_reply(fd, "reply\n");
	close(fd);
}

static void
test_too_long(void **state)
{
	char request[SERVER_REQUEST_MAX + 1];
	int fd;

	(void)state;
	memset(request, 'a', SERVER_REQUEST_MAX);
	request[SERVER_REQUEST_MAX] = '\0';
	fd = connect_client(request);
	assert_reply(fd, "long\n");
	close(fd);
}

/* A reply of which a part is too long ends within a line, however it would go on. */
static void
test_reply_too_long(void **state)
{
	int fd = connect_client("too long\n");
	char got[16];

	(void)state;
	assert_reply(fd, "a\nb");
	assert_true(wait_for_reply(fd));
	assert_int_equal(recv(fd, got, sizeof got, 0), 0);
	close(fd);
}

/* As another user than root. */
static int
connect_as(uid_t uid, const char *bytes)
{
	int fd;

	assert_int_equal(seteuid(uid), 0);
	fd = connect_client(bytes);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

/* Whether the server has neither sent anything nor closed the connection. */
static bool
is_waiting(int fd)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};

	return poll(&readable, 1, 0) == 0;
}

static void
require_root(void)
{
	if (geteuid() != 0)
		skip();
}

/* Clients that are served for as long as the server lets them, and as many that wait. */
static void
fill_places(int clients[STALLED])
{
	for (unsigned i = 0; i < STALLED; i++) {
		clients[i] = connect_as(MEMBER, "wait\n");
		loop_sleep(loop, 1000000);
	}
}

/* Root and the user of netobsd are served while all places of others are taken, and others keep theirs. */
static void
test_privileged(void **state)
{
	int fd;

	(void)state;
	require_root();
	fill_places(stalled);
	for (unsigned i = 0; i < 2 * SERVER_PRIVILEGED_MAX; i++) {
		fd = connect_as(i % 2 == 0 ? 0 : DAEMON, "request\n");
		assert_reply(fd, "reply\n");
		close(fd);
	}
	for (unsigned i = 0; i < STALLED; i++) {
		assert_true(is_waiting(stalled[i]));
		close(stalled[i]);
	}
}

/* If root itself takes all of its places, the client that has been served for longest without privilege makes way. */
static void
test_privileged_evicts(void **state)
{
	int own[SERVER_PRIVILEGED_MAX], fd;
	unsigned open = 0;

	(void)state;
	require_root();
	fill_places(stalled);
	for (unsigned i = 0; i < SERVER_PRIVILEGED_MAX; i++)
		own[i] = connect_as(0, "wait\n");
	fd = connect_as(0, "request\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < STALLED; i++) {
		open += is_waiting(stalled[i]);
		close(stalled[i]);
	}
	assert_int_equal(open, STALLED - 1);
	for (unsigned i = 0; i < SERVER_PRIVILEGED_MAX; i++) {
		assert_true(is_waiting(own[i]));
		close(own[i]);
	}
}

/* When as many clients wait as may, the next one is told so, and a privileged one is served. */
static void
test_too_many(void **state)
{
	int clients[SERVER_CLIENTS_MAX + SERVER_WAITING_MAX], fd;

	(void)state;
	require_root();
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX + SERVER_WAITING_MAX; i++) {
		clients[i] = connect_as(MEMBER, "wait\n");
		loop_sleep(loop, 1000000);
	}
	fd = connect_as(MEMBER, "request\n");
	assert_reply(fd, "busy\n");
	close(fd);
	fd = connect_as(0, "request\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < SERVER_CLIENTS_MAX + SERVER_WAITING_MAX; i++)
		close(clients[i]);
}

/* Without a descriptor for a client the server says so to each; later it serves again. */
static void
test_no_descriptors(void **state)
{
	int clients[4], fd;
	struct rlimit before, limit;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		clients[i] = connect_client("request\n");
	fd = fcntl(clients[0], F_DUPFD_CLOEXEC, 0);
	close(fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_reply(clients[i], "full\n");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	fd = connect_client("request\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < 4; i++)
		close(clients[i]);
}

/* Clients without privilege leave the last descriptors to privileged ones, and those to the server. */
static void
test_limited_descriptors(void **state)
{
	int members[8], own[CLIENT_DESCRIPTORS_PRIVILEGED], fd;

	(void)state;
	require_root();
	client_descriptors_limit(CLIENT_DESCRIPTORS_PRIVILEGED + 8);
	for (unsigned i = 0; i < 8; i++)
		members[i] = connect_as(MEMBER, "wait\n");
	fd = connect_as(MEMBER, "request\n");
	assert_reply(fd, "full\n");
	close(fd);
	for (unsigned i = 0; i < CLIENT_DESCRIPTORS_PRIVILEGED; i++) {
		own[i] = connect_as(0, "wait\n");
		loop_sleep(loop, 1000000);
	}
	/* Another client makes way. */
	fd = connect_as(0, "request\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < CLIENT_DESCRIPTORS_PRIVILEGED; i++) {
		assert_true(is_waiting(own[i]));
		close(own[i]);
	}
	assert_true(wait_for_reply(members[0])); /* the end */
	for (unsigned i = 0; i < 8; i++)
		close(members[i]);
	client_descriptors_limit(UINT_MAX);
}

/* With all descriptors below the boundary in use each client is told so, and gets no high descriptor.  The boundary
 * stays: this is the last test. */
static void
test_no_low_descriptors(void **state)
{
	int clients[4], fillers[BOUNDARY], count = 0, fd;

	(void)state;
	assert_true(high_sockets_reserve(64, BOUNDARY, BOUNDARY));
	for (unsigned i = 0; i < 4; i++)
		clients[i] = connect_client("request\n");
	while ((fd = fcntl(clients[0], F_DUPFD_CLOEXEC, 0)) < BOUNDARY)
		fillers[count++] = fd;
	for (unsigned i = 0; i < 4; i++)
		assert_reply(clients[i], "full\n");
	close(fd);
	while (count > 0)
		close(fillers[--count]);
	fd = connect_client("request\n");
	assert_reply(fd, "reply\n");
	close(fd);
	for (unsigned i = 0; i < 4; i++)
		close(clients[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_silent, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_reading, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_not_closing, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_mixed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_oldest_first, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_server_pauses, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_later, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_later_gone, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_too_long, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_reply_too_long, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_privileged, set_up_users, tear_down),
	    cmocka_unit_test_setup_teardown(test_privileged_evicts, set_up_users, tear_down),
	    cmocka_unit_test_setup_teardown(test_too_many, set_up_users, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_descriptors, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_limited_descriptors, set_up_users, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_low_descriptors, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
