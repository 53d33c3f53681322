#!/usr/bin/env bash
# Builds every fuzz_*.c of tests/fuzz and stream/tests in build-fuzz, with libFuzzer and sanitizers (Clang) and the library's sources, and runs
# each for FUZZ_SECONDS (default 60), one on each processor at a time, at low priority. Arguments select targets, and
# their seconds if these differ:
#     FUZZ_SECONDS=600 tests/fuzz.sh tiff_tx section png:60
# FUZZ_SECONDS=0 only runs the seeds, in build-sanitize: its objects have no coverage, so nothing else must be compiled.
# Seeds are the files that match the target's "Seeds:" line (globs, relative to the top folder). Inputs that the fuzzer
# keeps go to build-fuzz/corpus/NAME, and crashes to build-fuzz/crash-NAME-*. Exit code 1 if any target crashed.
set -u
cd "$(dirname "$0")/.." || exit 2
out=build-fuzz
default_seconds=${FUZZ_SECONDS:-60}
san=address,undefined
names=()
declare -A seconds
for wanted; do
    name=${wanted%%:*}
    names+=("$name")
    case $wanted in *:*) seconds[$name]=${wanted#*:} ;; esac
done
if [ ${#names[@]} -eq 0 ]; then
    for f in tests/fuzz/fuzz_*.c stream/tests/fuzz_*.c; do
        name=$(basename "$f" .c)
        names+=("${name#fuzz_}")
    done
fi
clang=${CLANG:-clang}
if ! command -v "$clang" >/dev/null; then
    echo "fuzz.sh: $clang is not installed: install clang, or set CLANG" >&2
    exit 2
fi
[ "$default_seconds" != 0 ] || out=build-sanitize
targets=()
for name in "${names[@]}"; do targets+=("$out/fuzz_$name"); done
# The library is built once, with coverage but without libFuzzer's main, and then a program for each target.
flags=(OPT="-O1 -g1" SAN="-fsanitize=fuzzer-no-link,$san -fno-sanitize-recover=undefined -fno-omit-frame-pointer")
[ "$default_seconds" != 0 ] || flags=(SANITIZE="$san")
nice -n 19 make -s -j2 B="$out" CC="$clang" CXX="${CLANGXX:-$clang++}" FUZZING=1 "${flags[@]}" "${targets[@]}" || exit 2
# Sanitizers stop at a failed allocation unless they are allowed to return NULL, which the library expects.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1:detect_leaks=1}
# Runs one target in its own process, with its report in NAME.report.
run_target() {
    local name=$1 corpus=$out/corpus/$1 seeds=$out/seeds/$1 pattern rc time=${seconds[$1]:-$default_seconds} limit
    mkdir -p "$corpus"
    pattern=$(sed -n 's/^ \* Seeds: \(.*[^ ]\) *\*\/$/\1/p' "$(ls {tests/fuzz,stream/tests}/"fuzz_$name.c" 2>/dev/null)" | head -n 1)
    rm -rf "$seeds"
    mkdir -p "$seeds"
    # The pattern is to be split and expanded.
    # shellcheck disable=SC2086
    if [ -n "$pattern" ]; then cp $pattern "$seeds"; fi
    echo "fuzz $name: $time s, $(find "$seeds" -type f | wc -l) seeds"
    limit=-max_total_time=$time
    [ "$time" != 0 ] || limit=-runs=0
    nice -n 19 "$out/fuzz_$name" "$limit" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="$out/crash-$name-" -print_final_stats=1 "$corpus" "$seeds" >"$out/$name.log" 2>&1
    rc=$?
    # Measures the user time of this process's children, which is the fuzzer's; in a pipe it would be nobody's.
    times >"$out/$name.times"
    awk 'NR == 2 { split($1, t, "m"); print int(t[1] * 60 + t[2]) " s of processor time" }' "$out/$name.times"
    grep -E 'stat::number_of_executed_units|stat::average_exec|stat::slowest|stat::peak' "$out/$name.log"
    if [ $rc -ne 0 ]; then
        echo "FAIL fuzz $name (exit $rc):"
        grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$out/$name.log" | head -n 10
    fi
    return $rc
}

for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    run_target "$name" >"$out/$name.report" 2>&1 &
done
wait
failed=0
for name in "${names[@]}"; do
    cat "$out/$name.report"
    if grep -q '^FAIL' "$out/$name.report"; then failed=1; fi
done
exit $failed
