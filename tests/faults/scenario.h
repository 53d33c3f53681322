/* SPDX-License-Identifier: Apache-2.0
 *
 * A scenario is a command with what is prepared for it and what it does without a fault. Scenarios are read from a
 * file, in which each is a paragraph with one property in a line:
 *
 *     scenario NAME      begins a scenario
 *     prepare COMMAND    a shell command in the scenario's folder; $TXMILL and $DATA (testdata) are set
 *     env NAME=VALUE     environment of the command under test
 *     run ARGUMENTS      arguments of txmill, split at blanks; "DIR" is the scenario's folder
 *     again ARGUMENTS    arguments of the clean run afterwards, if they differ
 *     sweep ARGUMENTS    another clean run after that, if another command sweeps what killed processes leave
 *     until GLOB         SIGTERM ends the command when such a file exists
 *     peers N            this many more processes run the same command beside it
 *     faults KINDS       only these kinds of faults: calls, allocations, deaths
 *     optional GLOB      files that may be missing after a success with a warning
 *     varies GLOB        files whose content depends on the time
 *     decoder            the command starts txmill-oiio-worker
 *     detour TEXT        if the output or a warning contains this text, the command may print something else, because
 *                        it reached its result in another way
 *     walks              the command walks through folders: if files disappear meanwhile, it ignores them, and files
 *                        that were made from them may disappear as well
 *     texts GLOB         files that may just as well be empty: if a run finds them empty, it need not do anything else
 *     findings           if something is missing or cannot be read, that is a result of this command and not a failure
 */
#ifndef FAULTS_SCENARIO_H
#define FAULTS_SCENARIO_H
#include <stdbool.h>

#include "trace.h"
#include "tree.h"

enum { SCENARIO_WORDS = 32, SCENARIO_LINES = 16 };

typedef struct scenario {
    char *name;
    char *prepare[SCENARIO_LINES], *env[SCENARIO_LINES], *optional[SCENARIO_LINES], *varies[SCENARIO_LINES];
    char *detour[SCENARIO_LINES], *texts[SCENARIO_LINES];
    char *run, *again, *sweep, *until;
    unsigned peers;
    bool calls, allocations, deaths, findings, decoder, walks;
} scenario;

/* A scenario that was prepared in a folder, and the results of a run without a fault. */
typedef struct stage {
    const scenario *scenario;
    char *folder, *out, *err; /* the folder in which it runs; files for its output are beside it */
    char *argv[SCENARIO_WORDS], *again[SCENARIO_WORDS], *sweep[SCENARIO_WORDS];
    tree before, after; /* the folder as it was prepared, and after a run */
    char *printed;      /* standard output, without times, sorted */
    int rc, rc_again;   /* exit codes of that run, and of the clean one after it */
    tree after_again;
    run_result counts;
} stage;

typedef struct surroundings {
    const char *program, *decoder, *plugins, *data, *library, *work;
} surroundings;

/* Ends the program if the file is invalid. Returns the number of scenarios; the caller frees *out. */
unsigned scenarios_read(const char *path, scenario **out);
/* Prepares a scenario in its own folder below `work` and runs it. If the two clean runs fail or differ, prints that and
 * returns false. */
bool stage_make(const surroundings *around, const scenario *s, unsigned worker, stage *out);
void stage_free(stage *stage);
/* Runs the command, or that of the clean run, in the folder as it is. */
run_result stage_run(const surroundings *around, const stage *stage, const fault *f, bool again, bool explain);
/* Reads a whole file into a string, which the caller frees. */
char *read_text(const char *path);
/* Removes times and sorts the lines, in place. */
void make_comparable(char *text);
#endif
