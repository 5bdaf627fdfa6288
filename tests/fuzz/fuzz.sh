#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The fuzz targets as plain tests, with libFuzzer or with the driver of fuzz_main.c, which mutates the inputs as well:
# over the frames of the captures of the source tree, and over what python3 makes.  Sanitizers make the test of it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

seeds=$top/tests/fuzz

# over TARGET MUTATIONS WHAT: runs a target over the inputs in its directory, and over mutations of each
over() {
	check "fuzz_$1 over $(find "$tmp/$1" -type f | wc -l) $3" \
		"$build/tests/fuzz/fuzz_$1" -runs=0 "-mutations=$2" "$tmp/$1"
}

find "$top/tests/captures" -type f ! -name '*.md' ! -name '*.tsv' >"$tmp/captures"
mkdir "$tmp/frame"
xargs -d '\n' "$build/tests/fuzz/fuzz_seeds" "$tmp/frame" 1000 <"$tmp/captures"
over frame 1 "frames of captures"
for target in reassembly sctp flow; do
	mv "$tmp/frame" "$tmp/$target"
	over "$target" 1 "frames of captures"
	mv "$tmp/$target" "$tmp/frame"
done

cp -R "$seeds/configurations" "$tmp/config"
cp "$top/conf/netobs.conf" "$tmp/config"
over config 50 configurations

if ! have python3; then
	skip "the other fuzz targets" "python3 is not installed"
	tap_done
fi

# The fast path against the slow path.
mkdir "$tmp/pipeline"
python3 "$seeds/pipeline_seeds.py" "$tmp/pipeline"
over pipeline 1 "batches of frames"

# Whole connections, and damaged ones.
mkdir "$tmp/iscsi" "$tmp/dns" "$tmp/http" "$tmp/smb" "$tmp/tls"
python3 "$seeds/iscsi_seeds.py" "$tmp/iscsi" "$top/tests/captures/iscsi.pcap"
over iscsi 1 connections
for capture in dns dns-tcp home-network; do
	python3 "$seeds/app_seeds.py" "$tmp/dns" "$top/tests/captures/$capture.pcap"
done
over dns 20 connections
python3 "$seeds/http_seeds.py" "$tmp/http" "$top/tests/captures/http.pcap"
over http 1 connections
python3 "$seeds/app_seeds.py" "$tmp/smb" "$top/tests/captures/smb.pcap"
over smb 20 connections
python3 "$seeds/app_seeds.py" "$tmp/tls" "$top/tests/captures/tls.pcap"
over tls 20 connections

# What is read and printed besides frames; the captures are cut.
for target in capture decompress formula netlink print query slots; do
	xargs -d '\n' python3 "$seeds/input_seeds.py" "$target" "$tmp/$target" <"$tmp/captures"
	over "$target" 10 "inputs and their mutations"
done

# Every output with each small limit of flows; then options at random.
xargs -d '\n' python3 "$seeds/run_seeds.py" "$tmp/run" flows <"$tmp/captures"
over run 0 "runs with every output and few flows"
rm -r "$tmp/run"
xargs -d '\n' python3 "$seeds/run_seeds.py" "$tmp/run" options <"$tmp/captures"
over run 1 "runs with options at random, and their mutations"
tap_done
