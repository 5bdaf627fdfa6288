# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_feed \
	%D%/test_feed_queue
