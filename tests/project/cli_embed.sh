#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The libraries change nothing of the program that links them: no signal handler, no exit, nothing on stdout and stderr, no
# other locale, umask or working folder. A program that does a bit of everything runs under strace.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
case $(basename "$build") in
    build) ;;
    *) skip embed "sanitizers handle signals and write themselves"; finish ;;
esac
command -v strace >/dev/null || { skip embed "strace is not installed"; finish; }

cat >embed.c <<'EOF'
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <txmill/batch.h>
#include <txmill/scene.h>
#include <txmill/inspect.h>
#include <txtile/reader.h>
#include <unistd.h>
static volatile int cancel;
static size_t settled, failures;
static char tx_path[4096];
static void on_done(void *user, const txm_batch_file *file)
{
    (void)user;
    settled++;
    failures += file->err->status != TXM_OK;
    if (file->err->status == TXM_OK && file->result->tx_path)
        snprintf(tx_path, sizeof tx_path, "%s", file->result->tx_path);
}
/* Every answer is in a file: nothing of the program's own is on stdout. */
int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    FILE *out = fopen(argv[1], "w");
    char locale[256], folder[4096], folder_after[4096];
    snprintf(locale, sizeof locale, "%s", setlocale(LC_ALL, NULL));
    struct stat st;
    txm_error err;
    txm_context_options machine;
    txm_batch_events events;
    txm_batch_options how;
    txm_context *context = NULL;
    txm_inputs *inputs = NULL;
    txm_batch *batch = NULL;
    txm_scene *blend = NULL;
    txm_tx *tx = NULL;
    txm_findings findings = {0};
    txm_resolution resolution;
    txm_context_options_init(&machine);
    machine.cancel = &cancel;
    txm_batch_events_init(&events);
    events.done = on_done;
    txm_batch_options_init(&how);
    how.events = &events;
    if (!out || !getcwd(folder, sizeof folder) || txm_context_new(&machine, &context, &err) ||
        txm_inputs_new(NULL, &inputs, &err))
        return 1;
    for (int i = 3; i < argc; i++)
        txm_inputs_add(inputs, argv[i], &err);
    if (txm_batch_new(context, inputs, &how, &batch, &err) || txm_batch_plan(batch, &err) || txm_batch_run(batch, &err))
        return 1;
    fprintf(out, "settled %zu failed %zu\n", settled, failures);
    fprintf(out, "verify %s %zu\n", txm_status_name(txm_verify(context, tx_path, NULL, &findings, &err)), findings.count);
    fprintf(out, "resolve %s", txm_status_name(txm_resolve_image(context, argv[3], NULL, NULL, &resolution, &err)));
    fprintf(out, " %s\n", txm_tx_state_name(resolution.state));
    fprintf(out, "scene %s\n", txm_status_name(txm_scene_open(argv[2], NULL, &blend, &err)));
    fprintf(out, "open %s\n", txm_status_name(txm_tx_open(tx_path, &tx, &err)));
    static unsigned char pixels[80 * 80 * 16];
    const txm_tx_request request = {.struct_size = sizeof(txm_tx_request), .padding_px = 2, .pixels = pixels};
    fprintf(out, "tile %s\n", txm_status_name(txm_tx_read_tile(tx, &request, &err)));
    fprintf(out, "no file %s\n", txm_status_name(txm_tx_open("nothing.tx", &tx, &err)));
    cancel = 1; /* of work that there is: what is up to date is known before anybody could stop it */
    txm_result result;
    txm_convert_options again;
    txm_convert_options_init(&again);
    again.force = true;
    fprintf(out, "cancel %s\n", txm_status_name(txm_convert(context, argv[3], NULL, &again, &result, &err)));
    fprintf(out, "locale %d\n", strcmp(locale, setlocale(LC_ALL, NULL)) == 0);
    fprintf(out, "folder %d\n", getcwd(folder_after, sizeof folder_after) && strcmp(folder, folder_after) == 0);
    int made = stat(resolution.path, &st) == 0;
    fprintf(out, "mode %o\n", made ? (unsigned)st.st_mode & 0777 : 0);
    txm_resolution_clear(&resolution);
    txm_findings_clear(&findings);
    txm_scene_close(&blend);
    txm_batch_free(&batch);
    txm_inputs_free(&inputs);
    txm_context_free(&context);
    return fclose(out) ? 1 : 42;
}
EOF
run ${CC:-cc} -Wall -Wextra -Werror -I"$repo/include" embed.c -o embed -L"$build" -ltxmill -ltxtile
check embed-links rc_is 0
for l in libtxmill libtxtile; do ln -s "$build/$l.so" "$l.so.0"; done
# PNG and EXR use readers of the library, TGA the worker process; one file is damaged, one does not exist.
cp "$golden"/{rgb8.png,half-rgba.exr,rgba8.tga} . && head -c 300 rgb8.png >cut.png
cp -r "$TXM_TESTDATA"/blend/materials.blend .
umask 027
LD_LIBRARY_PATH=$PWD:$build LC_ALL=C.UTF-8 TXMILL_PLUGINS=$build \
    strace -f -qq -o trace -e trace='clone,clone3,fork,vfork,rt_sigaction,write,writev,pwrite64,exit,exit_group,chdir,fchdir,umask' \
    ./embed answers materials.blend rgb8.png half-rgba.exr rgba8.tga cut.png absent.png >stdout 2>stderr
rc=$?
cat answers >out 2>/dev/null
check embed-returns-from-main test "$rc" -eq 42
for line in 'settled 5 failed 2' 'verify ok 0' 'resolve ok fresh' 'scene ok' 'open ok' 'tile ok' 'no file not-found' \
    'cancel cancelled' 'locale 1' 'folder 1' 'mode 640'; do
    check "embed-${line// /-}" prints "$line"
done
check embed-stdout-empty test ! -s stdout
check embed-stderr-empty test ! -s stderr

# Only the program's own threads count, not those of a worker process.
python3 - trace >calls <<'EOF'
import re, sys
own, started, lines = set(), {}, open(sys.argv[1]).read().splitlines()
for line in lines:
    pid, call = line.split(None, 1)
    own = own or {pid}
    if "CLONE_THREAD" in call:
        started[pid] = True
    done = re.search(r"= (\d+)$", call)
    if started.get(pid) and done and re.match(r"clone|<\.\.\. clone", call):
        own.add(done[1])
        started[pid] = False
for line in lines:
    pid, call = line.split(None, 1)
    name = re.match(r"\w+", call)
    if pid not in own or name is None:
        continue
    name = name[0]
    # The C library uses signals 32 and up for its threads.
    if name == "rt_sigaction" and not re.match(r"rt_sigaction\((SIGRT_\d+|SIGRTMIN|\w+, NULL)", call):
        print("signal", call)
    elif name in ("write", "writev", "pwrite64") and re.match(r"\w+\([12],", call):
        print("output", call)
    elif name in ("chdir", "fchdir", "umask"):
        print("process", call)
    elif name == "exit_group":
        print("exit", call)
print("threads", len(own))
EOF
cp calls out
check embed-has-threads test "$(sed -n 's/^threads //p' calls)" -gt 1
check embed-no-signal-handler test -z "$(grep '^signal' calls)"
check embed-no-output test -z "$(grep '^output' calls)"
check embed-no-umask-or-folder test -z "$(grep '^process' calls)"
check embed-exits-once test "$(grep -c '^exit exit_group(42)' calls)" -eq 1
check embed-no-other-exit test "$(grep -c '^exit' calls)" -eq 1
finish
