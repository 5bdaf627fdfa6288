/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/control_client.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "tools/json_reader.h"

/* Longest wait for each part of a reply, and for a reply that is one text, seconds. */
#define TIMEOUT_S 10

/* Longest wait for the whole of a reply that is printed, seconds, besides a second for each MiB. */
#define COPY_WAIT_S 20

/* Longest time, seconds, and most bytes of a reply of lines, with the memory that they need besides. */
#define LINES_TIMEOUT_S	 60
#define LINES_MEMORY_MAX ((size_t)1 << 30)

/* Bytes of a message: a path and what is wrong with it. */
#define MESSAGE_MAX 8192u

void
client_log(const char *program, const char *format, ...)
{
	char text[MESSAGE_MAX], line[sizeof text * FORMAT_PLAIN_BYTE_MAX + 8];
	int length = snprintf(text, sizeof text, "%s: ", program);
	va_list values;

	va_start(values, format);
	vsnprintf(text + length, sizeof text - (size_t)length, format, values);
	va_end(values);
	fprintf(stderr, "%.*s\n", (int)(put_foreign_text(line, text, strlen(text)) - line), line);
}

int
client_log_error(const char *what, const char *error)
{
	client_log("netobsctl", "%s%s%s", what, error != NULL ? ": " : "", error != NULL ? error : "");
	return EXIT_FAILURE;
}

bool
client_end_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	client_log_error("cannot write to standard output", strerror(errno));
	return false;
}

/* ------------------------------------------------------------------------------------------------------ the request */

bool
client_is_word(const char *value)
{
	return value == NULL || (*value != '\0' && strpbrk(value, " \t\r\n") == NULL);
}

/* Connects with a timeout for every read and write; -1 with errno. */
static int
client_connect(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval timeout = {.tv_sec = TIMEOUT_S};
	int fd, error;

	if (strlen(path) >= sizeof address.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout) == 0 &&
	    connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Longest entry of a user or a group that is read: a longer one, with thousands of members, is unknown. */
#define ENTRY_MAX 65536

/* Describes that the socket's permissions refuse this user.  It may run in several threads. */
static void
client_describe_permission(const char *path, char *error, size_t size)
{
	struct stat status;
	struct passwd user_entry, *user = NULL;
	struct group group_entry, *group = NULL;
	char user_text[ENTRY_MAX], group_text[ENTRY_MAX];

	if (stat(path, &status) != 0) {
		snprintf(error, size, "%s: %s", path, strerror(EACCES));
		return;
	}
	(void)getpwuid_r(status.st_uid, &user_entry, user_text, sizeof user_text, &user);
	(void)getgrgid_r(status.st_gid, &group_entry, group_text, sizeof group_text, &group);
	snprintf(error, size,
		 "%s: %s: it belongs to user %s and group %s (mode %04o); run this command as root or as a user who "
		 "may write to it",
		 path, strerror(EACCES), user != NULL ? user->pw_name : "unknown",
		 group != NULL ? group->gr_name : "unknown", (unsigned)status.st_mode & 07777u);
}

/* Describes the error of client_send_request(). */
static void
client_describe_connect_error(const char *path, char *error, size_t size)
{
	if (errno == EACCES)
		client_describe_permission(path, error, size);
	else
		snprintf(error, size, "%s: %s", path,
			 errno == ECONNREFUSED || errno == ENOENT
			     ? "no netobsd is listening there; "
			       "start it with --control PATH, or give its socket with -s"
			     : strerror(errno));
}

/* Sends a request; -1 with errno on failure. */
static int
client_send_request(const char *path, const char *request)
{
	int fd = client_connect(path), error;

	if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) >= 0 || errno == EPIPE)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* -------------------------------------------------------------------------------------------------------- the reply */

static const char client_not_netobsd[] = "the process listening there is not netobsd";

/* First words of a reply to a request that netobsd does not carry out, see daemon/query/control.h. */
static const struct {
	const char *word;
	int number; /* errno */
} client_refusals[] = {{"error ", 0}, {"denied ", EPERM}};

/* Checks the first line of a reply.  False, with what is wrong and errno, unless it is "ok". */
static bool
client_check_first_line(const char *line, char *error, size_t size)
{
	const size_t words = sizeof client_refusals / sizeof client_refusals[0];
	size_t used = 0, i = 0;

	if (strcmp(line, "ok") == 0)
		return true;
	while (i < words && strncmp(line, client_refusals[i].word, strlen(client_refusals[i].word)) != 0)
		i++;
	if (i == words) {
		snprintf(error, size, "%s", client_not_netobsd);
		errno = EPROTO;
		return false;
	}
	error[0] = '\0';
	for (line += strlen(client_refusals[i].word); *line != '\0' && used + 5 < size; line++)
		used += (size_t)snprintf(error + used, size - used, *line >= ' ' && *line <= '~' ? "%c" : "\\x%02x",
					 (unsigned char)*line);
	errno = client_refusals[i].number;
	return false;
}

