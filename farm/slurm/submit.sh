#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Submits a conversion to Slurm: an array that converts, one shard per task; an array that verifies each shard after its
# conversion; a render after all are verified; and a report in any case.
#
#     submit.sh [-n SHARDS] [-l FOLDER] [-s SBATCH-OPTION]... [-r RENDER.sbatch] MAKE-ARGUMENT...
#
#     submit.sh -n 16 -r render-shot10.sbatch shot10.blend
#     submit.sh -n 8 -s --partition=cpu -s --cpus-per-task=8 -- --preset pbr /srv/assets/textures
#
# The logs and the report go to FOLDER (txmill-runs), to which the nodes need access. Prints the ids of the jobs.
set -euo pipefail
unset CDPATH
here=$(cd -- "$(dirname -- "$0")" && pwd)
shards=8 runs=txmill-runs render='' options=()
while getopts n:l:s:r:h option; do
    case $option in
        n) shards=$OPTARG ;;
        l) runs=$OPTARG ;;
        s) options+=("$OPTARG") ;;
        r) render=$OPTARG ;;
        *)
            sed -n 's/^# \{0,1\}//; 6,10p' "$0" >&2
            exit 2
            ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || {
    echo "submit.sh: nothing to convert: give the arguments of txmill make" >&2
    exit 2
}
[[ $runs = /* ]] || runs=$PWD/$runs
# Slurm replaces % in the names of outputs, unless it is doubled; a backslash turns that off.
if [[ $runs =~ [[:cntrl:]] || $runs = *\\* ]]; then
    printf 'submit.sh: -l %q: Slurm cannot carry line breaks, other control characters and backslashes\n' "$runs" >&2
    exit 2
fi
mkdir -p -- "$runs"
export TXMILL_RUNS=$runs

# A job whose dependency can no longer be met is cancelled instead of waiting for ever.
job() { sbatch --parsable --kill-on-invalid-dep=yes --export=ALL "${options[@]}" --output="${runs//%/%%}/$1.%A.%a.out" "${@:2}"; }
convert=$(job convert --array="1-$shards" "$here/task.sbatch" convert "$@")
verify=$(job verify --array="1-$shards" --dependency="aftercorr:$convert" "$here/task.sbatch" verify "$convert")
# The report waits only for the conversion, whether it succeeds or not.
report=$(job report --dependency="afterany:$convert" "$here/task.sbatch" report "$convert")
echo "convert $convert"
echo "verify $verify"
echo "report $report"
if [ -n "$render" ]; then
    echo "render $(job render --dependency="afterok:$verify" "$render")"
fi
