/* SPDX-License-Identifier: BSD-2-Clause */
#include "confine/confine_replay.h"

#include <stddef.h>
#include <stdint.h>

#include "base/thread.h"
#include "confine/sandbox.h"

static bool
confine_reader_thread(void *context, enum thread_role role)
{
	const struct config *config = context;

	(void)role;
	return privileges_drop_in_thread(false, false) && (!config->seccomp || sandbox_enter_thread(SANDBOX_READER));
}

bool
confine_replay(const struct config *config, const struct privileges *privileges, bool (*between)(void *context),
	       void *context)
{
	const struct sandbox_process process = {.live = false};

	thread_set_confine(confine_reader_thread, (void *)(uintptr_t)config);
	return privileges_drop(privileges) && (between == NULL || between(context)) &&
	       (!config->seccomp || (landlock_prepare(config) && sandbox_enter(&process))) && landlock_enter();
}
