/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands that a program of its own carries out, as git starts git-lfs: it takes this one's place, with the same
 * words, terminal and signals, and its exit code is the command's.
 *
 * The program is searched for where modules are (TXMILL_PLUGINS, beside txmill, LIBDIR/txmill), with the same care for
 * files of other users, and not in $PATH: a name that is found there may be anybody's, and of another version.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/library.h"
#include "base/os/plugin.h"
#include "base/os/process.h"
#include "base/os/signals.h"
#include "tools/commands.h"
#include "tools/output/exits.h"

static const txm_option_group none[] = {{0}};

const txm_command txm_cmd_stream = {
    .name = "stream",
    .purpose = "Render, play or view a scene through the texture cache, or estimate what texture memory it needs",
    .synopsis = "render|budget|play|view [OPTION...] SCENE [IMAGE...]",
    .groups = none,
    .program = "txmill-stream",
};

const txm_command txm_cmd_replay = {
    .name = "replay",
    .purpose = "Replay a trace of texture lookups with other cache sizes and policies",
    .synopsis = "[OPTION...] TRACE",
    .groups = none,
    .program = "txmill-stream",
};

int txm_program_start(const txm_command *command, int argc, char **argv)
{
    char schema[64], own[PATH_MAX], *looked_in = NULL;
    txm_error err = {0};
    char *path = txm_plugin_path(command->program, &looked_in);
    char **words = txm_calloc((size_t)argc + 3, sizeof *words);
    if (path && words) {
        words[0] = (char *)command->program;
        words[1] = (char *)command->name;
        memcpy(words + 2, argv, (size_t)argc * sizeof *words);
        /* It asks this program for the settings of projects. */
        if (txm_program_path(own))
            setenv("TXMILL_PROGRAM", own, 1);
        /* A signal that comes now waits until the program has its handlers, or ends the run here. */
        txm_signals_hold_ends(true);
        if (txm_signal_caught())
            txm_fail(&err, TXM_STATUS_CANCELLED, "stopped");
        else
            txm_fail_errno(&err, txm_process_become(path, words), "%s: cannot be started", path);
        txm_signals_hold_ends(false);
    } else if (!words || (!path && !looked_in)) {
        txm_no_memory(&err, NULL);
    } else {
        txm_fail(&err, TXM_STATUS_NOT_INSTALLED,
                 "'txmill %s' is a command of %s, which is not installed: %s; install the package %s, or build it with "
                 "'make' in txmill's folder stream",
                 command->name, command->program, looked_in, command->program);
    }
    free(looked_in);
    free(path);
    free(words);
    snprintf(schema, sizeof schema, "txmill.%s", command->name);
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--json"))
            txm_finish_in_json(schema);
    /* Completion asks in the middle of a line, where no message may appear. */
    return argc > 0 && !strcmp(argv[0], "--generate") ? TXM_EXIT_FAILED : txm_finish_failed(&err, 1);
}
