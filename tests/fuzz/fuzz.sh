#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fuzz targets as plain tests, with libFuzzer or with the driver of fuzz_main.c, which mutates the inputs as well:
# over the frames of all captures, and over what python3 makes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# over NAME MOST FOLDER MUTATIONS: the first MOST frames of every capture in FOLDER, through every target
over() {
	if [ ! -d "$3" ]; then
		skip "$1" "there is no $3"
		return
	fi
	mkdir -p "$tmp/$1"
	find "$3" -type f ! -name '*.md' ! -name '*.tsv' -exec "$build/tests/fuzz/fuzz_seeds" "$tmp/$1" "$2" {} +
	for over_target in fuzz_frame fuzz_reassembly fuzz_sctp fuzz_flow; do
		check "$over_target over $(find "$tmp/$1" -type f | wc -l) frames of the $1 captures" \
			"$build/tests/fuzz/$over_target" -runs=0 "-mutations=$4" "$tmp/$1"
	done
}

over own 1000 "$top/tests/captures" 1
over shared 300 "$shared/captures" 0
check "fuzz_config over configurations" "$build/tests/fuzz/fuzz_config" -runs=0 -mutations=50 "$top/tests/fuzz/configurations" "$top/conf/netobs.conf"

# The fast path against the slow path.
if have python3; then
	mkdir "$tmp/pipeline"
	python3 "$top/tests/fuzz/pipeline_seeds.py" "$tmp/pipeline"
	check "fuzz_pipeline over $(find "$tmp/pipeline" -type f | wc -l) batches of frames" \
		"$build/tests/fuzz/fuzz_pipeline" -runs=0 -mutations=1 "$tmp/pipeline"
else
	skip "fuzz_pipeline over batches of frames" "python3 is not installed"
fi

# Whole connections, and damaged ones.
if have python3; then
	mkdir "$tmp/iscsi"
	python3 "$top/tests/fuzz/iscsi_seeds.py" "$tmp/iscsi" "$top/tests/captures/iscsi.pcap"
	check "fuzz_iscsi over $(find "$tmp/iscsi" -type f | wc -l) connections" \
		"$build/tests/fuzz/fuzz_iscsi" -runs=0 -mutations=1 "$tmp/iscsi"
else
	skip "fuzz_iscsi over connections" "python3 is not installed"
fi

if have python3; then
	mkdir "$tmp/dns" "$tmp/http" "$tmp/smb" "$tmp/tls"
	for capture in dns dns-tcp home-network; do
		python3 "$top/tests/fuzz/app_seeds.py" "$tmp/dns" "$top/tests/captures/$capture.pcap"
	done
	check "fuzz_dns over $(find "$tmp/dns" -type f | wc -l) connections" \
		"$build/tests/fuzz/fuzz_dns" -runs=0 -mutations=20 "$tmp/dns"
	python3 "$top/tests/fuzz/http_seeds.py" "$tmp/http" "$top/tests/captures/http.pcap"
	check "fuzz_http over $(find "$tmp/http" -type f | wc -l) connections" \
		"$build/tests/fuzz/fuzz_http" -runs=0 -mutations=1 "$tmp/http"
	python3 "$top/tests/fuzz/app_seeds.py" "$tmp/smb" "$top/tests/captures/smb.pcap"
	check "fuzz_smb over $(find "$tmp/smb" -type f | wc -l) connections" \
		"$build/tests/fuzz/fuzz_smb" -runs=0 -mutations=20 "$tmp/smb"
	python3 "$top/tests/fuzz/app_seeds.py" "$tmp/tls" "$top/tests/captures/tls.pcap"
	check "fuzz_tls over $(find "$tmp/tls" -type f | wc -l) connections" \
		"$build/tests/fuzz/fuzz_tls" -runs=0 -mutations=20 "$tmp/tls"
else
	skip "fuzz_dns, fuzz_http, fuzz_smb and fuzz_tls over connections" "python3 is not installed"
fi

# What is read and printed besides frames; the captures are cut.
if have python3; then
	for target in capture decompress formula netlink print query slots; do
		find "$top/tests/captures" -type f ! -name '*.md' ! -name '*.tsv' -exec \
			python3 "$top/tests/fuzz/input_seeds.py" "$target" "$tmp/$target" {} +
		check "fuzz_$target over $(find "$tmp/$target" -type f | wc -l) inputs and their mutations" \
			"$build/tests/fuzz/fuzz_$target" -runs=0 -mutations=10 "$tmp/$target"
	done
else
	skip "fuzz targets besides frames" "python3 is not installed"
fi
tap_done
