# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_dof \
	%D%/test_dtprobed \
	%D%/test_site_table
