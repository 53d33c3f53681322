#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: rooms are the folders of src and of tools, and no two of them need each other, however far round.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$repo" || exit 1

# Lines "FROM TO" of the #include lines below folder $1: rooms of depth $2, of paths that begin with $3.
edges() {
    grep -rHE --include='*.[ch]' --include='*.cpp' --include='*.cu' '^#include "' "$1" |
        awk -F: -v depth="$2" -v base="$3" '
            function room(path,    part, n, i, r) {
                n = split(path, part, "/")
                for (i = 1; i <= depth && i < n; i++) r = r (i > 1 ? "/" : "") part[i]
                return r
            }
            {
                split($2, quoted, "\"")
                from = room(substr($1, length(base) + 1))
                to = quoted[2]
                if (base == "tools/" && sub(/^tools\//, "", to) == 0) next
                to = room(to)
                if (to != "" && from != to) print from, to
            }' | sort -u
}
# No way leads from a room back to itself; prints the rooms of one that does.
acyclic() { [ -s "$1" ] && tsort "$1" >"$work/out" 2>"$work/err"; }

edges src 1 src/ >"$work/rooms"
check sees-includes grep -qx 'container core' "$work/rooms"
check no-cycle acyclic "$work/rooms"
# Formats know what all of them share, not each other.
edges src/mill/source 2 src/ | grep '^source' | grep ' source' >"$work/formats"
check sees-formats grep -qx 'source/png source' "$work/formats"
check formats-apart test -z "$(awk '$1 ~ /\/(png|tiff|exr|jpeg|hdr)$/ && $2 ~ /\// && $2 !~ /\/meta$/' "$work/formats")"
edges tools 1 tools/ | awk 'NF == 2' >"$work/program"
check sees-program grep -qx 'make output' "$work/program"
check program-no-cycle acyclic "$work/program"

# The program is a stranger to the library: its public headers, and small ones of core.
check program-uses-public-headers test -z \
    "$(grep -rhE '^#include "' tools | grep -vE '"(tools|txmill|core)/|"(report|view)/[a-z.]*\.inc"')"
check library-knows-no-program test -z "$(grep -rlE '#include "tools/' src include)"
check public-headers-stand-alone test -z "$(grep -hE '^#include "' include/txmill/*.h | grep -v '"txmill/')"
# What a room's parts share is nobody else's.
for header in $(find src -name '*_impl.h'); do
    room=$(cut -d/ -f2 <<<"$header")
    check "private-$(basename "$header" .h)" test -z \
        "$(grep -rlF "#include \"${header#src/}\"" src tools | grep -v "^src/$room/")"
done

# Tests call what files show, but for commands, which scripts run, and for what docs/architecture.md gives a reason for.
# Lines "FILE NAME": the functions and tables of the source files, whatever machine this is.
shown() {
    find src tools \( -name '*.c' -o -name '*.cpp' \) -exec awk '
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
grep -ohE '(txm|gpu)_[a-z0-9_]+' tests/test_*.c tests/util_*.[ch] | sort -u >"$work/words"
shown | awk 'NR == FNR { word[$1]; next } $2 in word { print $1 }' "$work/words" - | sort -u >"$work/tested"
check sees-tests grep -qx 'src/tile/base/mem.c' "$work/tested"
sed -n '/^## Files that no test calls/,$p' docs/architecture.md | grep -oE '`(src|tools)/[^`]+`' | tr -d '`' | sort >"$work/excused"
find src tools \( -name '*.c' -o -name '*.cpp' \) ! -path 'tools/cmd_*' ! -path tools/txmill.c | sort |
    comm -23 - "$work/tested" >"$work/untested"
check every-file-is-tested test -z "$(comm -23 "$work/untested" "$work/excused")"
check excuses-are-true test -z "$(comm -13 "$work/untested" "$work/excused")"
finish
