/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/report/report_page.h"

#include "page/page.h"
#include "tools/report/report_data.h"

bool
report_page_write(FILE *file, const struct report_capture *capture, const struct report_detail *detail,
		  const struct report_input *input)
{
	struct page page;
	bool all = true;

	page_make(&page, false);
	for (unsigned i = 0; i < PAGE_PARTS; i++) {
		if (i == PAGE_DATA)
			all = report_data_write(file, capture, detail, input);
		fwrite(page.parts[i].bytes, 1, page.parts[i].length, file);
	}
	return all && fflush(file) == 0 && !ferror(file);
}
