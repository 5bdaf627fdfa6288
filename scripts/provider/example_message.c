/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/example/example_message.h"

void
example_message_add(struct example_message *message, uint8_t byte)
{
	/* A zero would end the string. */
	if (message->length < EXAMPLE_TEXT_MAX)
		message->text[message->length] = byte != '\0' ? (char)byte : '?';
	message->length++;
}
