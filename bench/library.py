# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of linking the libraries: processor time to start a program that opens a tx file, with libtxtile, with
libtxmill and without both. library.py BUILD TX [OLD], where OLD is the build of another version beside its sources."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

BUILD, TX = os.path.abspath(sys.argv[1]), sys.argv[2]
OLD = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
ROUNDS, TARGET_MS = 200, 3.0

NOTHING = "int main(void) { return 0; }\n"
OPENS = """#include <txtile/reader.h>
int main(int argc, char **argv)
{
    txm_tx *tx;
    txm_error err;
    if (argc != 2 || txm_tx_open(argv[1], &tx, &err))
        return 1;
    txm_tx_close(&tx);
    return 0;
}
"""
CONVERTS = """#include <txmill/convert.h>
int main(void) { return !txm_version(); }
"""


def build(folder, name, source, *flags, of=BUILD):
    path = os.path.join(folder, name)
    with open(path + ".c", "w") as f:
        f.write(source)
    subprocess.run(["cc", "-O2", f"-I{of}/../include", path + ".c", "-o", path, "-L" + of, *flags], check=True)
    return path


def milliseconds(program, environment):
    """The median of user and system time of one run."""
    times = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, TX], check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * statistics.median(times)


def libraries(folder, of):
    """The environment in which programs find the libraries of a build."""
    os.makedirs(folder, exist_ok=True)
    for library in ("libtxtile", "libtxmill"):
        if os.path.exists(f"{of}/{library}.so"):
            os.symlink(f"{of}/{library}.so", f"{folder}/{library}.so.0")
            os.symlink(f"{of}/{library}.so", f"{folder}/{library}.so")
    return {**os.environ, "LD_LIBRARY_PATH": folder}


with tempfile.TemporaryDirectory() as folder:
    environment = libraries(folder, BUILD)
    programs = [
        ("neither library", build(folder, "nothing", NOTHING), environment),
        ("libtxtile, a tx file opened", build(folder, "opens", OPENS, "-ltxtile"), environment),
        ("libtxmill", build(folder, "converts", CONVERTS, "-ltxmill", "-ltxtile"), environment),
    ]
    if OLD:
        own = "-ltxtile" if os.path.exists(f"{OLD}/libtxtile.so") else "-ltxmill"
        path = build(folder, "old", OPENS, own, of=OLD)
        programs.append((f"before: {own[2:]}, a tx file opened", path, libraries(folder + "/before", OLD)))
    print("| start-up of a program that links | CPU ms |")
    print("|---|---|")
    measured = [(name, milliseconds(path, environment)) for name, path, environment in programs]
    for name, ms in measured:
        print(f"| {name} | {ms:.2f} |")
    tile = measured[1][1] - measured[0][1]
    print(f"\nlibtxtile itself: {tile:.2f} ms, wanted below {TARGET_MS:.0f} ms: {'ok' if tile < TARGET_MS else 'MISSED'}")
