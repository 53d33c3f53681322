#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Submits a conversion to Slurm: an array that converts, shard by shard; an array that verifies each shard when it is
# made; a render when all are verified; a report in any case.
#
#     submit.sh [-n SHARDS] [-l FOLDER] [-s SBATCH-OPTION]... [-r RENDER.sbatch] MAKE-ARGUMENT...
#
#     submit.sh -n 16 -r render-shot10.sbatch shot10.blend
#     submit.sh -n 8 -s --partition=cpu -s --cpus-per-task=8 -- -r --preset pbr /srv/assets/textures
#
# The logs and the report go to FOLDER (txmill-runs), which the nodes must see. Prints the ids of the jobs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
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
    echo "submit.sh: what is to be converted?" >&2
    exit 2
}
mkdir -p "$runs"
TXMILL_RUNS=$(cd "$runs" && pwd)
export TXMILL_RUNS

# A job whose dependency can never hold is cancelled instead of waiting for ever.
job() { sbatch --parsable --kill-on-invalid-dep=yes --export=ALL "${options[@]}" --output="$TXMILL_RUNS/$1.%A.%a.out" "${@:2}"; }
convert=$(job convert --array="1-$shards" "$here/task.sbatch" convert "$@")
verify=$(job verify --array="1-$shards" --dependency="aftercorr:$convert" "$here/task.sbatch" verify "$convert")
# The report waits for the conversion alone, however it ends.
report=$(job report --dependency="afterany:$convert" "$here/task.sbatch" report "$convert")
echo "convert $convert"
echo "verify $verify"
echo "report $report"
if [ -n "$render" ]; then
    echo "render $(job render --dependency="afterok:$verify" "$render")"
fi
