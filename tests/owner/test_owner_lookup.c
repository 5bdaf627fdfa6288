/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owner of a socket: real sockets on loopback, of this process and of children.
 *
 * Without arguments, the tests for any user.  "netns" and "unprivileged" are the parts that need root;
 * tests/live/owner.sh runs them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "owner/owner_lookup.h"
#include "owner/owner_table.h"

#define TCP 6
#define UDP 17
#define TIMEOUT_MS 60000 /* a busy machine under the sanitizers; no measure */
#define MANY 4000
#define OTHER_FILES 200 /* descriptors that are not those of MANY connections */
#define OWN_NAME "tests of owners"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
pause_ms(long ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL); /* no event: the interval between two tries */
}

static union address
loopback(int family, uint16_t port)
{
	union address address = {.any.sa_family = (sa_family_t)family};

	if (family == AF_INET) {
		address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address.v4.sin_port = htons(port);
	} else {
		address.v6.sin6_addr = in6addr_loopback;
		address.v6.sin6_port = htons(port);
	}
	return address;
}

static socklen_t
length_of(const union address *address)
{
	return address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
}

/* Skips the test if this host has no IPv6: no such sockets, or no address of loopback. */
static int
open_socket(int type, const union address *bound)
{
	int fd = socket(bound->any.sa_family, type, 0), one = 1;

	if (fd < 0 && bound->any.sa_family == AF_INET6 && errno == EAFNOSUPPORT)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one), 0);
	if (bind(fd, &bound->any, length_of(bound)) != 0) {
		assert_int_equal(bound->any.sa_family, AF_INET6);
		assert_int_equal(errno, EADDRNOTAVAIL);
		close(fd);
		skip();
	}
	return fd;
}

static int
open_listener(int family, uint16_t port)
{
	union address address = loopback(family, port);
	int fd = open_socket(SOCK_STREAM, &address);

	assert_int_equal(listen(fd, 1024), 0);
	return fd;
}

static union address
name_of(int fd, bool peer)
{
	union address address = {.any.sa_family = 0};
	socklen_t length = sizeof address;

	assert_int_equal(peer ? getpeername(fd, &address.any, &length) : getsockname(fd, &address.any, &length), 0);
	return address;
}

static uint16_t
port_of(int fd)
{
	union address address = name_of(fd, false);

	return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

static void
set_end(const union address *address, uint8_t addr[16], uint16_t *port, uint8_t *version)
{
	memset(addr, 0, 16);
	if (address->any.sa_family == AF_INET) {
		memcpy(addr, &address->v4.sin_addr, 4);
		*port = ntohs(address->v4.sin_port);
		*version = 4;
	} else if (IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr)) {
		memcpy(addr, address->v6.sin6_addr.s6_addr + 12, 4);
		*port = ntohs(address->v6.sin6_port);
		*version = 4;
	} else {
		memcpy(addr, &address->v6.sin6_addr, 16);
		*port = ntohs(address->v6.sin6_port);
		*version = 6;
	}
}

static struct owner_key
key_between(uint8_t protocol, const union address *local, const union address *remote)
{
	struct owner_key key = {.protocol = protocol};

	set_end(remote, key.remote, &key.remote_port, &key.version);
	set_end(local, key.local, &key.local_port, &key.version);
	return key;
}

/* What a connected socket is called on the wire. */
static struct owner_key
key_of(int fd, uint8_t protocol)
{
	union address local = name_of(fd, false), remote = name_of(fd, true);

	return key_between(protocol, &local, &remote);
}

static struct owner_lookup *
new_owners_of(uint32_t endpoints)
{
	struct owner_lookup_limits limits = {.endpoints = endpoints, .refresh_ms = 20};
	struct owner_lookup *lookup;

	lookup = owner_lookup_new(&limits, 42);
	assert_non_null(lookup);
	return lookup;
}

static struct owner_lookup *
new_owners(void)
{
	return new_owners_of(owner_lookup_default_limits().endpoints);
}

typedef bool condition(const struct owner *owner);

static bool
has_pid(const struct owner *owner)
{
	return owner->pid >= 0 && !(owner->flags & OWNER_LISTENER);
}

static bool
is_closed(const struct owner *owner)
{
	return owner->flags & OWNER_CLOSED;
}

static bool
names_listener(const struct owner *owner)
{
	return owner->pid >= 0 && owner->flags & OWNER_LISTENER;
}

/* Looks up like a worker until the result is the expected one. */
static struct owner
find_until(struct owner_lookup *lookup, const struct owner_key *key, condition *wanted)
{
	uint64_t end = now_ms() + TIMEOUT_MS;
	struct owner owner;

	for (;;) {
		bool found = owner_lookup_find(lookup, key, 0, 0, &owner);

		owner_lookup_wake(lookup);
		if (found && wanted(&owner))
			return owner;
		assert_true(now_ms() < end);
		pause_ms(1);
	}
}

static struct owner
query_until(struct owner_lookup *lookup, const struct owner_key *key, condition *wanted)
{
	owner_lookup_request(lookup, key, 0);
	owner_lookup_wake(lookup);
	return find_until(lookup, key, wanted);
}

/* ------------------------------------------------------------------------------------------------------- children */

struct child {
	pid_t pid;
	int to, from; /* pipes */
	uint16_t port; /* what it reported */
};

static void
send_byte(int fd)
{
	assert_int_equal(write(fd, "!", 1), 1);
}

typedef int child_body(uint16_t port, int listener);

