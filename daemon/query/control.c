/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/query/control_reply.h"
#include "daemon/query/server.h"
#include "daemon/query/unix_socket.h"

struct control {
	struct control_access access;
	int fd; /* -1 after the server has taken it over */
	struct insight *insight;
	struct server *server;
};

/* State of one request. */
struct job {
	struct answer answer;
	char why[256]; /* why it is refused, "" if it is not */
};

_Static_assert(sizeof(struct job) <= SERVER_JOB, "the server keeps a job");
_Static_assert(ANSWER_PIECE <= SERVER_PIECE, "the server has room for a piece");

static size_t
whole_line(const char *bytes, size_t have)
{
	const char *end = memchr(bytes, '\n', have);

	return end != NULL ? (size_t)(end - bytes) + 1 : 0;
}

static bool
is_text(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\r') || bytes[i] > '~')
			return false;
	return true;
}

static void
ask(void *context, void *memory, char *question, size_t length, uid_t uid)
{
	const struct control *control = context;
	struct job *job = memory;

	question[length - 1] = '\0';
	job->answer.insight = control->insight;
	if (!is_text(question, length - 1)) {
		snprintf(job->why, sizeof job->why, "the request is not plain text");
		return;
	}
	if (!request_parse(question, &job->answer.request, job->why, sizeof job->why))
		return;
	job->why[0] = '\0';
	if (job->answer.request.verb == REQUEST_RELOAD && uid != 0 && uid != control->access.uid)
		snprintf(job->why, sizeof job->why,
			 "only root and the user that netobsd runs as may reload the configuration");
}

static bool
more(void *context, void *memory, struct text *text)
{
	struct job *job = memory;

	(void)context;
	if (job->why[0] == '\0') {
		answer_more(&job->answer, text);
		return !job->answer.done;
	}
	text_add(text, "error ");
	text_add_plain(text, job->why);
	text_add(text, "\n");
	return false;
}

static const char *
refusal(enum server_refusal why)
{
	switch (why) {
	case REFUSED_TOO_LONG:
		return "error the request is longer than 4096 bytes\n";
	case REFUSED_TOO_MANY:
		return "error too many simultaneous requests; try again later\n";
	case REFUSED_STRANGER:
		break;
	}
	return "error permission denied: the mode and group of the control socket do not allow this user\n";
}

static const struct server_class control_class = {
    .what = "control", .whole = whole_line, .ask = ask, .more = more, .refusal = refusal};

/* ---------------------------------------------------------------------------------------------------- start and end */

static bool
find_group(const struct config *config, gid_t *gid)
{
	const struct group *group;

	*gid = getegid();
	if (config->control_group == NULL)
		return true;
	group = getgrnam(config->control_group);
	if (group == NULL) {
		log_error("there is no group %s for the control socket", config->control_group);
		return false;
	}
	*gid = group->gr_gid;
	return true;
}

struct control *
control_open(const struct config *config, uid_t uid)
{
	struct control_access access = {.uid = uid, .mode = (mode_t)config->control_mode};
	struct control *control;
	int fd;

	if (!find_group(config, &access.gid))
		return NULL;
	fd = control_socket_listen(config->control, &access, "control");
	if (fd < 0)
		return NULL;
	control = calloc(1, sizeof *control);
	if (control == NULL) {
		log_error("out of memory");
		close(fd);
		return NULL;
	}
	control->access = access;
	control->fd = fd;
	return control;
}

bool
control_serve(struct control *control, struct loop *loop, struct insight *insight)
{
	control->insight = insight;
	control->server = server_new(&control_class, control, loop, control->fd, &control->access);
	control->fd = -1;
	return control->server != NULL;
}

void
control_free(struct control *control)
{
	if (control == NULL)
		return;
	server_free(control->server);
	if (control->fd >= 0)
		close(control->fd);
	free(control);
}
