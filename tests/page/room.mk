# SPDX-License-Identifier: BSD-2-Clause

# Requests, hostile ones among them.
sanitizers_tests += \
	%D%/requests.sh

# They need chromium.
all_tests += \
	%D%/graphs.sh \
	%D%/live.sh \
	%D%/pages.sh
