# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/pages.sh \
	%D%/report.sh

EXTRA_DIST += %D%/browser.py %D%/hostile.py %D%/pages.py %D%/report_data.py

%D%/report.log: bench/gentrace
