/* SPDX-License-Identifier: BSD-2-Clause */
#include "observe/second_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "observe/workers.h"

struct second_pass {
	struct config config;
	struct workers *workers;
	struct input_start start;
};

void
input_start_note(struct input_start *start, const struct config *config)
{
	*start = (struct input_start){0};
	for (size_t i = 0; config->capture_paths[i] != NULL; i++)
		start->reads_stdin |= strcmp(config->capture_paths[i], "-") == 0;
	if (start->reads_stdin)
		start->offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

bool
input_start_return(const struct input_start *start)
{
	if (!start->reads_stdin || lseek(STDIN_FILENO, start->offset, SEEK_SET) >= 0)
		return true;
	log_error("cannot read standard input again: %s", strerror(errno));
	return false;
}

/* A directory cannot be read at all: the first pass reports that. */
const char *
second_pass_obstacle(const struct config *config)
{
	for (size_t i = 0; config->capture_paths[i] != NULL; i++) {
		const char *path = config->capture_paths[i];
		bool standard = strcmp(path, "-") == 0;
		struct stat status;
		int error = standard ? fstat(STDIN_FILENO, &status) : stat(path, &status);

		if (error == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
			return standard ? "standard input" : path;
	}
	return NULL;
}

void
second_pass_set_config(struct config *plain, const struct config *config)
{
	*plain = *config;
	plain->flow_limits.flows = 16;
	plain->view = VIEW_BOTH;
	plain->print = PRINT_OFF;
	plain->records = false;
	plain->local_prefix_count = 0;
	plain->replay_speed = 0;
	plain->flight_memory = 0;
}

struct second_pass *
second_pass_open(const struct config *config, struct loop *loop)
{
	struct second_pass *pass = calloc(1, sizeof *pass);

	if (pass == NULL) {
		log_out_of_memory();
		return NULL;
	}
	second_pass_set_config(&pass->config, config);
	input_start_note(&pass->start, config);
	pass->workers = workers_open(&pass->config, loop, false, 0);
	if (pass->workers != NULL)
		return pass;
	free(pass);
	return NULL;
}

enum input_result
second_pass_run(struct second_pass *pass, frame_visitor *visit, void *context)
{
	enum input_result result = INPUT_FAILED;

	if (!input_start_return(&pass->start))
		return INPUT_FAILED;
	log_mute(true);
	if (workers_start_inputs(pass->workers) && workers_make_observers(pass->workers, NULL)) {
		observer_set_visitor(pass->workers->worker[0].observer, visit, context);
		result = workers_run(pass->workers);
	}
	log_mute(false);
	return result;
}

void
second_pass_free(struct second_pass *pass)
{
	if (pass == NULL)
		return;
	workers_free(pass->workers);
	free(pass);
}
