/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of the page, which the build makes into arrays: style, scripts as one, and the body up to the data. */
#ifndef NETOBS_PAGE_PAGE_FILES_H
#define NETOBS_PAGE_PAGE_FILES_H

#include <stddef.h>

extern const unsigned char page_style[], page_script[], page_body[];
extern const size_t page_style_size, page_script_size, page_body_size;

#endif