/* A separate process that creates a socket with `body`, reports its port and waits to be ended. */
static struct child
start_child(child_body *body, uint16_t port, int listener, const char *comm)
{
	struct child child = {.port = port};
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		char byte;
		uint16_t mine;
		int fd;

		/* However the parent ends, so does the child: by a signal, or by the end of the pipe if it may not send
		 * one. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		prctl(PR_SET_NAME, comm);
		fd = body(port, listener);
		mine = port_of(fd);
		if (write(from[1], &mine, sizeof mine) != sizeof mine || read(to[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	child.to = to[1];
	child.from = from[0];
	assert_int_equal(read(child.from, &child.port, sizeof child.port), sizeof child.port);
	return child;
}

static void
end_child(struct child *child)
{
	send_byte(child->to);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
	close(child->to);
	close(child->from);
}

static int
connect_from(uint16_t from, uint16_t to)
{
	union address local = loopback(AF_INET, from), remote = loopback(AF_INET, to);
	struct linger reset = {.l_onoff = 1}; /* no TIME_WAIT, so that the ends are free at once */
	int fd = open_socket(SOCK_STREAM, &local);

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
	assert_int_equal(connect(fd, &remote.any, length_of(&remote)), 0);
	return fd;
}

static int
body_connect(uint16_t port, int listener)
{
	union address address = name_of(listener, false);

	close(listener);
	return connect_from(port, ntohs(address.v4.sin_port));
}

static int
body_accept(uint16_t port, int listener)
{
	(void)port;
	return accept(listener, NULL, NULL);
}

static int
body_udp(uint16_t port, int listener)
{
	union address address = loopback(AF_INET, port);

	(void)listener;
	return open_socket(SOCK_DGRAM, &address);
}

/* -------------------------------------------------------------------------------------------------------- the tests */

static void
test_unknown_socket(void **state)
{
	struct owner_key key = {.protocol = TCP, .version = 4};
	struct owner owner;

	(void)state;
	owner_lookup_request(NULL, &key, 0);
	assert_false(owner_lookup_find(NULL, &key, 0, 0, &owner));
	assert_int_equal(owner.pid, -1);
	assert_true(owner.uid == OWNER_UID_UNKNOWN);
	owner_lookup_wake(NULL);
	assert_int_equal(owner_lookup_netns_inode(NULL), -1);
	assert_int_equal(owner_lookup_get_counters(NULL).requests, 0);
	owner_lookup_free(NULL);
}

static void
check_mine(const struct owner *owner, const struct owner_lookup *lookup)
{
	assert_int_equal(owner->pid, getpid());
	assert_true(owner->uid == getuid());
	assert_string_equal(owner->comm, OWN_NAME);
	assert_true((int64_t)owner->netns == owner_lookup_netns_inode(lookup));
	assert_false(owner->flags & (OWNER_CLOSED | OWNER_LISTENER | OWNER_HIDDEN));
}

/* A busy machine may delay an ACK for longer than the retransmission timeout. */
static bool
has_retransmitted(int fd)
{
	struct tcp_info info;
	socklen_t length = sizeof info;

	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
	return info.tcpi_total_retrans > 0;
}

static void
tcp_both_ends(int family, int listener_family)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(listener_family, 0), client, server;
	union address to = loopback(family, port_of(listener)), local = loopback(family, 0);
	struct owner_key key;
	struct owner owner;
	char byte[100] = {0};

	client = open_socket(SOCK_STREAM, &local);
	assert_int_equal(connect(client, &to.any, length_of(&to)), 0);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(send(client, byte, sizeof byte, 0), sizeof byte);
		assert_int_equal(recv(server, byte, sizeof byte, MSG_WAITALL), sizeof byte);
		assert_int_equal(send(server, byte, sizeof byte, 0), sizeof byte);
		assert_int_equal(recv(client, byte, sizeof byte, MSG_WAITALL), sizeof byte);
	}
	for (int side = 0; side < 2; side++) {
		key = key_of(side == 0 ? client : server, TCP);
		owner = query_until(lookup, &key, has_pid);
		check_mine(&owner, lookup);
		assert_true(owner.flags & OWNER_TCP);
		assert_in_range(owner.tcp.rtt_us, 1, 10000000);
		assert_in_range(owner.tcp.mss, 500, 65536);
		assert_in_range(owner.tcp.cwnd, owner.tcp.mss, 1u << 30);
		assert_int_equal(owner.tcp.cwnd % owner.tcp.mss, 0);
		if (!has_retransmitted(side == 0 ? client : server))
			assert_int_equal(owner.tcp.ssthresh, 0);
		assert_in_range(owner.tcp.rto_us, 1000, 120000000);
	}
	close(client);
	close(server);
	close(listener);
	owner_lookup_free(lookup);
}

static void
test_tcp_both_ends(void **state)
{
	(void)state;
	tcp_both_ends(AF_INET, AF_INET);
}

static void
test_tcp6_both_ends(void **state)
{
	(void)state;
	tcp_both_ends(AF_INET6, AF_INET6);
}

/* IPv4 on the wire, an IPv6 socket on the server's side. */
static void
test_tcp_mapped(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = {.v6 = {.sin6_family = AF_INET6}}, to;
	int listener = open_socket(SOCK_STREAM, &any), client, server;
	struct owner_key key;
	struct owner owner;

	(void)state;
	assert_int_equal(listen(listener, 1), 0);
	to = loopback(AF_INET, port_of(listener));
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, &to.any, sizeof to.v4), 0);
	server = accept(listener, NULL, NULL);
	key = key_of(server, TCP);
	assert_int_equal(key.version, 4);
	owner = query_until(lookup, &key, has_pid);
	check_mine(&owner, lookup);
	close(client);
	close(server);
	close(listener);
	owner_lookup_free(lookup);
}

