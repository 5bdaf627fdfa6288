/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/example/example_args.h"

#include <string.h>

_Static_assert(sizeof((struct exampleinfo *)0)->ex_text == EXAMPLE_TEXT_MAX + 1, "a line fits");

void
args_exampleinfo(struct exampleinfo *info, const struct example_message *message)
{
	*info = (struct exampleinfo){.ex_length = message->length, .ex_from_server = message->from_server};
	memcpy(info->ex_text, message->text, sizeof info->ex_text);
}
