#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the shared libraries export and need: the functions of their headers, and for libtxtile only the codecs.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
case $(basename "$build") in
    build | build-clang) ;;
    *) skip library "sanitizers add their own symbols and libraries"; finish ;;
esac

# The functions that headers declare, whichever way they are marked.
declared() {
    python3 - "$@" <<'EOF'
import re, sys
for path in sys.argv[1:]:
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    for statement, end in re.findall(r"([^;{}]*)([;{}])", text):
        if end != ";":  # the body of an inline function
            continue
        statement = " ".join(statement.split())
        found = re.match(r"(?!typedef|static|return)(?:[A-Za-z_][\w *]*[ *])(txm_\w+) ?\(", statement)
        if found and "(" not in statement[:found.start(1)]:
            print(found[1])
EOF
}
shown() { nm -D --defined-only "$1" | awk '$2 != "A" && $3 !~ /@TX(TILE|MILL)_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort; }

declared "$repo"/include/txtile/*.h | LC_ALL=C sort -u >tile.declared
declared "$repo"/include/txmill/*.h | LC_ALL=C sort -u >mill.declared
shown "$build/libtxtile.so" >tile.shown
shown "$build/libtxmill.so" >mill.shown
check headers-declare test "$(wc -l <tile.declared)" -gt 30 -a "$(wc -l <mill.declared)" -gt 40
run diff tile.declared tile.shown
check txtile-shows-its-headers rc_is 0
run diff mill.declared mill.shown
check txmill-shows-its-headers rc_is 0

# libtxmill contains no code of libtxtile, and imports nothing from it that it does not use. All have src/base for themselves.
nm -g --defined-only "$build/libbase.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >base.all
nm -g --defined-only "$build/libtxtile.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u | LC_ALL=C comm -23 - base.all >tile.all
nm --defined-only "$build/libtxmill.so" | awk '{ print $3 }' | LC_ALL=C sort -u >mill.all
check libraries-are-seen test "$(wc -l <tile.all)" -gt 300 -a "$(wc -l <mill.all)" -gt 1000
check txmill-holds-no-txtile test -z "$(LC_ALL=C comm -12 tile.all mill.all)"
nm -D --defined-only "$build/libtxtile.so" | sed -n 's/.* \(txm_[a-z0-9_]*\)@@\{0,1\}TXTILE_PRIVATE_.*/\1/p' | LC_ALL=C sort -u >tile.shared
nm -D --undefined-only "$build/libtxmill.so" "$build/txmill" | sed -n 's/.* \(txm_[a-z0-9_]*\)@TXTILE_PRIVATE_.*/\1/p' | LC_ALL=C sort -u >tile.takes
run diff tile.shared tile.takes
check txtile-shares-what-is-taken rc_is 0
check txtile-shares-little test "$(wc -l <tile.shared)" -lt 40
# Base is nobody's to export, and the program contains neither library.
nm -D --defined-only "$build/libtxmill.so" "$build/libtxtile.so" "$build/txmill" | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >exported
check base-is-seen test "$(wc -l <base.all)" -gt 80
check base-is-not-exported test -z "$(LC_ALL=C comm -12 base.all exported)"
nm -g --defined-only "$build/libtxmill.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u | LC_ALL=C comm -23 - base.all >mill.archive
check archives-are-apart test -z "$(LC_ALL=C comm -12 tile.all mill.archive)"
nm --defined-only "$build/txmill" | awk '{ print $3 }' | LC_ALL=C sort -u >program.all
check program-holds-no-library test -z "$(LC_ALL=C sort -u tile.all mill.archive | LC_ALL=C comm -12 - program.all)"

# One program may have either library inside and the other one beside it, or both inside.
for part in convert_folder read_tiles; do cc -std=c11 -D_GNU_SOURCE -I"$repo/include" -Dmain=$part -c "$repo/examples/$part.c"; done
cat >both.c <<'EOF'
int convert_folder(int argc, char **argv), read_tiles(int argc, char **argv);
int main(int argc, char **argv) { return argc == 2 ? convert_folder(argc, argv) : read_tiles(argc - 1, argv + 1); }
EOF
read -ra link_flags < <(sed 's/^[^-]* -/-/' "$build/flags/link")
for pair in "so a" "a so" "a a"; do
    read -r mill tile <<<"$pair"
    run cc both.c convert_folder.o read_tiles.o "$build/libtxmill.$mill" "$build/libtxtile.$tile" "${link_flags[@]}" -lm \
        "-Wl,-rpath,$build" "-Wl,-rpath-link,$build" -o both
    check "links-mill.$mill-and-tile.$tile" rc_is 0
    rm -rf images && mkdir images && cp "$golden/rgb8.png" images
    run ./both images
    check "converts-with-mill.$mill-and-tile.$tile" prints ': created '
    run ./both - images/blender_tx/*.tx
    check "reads-with-mill.$mill-and-tile.$tile" prints 'level 0: '
    check "keeps-base-with-mill.$mill-and-tile.$tile" test -z \
        "$(nm -D --defined-only both | awk '{ sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u | LC_ALL=C comm -12 base.all -)"
done

# Every function that can fail clears the error first, so that a reused one says nothing about an earlier file. Those
# that take a const one read it.
python3 - "$repo" >uncleared <<'EOF'
import glob, re, sys
failing, defined = set(), {}
for path in glob.glob(sys.argv[1] + "/include/*/*.h"):
    text = re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S)
    failing |= {m[1] for m in re.finditer(r"TXM_API\s[^;]*?(txm_\w+)\(([^;]*)\);", text) if re.search(r"(?<!const )txm_error \*err", m[2])}