static void
test_tcp_child(void **state)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(AF_INET, 0);
	struct child child = start_child(body_connect, 0, listener, "child (one) x");
	int server = accept(listener, NULL, NULL);
	struct owner_key mine = key_of(server, TCP), its = key_of(server, TCP);
	struct owner owner;

	(void)state;
	memcpy(its.local, mine.remote, 16);
	memcpy(its.remote, mine.local, 16);
	its.local_port = mine.remote_port;
	its.remote_port = mine.local_port;
	owner = query_until(lookup, &its, has_pid);
	assert_int_equal(owner.pid, child.pid);
	assert_string_equal(owner.comm, "child (one) x");
	owner = query_until(lookup, &mine, has_pid);
	check_mine(&owner, lookup);
	end_child(&child);
	/* The last owner of a connection that has ended stays its owner. */
	owner = find_until(lookup, &its, is_closed);
	assert_int_equal(owner.pid, child.pid);
	assert_string_equal(owner.comm, "child (one) x");
	close(server);
	close(listener);
	owner_lookup_free(lookup);
}

/* With so many other descriptors that a scan of /proc reaches its parent only in a later step. */
static int
body_inherit(uint16_t port, int fd)
{
	(void)port;
	for (int i = 0; i < 800; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			break;
	return fd;
}

/* A socket that a child has inherited is its parent's as long as the parent has it too. */
static void
test_inherited(void **state)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(AF_INET, 0), client = connect_from(0, port_of(listener));
	int server = accept(listener, NULL, NULL);
	struct child child = start_child(body_inherit, 0, server, "heir");
	struct owner_key key = key_of(server, TCP);
	struct owner owner = query_until(lookup, &key, has_pid);
	uint64_t end = now_ms() + TIMEOUT_MS;

	(void)state;
	check_mine(&owner, lookup);
	close(server);
	/* As servers do that fork for each connection. */
	do {
		assert_true(now_ms() < end);
		owner = find_until(lookup, &key, has_pid);
	} while (owner.pid != child.pid);
	assert_string_equal(owner.comm, "heir");
	end_child(&child);
	close(client);
	close(listener);
	owner_lookup_free(lookup);
}

static void
test_unaccepted(void **state)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(AF_INET, 0), client = connect_from(0, port_of(listener));
	union address local = name_of(client, true), remote = name_of(client, false);
	struct owner_key key = key_between(TCP, &local, &remote);
	struct owner owner = query_until(lookup, &key, names_listener);
	struct child child;

	(void)state;
	assert_int_equal(owner.pid, getpid());
	assert_true(owner.uid == getuid());
	/* Another process accepts it: then that process owns it. */
	child = start_child(body_accept, 0, listener, "acceptor");
	owner = find_until(lookup, &key, has_pid);
	assert_int_equal(owner.pid, child.pid);
	assert_string_equal(owner.comm, "acceptor");
	end_child(&child);
	close(client);
	close(listener);
	owner_lookup_free(lookup);
}

static bool
is_settled(const struct owner_lookup *lookup)
{
	return owner_lookup_get_counters(lookup).no_socket > 0;
}

static struct owner
query_without_result(struct owner_lookup *lookup, const struct owner_key *key)
{
	uint64_t end = now_ms() + TIMEOUT_MS;
	struct owner owner;

	owner_lookup_request(lookup, key, 0);
	owner_lookup_wake(lookup);
	while (!is_settled(lookup)) {
		assert_true(now_ms() < end);
		if (owner_lookup_find(lookup, key, 0, 0, &owner))
			assert_int_equal(owner.pid, -1);
		pause_ms(1);
	}
	assert_true(owner_lookup_find(lookup, key, 0, 0, &owner));
	return owner;
}

/* A listener is not the owner of a connection that does not exist. */
static void
test_listener_only(void **state)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(AF_INET, 0);
	union address local = name_of(listener, false), remote = loopback(AF_INET, 9);
	struct owner_key key = key_between(TCP, &local, &remote);
	struct owner owner = query_without_result(lookup, &key);

	(void)state;
	assert_int_equal(owner.pid, -1);
	assert_true(owner.uid == OWNER_UID_UNKNOWN);
	assert_int_equal(owner.flags, 0);
	assert_string_equal(owner.comm, "");
	close(listener);
	owner_lookup_free(lookup);
}

static void
test_unknown(void **state)
{
	struct owner_key key = {.local = {192, 0, 2, 1}, .remote = {192, 0, 2, 2}, .local_port = 1, .remote_port = 2,
				.version = 4};
	static const uint8_t protocols[] = {TCP, UDP};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct owner_lookup *lookup = new_owners();
		struct owner owner;

		key.protocol = protocols[i];
		owner = query_without_result(lookup, &key);
		assert_int_equal(owner.pid, -1);
		assert_true(owner.uid == OWNER_UID_UNKNOWN);
		assert_int_equal(owner_lookup_get_counters(lookup).errors, 0);
		assert_true(owner_lookup_get_counters(lookup).dumps > 0);
		owner_lookup_free(lookup);
	}
}