/* Describes that there is no first line. */
static void
client_describe_no_reply(unsigned timeout, char *error, size_t size)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		snprintf(error, size, "no reply from netobsd within %u seconds", timeout);
	else if (errno == EMSGSIZE)
		snprintf(error, size, "%s", client_not_netobsd);
	else
		snprintf(error, size, "no reply from netobsd%s%s", errno != 0 ? ": " : "",
			 errno != 0 ? strerror(errno) : "");
}

/* Like recv(2), but a signal does not end it: the terminal has another size, or the program continues after a stop. */
static ssize_t
client_receive(int fd, void *bytes, size_t size)
{
	ssize_t got;

	do
		got = recv(fd, bytes, size, 0);
	while (got < 0 && errno == EINTR);
	return got;
}

ssize_t
client_receive_metered(int fd, void *bytes, size_t size, struct client_meter *meter)
{
	uint64_t start = clock_monotonic_ns();
	ssize_t got = client_receive(fd, bytes, size);
	int error = errno;

	meter->waited_ns += clock_monotonic_ns() - start;
	meter->bytes += got > 0 ? (uint64_t)got : 0;
	errno = error;
	if (got <= 0 || meter->waited_ns / UINT64_C(1000000000) <= meter->most_wait_s + (meter->bytes >> 20))
		return got;
	errno = ETIMEDOUT;
	return -1;
}

/* Seconds of a clock that is never set. */
static time_t
client_seconds(void)
{
	return (time_t)(clock_monotonic_ns() / UINT64_C(1000000000));
}

/* Reads one line and nothing after it.  False with errno: EMSGSIZE if it is longer, 0 if the reply ends. */
static bool
client_receive_line(int fd, char *line, size_t size, unsigned timeout)
{
	time_t start = client_seconds();

	for (size_t used = 0; used < size; used++) {
		errno = 0;
		if (client_receive(fd, line + used, 1) != 1)
			return false;
		errno = EAGAIN;
		if (client_seconds() - start > (time_t)timeout)
			return false;
		if (line[used] == '\n') {
			line[used] = '\0';
			return true;
		}
	}
	errno = EMSGSIZE;
	return false;
}

