#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Submits a conversion to Deadline as CommandLine jobs: submit.sh [-n SHARDS] [-l FOLDER] [-p] SCENE.blend [MAKE-OPTION...]
#
# Task I of the first job converts shard I+1 of SHARDS; the second verifies, task by task, what the first made. With -p the
# job files are written and printed, and nothing is submitted.
# A render job waits for both with JobDependencies= set to the second one's id, which is printed.
#
# Deadline takes exit codes other than 0 as failures and tries a task again as often as the farm is set up to; what was
# made stays, so a retry costs nothing. Its log parsers can match "TXMILL-ERROR code=4" (a retry may cure it) and
# "TXMILL-ERROR code=3" (no retry will), and "txmill: progress 37%".
set -euo pipefail
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
mkdir -p "$logs"
logs=$(cd "$logs" && pwd)
scene=$(realpath "$scene")

# Deadline splits a line of arguments itself; <QUOTE> stands for a quotation mark.
quoted() { printf '<QUOTE>%s<QUOTE> ' "$@"; }

# One plug-in line a task: the shard is the task's number, counted from 1.
job() { # NAME WAITS-FOR ARGUMENT...
    local name=$1 after=$2
    shift 2
    {
        echo "Plugin=CommandLine"
        echo "Name=$name $(basename "$scene")"
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
