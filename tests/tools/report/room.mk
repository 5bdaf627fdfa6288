# SPDX-License-Identifier: BSD-2-Clause

shell_tests += \
	%D%/report.sh

%D%/report.log: bench/gentrace
