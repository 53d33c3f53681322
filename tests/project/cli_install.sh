#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make install into a separate folder: all files arrive, programs build against them, and make uninstall removes them all.
# Plain builds only: it looks at what is installed where
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
case $(basename "$build") in
    build) ;;
    *) skip install "plain builds only"; finish ;;
esac

root=$work/root prefix=/usr/local
# Installs what was built, with the same variables, so that nothing is rebuilt while other tests run.
eval "variables=(${TXM_MAKE_VARS:-})"
for v in "${variables[@]}"; do case $v in PREFIX=*) prefix=${v#*=} ;; esac done
make_here() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$repo" "${variables[@]}" DESTDIR="$root" "$@"; }

# What would be compiled for other flags, as far as a dry run shows; it cannot foresee what generated files (color/known) cause.
compiled() { make_here -n all "$@" | sed -nE "s/.* -c ([^ ]+) .*/\1/p" | grep -v color/known; }
check nothing-is-left-to-build test -z "$(compiled)"
compiled PREFIX=/opt/elsewhere >compiled
check prefix-rebuilds-what-holds-it test "$(head -n 1 compiled)" = src/base/os/plugin.c
check prefix-rebuilds-no-more test -z "$(grep -v base/os/plugin compiled)"
compiled CFLAGS=-DOTHER >compiled
check flags-rebuild-all test "$(grep -c '^src/' compiled)" -gt 100

if command -v mandoc >/dev/null; then make_here html-man >/dev/null; fi
for markdown in python3 /usr/bin/python3; do "$markdown" -c 'import markdown' 2>/dev/null && break; markdown=; done
if [ -n "$markdown" ]; then make_here html-manual PYTHON="$markdown" >/dev/null; fi
run make_here install
check install-exit rc_is 0
# The manual for a browser is installed if it was built, and --help names the page that is there.
if command -v mandoc >/dev/null; then
    page=$root$prefix/share/doc/txmill/man/txmill-gc.1.html
    check installed-html eval 'test -s "$page" && test -s "${page%/*}/mandoc.css"'
    for c in gc stream; do
        check "help-names-page-$c" test "$(env -u TXMILL_PLUGINS "$root$prefix/bin/txmill" $c --help | tail -n 1)" = "For a browser: $(realpath "${page%-*}-$c.1.html")"
    done
    if [ -n "$markdown" ]; then
        run python3 -c 'import pathlib, re, sys
pages = list(pathlib.Path(sys.argv[1]).glob("*.html"))
print(*[(p.name, t) for p in pages for t in re.findall("(?:href|src)=\"([^\"#]+)", p.read_text()) if "://" not in t and not (p.parent / t).exists()])
sys.exit(len(pages) < 10)' "$root$prefix/share/doc/txmill/manual"
        check installed-manual eval 'rc_is 0 && test "$(tr -d "\n" <out)" = ""'
    else
        skip installed-manual "Python-Markdown is not installed"
    fi
    rm "$page"
    check help-names-no-page test "$("$root$prefix/bin/txmill" gc --help | tail -n 1)" = "The manual is txmill-gc(1)"
else
    skip installed-html "mandoc is not installed"
fi
python=lib/python3.$(python3 -c 'import sys; print(sys.version_info[1])')/dist-packages
for f in bin/txmill lib/libtxmill.a lib/libtxmill.so lib/libtxmill.so.0 lib/libtxtile.a lib/libtxtile.so.0 \
    lib/pkgconfig/txmill.pc lib/pkgconfig/txmill-static.pc lib/pkgconfig/txtile.pc lib/pkgconfig/txtile-static.pc lib/cmake/txmill/txmill-config.cmake \
    include/txtile/cache.hpp include/txtile/kernel.h lib/txmill/txmill-oiio.so \
    include/txmill/convert.h include/txtile/reader.h share/man/man1/txmill.1 share/man/man1/txmill-make.1 \
    share/man/man1/txmill-info.1 share/man/man5/txmill-tx.5 share/man/man3/txtile.3 \
    share/man/man3/txmill.3 share/doc/txmill/texture-cache.md share/doc/txmill/examples/renderer.c share/bash-completion/completions/txmill \
    "$python/txmill/__init__.py" share/zsh/site-functions/_txmill share/fish/vendor_completions.d/txmill.fish \
    share/mime/packages/txmill.xml share/thumbnailers/txmill.thumbnailer share/doc/txmill/info.schema.json; do
    check "installed-$(basename $f)" test -s "$root$prefix/$f"
done

# The package finds the program that it was installed with.
run env -u TXMILL PATH=/usr/bin:/bin PYTHONPATH="$root$prefix/$python" python3 -c 'import txmill; print(txmill.find_program())'
check installed-python-finds-program prints "$root$prefix/bin/txmill"

for h in "$repo"/include/*/*.h; do
    name=${h#"$repo/include/"}
    check "header-c-$(basename "$h")" sh -c "echo '#include <$name>
int used;' | cc -std=c11 -Wall -Wextra -Wpedantic -Werror \
        -fsyntax-only -I'$root$prefix/include' -x c -"
    check "header-cxx-$(basename "$h")" sh -c "echo '#include <$name>
int used;' | c++ -std=c++17 -Wall -Wextra -Werror \
        -fsyntax-only -I'$root$prefix/include' -x c++ -"
done

# No two headers define the same name.
for h in "$repo"/include/*/*.h; do echo "#include <${h#"$repo/include/"}>"; done >together.h
echo 'int used;' >>together.h
check headers-together-c cc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$root$prefix/include" -x c together.h
check headers-together-cxx c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I"$root$prefix/include" -x c++ together.h

cat >program.c <<'EOF'
#include <stdio.h>
#include <txmill/convert.h>
#include <txtile/reader.h>
int main(int argc, char **argv)
{
    txm_context *context = NULL;
    txm_settings settings;
    txm_settings_init(&settings);
    txm_convert_options options;
    txm_convert_options_init(&options);
    txm_result result = {0};
    txm_error err = {0};
    txm_tx *tx = NULL;
    (void)argc;
    if (txm_context_new(NULL, &context, &err) || txm_convert(context, argv[1], &settings, &options, &result, &err) ||
        txm_tx_open(result.tx_path, &tx, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    printf("%ux%u %u levels\n", txm_tx_info_of(tx)->width, txm_tx_info_of(tx)->height, txm_tx_info_of(tx)->levels);
    txm_tx_close(&tx);
    txm_result_clear(&result);
    txm_context_free(&context);
    return 0;
}
EOF
cp "$golden/rgb8.png" "$golden/rgba8.tga" .
export PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
flags() { pkg-config "$@" txmill | sed "s|$root$root|$root|g"; }
check pkg-config-version test "$(pkg-config --modversion txmill)" = "$("$TXMILL" --version | cut -d' ' -f2)"
# shellcheck disable=SC2046
run cc $(flags --cflags) program.c $(flags --libs) -o program-shared
check shared-links rc_is 0
# No environment variable says where the modules are.
unset TXMILL_PLUGINS
# The libraries from PyPI are installed with the modules, and nothing refers to the folders of the build.
[ ! -e "$build/libOpenColorIO.so" ] || check own-libraries sh -c 'test -e "$0/libOpenColorIO.so" -a -n "$(echo "$0"/libOpenImageIO.so.3*)" &&
    test -z "$(find "$0" -type l)" && ldd "$1" | grep -q "=> ${0%/lib/txmill}/.*/lib/txmill/libOpenColorIO.so"' "$root$prefix/lib/txmill" "$root$prefix/bin/txmill"
for f in bin/txmill lib/libtxmill.so lib/libtxtile.so lib/txmill/*; do
    for f in "$root$prefix"/$f; do objdump -p "$f" 2>/dev/null; done
done | sed -n 's/^ *R[UN]*PATH *//p' | tr : '\n' | sort -u >paths
check paths-are-relative test -s paths -a -z "$(grep -v '^\$ORIGIN' paths)"
run env LD_LIBRARY_PATH="$root$prefix/lib" ./program-shared rgb8.png
check shared-runs prints "300x200 9 levels"
# The TGA needs the OpenImageIO module.
run env LD_LIBRARY_PATH="$root$prefix/lib" ./program-shared rgba8.tga
check shared-module-runs prints "90x130 8 levels"
static_flags() { env -u PKG_CONFIG_SYSROOT_DIR pkg-config --define-variable=libdir="$root$prefix/lib" --define-variable=includedir="$root$prefix/include" --cflags --libs "$1"; }
# shellcheck disable=SC2046
run cc program.c $(static_flags txmill-static) -o program-static
check static-links rc_is 0
check static-has-no-libtxmill sh -c '! ldd program-static | grep -qE "libtx(mill|tile)"'
rm -rf blender_tx
run ./program-static rgb8.png
check static-runs prints "300x200 9 levels"
# A program elsewhere that contains the library finds the modules only at their place at build time, where this
# installation put none.
run env TXMILL_PLUGINS="$root$prefix/lib/txmill" ./program-static rgba8.tga
check static-module-runs prints "90x130 8 levels"
# After it was moved, the program finds its modules relative to itself.
run "$root$prefix/bin/txmill" make --force rgba8.tga
check moved-program-finds-modules rc_is 0
run "$root$prefix/bin/txmill" info blender_tx/rgb8*.tx
check installed-program-runs prints "300 x 200"

# The examples are built as other programs are, from the installed headers and pkg-config files, and run.
cp "$golden/half-rgba.exr" .
mkdir textures && cp rgb8.png rgba8.tga half-rgba.exr textures
example() { # NAME SOURCE PACKAGE COMPILER...: built without a warning
    local name=$1 source=$2 package=$3
    shift 3
    # shellcheck disable=SC2046
    run "$@" -Wall -Wextra -Werror $(pkg-config --cflags "$package" | sed "s|$root$root|$root|g") "$repo/examples/$source" \
        $(pkg-config --libs "$package" | sed "s|$root$root|$root|g") -o "$name"
    check "example-$source-builds" rc_is 0
}
example convert_folder convert_folder.c txmill cc -std=c11
example read_tiles read_tiles.c txtile cc -std=c11
example read_means read_tiles.cpp txtile c++ -std=c++17
example look_up look_up.cpp txtile c++ -std=c++17
example look_up-static look_up.cpp txtile-static c++ -std=c++17
example view_texture view_texture.c txtile cc -std=c11
example renderer renderer.c txtile cc -std=c11
example wavefront wavefront.c txtile cc -std=c11
example device device.c txtile cc -std=c11
example procedural procedural.c txtile cc -std=c11
export LD_LIBRARY_PATH=$root$prefix/lib
run ./convert_folder textures
check example-converts test "$(grep -c ': created ' out)" -eq 3
run ./convert_folder textures
check example-up-to-date test "$(grep -c ': up to date' out)" -eq 3
tx=$(echo textures/blender_tx/rgb8.png.*.tx) exr=$(echo textures/blender_tx/half-rgba.exr.*.tx)
run ./read_tiles "$tx"
# 300 x 200 in tiles of 64: 5 columns and 4 rows of padding on either side, 4 channels.
check example-reads prints "level 0: $(((300 + 5 * 4) * (200 + 4 * 4) * 4)) bytes of padded tiles"
check example-reads-all test "$(wc -l <out)" -eq 9
run ./read_means "$exr"
check example-cxx-reads prints "level 0: 96 x 96 px"
run ./read_means "$tx"
mean=$(sed -n 's/^level 8: 1 x 1 px, mean //p' out)
run ./look_up "$tx"
check example-looks-up prints "256 lookups, red is 0."
cp out looked-up
run env -u LD_LIBRARY_PATH ./look_up-static "$tx"
check example-looks-up-static cmp looked-up out
run ./look_up absent.tx
check example-looks-up-absent eval 'rc_is 1 && says "absent.tx"'
# The example at the head of cache.h is a program, but for main.
sed -n '/^ \* \{5\}/s/^ \* *//p; /^ \*\/$/q' "$root$prefix/include/txtile/cache.h" >lines
check cache-example-is-short test "$(wc -l <lines)" -le 14
{ printf '#include <txtile/cache.h>\nint main(void)\n{\n' && cat lines && printf 'return !(rgba[3] > 0);\n}\n'; } >head.c
cp "$tx" wood.tx
# shellcheck disable=SC2046
run cc -std=c11 -Wall -Wextra -Werror head.c $(pkg-config --cflags --libs txtile | sed "s|$root$root|$root|g") -o head
check cache-example-builds rc_is 0
run ./head
check cache-example-runs rc_is 0
run ./view_texture "$tx" 8 one.ppm
check example-views rc_is 0
# The only pixel of the last level, as the C++ program prints it: three of its four channels.
check example-view-pixel python3 -c "
p = open('one.ppm', 'rb').read()
assert p[:11] == b'P6\n1 1\n255\n' and abs((sum(p[-3:]) + 255) / 4 / 255 - $mean) < 1e-3, (p, $mean)"
run ./view_texture "$exr"
check example-view-terminal prints "▀"
# A floor of 640 x 360 pixels under a black sky: both renderers make the same picture, whatever the budget.
run ./renderer "$tx" threads.ppm
check example-renders prints " lookups, "
# The same with libtxtile inside the program, as described in docs/texture-cache.md, and in a plug-in that exports none of it.
# shellcheck disable=SC2046
run cc -std=c11 "$repo/examples/renderer.c" $(static_flags txtile-static) -o renderer-static
check txtile-static-links rc_is 0
check txtile-static-needs-codecs-alone test -z "$(ldd renderer-static |
    grep -vE 'linux-vdso|ld-linux|lib(c|m|deflate|isal|zstd|xxhash)\.so')"
run env -u LD_LIBRARY_PATH ./renderer-static "$tx" static.ppm
check txtile-static-runs rc_is 0
check txtile-static-same-picture cmp threads.ppm static.ppm
cat >plugin.c <<'EOF_C'
#include <txtile/cache.h>
const char *plugin_version(void)
{
    txm_cache *cache = NULL;
    txm_cache_free(&cache);
    return txm_version();
}
EOF_C
# shellcheck disable=SC2046
run cc -shared -fPIC plugin.c $(static_flags txtile-static) -Wl,--exclude-libs,libtxtile.a -o plugin.so
check txtile-in-a-plugin rc_is 0
check plugin-shows-itself-alone test "$(nm -D --defined-only plugin.so | awk '{ print $3 }')" = plugin_version
if command -v cmake >/dev/null; then
    mkdir cmake && cat >cmake/CMakeLists.txt <<EOF_CMAKE
cmake_minimum_required(VERSION 3.16)
project(renderers C CXX)
find_package(txmill 0.1 REQUIRED)
add_executable(one "$repo/examples/renderer.c")
target_link_libraries(one PRIVATE txmill::txtile)
add_executable(two "$repo/examples/look_up.cpp")
set_property(TARGET two PROPERTY CXX_STANDARD 17)
target_link_libraries(two PRIVATE txmill::txtile-static)
add_executable(three "$repo/examples/convert_folder.c")
target_link_libraries(three PRIVATE txmill::txmill)
add_executable(four ../program.c)
target_link_libraries(four PRIVATE txmill::txmill-static)
EOF_CMAKE
    run cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$root$prefix"
    check cmake-finds rc_is 0
    run cmake --build cmake/build
    check cmake-builds rc_is 0
    run cmake/build/one "$tx" cmake.ppm
    check cmake-renders cmp threads.ppm cmake.ppm
    run env -u LD_LIBRARY_PATH cmake/build/two "$tx"
    check cmake-looks-up cmp looked-up out
    rm -rf blender_tx
    run env -u LD_LIBRARY_PATH cmake/build/four rgb8.png
    check cmake-converts-static eval 'prints "300x200 9 levels" && ! ldd cmake/build/four | grep -qE "libtx(mill|tile)"'
    sed -i 's/txmill 0.1/txmill 7/' cmake/CMakeLists.txt
    run cmake -S cmake -B cmake/other -DCMAKE_PREFIX_PATH="$root$prefix"
    check cmake-refuses-others eval '! rc_is 0'
else
    skip cmake "CMake is not installed"
fi
run ./wavefront "$tx" waves.ppm 1
check example-waves prints " launches for 23 waves"
check example-same-picture cmp threads.ppm waves.ppm
# On a device, which here is the CPU, driven by a plug-in for tests.
run env TXMILL_PLUGINS="$build/tests/gpu" ./device cuda:0 "$tx" device.ppm 1
check example-device prints " tiles copied"
check example-device-same-picture cmp threads.ppm device.ppm
run env TXMILL_PLUGINS="$PWD" ./device opencl:7 "$tx" device.ppm
check example-device-absent eval 'rc_is 1 && { says "txmill-opencl.so" || says "no device opencl:7"; }'
# 24 GB of tiles that are computed and never stored, with two budgets.
run ./procedural board.ppm 1
check example-procedural prints ' tiles of 24661 MB were computed'
run ./procedural larger.ppm 64
check example-procedural-same cmp board.ppm larger.ppm
check example-procedural-has-a-picture test "$(od -An -v -tu1 -w3 -j15 board.ppm | sort -u | wc -l)" -gt 50
check example-has-a-picture test "$(od -An -v -tu1 -w3 -j15 threads.ppm | sort -u | wc -l)" -gt 500
cp "$tx" spoilt.tx && chmod u+w spoilt.tx
python3 - spoilt.tx <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    data = f.read()
    f.seek(len(data) // 4)
    f.write(bytes(b ^ 255 for b in data[len(data) // 4:len(data) // 2]))
PY
run ./renderer spoilt.tx spoilt.ppm
check example-damaged rc_is 1
check example-damaged-says says "damaged"
run ./wavefront spoilt.tx spoilt.ppm
check example-waves-damaged rc_is 1
check example-waves-damaged-says says "damaged"
run ./renderer "$tx" /dev/full
check example-full-disk rc_is 1
check example-full-disk-says says "/dev/full: No space left on device"
run ./wavefront absent.tx absent.ppm
check example-waves-absent says "absent.tx"
run ./read_tiles absent.tx
check example-failure rc_is 1
check example-failure-says says "absent.tx"
python3 - "$repo/docs/libraries.md" >first.c <<'PY'
import re, sys
print(re.search(r"```c\n(.*?)```", open(sys.argv[1]).read(), re.S)[1])
PY
# shellcheck disable=SC2046
run cc -Wall -Wextra -Werror first.c $(flags --cflags) $(flags --libs) -o first
check manual-program-builds rc_is 0
run ./first rgb8.png
check manual-program-runs prints "blender_tx/rgb8.png.0-"
# So are those of the manual.
for page in txtile txmill; do
    MANPATH=$root$prefix/share/man man -l "$root$prefix/share/man/man3/$page.3" >"$page.txt" 2>/dev/null
    check "man-$page" test -s "$page.txt"
    awk '/^\.Ed/ { code = 0 } code; /^\.Sh EXAMPLES/ { examples = 1 } /^\.Bd/ { code = examples }' \
        "$root$prefix/share/man/man3/$page.3" | sed 's/\\e/\\/g' >"$page-man.c"
    # shellcheck disable=SC2046
    run cc -Wall -Wextra -Werror "$page-man.c" $(pkg-config --cflags --libs $page | sed "s|$root$root|$root|g") -o "$page-man"
    check "man-$page-builds" rc_is 0
done
run ./txtile-man "$tx"
check man-txtile-runs test "$(wc -w <out)" -eq 4
run ./txmill-man rgb8.png
check man-txmill-runs prints "blender_tx/rgb8.png.0-"
unset LD_LIBRARY_PATH

# txmill-stream is a program as strangers write them: a copy of its folder builds against what is installed, by pkg-config
# alone, and without a warning. txmill starts it; without it, one sentence says what is missing.
txmill=$root$prefix/bin/txmill modules=$root$prefix/lib/txmill
"$txmill" make -q -c sRGB -a straight rgb8.png
estimate() { run "$txmill" stream budget plane rgb8.png --size 64x36 --samples 1 "$@"; }
estimate --json
cp out installed.json
check stream-is-started json out 'o[0]["action"] == "budget" and o[0]["tiles"] > 0'
rm -f "$modules"/txmill-stream "$modules"/txmill-sdl.so
estimate
check stream-is-absent eval 'rc_is 3 && says "is a command of txmill-stream, which is not installed" && [ "$(wc -l <err)" -eq 2 ]'
estimate --json
check stream-is-absent-json json out 'o[0]["error"]["status"] == "not-installed" and o[0]["schema"] == "txmill.stream"'
check stream-is-listed eval '"$txmill" --help | grep -q "^  stream  "'
cp -r "$repo/stream" copy
rm -rf copy/build
stranger() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j2 -C copy PREFIX="$prefix" DESTDIR="$root" \
    CFLAGS="-O0 -Wall -Wextra -Werror" PKG_CONFIG="$work/pkg-config" "$@"; }
printf '#!/bin/sh\npkg-config "$@" | sed "s|%s%s|%s|g"\n' "$root" "$root" "$root" >pkg-config && chmod +x pkg-config
run stranger install
check stranger-builds rc_is 0
check stranger-is-there test -x "$modules/txmill-stream"
estimate --json
check stranger-finds-the-same python3 -c 'import json
a, b = (json.load(open(f)) for f in ("installed.json", "out"))
assert a["images"] == b["images"] and a["tiles"] == b["tiles"]'

run make_here uninstall
check uninstall-exit rc_is 0
check uninstall-leaves-nothing test -z "$(find "$root" -type f -o -type l)"
finish
