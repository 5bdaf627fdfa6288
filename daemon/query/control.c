/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/query/control.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/query/control_reply.h"
#include "daemon/query/feeds.h"
#include "daemon/query/server.h"
#include "daemon/query/unix_socket.h"

struct control {
	struct unix_socket_access access;
	int fd; /* -1 after the server has taken it over */
	struct query_context *query;
	struct server *server;
	struct feeds *feeds;
};

/* State of one request. */
struct control_job {
	struct control_reply reply;
	char error[320];   /* why the request is rejected, "" if it is not */
	bool denied;	   /* because of its user */
	struct feed *feed; /* until its client has left the server */
};

_Static_assert(sizeof(struct control_job) <= SERVER_STATE_SIZE, "the server has memory for a job");
_Static_assert(CONTROL_REPLY_PART_MAX <= SERVER_PART_SIZE, "the server has memory for a reply part");

static size_t
control_request_length(const char *bytes, size_t length)
{
	const char *end = memchr(bytes, '\n', length);

	return end != NULL ? (size_t)(end - bytes) + 1 : 0;
}

static bool
control_is_printable(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\r') || bytes[i] > '~')
			return false;
	return true;
}

/* Defines a formula, removes one or finds one. */
static void
control_handle_formula(struct control_reply *reply, char *error, size_t size)
{
	const struct control_request *request = &reply->request;
	const struct query_context *query = reply->query;
	const char *text = request->operand;
	char reason[320] = "";
	bool done = true;

	if (query->formulas == NULL)
		snprintf(error, size, "this netobsd has no formulas");
	if (query->formulas == NULL || text == NULL)
		return;
	if (request->command == REQUEST_DEFINE) {
		done = query->define_formula(query->context, text, reason, sizeof reason);
		if (done)
			control_reply_select_formula(reply, formula_set_count(query->formulas) - 1);
	} else if (request->command == REQUEST_UNDEFINE) {
		done = query->undefine_formula(query->context, text, reason, sizeof reason);
	} else {
		done = control_reply_select_formula(reply, formula_set_find(query->formulas, text));
		snprintf(reason, sizeof reason, "there is no formula \"%.60s\"; \"formulas\" lists them all", text);
	}
	if (!done)
		snprintf(error, size, "%s", reason);
}

static void
control_begin_feed(const struct control *control, struct control_job *job)
{
	const struct control_request *request = &job->reply.request;
	bool privileged = job->reply.uid == 0 || job->reply.uid == control->access.uid;

	job->denied = !job->reply.all_owners;
	if (!job->denied)
		job->feed = feeds_begin(control->feeds, request, privileged, job->error, sizeof job->error);
	else
		snprintf(job->error, sizeof job->error,
			 "every user may connect to this control socket: only root and the user that netobsd runs as "
			 "may receive streams, which contain processes of all users");
}

/* Does what a request says, as far as it needs the operand and the options: they are in memory only now. */
static void
control_begin_reply(const struct control *control, struct control_job *job)
{
	switch (job->reply.request.command) {
	case REQUEST_FORMULAS:
	case REQUEST_DEFINE:
	case REQUEST_UNDEFINE:
	case REQUEST_SITES:
		control_handle_formula(&job->reply, job->error, sizeof job->error);
		break;
	case REQUEST_STREAM:
		control_begin_feed(control, job);
		break;
	case REQUEST_WRITE:
		control_reply_begin_frames(&job->reply, job->error, sizeof job->error);
		break;
	case REQUEST_CONNECTIONS:
		control_reply_begin_connections(&job->reply, job->error, sizeof job->error);
		break;
	default:
		break;
	}
}