static void
test_udp_connected(void **state)
{
	static const int families[] = {AF_INET, AF_INET6};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct owner_lookup *lookup = new_owners();
		union address any = loopback(families[i], 0), peer = loopback(families[i], 9);
		int fd = open_socket(SOCK_DGRAM, &any);
		struct owner_key key;
		struct owner owner;

		assert_int_equal(connect(fd, &peer.any, length_of(&peer)), 0);
		key = key_of(fd, UDP);
		owner = query_until(lookup, &key, has_pid);
		check_mine(&owner, lookup);
		assert_false(owner.flags & OWNER_TCP);
		close(fd);
		owner_lookup_free(lookup);
	}
}

/* Bound to an address, to any address, and to any address of both versions; the peer does not matter. */
static void
test_udp_unconnected(void **state)
{
	union address bound[] = {
	    loopback(AF_INET, 0), {.v4 = {.sin_family = AF_INET}}, {.v6 = {.sin6_family = AF_INET6}}};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct owner_lookup *lookup = new_owners();
		int fd = open_socket(SOCK_DGRAM, &bound[i]);
		union address local = loopback(AF_INET, port_of(fd)), remote = loopback(AF_INET, 4242);
		struct owner_key key = key_between(UDP, &local, &remote);
		struct owner owner = query_until(lookup, &key, has_pid);

		check_mine(&owner, lookup);
		close(fd);
		owner_lookup_free(lookup);
	}
}

/* A socket that is bound to a device is found by name if the interface is known, otherwise in the whole table. */
static void
test_udp_bound_to_device(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = {.v4 = {.sin_family = AF_INET}};
	int fd = open_socket(SOCK_DGRAM, &any);
	union address local = loopback(AF_INET, port_of(fd)), remote = loopback(AF_INET, 4242);
	struct owner_key key = key_between(UDP, &local, &remote);
	struct owner owner;

	(void)state;
	/* Since Linux 5.7 no privilege is needed for the first binding. */
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 2), 0);
	owner = query_until(lookup, &key, has_pid);
	check_mine(&owner, lookup);
	assert_true(owner_lookup_get_counters(lookup).dumps > 0);
	owner_lookup_free(lookup);

	lookup = new_owners();
	owner_lookup_request(lookup, &key, if_nametoindex("lo"));
	owner_lookup_wake(lookup);
	owner = find_until(lookup, &key, has_pid);
	check_mine(&owner, lookup);
	assert_int_equal(owner_lookup_get_counters(lookup).dumps, 0);
	owner_lookup_free(lookup);
	close(fd);
}

/* The same tuple, another process: the owner of the first must never be returned for the second. */
static void
test_reused_ends(void **state)
{
	struct owner_lookup *lookup = new_owners();
	int listener = open_listener(AF_INET, 0), server;
	struct child first = start_child(body_connect, 0, listener, "first"), second;
	union address local = loopback(AF_INET, first.port), remote = name_of(listener, false);
	struct owner_key key = key_between(TCP, &local, &remote);
	uint64_t end = now_ms() + TIMEOUT_MS;
	struct owner owner = query_until(lookup, &key, has_pid);

	(void)state;
	assert_int_equal(owner.pid, first.pid);
	server = accept(listener, NULL, NULL);
	end_child(&first);
	close(server);
	second = start_child(body_connect, first.port, listener, "second");
	owner_lookup_request(lookup, &key, 0);
	owner_lookup_wake(lookup);
	do {
		assert_true(now_ms() < end);
		if (owner_lookup_find(lookup, &key, 0, 0, &owner))
			assert_int_not_equal(owner.pid, first.pid);
	} while (owner.pid < 0);
	assert_int_equal(owner.pid, second.pid);
	assert_string_equal(owner.comm, "second");
	end_child(&second);
	close(listener);
	owner_lookup_free(lookup);
}

/* The second connection began while nothing was traced, so there is no request for it: its begin alone shows that the
 * reply is about another connection. */
static void
test_reused_ends_without_a_request(void **state)
{
	struct owner_lookup_limits no_refresh = {.endpoints = 64, .refresh_ms = UINT32_MAX};
	struct owner_lookup *lookup = owner_lookup_new(&no_refresh, 1);
	int listener = open_listener(AF_INET, 0), server;
	struct child first = start_child(body_connect, 0, listener, "first"), second;
	union address local = loopback(AF_INET, first.port), remote = name_of(listener, false);
	struct owner_key key = key_between(TCP, &local, &remote);
	uint64_t end = now_ms() + TIMEOUT_MS, since;
	struct owner owner = query_until(lookup, &key, has_pid);

	(void)state;
	assert_int_equal(owner.pid, first.pid);
	assert_true(owner_lookup_find(lookup, &key, 0, owner.queried_ns, &owner));
	server = accept(listener, NULL, NULL);
	end_child(&first);
	close(server);
	second = start_child(body_connect, first.port, listener, "second");
	since = clock_realtime_ns();
	do {
		assert_true(now_ms() < end);
		if (owner_lookup_find(lookup, &key, 0, since, &owner))
			assert_int_not_equal(owner.pid, first.pid);
		owner_lookup_wake(lookup);
	} while (owner.pid < 0);
	assert_int_equal(owner.pid, second.pid);
	assert_true(owner.queried_ns >= since);
	end_child(&second);
	close(listener);
	owner_lookup_free(lookup);
}

