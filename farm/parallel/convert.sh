#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Converts on several hosts without a scheduler, through GNU parallel and ssh:
#
#     convert.sh [-n SHARDS] [-l FOLDER] [-S HOST,HOST] -- MAKE-ARGUMENT...
#     convert.sh -n 32 -S node1,node2,node3 -- --preset pbr /srv/assets/textures
#
# The current folder, the images and FOLDER (txmill-runs) must be the same on all hosts. If a retry of a failed shard may
# succeed, it is run again up to twice on another host. At the end a report is written.
#
# The arguments are in a file, because parallel would replace {} and run the Perl in {= =} in the names of files. On its
# command line it has only a number and, encoded, the name of the folder with that file.
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
[[ $shards =~ ^[1-9][0-9]*$ ]] || {
    echo "convert.sh: -n $shards: must be a number of shards" >&2
    exit 2
}
[[ $logs = /* ]] || logs=$PWD/$logs
mkdir -p -- "$logs"
txmill=${TXMILL:-txmill}
run=$(mktemp -d -- "$logs/.run.XXXXXX" && echo .)
run=${run%$'\n.'}
trap 'rm -rf -- "$run"' EXIT
# Logs of an earlier run would otherwise be in the report, if a shard has none now.
for ((shard = 1; shard <= shards; shard++)); do rm -f -- "$logs/convert-$shard.jsonl"; done
printf '%s\0' "$PWD" "$txmill" "$shards" "$logs" "$@" >"$run/arguments"

# parallel retries every failure. For a permanent one the task exits with 0; it prints its number and exit code.
# shellcheck disable=SC2016 # for the shells on the hosts
task='run=$(printf %s "$1" | base64 -d && echo .)
mapfile -d "" -t words <"${run%.}/arguments" && cd -- "${words[0]}" || exit 4
"${words[1]}" make --quiet --shard "$2/${words[2]}" --log "${words[3]}/convert-$2.jsonl" "${words[@]:4}" >&2
code=$?; echo "$2 $code"; case $code in 1|4|129|130|143|152) exit $code;; *) exit 0;; esac'
status=0
codes=$(seq "$shards" | parallel --sshlogin "$hosts" --retries 3 --jobs 1 --line-buffer --quote \
    bash -c "$task" convert "$(printf %s "$run" | base64 -w 0)" {}) || status=4
while read -r shard code; do
    if [ "$code" -ne 0 ] && [ "$code" -ne 4 ] && [ "$status" -eq 0 ]; then status=$code; fi
done <<<"${codes:-0 4}"
made=()
for ((shard = 1; shard <= shards; shard++)); do
    [ ! -e "$logs/convert-$shard.jsonl" ] || made+=("$logs/convert-$shard.jsonl")
done
[ ${#made[@]} -eq 0 ] || "$txmill" report -o "$logs/report.html" "${made[@]}"
exit "$status"