static void
control_handle_request(void *context, void *memory, char *request, size_t length, uid_t uid)
{
	const struct control *control = context;
	struct control_job *job = memory;
	const char *what;

	request[length - 1] = '\0';
	job->reply.query = control->query;
	job->reply.uid = uid;
	job->reply.all_owners =
	    uid == 0 || uid == control->access.uid || (control->access.mode & (S_IROTH | S_IWOTH)) == 0;
	if (!control_is_printable(request, length - 1)) {
		snprintf(job->error, sizeof job->error, "the request is not plain text");
		return;
	}
	if (!control_request_parse(request, &job->reply.request, job->error, sizeof job->error))
		return;
	job->error[0] = '\0';
	log_debug(DEBUG_QUERY, "request of user %lu: %s", (unsigned long)uid,
		  control_request_name(job->reply.request.command));
	what = uid != 0 && uid != control->access.uid ? control_request_privilege(&job->reply.request) : NULL;
	job->denied = what != NULL;
	if (job->denied)
		snprintf(job->error, sizeof job->error, "only root and the user that netobsd runs as may %s", what);
	else
		control_begin_reply(control, job);
	job->reply.request.operand = job->reply.request.fields = NULL;
}

static enum server_next
control_write_reply(void *context, void *memory, struct text_buffer *text)
{
	struct control_job *job = memory;

	(void)context;
	if (job->feed != NULL)
		return SERVER_NEXT_LEAVE;
	if (job->error[0] == '\0') {
		control_reply_write(&job->reply, text);
		if (job->reply.done)
			return SERVER_NEXT_END;
		return job->reply.later ? SERVER_NEXT_LATER : SERVER_NEXT_PART;
	}
	control_reply_fail(job->error, job->denied, text);
	return SERVER_NEXT_END;
}

static void
control_take_connection(void *context, void *memory, int fd)
{
	const struct control *control = context;
	struct control_job *job = memory;

	feeds_add_client(control->feeds, job->feed, fd);
}

static void
control_release_job(void *context, void *memory)
{
	const struct control *control = context;
	struct control_job *job = memory;

	if (job->feed != NULL)
		feeds_end(control->feeds, job->feed);
	control_reply_end_frames(&job->reply);
	control_reply_end_connections(&job->reply);
}

static const char *
control_error_reply(enum server_error error)
{
	switch (error) {
	case SERVER_REQUEST_TOO_LONG:
		return "error the request is longer than 65536 bytes\n";
	case SERVER_OUT_OF_MEMORY:
		return "error netobsd is out of memory\n";
	case SERVER_BUSY:
		return "error netobsd is busy: too many clients wait for it; try again\n";
	case SERVER_NO_DESCRIPTORS:
		return "error netobsd is busy: it has no descriptor left for a client; close other clients, or raise "
		       "its limit of open files (LimitNOFILE= of the unit, ulimit -n)\n";
	case SERVER_NOT_PERMITTED:
		break;
	}
	return "denied permission denied: the mode and group of the control socket do not allow this user\n";
}

static const struct server_ops control_server_ops = {.name = "control",
						     .request_max = SERVER_REQUEST_MAX,
						     .request_length = control_request_length,
						     .handle_request = control_handle_request,
						     .write_reply = control_write_reply,
						     .take_connection = control_take_connection,
						     .release_job = control_release_job,
						     .error_reply = control_error_reply};

/* ---------------------------------------------------------------------------------------------------- start and end */

static bool
control_find_group(const struct config *config, gid_t *gid)
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
	struct unix_socket_access access = {.uid = uid, .mode = (mode_t)config->control_mode};
	struct control *control;
	int fd;

	if (!control_find_group(config, &access.gid))
		return NULL;
	fd = unix_socket_listen(config->control_path, &access, "control");
	if (fd < 0)
		return NULL;
	control = calloc(1, sizeof *control);
	if (control == NULL) {
		log_out_of_memory();
		close(fd);
		return NULL;
	}
	control->access = access;
	control->fd = fd;
	return control;
}

bool
control_serve(struct control *control, struct loop *loop, struct query_context *query)
{
	control->query = query;
	control->feeds = feeds_new(loop, query);
	if (control->feeds == NULL)
		return false;
	control->server = server_new(&control_server_ops, control, loop, control->fd, &control->access);
	control->fd = -1;
	return control->server != NULL;
}

void
control_finish(struct control *control)
{
	if (control == NULL)
		return;
	server_free(control->server);
	control->server = NULL;
	feeds_finish(control->feeds);
}

void
control_free(struct control *control)
{
	if (control == NULL)
		return;
	server_free(control->server);
	feeds_free(control->feeds);
	if (control->fd >= 0)
		close(control->fd);
	free(control);
}