/* Without a new request: a refresh finds that the socket is another one. */
static void
test_reused_udp_port(void **state)
{
	struct owner_lookup *lookup = new_owners();
	struct child first = start_child(body_udp, 0, -1, "udp first"), second;
	union address local = loopback(AF_INET, first.port), remote = loopback(AF_INET, 4242);
	struct owner_key key = key_between(UDP, &local, &remote);
	struct owner owner = query_until(lookup, &key, has_pid);
	uint64_t end = now_ms() + TIMEOUT_MS;

	(void)state;
	assert_int_equal(owner.pid, first.pid);
	end_child(&first);
	second = start_child(body_udp, first.port, -1, "udp second");
	do {
		assert_true(now_ms() < end);
		owner = find_until(lookup, &key, has_pid);
	} while (owner.pid != second.pid);
	assert_string_equal(owner.comm, "udp second");
	end_child(&second);
	owner_lookup_free(lookup);
}

/* What is stored about an endpoint, without a request; then a reply that is newer than a given time, as the control
 * socket needs it. */
static void
test_peek_and_refresh(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	int fd = open_socket(SOCK_DGRAM, &any);
	union address local = name_of(fd, false);
	struct owner_key key = key_between(UDP, &local, &remote);
	uint64_t end = now_ms() + TIMEOUT_MS, since;
	struct owner owner;

	(void)state;
	assert_false(owner_lookup_peek(NULL, &key, &owner));
	assert_false(owner_lookup_peek(lookup, &key, &owner));
	assert_int_equal(owner.pid, -1);
	assert_int_equal(owner_lookup_get_counters(lookup).requests, 0);
	owner_lookup_refresh(NULL, &key, 0);
	for (unsigned requests = 1; requests <= 2; requests++) {
		since = clock_realtime_ns();
		owner_lookup_refresh(lookup, &key, requests == 1 ? 0 : since); /* the second discards the reply */
		do {
			assert_true(now_ms() < end);
			pause_ms(1);
		} while (!owner_lookup_peek(lookup, &key, &owner) || !has_pid(&owner));
		check_mine(&owner, lookup);
		assert_true(owner.queried_ns >= since);
		assert_int_equal(owner_lookup_get_counters(lookup).requests, requests);
	}
	since = clock_realtime_ns();
	owner_lookup_refresh(lookup, &key, 0); /* the reply stays, and the kernel is queried again */
	assert_true(owner_lookup_peek(lookup, &key, &owner));
	do {
		assert_true(now_ms() < end);
		pause_ms(1);
	} while (!owner_lookup_peek(lookup, &key, &owner) || owner.queried_ns < since);
	check_mine(&owner, lookup);
	assert_int_equal(owner_lookup_get_counters(lookup).requests, 2);
	close(fd);
	owner_lookup_free(lookup);
}

/* Prepares an endpoint until there is a reply and no search any more. */
static void
prepare_until_found(struct owner_lookup *lookup, const struct owner_key *key)
{
	uint64_t end = now_ms() + TIMEOUT_MS, asked = clock_realtime_ns();

	assert_int_equal(owner_lookup_prepare(lookup, key, 0, asked), OWNER_PREPARE_PENDING);
	assert_true(owner_lookup_is_searching(lookup, key, asked));
	assert_int_equal(owner_lookup_prepare(lookup, key, 0, asked), OWNER_PREPARE_PENDING);
	owner_lookup_wake(lookup);
	while (owner_lookup_is_searching(lookup, key, asked)) {
		assert_true(now_ms() < end);
		pause_ms(1);
	}
	assert_int_equal(owner_lookup_prepare(lookup, key, 0, asked), OWNER_PREPARED);
	owner_lookup_wake(lookup);
}

/* For a list: one request, and a reply that is old is refreshed. */
static void
test_prepare(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	int fd = open_socket(SOCK_DGRAM, &any);
	union address local = name_of(fd, false);
	struct owner_key key = key_between(UDP, &local, &remote);
	uint64_t end = now_ms() + TIMEOUT_MS, second = UINT64_C(1000000000);
	struct owner owner;

	(void)state;
	assert_int_equal(owner_lookup_prepare(NULL, &key, 0, 0), OWNER_PREPARED);
	assert_false(owner_lookup_is_searching(NULL, &key, 0));
	prepare_until_found(lookup, &key);
	assert_true(owner_lookup_peek(lookup, &key, &owner));
	check_mine(&owner, lookup);
	assert_int_equal(owner_lookup_get_counters(lookup).requests, 1);
	owner_lookup_prepare(lookup, &key, 0, owner.queried_ns + 29 * second);
	owner_lookup_wake(lookup);
	pause_ms(50);
	assert_int_equal(owner_lookup_get_counters(lookup).refreshed, 0);
	assert_int_equal(owner_lookup_prepare(lookup, &key, 0, owner.queried_ns + 31 * second), OWNER_PREPARED);
	owner_lookup_wake(lookup);
	while (owner_lookup_get_counters(lookup).refreshed == 0) {
		assert_true(now_ms() < end);
		pause_ms(1);
	}
	assert_int_equal(owner_lookup_get_counters(lookup).requests, 1);
	close(fd);
	owner_lookup_free(lookup);
}

/* A socket that is on its way between two processes belongs to no process: the search ends. */
static void
test_prepare_without_a_process(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	int fd = open_socket(SOCK_DGRAM, &any), pair[2];
	union address local = name_of(fd, false);
	struct owner_key key = key_between(UDP, &local, &remote);
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fd)];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct iovec data = {.iov_base = "x", .iov_len = 1};
	struct msghdr message = {
	    .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
	struct owner owner;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	assert_int_equal(sendmsg(pair[0], &message, 0), 1);
	close(fd);
	prepare_until_found(lookup, &key);
	assert_true(owner_lookup_peek(lookup, &key, &owner));
	assert_int_equal(owner.pid, -1);
	assert_int_equal(owner.uid, geteuid());
	assert_true((owner.flags & (OWNER_NOT_FOUND | OWNER_HIDDEN)) != 0);
	close(pair[0]);
	close(pair[1]);
	owner_lookup_free(lookup);
}

