/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_page.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

#include "tools/report/report_data.h"

/* Writes a source of the policy: the digest of an inline element's text. */
static void
report_put_digest(FILE *file, const unsigned char *text, size_t size)
{
	struct sha256_ctx digest;
	uint8_t bytes[SHA256_DIGEST_SIZE];
	char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";

	sha256_init(&digest);
	sha256_update(&digest, size, text);
	sha256_digest(&digest, sizeof(bytes), bytes);
	base64_encode_raw(encoded, sizeof(bytes), bytes);
	fprintf(file, "'sha256-%s'", encoded);
}

bool
report_page_write(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		  const struct report_input *input)
{
	bool all;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ",
	      file);
	report_put_digest(file, report_script, report_script_size);
	fputs("; style-src ", file);
	report_put_digest(file, report_style, report_style_size);
	fputs("; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>netobs report</title>\n<style>",
	      file);
	fwrite(report_style, 1, report_style_size, file);
	fputs("</style>\n</head>\n", file);
	fwrite(report_body, 1, report_body_size, file);
	fputs("<script type=\"application/json\" id=\"data\">", file);
	all = report_data_write(file, capture, detail, input);
	fputs("</script>\n<script>", file);
	fwrite(report_script, 1, report_script_size, file);
	fputs("</script>\n</body>\n</html>\n", file);
	return all && fflush(file) == 0 && !ferror(file);
}
