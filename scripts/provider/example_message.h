/* SPDX-License-Identifier: BSD-2-Clause */
/* EXAMPLE: a message, one line of text, from bytes to fields. */
#ifndef NETOBS_APPS_EXAMPLE_EXAMPLE_MESSAGE_H
#define NETOBS_APPS_EXAMPLE_EXAMPLE_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a line that are kept. */
#define EXAMPLE_TEXT_MAX 127u

struct example_message {
	char text[EXAMPLE_TEXT_MAX + 1]; /* its first bytes, without the end of the line */
	uint32_t length;		 /* bytes of the line, without its end */
	bool from_server;
};

/* Adds a byte in front of the end of the line. */
void example_message_add(struct example_message *message, uint8_t byte);

#endif
