/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios: what is prepared, what is run, what comes of it when no fault strikes. They are read from a file of
 * paragraphs, a line a property:
 *
 *     scenario NAME      begins one
 *     prepare COMMAND    a shell command in the scenario's folder; $TXMILL and $DATA (testdata) are set
 *     env NAME=VALUE     for the command that is run
 *     run ARGUMENTS      what txmill is run with, split at blanks; "DIR" is the scenario's folder
 *     again ARGUMENTS    the clean run afterwards, where it is another
 *     sweep ARGUMENTS    a clean run after that one, where another command sweeps what killed ones leave
 *     until GLOB         SIGTERM ends the command when such a file is there
 *     peers N            so many more processes run the same beside it
 *     faults KINDS       of calls, allocations, deaths: the others are left out
 *     optional GLOB      files that may be missing after a success with a warning
 *     varies GLOB        files whose content holds times
 *     decoder            it starts txmill-oiio-worker
 *     detour TEXT        where the output or a warning has this text, the result was come by in another way, and what
 * is printed is another walks              it walks through folders: what disappears from them meanwhile is not asked
 * for any more, and takes what was made from it along texts GLOB         files that may as well be empty: nothing is
 * asked of a run that finds them so findings           what is not there, or cannot be reached, is a finding for this
 * command
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

/* A scenario made ready in a folder, with what a run does that no fault strikes. */
typedef struct stage {
    const scenario *scenario;
    char *folder, *out, *err; /* where it runs, and beside it what it says */
    char *argv[SCENARIO_WORDS], *again[SCENARIO_WORDS], *sweep[SCENARIO_WORDS];
    tree before, after; /* the folder as it is prepared, and after a run */
    char *printed;      /* on standard output, without times, sorted */
    int rc, rc_again;   /* of that run, and of the clean one afterwards */
    tree after_again;
    run_result counts;
} stage;

typedef struct surroundings {
    const char *program, *decoder, *plugins, *data, *library, *work;
} surroundings;

/* Ends the program where the file makes no sense. Returns how many; *out is the caller's. */
unsigned scenarios_read(const char *path, scenario **out);
/* Makes a scenario ready in a folder of its own below `work`, and runs it. False, with what is wrong printed, where its
 * two clean runs do not end well or do not agree. */
bool stage_make(const surroundings *around, const scenario *s, unsigned worker, stage *out);
void stage_free(stage *stage);
/* Runs the command in the folder as it is, or the clean one. */
run_result stage_run(const surroundings *around, const stage *stage, const fault *f, bool again, bool explain);
/* Whole file as a string; the caller's. */
char *read_text(const char *path);
/* In place: takes times out, and sorts the lines. */
void make_comparable(char *text);
#endif
