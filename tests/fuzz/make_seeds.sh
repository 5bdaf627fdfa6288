#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# make_seeds.sh FUZZ_SEEDS TARGET DIRECTORY: makes inputs of fuzz_TARGET in a new directory, always the same ones: of the
# captures of the source tree, and what python3 makes.  FUZZ_SEEDS is the program of that name.  $FRAMES limits the
# frames of each capture (1000).  TARGET run-flows is another set of inputs of fuzz_run.
set -eu

program=$1 target=$2 directory=$3
top=$(cd "$(dirname "$0")/../.." && pwd)

# captures COMMAND...: runs the command with all captures of the source tree
captures() {
	find "$top/tests/captures" -type f ! -name '*.md' ! -name '*.tsv' -exec "$@" {} +
}

# connections CAPTURE...: those of captures of the source tree
connections() {
	for connections_capture in "$@"; do
		python3 "$top/tests/fuzz/app_seeds.py" "$directory" "$top/tests/captures/$connections_capture.pcap"
	done
}

mkdir "$directory"
case $target in
frame | flow | reassembly | sctp) captures "$program" "$directory" "${FRAMES:-1000}" ;;
config) cp "$top/tests/fuzz/configurations"/* "$top/conf/netobs.conf" "$directory" ;;
pipeline) python3 "$top/tests/fuzz/pipeline_seeds.py" "$directory" ;;
iscsi) python3 "$top/tests/fuzz/iscsi_seeds.py" "$directory" "$top/tests/captures/iscsi.pcap" ;;
http) python3 "$top/tests/fuzz/http_seeds.py" "$directory" "$top/tests/captures/http.pcap" ;;
dns) connections dns dns-tcp home-network ;;
smb)
	connections smb
	python3 "$top/tests/apps/smb/channels.py" "$directory/channels.pcap" /dev/null
	python3 "$top/tests/fuzz/app_seeds.py" "$directory" "$directory/channels.pcap"
	rm "$directory/channels.pcap"
	;;
tls) connections tls ;;
run) captures python3 "$top/tests/fuzz/run_seeds.py" "$directory" options ;;
run-flows) captures python3 "$top/tests/fuzz/run_seeds.py" "$directory" flows ;;
*) captures python3 "$top/tests/fuzz/input_seeds.py" "$target" "$directory" ;;
esac