for path in glob.glob(sys.argv[1] + "/src/**/*.c*", recursive=True):
    for m in re.finditer(r"^\w[\w *]*?(txm_\w+)\(([^;{]*?)\)\n(?:try )?\{(.*?)^\}", open(path).read(), re.S | re.M):
        defined[m[1]] = m[3]
print(len(failing))
for name in sorted(failing - {"txm_error_clear"}):
    if "txm_error_clear(err)" not in defined.get(name, ""):
        print(name)
EOF
check functions-that-fail test "$(head -n 1 uncleared)" -gt 60
check errors-are-cleared-first test -z "$(tail -n +2 uncleared)"

# Every header of libtxtile with pointers says what NULL means. Every function of both libraries that ends or empties
# something, by its name and because it returns nothing, is called with NULL.
for h in "$repo"/include/txtile/*.h; do
    case $(basename "$h") in export.h) continue ;; esac
    check "null-is-said-in-$(basename "$h")" grep -q '^ \* .*NULL: ' "$h"
done
python3 - "$repo/tests/project/test_null.c" "$repo"/include/*/*.h >untried <<'EOF'
import re, sys
tried, seen = open(sys.argv[1]).read(), 0
for path in sys.argv[2:]:
    text = open(path).read()
    safe = set(re.findall(r"TXM_API void (txm_\w+_(?:free|close|clear|cancel|wait|abort))\(", text))
    safe |= set(re.findall(r"TXM_API void (txm_\w+)\([^;]*\); /\* NULL-safe", text))
    safe |= set(re.findall(r"NULL-safe[^/]*\*/\nTXM_API void (txm_\w+)", text))
    seen += len(safe)
    for name in safe - {"txm_before_abort"}:
        if not re.search(name + r"\(NULL[,)]|(?:END|CLEAR)_NOTHING\(\w+, " + name + r"\)", tried):
            print(name)
print("seen", seen)
EOF
check null-safe-functions-are-seen test "$(sed -n 's/^seen //p' untried)" -ge 30
check null-safe-functions-are-called test "$(wc -l <untried)" -eq 1