/* Lists leave half of the queue to new connections. */
static void
test_prepare_many(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address local = loopback(AF_INET, 1), remote = loopback(AF_INET, 0);
	enum owner_prepared prepared = OWNER_PREPARE_PENDING;
	struct owner_key key = key_between(UDP, &local, &remote);

	(void)state;
	for (unsigned i = 0; i < 50 && prepared == OWNER_PREPARE_PENDING; i++) {
		key.local_port = (uint16_t)(i + 1);
		for (unsigned port = 0; port < 65536 && prepared == OWNER_PREPARE_PENDING; port++) {
			key.remote_port = (uint16_t)port;
			prepared = owner_lookup_prepare(lookup, &key, 0, 0);
		}
	}
	assert_int_equal(prepared, OWNER_PREPARE_LATER);
	for (unsigned port = 0; port < 2048; port++) {
		key.remote_port = (uint16_t)port;
		key.protocol = TCP;
		owner_lookup_request(lookup, &key, 0);
	}
	assert_int_equal(owner_lookup_get_counters(lookup).dropped, 0);
	owner_lookup_free(lookup);
}

/* A lookup starts a request by itself. */
static void
test_lookup_requests(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	int fd = open_socket(SOCK_DGRAM, &any);
	union address local = name_of(fd, false);
	struct owner_key key = key_between(UDP, &local, &remote);
	struct owner owner = find_until(lookup, &key, has_pid);

	(void)state;
	check_mine(&owner, lookup);
	assert_int_equal(owner_lookup_get_counters(lookup).requests, 1); /* once, however often it was looked up */
	close(fd);
	owner_lookup_free(lookup);
}

/* A record in use is refreshed, and so is the name of the process. */
static void
test_refreshed(void **state)
{
	struct owner_lookup *lookup = new_owners();
	union address any = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	int fd = open_socket(SOCK_DGRAM, &any);
	union address local = name_of(fd, false);
	struct owner_key key = key_between(UDP, &local, &remote);
	struct owner owner = query_until(lookup, &key, has_pid), later;
	uint64_t end = now_ms() + TIMEOUT_MS, refreshed;

	(void)state;
	prctl(PR_SET_NAME, "renamed");
	do {
		assert_true(now_ms() < end);
		later = find_until(lookup, &key, has_pid);
		pause_ms(1);
	} while (strcmp(later.comm, "renamed") != 0);
	assert_true(later.queried_ns > owner.queried_ns);
	/* While no record is in use, the thread waits. */
	do {
		assert_true(now_ms() < end);
		refreshed = owner_lookup_get_counters(lookup).refreshed;
		pause_ms(200);
	} while (owner_lookup_get_counters(lookup).refreshed != refreshed);
	prctl(PR_SET_NAME, OWN_NAME);
	close(fd);
	owner_lookup_free(lookup);
}

/* As many connections as there are descriptors for. */
static int
many_connections(void)
{
	struct rlimit files;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	assert_true(files.rlim_cur > 2 * OTHER_FILES);
	return files.rlim_cur >= 2 * MANY + OTHER_FILES ? MANY : (int)(files.rlim_cur - OTHER_FILES) / 2;
}

/*
 * A burst costs a few scans of /proc, not one each.  The test waits until the table has all replies at once, so none of
 * its buckets, of eight slots each, may overflow.  The probability of that, for 8,000 keys, is 0.8 % with the default
 * of 8,192 buckets and 2e-7 with the 32,768 of this table.
 */
static void
test_many(void **state)
{
	struct owner_lookup *lookup = new_owners_of(131072);
	int listener = open_listener(AF_INET, 0);
	const int many = many_connections();
	int *fds = calloc(2 * (size_t)many, sizeof *fds);
	struct owner_key *keys = calloc(2 * (size_t)many, sizeof *keys);
	struct owner_lookup_counters counters;
	uint64_t began, known = 0;

	(void)state;
	for (int i = 0; i < many; i++) {
		fds[2 * i] = connect_from(0, port_of(listener));
		fds[2 * i + 1] = accept(listener, NULL, NULL);
		assert_true(fds[2 * i + 1] >= 0);
		keys[2 * i] = key_of(fds[2 * i], TCP);
		keys[2 * i + 1] = key_of(fds[2 * i + 1], TCP);
	}
	began = now_ms();
	for (int i = 0; i < 2 * many; i++) {
		owner_lookup_request(lookup, &keys[i], 0);
		owner_lookup_wake(lookup);
	}
	for (;;) {
		struct owner owner;

		known = 0;
		for (int i = 0; i < 2 * many; i++)
			known += owner_lookup_find(lookup, &keys[i], 0, 0, &owner) && owner.pid == getpid();
		owner_lookup_wake(lookup);
		if (known == 2 * (uint64_t)many)
			break;
		assert_true(now_ms() < began + TIMEOUT_MS);
		pause_ms(5);
	}
	counters = owner_lookup_get_counters(lookup);
	print_message("%d sockets in %u ms: %u walks, %u descriptors\n", 2 * many, (unsigned)(now_ms() - began),
		      (unsigned)counters.scans, (unsigned)counters.scan_links);
	assert_int_equal(counters.dropped, 0);
	assert_int_equal(counters.evicted, 0);
	assert_true(counters.scans < 100);
	assert_true(counters.scan_links < 100 * 2 * (uint64_t)many);
	for (int i = 0; i < 2 * many; i++)
		close(fds[i]);
	close(listener);
	free(fds);
	free(keys);
	owner_lookup_free(lookup);
}

