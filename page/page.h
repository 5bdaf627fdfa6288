/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that shows traffic in a browser: its head with the policy, the style, the body, a place for the data, and
 * the script.  `netobs report` writes it with the data of captures; netobsd serves it, and the script asks for data.
 */
#ifndef NETOBS_PAGE_PAGE_H
#define NETOBS_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#define PAGE_HEAD_SIZE 1024u
#define PAGE_PARTS     7u

/* The number of the part in front of which the data belong: JSON without the character `<`. */
#define PAGE_DATA 4u

struct page_part {
	const char *bytes;
	size_t length;
};

struct page {
	char head[PAGE_HEAD_SIZE];
	struct page_part parts[PAGE_PARTS]; /* in this order; they point to constants and to `head` */
};

/* `live`: the policy lets the script ask the server that the page comes from. */
void page_make(struct page *page, bool live);

#endif