# The reference of the headers has every function, and comments that Doxygen cannot place fail.
docs() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$repo" B="$work/docs" HEADERS="$work/headers/txtile $work/headers/txmill" reference; }
if command -v doxygen >/dev/null; then
    for folder in txtile txmill; do
        mkdir -p headers/$folder && cp $(grep -l '^#define TX' "$repo"/include/$folder/*.h) headers/$folder
    done
    run docs
    check docs-of-the-headers rc_is 0
    check docs-have-every-function test -z "$(LC_ALL=C sort -u tile.declared mill.declared |
        LC_ALL=C comm -23 - <(grep -rhoE 'txm_[a-z0-9_]+' docs/docs/html | LC_ALL=C sort -u))"
    printf '%s\n' '/* Without an end.' >>headers/txmill/watch.h
    run docs
    check docs-refuse-unfinished-comment test "$rc" -ne 0
    check docs-refuse-with-place grep -q 'watch.h:[0-9]' err
else
    skip docs "doxygen is not installed"
fi

# needed LIBRARY: the libraries with which it is linked, without versions.
needed() { objdump -p "$1" | sed -nE 's/^ *NEEDED *(lib[A-Za-z_+-]+).*/\1/p' | LC_ALL=C sort | tr '\n' ' '; }
run needed "$build/libtxtile.so"
check txtile-needs-codecs-alone test -z "$(tr ' ' '\n' <out | grep -vxE 'libc|libm|libdeflate|libisal|libzstd|libxxhash|')"
check txtile-has-soname sh -c "objdump -p '$build/libtxtile.so' | grep -q 'SONAME *libtxtile.so.0$'"

# A library that was unloaded leaves no destructor that the end of a thread would call.
cat >unload.c <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <txtile/cache.h>
static void *library;
static pthread_barrier_t looked, closed;
static void *look(void *keep)
{
    txm_status (*make)(const txm_cache_options *, txm_cache **, txm_error *) = dlsym(library, "txm_cache_new");
    txm_status (*current)(txm_cache *, txm_cache_thread **, txm_error *) = dlsym(library, "txm_cache_thread_current");
    void (*end)(txm_cache **) = dlsym(library, "txm_cache_free");
    txm_cache *cache;
    txm_cache_thread *thread;
    if (make(NULL, &cache, NULL) || current(cache, &thread, NULL))
        abort();
    if (!keep)
        end(&cache);
    pthread_barrier_wait(&looked);
    pthread_barrier_wait(&closed);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_barrier_init(&looked, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    for (int i = 0; i < 4; i++) {
        library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
        if (!library || pthread_create(&thread, NULL, look, i % 2 ? &thread : NULL))
            return 1;
        pthread_barrier_wait(&looked);
        dlclose(library);
        if (dlopen(argv[argc - 1], RTLD_NOW | RTLD_NOLOAD))
            return 2;
        pthread_barrier_wait(&closed);
        pthread_join(thread, NULL);
    }
    puts("unloaded");
    return 0;
}
EOF
run ${CC:-cc} -Wall -Wextra -Werror -I"$repo/include" unload.c -o unload -ldl -lpthread
check unload-builds rc_is 0
run ./unload "$build/libtxtile.so"
check unloads-under-threads prints unloaded

# A program that opens tx files starts without the converter's libraries; OpenEXRCore is loaded for the first tile that
# needs it.
cat >reader.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include <txtile/reader.h>
#include <txtile/sampler.h>
static int loaded(const char *name)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, name) != NULL;
    fclose(maps);
    return found;
}
int main(int argc, char **argv)
{
    static unsigned char pixels[72 * 72 * 16];
    (void)argc;
    printf("version %s\n", txm_version());
    for (char **path = argv + 1; *path; path++) {
        txm_error err;
        txm_tx *tx;
        if (txm_tx_open(*path, &tx, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        unsigned pixel = txm_tx_info_of(tx)->channels * (unsigned)txm_type_bytes(txm_tx_info_of(tx)->type);
        txm_status status = txm_tx_read_tile(tx, &(txm_tx_request){.struct_size = sizeof(txm_tx_request), .padding_px = 2, .extension = TXM_EXTENSION_REPEAT, .pixels = pixels, .pixel_stride_bytes = pixel, .row_stride_bytes = 68 * pixel}, &err);
        printf("%s %s OpenEXRCore %d crypto %d color %d\n", txm_tx_info_of(tx)->compression, txm_status_name(status),
               loaded("libOpenEXRCore"), loaded("libcrypto"), loaded("libOpenColorIO"));
        txm_tx_close(&tx);
    }
    return 0;
}
EOF
cp "$golden/rgb8.png" "$golden/half-rgba.exr" .
txm make rgb8.png half-rgba.exr
if maketx --compression piz -d half rgb8.png -o piz.exr >/dev/null 2>&1; then
    run ${CC:-cc} -Wall -Wextra -Werror -I"$repo/include" reader.c -o reader -L"$build" -ltxtile
    check reader-links rc_is 0
    ln -s "$build/libtxtile.so" libtxtile.so.0
    run env LD_LIBRARY_PATH="$PWD" ./reader blender_tx/rgb8.png.*.tx blender_tx/half-rgba.exr.*.tx piz.exr
    check reader-runs rc_is 0
    check reader-version prints "version $("$TXMILL" --version | cut -d' ' -f2)"
    check reader-starts-small test "$(grep -c 'zip ok OpenEXRCore 0 crypto 0 color 0' out)" -eq 2
    check reader-loads-openexr prints "piz ok OpenEXRCore 1 crypto 0 color 0"
else
    skip reader "maketx of openimageio-tools is not installed"
fi
finish
