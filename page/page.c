/* SPDX-License-Identifier: BSD-2-Clause */
#include "page/page.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "page/page_files.h"

/* The digest of an inline element as a source of the policy: "sha256-..." */
#define DIGEST_SIZE (sizeof "sha256-" + BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE))

static void
page_digest(char to[DIGEST_SIZE], const unsigned char *text, size_t size)
{
	struct sha256_ctx digest;
	uint8_t bytes[SHA256_DIGEST_SIZE];

	sha256_init(&digest);
	sha256_update(&digest, size, text);
	sha256_digest(&digest, sizeof bytes, bytes);
	memset(to, 0, DIGEST_SIZE);
	memcpy(to, "sha256-", strlen("sha256-"));
	base64_encode_raw(to + strlen("sha256-"), sizeof bytes, bytes);
}

static struct page_part
page_text(const char *text)
{
	return (struct page_part){text, strlen(text)};
}

void
page_make(struct page *page, bool live)
{
	char script[DIGEST_SIZE], style[DIGEST_SIZE];

	page_digest(script, page_script, page_script_size);
	page_digest(style, page_style, page_style_size);
	snprintf(page->head, sizeof page->head,
		 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; "
		 "style-src '%s'; %sbase-uri 'none'; form-action 'none'\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width\">\n"
		 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>netobs report</title>\n<style>",
		 script, style, live ? "connect-src 'self'; " : "");
	page->parts[0] = page_text(page->head);
	page->parts[1] = (struct page_part){(const char *)page_style, page_style_size};
	page->parts[2] = page_text("</style>\n</head>\n");
	page->parts[3] = (struct page_part){(const char *)page_body, page_body_size};
	page->parts[PAGE_DATA] = page_text("</script>\n<script>");
	page->parts[5] = (struct page_part){(const char *)page_script, page_script_size};
	page->parts[6] = page_text("</script>\n</body>\n</html>\n");
}