/* More requests than the queue holds: they are counted, and no result is too old. */
static void
test_overflow(void **state)
{
	struct owner_lookup_limits limits = {.endpoints = 64, .refresh_ms = 20};
	struct owner_lookup *lookup = owner_lookup_new(&limits, 1);
	struct owner_key key = {.local = {192, 0, 2, 1}, .protocol = UDP, .version = 4};
	struct owner_lookup_counters counters;
	uint64_t end = now_ms() + TIMEOUT_MS;

	(void)state;
	assert_non_null(lookup);
	assert_in_range(owner_lookup_memory(&limits), 100000, 4000000);
	for (uint32_t i = 0; i < 50000; i++) {
		key.remote_port = (uint16_t)i;
		key.local_port = (uint16_t)(i >> 8);
		owner_lookup_request(lookup, &key, 0);
	}
	owner_lookup_wake(lookup);
	do {
		assert_true(now_ms() < end);
		pause_ms(1);
		counters = owner_lookup_get_counters(lookup);
	} while (counters.replies + counters.dropped < counters.requests);
	assert_int_equal(counters.requests, 50000);
	assert_true(counters.dropped > 0);
	assert_true(counters.evicted > 0);
	owner_lookup_free(lookup);
}

/* The table alone: records are read as written, and the least recently used is evicted. */
static void
test_table(void **state)
{
	struct owner_table *table = owner_table_new(64, 7);
	struct owner_record record = {.pid = 1}, read;
	uint32_t slot, as_of = 0;
	unsigned found = 0;

	(void)state;
	assert_non_null(table);
	for (uint16_t i = 0; i < 1000; i++) {
		enum owner_claim taken;
		uint64_t hash;

		record.key.local_port = i;
		record.pid = i;
		hash = owner_table_hash(table, &record.key);
		assert_int_equal(owner_table_read(table, hash, &record.key, &read, &slot, &as_of), OWNER_READ_ABSENT);
		slot = owner_table_claim_slot(table, hash, &record.key, &taken);
		assert_int_not_equal(taken, OWNER_CLAIM_OWN);
		owner_table_touch(table, slot);
		owner_table_write(table, slot, hash, &record, i);
		assert_int_equal(owner_table_read(table, hash, &record.key, &read, &slot, &as_of), OWNER_READ_OK);
		assert_memory_equal(&read, &record, sizeof read);
		assert_int_equal(as_of, i);
		assert_int_equal(owner_table_claim_slot(table, hash, &record.key, &taken), slot);
		assert_int_equal(taken, OWNER_CLAIM_OWN);
	}
	for (uint16_t i = 0; i < 1000; i++) {
		record.key.local_port = i;
		if (owner_table_read(table, owner_table_hash(table, &record.key), &record.key, &read, &slot, &as_of) ==
		    OWNER_READ_OK) {
			assert_int_equal(read.pid, i);
			assert_true(i >= 500); /* the recent ones are kept */
			found++;
		}
	}
	assert_int_equal(found, owner_table_slot_count(table));
	owner_table_free(table);
}

#define TORN_KEYS 2
#define TORN_READS 20000

/* Keys that alternate in one slot, and records whose words all have the same number. */
static struct owner_record
telltale(uint32_t i)
{
	struct owner_record record = {.key.local_port = (uint16_t)(i % TORN_KEYS), .queried_ns = i, .pid = (int32_t)i,
				      .uid = i, .flags = i, .tcp = {i, i, i, i, i, i}};

	memcpy(record.comm, &i, sizeof i);
	memcpy(record.comm + 12, &i, sizeof i);
	return record;
}

struct writer {
	struct owner_table *table;
	_Atomic bool stop;
};

static void *
write_telltales(void *context)
{
	struct writer *writer = context;

	for (uint32_t i = 0; !writer->stop; i++) {
		struct owner_record record = telltale(i);

		owner_table_write(writer->table, 0, owner_table_hash(writer->table, &record.key), &record, i);
	}
	return NULL;
}

/* A table whose hash puts both keys into the first bucket. */
static struct owner_table *
table_for_telltales(void)
{
	for (uint64_t seed = 0;; seed++) {
		struct owner_table *table = owner_table_new(64, seed);
		uint32_t buckets = owner_table_slot_count(table) / 8;
		uint64_t bits = 0;

		for (uint32_t i = 0; i < TORN_KEYS; i++) {
			struct owner_record record = telltale(i);

			bits |= owner_table_hash(table, &record.key);
		}
		if (bits % buckets == 0)
			return table;
		owner_table_free(table);
	}
}

/* A record that is read while it is written is consistent. */
static void
test_torn(void **state)
{
	struct writer writer = {.table = table_for_telltales()};
	struct owner_record wanted = telltale(0), read;
	uint32_t slot, as_of, seen = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_telltales, &writer), 0);
	while (seen < TORN_READS) {
		uint64_t hash = owner_table_hash(writer.table, &wanted.key);

		if (owner_table_read(writer.table, hash, &wanted.key, &read, &slot, &as_of) != OWNER_READ_OK)
			continue;
		wanted = telltale((uint32_t)read.pid);
		assert_memory_equal(&read, &wanted, sizeof read);
		assert_int_equal(as_of, read.pid);
		seen++;
	}
	writer.stop = true;
	pthread_join(thread, NULL);
	owner_table_free(writer.table);
}

