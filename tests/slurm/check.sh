#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-slurm: runs the Slurm scripts on a real Slurm, with a controller and three nodes on this machine. Each has
# its own namespaces (host name, processes, mounts), so that it can be switched off like a machine: its processes end at
# once, nothing is cleaned up, and no other node can tell whether they live. There are 500 images and 12 shards. A node is
# switched off in the middle of its work and comes back. Every image must have been converted exactly once, as seen in the
# file system, and pass verify, and the render must have waited for all of them.
# Needs root and the packages of the set "slurm" (scripts/setup.sh slurm). Environment: IMAGES (500), EDGE of the images
# in px (400).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
images=${IMAGES:-500} edge=${EDGE:-400} shards=12

needs=()
for program in slurmctld slurmd sbatch munged inotifywait unshare; do
    command -v "$program" >/dev/null || needs+=("$program")
done
if [ ${#needs[@]} -gt 0 ]; then
    skip slurm "missing: ${needs[*]}; scripts/setup.sh slurm installs it"
    finish
fi
if [ "$(id -u)" -ne 0 ] || ! unshare --mount --uts --pid --fork true 2>/dev/null; then
    skip slurm "simulating nodes takes root and name spaces"
    finish
fi

# ---- the cluster -----------------------------------------------------------------------------------------------------
cluster=$work/cluster
share=$work/share
mkdir -p "$cluster"/{state,spool,log,munge} "$share/logs"
export SLURM_CONF=$cluster/slurm.conf
declare -A node
controller=
stop_cluster() {
    local id
    for id in "${node[@]}" $controller $munged $watcher; do kill -9 "$id" 2>/dev/null; done
    wait 2>/dev/null
    clean_up
}
munged= watcher=
trap stop_cluster EXIT

head -c 128 /dev/urandom >"$cluster/munge/key"
chmod 400 "$cluster/munge/key"
# The folder of its socket must be accessible for all users, and its other folders for no other user.
chmod 755 "$work" "$cluster" "$cluster/munge"
munged --foreground --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" \
    --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
    >"$cluster/log/munged" 2>&1 &
munged=$!

# These ports are unused, as far as can be determined.
base=$((20000 + RANDOM % 20000))
cat >"$SLURM_CONF" <<EOF2
ClusterName=txmill
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmctldLogFile=$cluster/log/slurmctld
SlurmdLogFile=$cluster/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
InactiveLimit=0
KillWait=5
MessageTimeout=10
JobRequeue=1
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/filetxt
JobCompLoc=$cluster/log/jobs
NodeName=n1 NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2 State=UNKNOWN
NodeName=n2 NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=2 State=UNKNOWN
NodeName=n3 NodeAddr=127.0.0.1 Port=$((base + 3)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
EOF2

# The node's first process is process 1 of its namespace: when it ends, everything on the node ends.
start_node() {
    mkdir -p "$cluster/spool/$1"
    unshare --mount --uts --pid --fork --kill-child --mount-proc \
        bash -c "hostname $1 && exec slurmd -D -N $1" >>"$cluster/log/$1.out" 2>&1 &
    node[$1]=$!
}
switch_off() {
    kill -9 "${node[$1]}"
    wait "${node[$1]}" 2>/dev/null
}
waits_for() { # SECONDS COMMAND...
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.2
    done
}
has_socket() { [ -S "$cluster/munge/socket" ]; }
nodes_up() { [ "$(sinfo -h -N -o %t 2>/dev/null | grep -c '^\(idle\|mix\|alloc\)$')" -ge "$1" ]; }

waits_for 20 has_socket
slurmctld -D -c >"$cluster/log/slurmctld.out" 2>&1 &
controller=$!
for n in n1 n2 n3; do start_node $n; done
check slurm-three-nodes waits_for 60 nodes_up 3
if [ $failures -ne 0 ]; then
    tail -n 20 "$cluster"/log/* | head -c 6000
    finish
fi

# ---- the job -----------------------------------------------------------------------------------------------------------
python3 "$repo/tests/util/batch_images.py" "$share/tex" "$images" "$edge"
mkdir "$share/tex/blender_tx"
# Every tx file that appears under its name, whoever makes it.
inotifywait -q -m -e moved_to --format %f "$share/tex/blender_tx" >"$work/appeared" 2>/dev/null &
watcher=$!
cat >"$share/render.sbatch" <<EOF2
#!/bin/bash
"$TXMILL" make -n --shard 1/1 --json "$share/tex" >"$share/render.jsonl"
EOF2
sleep 0.5
begin=$SECONDS
cd "$share" || exit 1
TXMILL=$TXMILL run "$repo/farm/slurm/submit.sh" -n $shards -l "$share/logs" -s --cpus-per-task=1 -s --chdir="$share" \
    -r "$share/render.sbatch" -- -j 1 "$share/tex"
check slurm-submitted rc_is 0
convert=$(sed -n 's/^convert //p' "$work/out") verify=$(sed -n 's/^verify //p' "$work/out")
render=$(sed -n 's/^render //p' "$work/out") report=$(sed -n 's/^report //p' "$work/out")

# At this moment n2 holds a claim, and a fifth of all files are made.
made() { find "$share/tex/blender_tx" -name '*.tx' | wc -l; }
in_the_middle() {
    [ "$(made)" -ge $((images / 5)) ] && grep -qs '^host n2$' "$share"/tex/blender_tx/.*.txm-claim 2>/dev/null
}
check slurm-node-is-at-work waits_for 300 in_the_middle
switch_off n2
at_kill=$(made)
left=$(find "$share/tex/blender_tx" -name '.*.txm-*' | wc -l)
check slurm-killed-in-the-middle test "$at_kill" -lt "$images"
node_down() { sinfo -h -n n2 -o %t | grep -q down; }
check slurm-notices waits_for 60 node_down
start_node n2

all_gone() { [ -z "$(squeue -h 2>/dev/null)" ]; }
check slurm-jobs-end waits_for 500 all_gone
seconds=$((SECONDS - begin))
kill $watcher
wait $watcher 2>/dev/null

# ---- results ---------------------------------------------------------------------------------------------------------
cat "$share"/logs/convert."$convert".*.jsonl >"$work/convert.jsonl"
requeued=$(find "$share/logs" -name "convert.$convert.*.001.jsonl" | wc -l)
grep '\.tx$' "$work/appeared" | sort | uniq -c | awk '{ print $1 }' | sort | uniq -c >"$work/counts"
check slurm-all-made test "$(made)" -eq "$images"
check slurm-exactly-once test "$(awk '{ print $1 "x" $2 }' "$work/counts")" = "${images}x1"
check slurm-requeued test "$requeued" -ge 1
# The node's claims were taken over. Its temporary files stay for a day, because nobody else can know that it is dead.
check slurm-no-claims-left test -z "$(find "$share/tex" -name '.*.txm-claim*')"
check slurm-temporaries-are-its-own test -z "$(find "$share/tex" -name '.*.txm-tmp' -not -name '.*.n2-*')"
find "$share/tex" -name '.*.txm-tmp' -exec touch -d '2 days ago' {} +
run "$TXMILL" gc --delete "$share/tex"
check slurm-gc-sweeps-them test -z "$(find "$share/tex" -name '.*.txm-*')"
check slurm-gc-leaves-the-rest test "$(made)" -eq "$images"
cat "$share"/logs/verify."$convert".*.jsonl >"$work/verify.jsonl"
check slurm-all-verified json "$work/verify.jsonl" \
    "len({x['file'] for x in o}) == len(o) == $images and not any(f['severity'] != 'note' for x in o for f in x['findings'])"
ended() { grep -cE "JobId=$1 .*JobState=$2 " "$cluster/log/jobs"; }
check slurm-verify-completed test "$(grep -c 'Name=txmill .*JobState=COMPLETED' "$cluster/log/jobs")" -ge $((2 * shards + 1))
check slurm-render-after-all json "$share/render.jsonl" "o[-1]['up_to_date'] == $images and o[-1]['would_create'] == 0"
check slurm-render-completed test "$(ended "$render" COMPLETED)" -eq 1
run "$TXMILL" report --json "$share"/logs/convert."$convert".*.jsonl
check slurm-report json "$work/out" "o[0]['images'] == $images and o[0]['failed'] == 0 and o[0]['shards'] == $shards and o[0]['shards_missing'] == 0 and o[0]['lists'] == 1"
check slurm-report-page test -s "$share/logs/report.$convert.html"
echo "note $images images of ${edge}x$edge px, $shards shards, 3 nodes: $seconds s; n2 switched off with $at_kill made and $left claims and temporary files left; $requeued tasks requeued; jobs $convert $verify $report $render"
if [ $failures -ne 0 ]; then
    tail -n 30 "$cluster"/log/slurmctld "$share"/logs/*.out | head -c 8000
fi
finish
