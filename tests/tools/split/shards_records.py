#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Records of a single run, for shards.sh.

usage: shards_records.py edges RECORDS K    the K - 1 times between K windows of about the same length, and the end of time
       shards_records.py reduced RECORDS    the records without times, sorted
       shards_records.py kinds RECORDS      the ends and protocols of the records
"""
import json
import sys

with open(sys.argv[2]) as lines:
    records = [json.loads(line) for line in lines]
if sys.argv[1] == "edges":
    ends = [record["cr_end"] for record in records]
    count, first, last = int(sys.argv[3]), min(ends), max(ends) + 1
    for i in range(1, count):
        print("%d.%09d" % divmod(first + (last - first) * i // count, 10**9))
    print("18446744072.999999999")
elif sys.argv[1] == "reduced":
    for record in records:
        for field in "end", "cr_uid", "cr_start", "cr_end", "cr_since":
            del record[field]
    print("\n".join(sorted(map(str, records))))
else:
    print(*sorted({record[field] for record in records for field in ("cr_reason", "cr_protostr")}))
