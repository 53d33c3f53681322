#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Converts on several hosts without a scheduler, through GNU parallel and ssh:
#
#     convert.sh [-n SHARDS] [-l FOLDER] [-S HOST,HOST] -- MAKE-ARGUMENT...
#     convert.sh -n 32 -S node1,node2,node3 -- -r --preset pbr /srv/assets/textures
#
# The current folder, the images and FOLDER (txmill-runs) must be the same on all hosts. If a retry of a failed shard may
# succeed, it is run again up to twice on another host. At the end a report is written.
set -euo pipefail
shards=8 logs=txmill-runs hosts=:
while getopts n:l:S: option; do
    case $option in
        n) shards=$OPTARG ;;
        l) logs=$OPTARG ;;
        S) hosts=$OPTARG ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
mkdir -p "$logs"
txmill=${TXMILL:-txmill}

# parallel retries every failure. For a permanent one the task exits with 0, and its exit code is in a file.
# shellcheck disable=SC2016 # for the shells on the hosts
task='"$1" make --quiet --shard "$2/$3" --log "$4/convert-$2.jsonl" "${@:5}"
code=$?; echo $code >"$4/convert-$2.code"; case $code in 1|4|130|143) exit $code;; *) exit 0;; esac'
status=0
seq "$shards" | parallel --sshlogin "$hosts" --workdir . --retries 3 --jobs 1 --line-buffer --quote \
    bash -c "$task" convert "$txmill" {} "$shards" "$logs" "$@" || status=4
for code in "$logs"/convert-*.code; do
    read -r code <"$code"
    if [ "$code" -ne 0 ] && [ "$code" -ne 4 ] && [ $status -eq 0 ]; then status=$code; fi
done
"$txmill" report "$logs"/convert-*.jsonl -o "$logs/report.html"
exit $status
