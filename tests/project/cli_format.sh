#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C files are formatted as .clang-format says. Versions of the formatter break some lines differently: Debian 12's decides.
# Plain builds only: it looks at sources
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
case $(clang-format --version 2>/dev/null) in
    *"version 14."*) ;;
    *) skip format "clang-format 14 is not installed"; finish ;;
esac
cd "$repo" || exit 1
find src stream include tools tests bench examples -name '*.[ch]' -print0 | xargs -0 -n 50 -P "$(nproc)" clang-format --dry-run 2>&1 |
    sed -nE 's/^([^:]+):[0-9]+:.*\[-Wclang-format-violations\]$/\1/p' | sort -u >"$work/unformatted"
check sees-a-fault sh -c "printf 'int  a;\n' | clang-format --assume-filename=a.c --dry-run 2>&1 | grep -q violations"
run cat "$work/unformatted"
check formatted test ! -s "$work/unformatted"
check columns test -z "$(find src stream include tools tests bench examples -name '*.[ch]' -exec awk 'length > 120' {} +)"
finish
