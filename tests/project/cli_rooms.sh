#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Dependencies between rooms, which are src/base, tools, and the folders of src/tile, src/mill and src/device: there
# is no cycle, and libraries do not depend on what is built on them.
# Plain builds only: it looks at sources and symbols
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cd "$repo" || exit 1
build=${TXM_BUILD:-$repo/build}

# Checks that there is no cycle, and prints the rooms of one.
acyclic() { [ -s "$1" ] && tsort "$1" >"$work/out" 2>"$work/err"; }

# Dependencies by private headers, by public ones, by symbols, and by all of these together.
for relation in includes headers symbols; do
    tests/project/rooms.py "$build" $relation >"$work/$relation"
    check "no-cycle-by-$relation" acyclic "$work/$relation"
done
cat "$work/includes" "$work/headers" "$work/symbols" | sort -u >"$work/rooms"
check no-cycle acyclic "$work/rooms"
check sees-includes grep -qx 'tile/reader base' "$work/includes"
check sees-headers grep -qx 'mill/convert mill/color' "$work/headers"
check sees-symbols grep -qx 'tools mill/farm' "$work/symbols"
check headers-have-one-room test -z "$(grep -E ' (nobody|.* and .*)$' "$work/headers")"
check base-knows-nobody test -z "$(grep -E '^base ' "$work/rooms")"
check libtxtile-knows-itself test -z "$(grep -E '^tile/.* (mill/|device/|tools)' "$work/rooms")"
check libtxmill-knows-libtxtile test -z "$(grep -E '^mill/.* (device/|tools)' "$work/rooms")"
check nobody-knows-plug-ins test -z "$(grep -E '^tools.* device/' "$work/rooms")"

# Prints "FROM TO" for each #include line below folder $1: the first $3 parts of paths that begin with $2.
edges() {
    grep -rHE --include='*.[ch]' --include='*.cpp' '^#include "' "$1" |
        awk -F: -v base="$2" -v depth="$3" '
            function room(path,    part, n, i, r) {
                n = split(path, part, "/")
                for (i = 1; i <= depth && i < n; i++) r = r (i > 1 ? "/" : "") part[i]
                return r
            }
            {
                split($2, quoted, "\"")
                if (index("src/" quoted[2], base) != 1 && index(quoted[2], base) != 1) next
                from = room(substr($1, length(base) + 1))
                to = quoted[2]
                sub(base, "", to)
                sub(substr(base, 5), "", to)
                to = room(to)
                if (from != to) print from, to
            }' | sort -u
}
# Format readers include what all of them share, but not each other's headers.
edges src/mill/source src/mill/source/ 1 >"$work/formats"
check sees-formats grep -qE '^(png|tiff|exr) ' "$work/formats"
check formats-apart test -z "$(awk '$1 ~ /^(png|tiff|exr|jpeg|pnm|webp)$/ && $2 != "" && $2 != "meta"' "$work/formats")"
edges tools tools/ 1 | awk 'NF == 2' >"$work/program"
check sees-program grep -qx 'make output' "$work/program"
check program-no-cycle acyclic "$work/program"

# Facts about image formats are in one table: no other file lists extensions, or first bytes other than its own format's.
table='src/mill/source/format_table.h'
lists() { grep -rlE "$1" src tools --include='*.[ch]' --include='*.cpp' | grep -v "^$table$"; }
check sees-format-table grep -qE '"jpg jpeg' "$table"
check one-list-of-extensions test -z "$(lists '"(png|jpe?g|tiff?|tga|webp)",? .*"(exr|hdr|bmp|dpx|tiff?|jpe?g)"')"
check one-string-of-extensions test -z "$(lists '"([a-z0-9]+ )*(png|jpe?g|tiff?|tga|webp)( [a-z0-9]+)* (exr|hdr|bmp|dpx)[ "]' |
    grep -vx tools/cmd_extract.c)" # which offers some formats for pictures
check one-list-of-first-bytes test -z "$(lists '(x89PNG|SDPX.*4, "|xFF.xD8.xFF|8BPS)' | grep -v '^src/mill/source/[a-z]*/')"

# So are a mode of repeating, a filter and a container of tx files. The constants of the enumeration that begins with $1 in
# the header $2; and the files outside of $3 that name more than one of them. One alone is a default, or what a fast path
# serves.
constants() { grep -ohE "\b$1_[A-Z_]+\b" "$2" | grep -vE '_(U|V|UV)$' | sort -u; } # those are macros for both axes
names_several() {
    constants "$1" "$2" >"$work/constants"
    grep -roE --include='*.[ch]' --include='*.cpp' --include='*.cu' "\b$1_[A-Z_]+\b" include src tools | sort -u |
        awk -F: 'NR == FNR { known[$1]; next } $2 in known { n[$1]++ } END { for (f in n) if (n[f] > 1) print f }' \
            "$work/constants" - | grep -vxF "$2" | { [ -z "$3" ] && cat || grep -vxE "$3"; }
}
check sees-extensions grep -q . <<<"$(names_several TXM_EXTENSION include/txtile/pixel.h '')"
check one-place-for-extensions test -z "$(names_several TXM_EXTENSION include/txtile/pixel.h \
    'src/tile/terms/extension.h|src/tile/sample/simd/wrap_simd.h')"
