# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_reader_threads
