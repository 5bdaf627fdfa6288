/* SPDX-License-Identifier: BSD-2-Clause */
/* netobs-split: the program of `netobs split`.  Exit statuses are those of netobsd: 2 if the input is damaged. */
#include "base/log.h"
#include "base/output.h"
#include "config/options.h"
#include "confine/privileges.h"
#include "tools/split/split.h"

int
main(int argc, char **argv)
{
	enum input_result result = INPUT_FAILED;
	static char name[] = "netobs-split";
	struct split_request request;

	descriptors_begin_program(name);
	if (split_parse(argc, argv, &request)) {
		descriptors_close_inherited(&request.config);
		output_open();
		log_debug_enable(request.config.debug_topics);
		result = split_run(&request);
	}
	config_free(&request.config);
	return result == INPUT_DONE ? 0 : result == INPUT_DAMAGED ? 2 : 1;
}
