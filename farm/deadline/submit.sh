#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Submits a conversion to Deadline as CommandLine jobs: submit.sh [-n SHARDS] [-l FOLDER] [-p] SCENE.blend [MAKE-OPTION...]
#
# Deadline numbers tasks from 0: task I of the first job converts shard I+1 of SHARDS, and task I of the second job verifies
# the tx files that it made. With -p the job files are written and printed, and nothing is submitted.
# The id of the second job is printed: set JobDependencies= of a render job to it, and it waits for both.
#
# Deadline treats exit codes other than 0 as failures and retries a task as often as the farm's settings allow; finished
# files are kept, so a retry costs little. Its log parsers can match "TXMILL-ERROR code=4" (a retry may succeed),
# "TXMILL-ERROR code=3" (it will not), and "txmill: progress 37%".
#
# A job file has a key on each line, and Deadline splits the value of Arguments itself after replacing words in <>. Paths and
# options that would not arrive as they are, or would add keys, are refused.
set -euo pipefail
unset CDPATH
shards=8 logs=txmill-runs print=no
while getopts n:l:p option; do
    case $option in
        n) shards=$OPTARG ;;
        l) logs=$OPTARG ;;
        p) print=yes ;;
        *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
scene=${1:?the scene}
shift
txmill=${TXMILL:-txmill}
[[ $shards =~ ^[1-9][0-9]*$ ]] || {
    echo "submit.sh: -n $shards: must be a number of shards" >&2
    exit 2
}
[[ $logs = /* ]] || logs=$PWD/$logs
[[ $scene = /* ]] || scene=$PWD/$scene
for word in "$scene" "$logs" "$PWD" "$txmill" "$@"; do
    # iconv leaves out bytes that are not UTF-8.
    if [[ $word =~ [[:cntrl:]] || $word = *[\"\\\<]* || $word = [[:blank:]]* || $word = *[[:blank:]] ||
        $(iconv -c -f UTF-8 -t UTF-8 <<<"$word") != "$word" ]]; then
        printf 'submit.sh: %q: Deadline cannot carry line breaks and other control characters, ", \\, <, blanks at the ends, and bytes that are not UTF-8; rename it\n' "$word" >&2
        exit 2
    fi
done
mkdir -p -- "$logs"

# Deadline splits a line of arguments itself; <QUOTE> stands for a quotation mark.
quoted() { printf '<QUOTE>%s<QUOTE> ' "$@"; }

# All tasks have the same command line, in which Deadline replaces <STARTFRAME> by the task's frame, the number of its shard.
job() { # NAME WAITS-FOR ARGUMENT...
    local name=$1 after=$2
    shift 2
    {
        echo "Plugin=CommandLine"
        echo "Name=$name ${scene##*/}"
        echo "Frames=1-$shards"
        echo "ChunkSize=1"
        [ -z "$after" ] || printf 'JobDependencies=%s\nIsFrameDependent=true\n' "$after"
    } >"$logs/$name.job"
    {
        echo "Executable=$txmill"
        echo "Arguments=$(quoted "$@")"
        echo "StartupDirectory=$PWD"
    } >"$logs/$name.plugin"
    if [ $print = yes ]; then
        cat "$logs/$name.job" "$logs/$name.plugin" >&2
        echo "$name-id"
    else
        deadlinecommand "$logs/$name.job" "$logs/$name.plugin" | sed -n 's/^JobID=//p'
    fi
}

log="$logs/convert-<STARTFRAME>.jsonl"
convert=$(job convert "" make --shard "<STARTFRAME>/$shards" --progress --log "$log" "$@" -- "$scene")
verify=$(job verify "$convert" verify --quiet --run "$log")
echo "$verify"
