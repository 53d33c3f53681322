#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C++ exceptions are caught in the shims: a C++ program, whose operator new throws on request, calls libtxmill, and no
# exception reaches it. Every function of a shim must catch everything.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# Functions in C++ files that C calls: each catches everything, or calls nothing that could throw. `guarded`, `reading` and
# `encoding` catch for the functions that are passed to them.
python3 - "$repo" >uncaught <<'PY'
import re, sys
repo, seen = sys.argv[1], 0
# Functions in which nothing throws.
innocent = {"txm_ocio_has_archives", "txm_ocio_before_abort", "txm_ocio_abort_reason", "oiio_as_half"}
catching = r"\b(return (guarded|encoding|reading)|drop|apply)\("
constant = r"^\{\s*(\*\w+ = [A-Z_]+;\s*|return [\w:.]+(\([^()]*\)|->\w+\.size\(\))?;\s*)*\}"
for path in ("src/mill/color/ocio.cpp", *(f"src/mill/source/oiio/oiio_{part}.cpp" for part in ("module", "read", "write"))):
    text = open(f"{repo}/{path}").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    pattern = r"^[\w *]*?\b(txm_ocio_\w+|oiio_\w+|encoder_\w+)\([^;{]*?\)\n(try )?\{(.*?)^\}( catch \(\.\.\.\))?"
    for m in re.finditer(pattern, text, re.S | re.M):
        seen += 1
        body = "{" + m[3] + "}"
        if not (m[4] or "catch (...)" in body or re.search(catching, body) or re.match(constant, body) or m[1] in innocent):
            print(path, m[1])
print("seen", seen)
PY
check shims-are-seen test "$(sed -n 's/^seen //p' uncaught)" -gt 25
run grep -v '^seen' uncaught
check shims-catch-everything rc_is 1

build=${TXM_BUILD:-$repo/build}
case $(basename "$build") in
    build) ;;
    *) skip exceptions "sanitizers replace operator new"; finish ;;
esac

# Exit codes: 0 converted, 3 a failure with a message, 7 another result than without faults, 9 an exception arrived.
cat >throws.cpp <<'CPP'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <txmill/convert.h>
#include <unistd.h>
static long left;
static bool other;
void *operator new(std::size_t bytes)
{
    if (left && !--left) {
        if (other)
            throw 17;
        throw std::bad_alloc();
    }
    if (void *p = std::malloc(bytes ? bytes : 1))
        return p;
    throw std::bad_alloc();
}
void *operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void *p) noexcept { std::free(p); }
void operator delete[](void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete[](void *p, std::size_t) noexcept { std::free(p); }

static int convert(const char *image, long from_here, long refused)
{
    txm_context *context = nullptr;
    txm_context_options options;
    txm_settings settings;
    txm_convert_options how;
    txm_result result = {};
    txm_error err;
    txm_context_options_init(&options);
    txm_settings_init(&settings);
    txm_convert_options_init(&how);
    options.threads = 1;
    settings.colorspace = "ACEScg";
    how.force = true;
    left = from_here ? 0 : refused;
    txm_status status = txm_context_new(&options, &context, &err);
    if (from_here)
        left = refused;
    if (!status)
        status = txm_convert(context, image, &settings, &how, &result, &err);
    const bool says = !status || *err.message;
    if (!refused && status)
        std::fprintf(stderr, "%s\n", err.message);
    txm_result_clear(&result);
    txm_context_free(&context);
    return !says ? 7 : status ? 3 : 0;
}

/* In a child, so that OpenColorIO may end it: it aborts where it throws from functions that it declares not to. */
static int in_child(const char *image, long from_here, long refused)
{
    int status;
    pid_t child = fork();
    if (!child) {
        const rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        (void)!freopen("/dev/null", "w", stderr);
        try {
            _exit(convert(image, from_here, refused));
        } catch (...) {
            _exit(9);
        }
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const char *image = argv[1];
    const bool from_here = argc > 2 && !std::strcmp(argv[2], "convert");
    other = argc > 3;
    long counts[256] = {};
    if (argc == 2)
        return convert(image, 0, 0);
    for (long n = 1, calm = 0; calm < 2 && n < 100000000; n += 1 + n / 8) {
        int code = in_child(image, from_here, n);
        counts[code]++;
        calm = code == 0 ? calm + 1 : 0;
    }
    for (int i = 0; i < 256; i++)
        if (counts[i])
            std::printf("code %d: %ld\n", i, counts[i]);
    return 0;
}
CPP
# An exception that nobody catches ends the program with its text, and with the code for lack of memory only if it is one:
# a library that is loaded before the others throws from a function that must not throw.
cat >uncaught.cpp <<'CPP'
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <stdexcept>
#include <system_error>
extern "C" void txm_before_abort(void (*end)(bool)) noexcept
{
    auto real = reinterpret_cast<void (*)(void (*)(bool))>(dlsym(RTLD_NEXT, "txm_before_abort"));
    const std::string kind = std::getenv("UNCAUGHT");
    real(end);
    if (kind == "memory")
        throw std::bad_alloc();
    if (kind == "thread")
        throw std::system_error(EAGAIN, std::generic_category(), "thread");
    if (kind == "pool")
        throw std::runtime_error(std::string("pthread_create has failed: ") + std::strerror(EAGAIN));
    if (kind == "number")
        throw 17;
    if (kind == "none")
        std::terminate();
    throw std::runtime_error("task cancelled: three apples");
}
CPP
cp "$golden/rgb8.png" .
run ${CXX:-c++} -std=c++17 -shared -fPIC uncaught.cpp -o uncaught.so -ldl
check thrower-builds rc_is 0
for kind in memory thread pool apples number none; do
    run env UNCAUGHT=$kind LD_PRELOAD="$PWD/uncaught.so" "$TXMILL" make rgb8.png
    case $kind in
        memory | thread | pool) code=4 says="not enough memory" ;;
        apples) code=1 says="nothing caught: task cancelled: three apples; please report it" ;;
        *) code=1 says="nothing caught: .*; please report it" ;;
    esac
    check "uncaught-$kind-has-its-code" rc_is $code
    check "uncaught-$kind-says-so" grep -q "$says" err
    check "uncaught-$kind-ends-with-the-code" test "$(tail -n 1 err)" = "TXMILL-ERROR code=$code failed=1 total=1"
done
run ${CXX:-c++} -std=c++17 -Wall -Wextra -I"$repo/include" throws.cpp -o throws -L"$build" -ltxmill -ltxtile -Wl,-rpath,"$build"
check program-builds rc_is 0
ln -s "$build/libtxtile.so" libtxtile.so.0
ln -s "$build/libtxmill.so" libtxmill.so.0
run env LD_LIBRARY_PATH="$PWD:$build" ./throws rgb8.png
check nothing-thrown-converts rc_is 0
for what in context convert; do
    for thrown in '' other; do
        # shellcheck disable=SC2086
        run env LD_LIBRARY_PATH="$PWD:$build" ./throws rgb8.png $what $thrown
        check "$what-${thrown:-bad_alloc}-ends" prints "code 0: "
        check "$what-${thrown:-bad_alloc}-is-a-status" prints "code 3: "
        check "$what-${thrown:-bad_alloc}-is-not-thrown" test -z "$(grep -E '^code (7|9): ' out)"
    done
done
finish