check sees-filters grep -q . <<<"$(names_several TXM_FILTER include/txtile/sampler.h '')"
check one-place-for-filters test -z "$(names_several TXM_FILTER include/txtile/sampler.h \
    'src/tile/sample/(filter|stochastic)\.h')"
check sees-containers grep -qx TXM_CONTAINER_EXR <(constants TXM_CONTAINER include/txtile/reader.h)
check one-place-for-containers test -z "$(grep -rlwFf <(constants TXM_CONTAINER include/txtile/reader.h) src tools)"

# The program uses only public headers of the libraries, base, and the terms of tx files.
check program-uses-public-headers test -z \
    "$(grep -rhE '^#include "' tools | grep -vE '"(tools|base|txmill|txtile|tile/terms)/|"(page|schema)/[a-z.]*\.inc"')"
check library-knows-no-program test -z "$(grep -rlE '#include "tools/' src/tile src/mill include)"
# txmill-stream is the first stranger's program: it includes public headers and its own, and the core does not know it,
# but for the commands that tools/start.c starts.
own=$(cd stream && find . -name '*.h' | sed 's,^\./,,')
check sees-stream test "$(wc -l <<<"$own")" -gt 20
check stream-uses-public-headers test -z "$(grep -rhoE --exclude-dir=tests '^#include "[^"]*"' stream | cut -d'"' -f2 | sort -u |
    grep -vxF "$own" | grep -vx '[a-z.]*\.inc' | grep -vxF "$(cd include && ls txmill/*.h txtile/*.h)")"
check stream-defines-no-public-name test -z "$(comm -12 \
    <(nm --defined-only "$build"/stream/*.o "$build"/stream/[!te]*/*.o 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u) \
    <(grep -ohE '\btxm_[a-z0-9_]+\(' include/*/*.h | tr -d '(' | sort -u))"
check core-forgets-the-stream test -z "$(grep -rniE 'embree|path.trac|txmill.stream|txmill replay|\bstream (render|budget|play|view)' \
    src tools include | grep -v '^tools/start.c:')"
check public-headers-stand-alone test -z "$(grep -hE '^#include "' include/*/*.h | grep -vE '"(txmill|txtile)/')"
check libtxtile-headers-stand-alone test -z "$(grep -hE '^#include "' include/txtile/*.h | grep -v '"txtile/')"
# Only src/base/os asks the operating system, and says of each thing what other systems have for it. Files, folders, times
# of files and threads of POSIX are not counted: other systems or their compilers have them too.
system_headers='sys/[a-z]+|linux/[a-z]+|spawn|signal|pwd|grp|poll|termios|dlfcn|sched|netdb|malloc'
system_calls="fork|vfork|exec[lv]p?e?|_exit|posix_spawnp?|waitpid|wait[34]?|kill|raise|readlink|gethostname|gete?[ug]id|getp?pid|\
getpw[a-z]+|f?chown|fsync|fdatasync|flock|lockf|fcntl|mmap|munmap|madvise|mincore|socketpair|socket|send|recv|pipe2?|p?poll|\
inotify_[a-z0-9_]+|sigaction|signal|sigprocmask|pthread_sigmask|ioctl|dl(open|sym|close|addr|error)|[gs]etrlimit|getrusage|prctl|\
syscall|sched_[a-z]+|memfd_create|copy_file_range|link|symlink|mko?s?temp|mkdtemp|renameat2?|futimens|utimensat|sysconf|\
clock_gettime|setitimer|alarm|getauxval|uname|statv?fs|getrandom|malloc_usable_size"
asks_system() { # FILE...: "FILE WHAT" for each header and call
    grep -HoE "^#include <($system_headers)\.h>" "$@" | grep -vE '<sys/(stat|types)\.h>' | sed 's/:#include / /'
    # Comments, strings, members and names that only end like a call do not count.
    awk -v calls="(^|[^a-zA-Z0-9_.>])($system_calls)\\(" '
        { gsub(/"([^"\\]|\\.)*"/, "\"\""); while (match($0, /\/\*.*\*\//)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH) }
        /^ *(\/\*|\* )/ { next }
        match($0, calls) { print FILENAME, substr($0, RSTART, RLENGTH) }' "$@"
}
find src tools \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' \) ! -path 'src/base/os/*' >"$work/askers"
mapfile -t askers <"$work/askers"
check sees-the-system test "$(asks_system src/base/os/*.c | wc -l)" -gt 80
# reads.c replaces functions of the C library, of which it needs the originals.
asks_system "${askers[@]}" | grep -vE '^src/mill/source/oiio/worker/reads\.c (<dlfcn\.h>|.?dlsym\()$' >"$work/out"
check only-os-asks-the-system test ! -s "$work/out"
check os-names-what-others-have test -z "$(grep -L 'Elsewhere: ' src/base/os/*.h)"
# Each library says of each struct in its headers whether it may grow (tile/abi/structs.h).
for library in tile mill; do
    check "lib$library-structs-have-a-kind" diff <(grep -ohE '^typedef struct txm_[a-z0-9_]+ \{' include/tx$library/*.h | cut -d' ' -f3 | sort) \
        <(sed -nE 's/^ +(FIXED|SIZED|RETURNED)\(([a-z0-9_]+).*/\2/p' src/$library/abi/sizes.c | sort)
done
# The cache has three rooms with two headers between them. The lower ones do not know what is above them; only the upper
# one locks; and the first knows neither files nor textures, the second no pixels of slots.
cache=src/tile/cache
check cache-has-rooms test "$(cd $cache && echo */)" = "catalog/ flow/ tiles/"
check sees-cache-rooms grep -qx 'tile/cache/flow tile/cache/catalog' "$work/rooms"
check cache-arrows-go-down test -z "$(grep -E '^tile/cache/tiles .*cache|^tile/cache/catalog tile/cache/flow' "$work/rooms")"
check cache-headers-between test "$(grep -rhoE '#include "tile/cache/[a-z]+/[a-z]+\.h"' $cache/catalog $cache/flow | sort -u |
    grep -cE '/(tiles/|catalog/catalog)')" = 2