int
client_open_reply(const char *path, const char *request, unsigned timeout, char *error, size_t size)
{
	const struct timeval limit = {.tv_sec = timeout};
	char line[1024];
	int fd = client_send_request(path, request), reason = errno;

	if (fd < 0) {
		client_describe_connect_error(path, error, size);
		errno = reason;
		return -1;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	if (!client_receive_line(fd, line, sizeof line, timeout)) {
		reason = errno != 0 ? errno : EPROTO;
		client_describe_no_reply(timeout, error, size);
	} else if (client_check_first_line(line, error, size)) {
		return fd;
	} else {
		reason = errno;
	}
	close(fd);
	errno = reason;
	return -1;
}

int
client_open_stream(const char *path, const char *request)
{
	char error[4096];
	int fd = client_open_reply(path, request, TIMEOUT_S, error, sizeof error);

	if (fd < 0)
		client_log_error(error, NULL);
	return fd;
}

/*
 * A reply ends with the connection, as one does that netobsd gives up because it is not read, or at its own end.  They
 * are told apart by a byte that netobsd takes only after the whole reply: a connection that is closed with input that
 * was not read is reset (ECONNRESET; unix_release_sock() of Linux).  Call it before the reply is read.
 */
static void
client_expect_end(int fd)
{
	(void)!send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* -------------------------------------------------------------------------------------------- a reply as it comes */

/* Longest line of a reply that is printed: more than any of netobsd has. */
#define LINE_MAX_BYTES ((size_t)256 * 1024)

/* A reply that is printed while it comes. */
struct client_copy {
	char *lines;   /* LINE_MAX_BYTES */
	char *cleaned; /* what is printed of them */
	size_t used;
	uint64_t most; /* bytes */
	FILE *to;      /* NULL: nowhere */
	bool records;  /* lines that are notes become messages */
	/* NULL: the lines are written, as they are */
	client_visitor *visit;
	void *context;
	char mistake[96]; /* what is wrong with a line that was visited */
};

static void
client_write_lines(const struct client_copy *copy, const char *lines, size_t length)
{
	char *end = put_foreign_lines(copy->cleaned, lines, length);

	if (copy->to != NULL)
		fwrite(copy->cleaned, 1, (size_t)(end - copy->cleaned), copy->to);
}

/* Logs a line that is a note; false if it is another one. */
static bool
client_log_note(const char *line, size_t length)
{
	static const char word[] = "\"note\"";
	json_t *object = memmem(line, length, word, sizeof word - 1) != NULL ? json_read_object(line, length) : NULL;
	const char *note = json_object_size(object) == 1 ? json_read_string(object, "note") : NULL;

	if (note != NULL)
		client_log("netobsctl", "%s", note);
	json_decref(object);
	return note != NULL;
}

static void
client_visit_line(struct client_copy *copy, const char *line, size_t length)
{
	json_t *object = json_read_object(line, length);
	const char *missing = object != NULL ? copy->visit(copy->context, object) : NULL;

	if (object == NULL)
		snprintf(copy->mistake, sizeof copy->mistake, "a line of it is not JSON");
	else if (missing != NULL)
		snprintf(copy->mistake, sizeof copy->mistake, "a line of it has no \"%.*s\" of the right type",
			 (int)strcspn(missing, " :}"), missing);
	json_decref(object);
}

/* Visits lines; or writes them, and logs those that are notes. */
static void
client_take_lines(struct client_copy *copy, const char *lines, size_t length)
{
	while (length > 0 && copy->mistake[0] == '\0') {
		const char *end = memchr(lines, '\n', length);
		size_t line = end != NULL ? (size_t)(end - lines) + 1 : length;

		if (copy->visit != NULL)
			client_visit_line(copy, lines, line);
		else if (!client_log_note(lines, line))
			client_write_lines(copy, lines, line);
		lines += line;
		length -= line;
	}
}

/* Writes the complete lines; at the end of the reply the rest as well. */
static void
client_pass_lines(struct client_copy *copy, bool end)
{
	const char *last = memrchr(copy->lines, '\n', copy->used);
	size_t length = end ? copy->used : last != NULL ? (size_t)(last - copy->lines) + 1 : 0;

	if (copy->records || copy->visit != NULL)
		client_take_lines(copy, copy->lines, length);
	else
		client_write_lines(copy, copy->lines, length);
	copy->used -= length;
	memmove(copy->lines, copy->lines + length, copy->used);
}

/* Copies the reply to its end; what is wrong, or NULL. */
static const char *
client_copy_reply(int fd, struct client_copy *copy)
{
	struct client_meter meter = {.most_wait_s = COPY_WAIT_S};
	time_t start = client_seconds();
	ssize_t got;

	while ((got = client_receive_metered(fd, copy->lines + copy->used, LINE_MAX_BYTES - copy->used, &meter)) > 0) {
		size_t used = copy->used += (size_t)got;

		if (meter.bytes > copy->most)
			return "it is too long for netobsd";
		client_pass_lines(copy, false);
		if (copy->to != NULL && ferror(copy->to))
			return NULL;
		if (copy->mistake[0] != '\0')
			return copy->mistake;
		if (copy->used == LINE_MAX_BYTES)
			return "a line of it is too long for netobsd";
		if (copy->used < used)
			start = client_seconds();
		else if (client_seconds() - start > TIMEOUT_S)
			return "no line of it is complete in time";
	}
	if (got < 0)
		return errno == EAGAIN	     ? "netobsd sends nothing"
		       : errno == ETIMEDOUT  ? "it takes too long"
		       : errno == ECONNRESET ? "netobsd has ended, or did not wait for the reader any longer"
					     : strerror(errno);
	if (copy->used == 0)
		return NULL;
	if (copy->visit == NULL) {
		client_pass_lines(copy, true);
		if (copy->to != NULL)
			putc('\n', copy->to);
	}
	return "it ends within a line";
}

/* Sends a request and takes the reply, of at most `copy->most` bytes.  False with a reason if that fails. */
static bool
client_request(const char *path, const char *request, struct client_copy *copy, char *error, size_t size)
{
	int fd = client_open_reply(path, request, TIMEOUT_S, error, size);
	const char *reason = "out of memory";
	bool done = false;

	if (fd < 0)
		return false;
	client_expect_end(fd);
	copy->lines = malloc(LINE_MAX_BYTES);
	copy->cleaned = malloc(LINE_MAX_BYTES * JSON_BYTE_MAX + 8);
	if (copy->lines != NULL && copy->cleaned != NULL)
		reason = client_copy_reply(fd, copy);
	if (copy->to != NULL && (fflush(copy->to) != 0 || ferror(copy->to)))
		snprintf(error, size, "cannot write to standard output: %s", strerror(errno));
	else if (reason != NULL)
		snprintf(error, size, "the reply is incomplete: %s", reason);
	else
		done = true;
	free(copy->lines);
	free(copy->cleaned);
	close(fd);
	return done;
}

/* Likewise, with a message instead of a reason. */
static bool
client_request_or_log(const char *path, const char *request, struct client_copy copy)
{
	char error[4096];

	if (client_request(path, request, &copy, error, sizeof error))
		return true;
	client_log_error(error, NULL);
	return false;
}

bool
client_print_reply(const char *path, const char *request, FILE *to)
{
	return client_request_or_log(path, request, (struct client_copy){.to = to, .most = CLIENT_REPLY_MAX});
}

bool
client_visit_reply(const char *path, const char *request, uint64_t most, client_visitor *visit, void *context)
{
	return client_request_or_log(
	    path, request, (struct client_copy){.to = stdout, .most = most, .visit = visit, .context = context});
}

bool
client_print_records(const char *path, const char *request)
{
	return client_request_or_log(path, request,
				     (struct client_copy){.to = stdout, .most = CLIENT_LIST_MAX, .records = true});
}

bool
client_read_objects(const char *path, const char *request, uint64_t most, client_visitor *visit, void *context,
		    char *error, size_t size)
{
	struct client_copy copy = {.most = most, .visit = visit, .context = context};

	return client_request(path, request, &copy, error, size);
}

static const char *
client_keep_object(void *context, json_t *object)
{
	return json_array_append(context, object) == 0 ? NULL : "memory";
}

json_t *
client_read_array(const char *path, const char *request, size_t most, char *error, size_t size)
{
	json_t *lines = json_array();

	if (client_read_objects(path, request, most, client_keep_object, lines, error, size))
		return lines;
	json_decref(lines);
	return NULL;
}

/* --------------------------------------------------------------------------------------------- a reply as a whole */

/* Lines that are received; `text` has `size` bytes. */
struct client_lines {
	char *text;
	size_t size, used, count;
	size_t line_memory; /* bytes that the caller needs for a line */
	time_t start;
};

/* Receives more bytes, 0 at the end of the reply; -1 with errno. */
static ssize_t
client_receive_lines(int fd, struct client_lines *lines)
{
	ssize_t got;

	if (lines->size - lines->used < 2) {
		size_t size = lines->size * 2 + 65536;
		char *larger = realloc(lines->text, size);

		if (larger == NULL)
			return -1;
		lines->text = larger;
		lines->size = size;
	}
	got = client_receive(fd, lines->text + lines->used, lines->size - lines->used - 1);
	for (ssize_t i = 0; i < got; i++)
		lines->count += lines->text[lines->used + (size_t)i] == '\n';
	if (got > 0)
		lines->used += (size_t)got;
	if (lines->used + lines->count * lines->line_memory > LINES_MEMORY_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	if (got < 0 || client_seconds() - lines->start <= LINES_TIMEOUT_S)
		return got;
	errno = ETIMEDOUT;
	return -1;
}

char *
client_read_lines(int fd, size_t most, size_t line_memory)
{
	struct client_lines lines = {.line_memory = line_memory, .start = client_seconds()};
	ssize_t got;

	client_expect_end(fd);
	do
		got = client_receive_lines(fd, &lines);
	while (got > 0 && (most == 0 || lines.count <= most));
	if (got == 0 && lines.used > 0 && lines.text[lines.used - 1] != '\n') {
		errno = EPROTO;
		got = -1;
	}
	if (got < 0) {
		free(lines.text);
		return NULL;
	}
	lines.text[lines.used] = '\0';
	return lines.text;
}

void
client_watch_signals(void (*handler)(int number), int further, sigset_t *unblocked)
{
	const int numbers[] = {SIGINT, SIGTERM, SIGHUP, further};
	size_t count = further != 0 ? 4 : 3;
	const struct sigaction action = {.sa_handler = handler};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < count; i++) {
		struct sigaction before;

		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue; /* nohup(1) */
		(void)sigaction(numbers[i], &action, NULL);
		sigaddset(&blocked, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, unblocked);
	for (size_t i = 0; i < count; i++)
		sigdelset(unblocked, numbers[i]);
	signal(SIGPIPE, SIG_IGN);
}
