#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# docs/texture-cache.md: its snippets form one program in C and one file of C++, which compile without warnings and run;
# everything that it names exists.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
case $(basename "$build") in
    build) ;;
    *) skip guide "plain builds only"; finish ;;
esac
guide=$repo/docs/texture-cache.md

python3 - "$guide" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
for language, name in (("c", "guide.c"), ("cpp", "guide.cpp")):
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.S)
    open(name, "w").write("\n".join(blocks))
    print(language, len(blocks), max(len(line) for block in blocks for line in block.splitlines()))
PY
check has-snippets grep -q 'shade_wave' guide.c
flags=(-Wall -Wextra -Werror -I"$repo/include" -L"$build" -ltxtile -lm "-Wl,-rpath,$work")
ln -s "$build/libtxtile.so" libtxtile.so.0
run ${CC:-cc} -std=gnu11 guide.c "${flags[@]}" -o guide
check c-compiles rc_is 0
printf '#include <cstdio>\nint main() { auto cache = make_cache(4 << 20); std::puts("made"); }\n' >>guide.cpp
run ${CXX:-c++} -std=c++17 guide.cpp "${flags[@]}" -o guide-cxx
check cxx-compiles rc_is 0
run ./guide-cxx
check cxx-runs prints "made"

cp "$golden/rgb8.png" .
run ./guide rgb8.png
check missing-is-said rc_is 1
check missing-says says ".tx: missing"
txm make -q rgb8.png
run ./guide rgb8.png
check c-runs rc_is 0
check c-colours prints "the same colours, and in the set"
touch -d '2020-01-02' rgb8.png
run ./guide rgb8.png
check outdated-says says ".tx: outdated the image is older"
run ./guide absent.png
check absent-says says "absent.png: cannot examine the image"

# Every name of the interface that the guide mentions exists.
run sh -c "grep -oE '\b(txm|TXM)_[A-Za-z0-9_]+' '$guide' | sort -u | while read -r n; do
    grep -qrw \"\$n\" '$repo/include' || grep -qr \"\${n}_\" '$repo/include' || echo \"\$n\"; done"
check names-exist test ! -s out
# Every link to a file and to a heading leads somewhere.
run sh -c "grep -oE '[a-z]\]\([^)#]+' '$guide' | cut -c4- | while read -r f; do [ -e '$repo/docs/'\"\$f\" ] || echo \"\$f\"; done"
check links-lead-to-files test ! -s out
run sh -c "grep -oE '\]\(#[^)]+' '$guide' | cut -c4- | while read -r h; do
    sed -n 's/^## //p' '$guide' | tr 'A-Z ' 'a-z-' | tr -d ',' | grep -qx \"\$h\" || echo \"\$h\"; done"
check links-lead-to-headings test ! -s out
finish