/* -------------------------------------------------------------------------------------------------- root's tests */

static void
raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
	close(fd);
}

/* Two namespaces with the same tuple in both: each lookup object finds the socket of its own. */
static void
test_netns(void **state)
{
	int outer = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), inner, fds[2];
	union address bound = loopback(AF_INET, 0), remote = loopback(AF_INET, 9);
	struct owner_lookup *lookup[2];
	struct child child;
	struct owner_key key;
	struct owner owner;
	struct stat status;

	(void)state;
	fds[0] = open_socket(SOCK_DGRAM, &bound);
	bound = name_of(fds[0], false);
	lookup[0] = new_owners();
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	inner = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	raise_loopback();
	child = start_child(body_udp, port_of(fds[0]), -1, "inside");
	lookup[1] = new_owners();
	assert_int_equal(setns(outer, CLONE_NEWNET), 0);
	key = key_between(UDP, &bound, &remote);

	owner = query_until(lookup[0], &key, has_pid);
	assert_int_equal(owner.pid, getpid());
	assert_int_equal(fstat(outer, &status), 0);
	assert_true(owner.netns == status.st_ino);

	owner = query_until(lookup[1], &key, has_pid);
	assert_int_equal(owner.pid, child.pid);
	assert_string_equal(owner.comm, "inside");
	assert_int_equal(fstat(inner, &status), 0);
	assert_true(owner.netns == status.st_ino);
	assert_true(owner_lookup_netns_inode(lookup[0]) != owner_lookup_netns_inode(lookup[1]));

	end_child(&child);
	owner_lookup_free(lookup[0]);
	owner_lookup_free(lookup[1]);
	close(fds[0]);
	close(inner);
	close(outer);
}

static bool
is_hidden(const struct owner *owner)
{
	return owner->flags & OWNER_HIDDEN;
}

/* Without privileges the user of a socket is found but not the process of another user that owns it, and a warning is
 * logged. */
static void
test_unprivileged(void **state)
{
	struct child child = start_child(body_udp, 0, -1, "of root");
	union address bound = loopback(AF_INET, 0), local = loopback(AF_INET, child.port);
	union address remote = loopback(AF_INET, 9);
	struct owner_key key = key_between(UDP, &local, &remote);
	struct owner_lookup *lookup;
	struct owner owner;
	int fd;

	(void)state;
	assert_int_equal(setgroups(0, NULL), 0);
	assert_int_equal(setresgid(65534, 65534, 65534), 0);
	assert_int_equal(setresuid(65534, 65534, 65534), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	lookup = new_owners();
	owner = query_until(lookup, &key, is_hidden);
	assert_int_equal(owner.pid, -1);
	assert_int_equal(owner.uid, 0);
	assert_true(owner_lookup_get_counters(lookup).unreadable > 0);
	assert_true(owner_lookup_get_counters(lookup).no_process > 0);

	fd = open_socket(SOCK_DGRAM, &bound);
	local = name_of(fd, false);
	key = key_between(UDP, &local, &remote);
	owner = query_until(lookup, &key, has_pid);
	check_mine(&owner, lookup);
	close(fd);
	owner_lookup_free(lookup);
	end_child(&child);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest ordinary[] = {
	    cmocka_unit_test(test_unknown_socket),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_torn),
	    cmocka_unit_test(test_tcp_both_ends),
	    cmocka_unit_test(test_tcp6_both_ends),
	    cmocka_unit_test(test_tcp_mapped),
	    cmocka_unit_test(test_tcp_child),
	    cmocka_unit_test(test_inherited),
	    cmocka_unit_test(test_unaccepted),
	    cmocka_unit_test(test_listener_only),
	    cmocka_unit_test(test_unknown),
	    cmocka_unit_test(test_udp_connected),
	    cmocka_unit_test(test_udp_unconnected),
	    cmocka_unit_test(test_udp_bound_to_device),
	    cmocka_unit_test(test_reused_ends),
	    cmocka_unit_test(test_reused_ends_without_a_request),
	    cmocka_unit_test(test_reused_udp_port),
	    cmocka_unit_test(test_peek_and_refresh),
	    cmocka_unit_test(test_prepare),
	    cmocka_unit_test(test_prepare_without_a_process),
	    cmocka_unit_test(test_prepare_many),
	    cmocka_unit_test(test_lookup_requests),
	    cmocka_unit_test(test_refreshed),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_overflow),
	};
	const struct CMUnitTest netns[] = {cmocka_unit_test(test_netns)};
	const struct CMUnitTest unprivileged[] = {cmocka_unit_test(test_unprivileged)};
	struct rlimit files;

	prctl(PR_SET_NAME, OWN_NAME); /* the program may be run under any */
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (argc > 1 && strcmp(argv[1], "netns") == 0)
		return cmocka_run_group_tests(netns, NULL, NULL);
	if (argc > 1 && strcmp(argv[1], "unprivileged") == 0)
		return cmocka_run_group_tests(unprivileged, NULL, NULL);
	/* Other programs' sockets could take a port that is used again; only root has a namespace of its own. */
	if (unshare(CLONE_NEWNET) == 0)
		raise_loopback();
	return cmocka_run_group_tests(ordinary, NULL, NULL);
}
