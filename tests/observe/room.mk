# SPDX-License-Identifier: BSD-2-Clause

unit_tests += \
	%D%/test_app_layer \
	%D%/test_batch_times \
	%D%/test_capture_lag \
	%D%/test_duplicates \
	%D%/test_firing \
	%D%/test_observer_sink \
	%D%/test_one_probe \
	%D%/test_pipeline

# Every capture through every path.
slow_unit_tests += %D%/test_pipeline

check_tests += \
	%D%/beginnings.sh \
	%D%/clock.sh \
	%D%/damaged.sh \
	%D%/duplicates.sh \
	%D%/ends.sh \
	%D%/first_bytes.sh \
	%D%/window.sh
