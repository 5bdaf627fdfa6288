# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_batch \
	%D%/test_duplicates \
	%D%/test_pipeline