check cache-headers-are-short test "$(awk 'FNR > 150' $cache/tiles/tiles.h $cache/catalog/catalog.h | wc -l)" = 0
check sees-locks grep -q pthread_mutex_lock $cache/flow/load.c
check cache-locks-in-flow test -z "$(grep -rlE 'pthread_(mutex|cond)' $cache/tiles $cache/catalog)"
check tiles-know-no-files test -z "$(grep -rlE 'txm_(tx|source|texture|catalog)\b' $cache/tiles)"
check catalog-touches-no-pixels test -z "$(grep -rl 'txm_slot_pixels' $cache/catalog)"
# Headers that the files of one room share are not included elsewhere.
for header in $(find src -name '*_impl.h'); do
    room=$(dirname "$header")
    check "private-$(basename "$header" .h)" test -z \
        "$(grep -rlF "#include \"${header#src/}\"" src tools | grep -v "^$room/")"
done

# Tests call functions of each file of the libraries, with exceptions explained in docs/tests.md; scripts run the commands.
# Prints "FILE NAME" for the functions and tables of the source files, on any machine.
shown() {
    find src \( -name '*.c' -o -name '*.cpp' \) -exec awk '
        /^[A-Za-z_]/ && !/^(static|typedef|struct|enum|union|extern)[^a-z_]/ {
            line = $0
            while (match(line, /(txm|gpu)_[a-z0-9_]+ *[(=\[]/)) {
                name = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                sub(/ *[(=\[]$/, "", name)
                print FILENAME, name
            }
        }' {} +
}
grep -ohE '(txm|gpu)_[a-z0-9_]+' tests/*/test_*.c tests/*/*/test_*.c stream/tests/test_*.c tests/util/*.[ch] | sort -u >"$work/words"
shown | awk 'NR == FNR { word[$1]; next } $2 in word { print $1 }' "$work/words" - | sort -u >"$work/tested"
check sees-tests grep -qx 'src/base/mem.c' "$work/tested"
sed -n '/^## Files that no test calls/,$p' docs/tests.md | grep -oE '`src/[^`]+`' | tr -d '`' | sort >"$work/excused"
find src \( -name '*.c' -o -name '*.cpp' \) | sort |
    comm -23 - "$work/tested" >"$work/untested"
check every-file-is-tested test -z "$(comm -23 "$work/untested" "$work/excused")"
check excuses-are-true test -z "$(comm -13 "$work/untested" "$work/excused")"

# The runner prints a line for each room, besides what failed and what was skipped.
mkdir -p "$work/tests/one" "$work/tests/two"
echo 'echo "ok a"; echo "note b"; echo "skip c (why)"' >"$work/tests/one/cli_a.sh"
echo 'echo "ok d"' >"$work/tests/one/cli_d.sh"
echo 'echo "not ok e"; echo "    because"' >"$work/tests/two/cli_e.sh"
by_room() { (cd "$work" && env -u TXM_BUILD BY_ROOM=yes bash "$repo/tests/run.sh" build "$@"); }
run by_room tests/one/cli_a.sh tests/two/cli_e.sh tests/one/cli_d.sh
check by-room-exit rc_is 1
sed 's/; .* s of processor time)/)/; s/, [0-9.]* s)/)/' "$work/out" >"$work/lines"
printf '%s\n' 'skip c (why)' 'FAIL cli_e.sh (0 passed, 1 failed)' 'not ok e' '    because' \
    'FAIL two (1 tests: 0 passed, 1 failed, 0 skipped)' 'pass one (2 tests: 2 passed, 0 failed, 1 skipped)' \
    '2 passed, 1 failed, 1 skipped' >"$work/expected"
check by-room-lines cmp "$work/expected" "$work/lines"
finish
