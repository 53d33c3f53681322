#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the binary interface of the shared libraries with that of an earlier commit, which is built in BUILD/abi:
# abi.sh BUILD [COMMIT]. Without COMMIT it is that of the last tag.
# Additions do not count, not even those at the end of structs that may grow (src/*/abi/sizes.c). Changes and removals
# do, because they break compiled programs.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1 base=${2:-$(git describe --tags --abbrev=0 2>/dev/null || :)}
for tool in abidw abidiff; do
    command -v $tool >/dev/null || { echo "abi.sh: $tool is missing (apt-get install abigail-tools)" >&2; exit 1; }
done
[ -n "$base" ] || { echo "skip abi: no version has a tag yet; make check-abi BASE=COMMIT compares with a commit"; exit 0; }
commit=$(git rev-parse --verify --quiet "$base^{commit}") || { echo "abi.sh: no commit $base" >&2; exit 1; }
earlier=$build/abi/$commit
if [ ! -e "$earlier/ready" ]; then
    rm -rf "$build/abi"
    mkdir -p "$earlier"
    git archive "$commit" | tar -x -C "$earlier"
    echo "building $base ..."
    env -u MAKEFLAGS -u MAKELEVEL OPT="-O2 -g" make -s -C "$earlier" -j"$(nproc)" build/libtxtile.so build/libtxmill.so
    touch "$earlier/ready"
fi
# Only types of the public headers are included, and no paths of the build.
dump() { # TREE LIBRARY
    abidw --headers-dir "$1/include/txtile" --headers-dir "$1/include/txmill" --drop-private-types --no-show-locs \
        --no-corpus-path --no-comp-dir-path --no-elf-needed --no-architecture --type-id-style hash "$2"
}
grows=$(sed -nE 's/^ +(SIZED|RETURNED)\((\w+)\).*/\2/p' src/*/abi/sizes.c | paste -sd '|')
printf '[suppress_type]\ntype_kind = struct\nname_regexp = ^(%s)$\nhas_data_member_inserted_at = end\n' "$grows" >"$build/abi/grows.suppr"
failed=0
for library in libtxtile libtxmill; do
    dump "$earlier" "$earlier/build/$library.so" >"$build/abi/$library.earlier"
    dump . "$build/$library.so" >"$build/abi/$library.now"
    grep -q '<enum-decl' "$build/abi/$library.now" ||
        { echo "abi.sh: $build/$library.so has no types in its debugging information; build it with OPT='-O2 -g'" >&2; exit 1; }
    if abidiff --no-added-syms --suppressions "$build/abi/grows.suppr" "$build/abi/$library.earlier" "$build/abi/$library.now"; then
        echo "$library: programs compiled with $base keep running"
    else
        echo "$library: programs compiled with $base would break; a release with this change needs another SOVERSION" >&2
        failed=1
    fi
done
exit $failed
