#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the binary interface of the shared libraries with the references in scripts/abi: abi.sh check|renew BUILD
# Additions do not count, not even those at the end of structs that contain their size. Changes and removals do,
# because they break compiled programs.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1 build=$2
for tool in abidw abidiff; do
    command -v $tool >/dev/null || { echo "abi.sh: $tool is missing (apt-get install abigail-tools)" >&2; exit 1; }
done
# Only types of the public headers are included, and no paths of the build.
dump() {
    abidw --headers-dir include/txtile --headers-dir include/txmill --drop-private-types --no-show-locs --no-corpus-path --no-comp-dir-path \
        --no-elf-needed --no-architecture --type-id-style hash "$1"
}
failed=0
for library in libtxtile libtxmill; do
    reference=scripts/abi/$library.abi
    case $what in
        renew) mkdir -p scripts/abi && dump "$build/$library.so" >"$reference.new" && mv "$reference.new" "$reference" ;;
        check)
            dump "$build/$library.so" >"$build/$library.abi"
            if abidiff --no-added-syms --suppressions scripts/abi/grows.suppr "$reference" "$build/$library.abi"; then
                echo "$library: as in $reference"
            else
                echo "$library: programs that were compiled with $reference would break; if this is intended, run: make abi-reference" >&2
                failed=1
            fi
            ;;
        *) echo "usage: abi.sh check|renew BUILD" >&2; exit 2 ;;
    esac
done
exit $failed
