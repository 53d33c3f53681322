/* SPDX-License-Identifier: Apache-2.0
 *
 * Exit codes. They are stable; their descriptions here are also printed in the manual pages. Schedulers match the last
 * line of stderr:
 *     TXMILL-ERROR code=N failed=K total=T
 *
 * The room tools/output has everything that the program prints: messages (say), progress, text and JSON on standard
 * output, HTML, summaries, the guard of output files, exit codes and signals. Commands print only through it, so that
 * control characters are escaped, a full disk is detected, and scripts can rely on the form.
 */
#ifndef TXM_TOOLS_EXITS_H
#define TXM_TOOLS_EXITS_H
#include <stdbool.h>
#include <stddef.h>

#include "tile/base/fail.h"
#include "txtile/status.h"

typedef enum txm_exit {
    TXM_EXIT_OK = 0,
    TXM_EXIT_INTERNAL = 1,
    TXM_EXIT_USAGE = 2,
    TXM_EXIT_FAILED = 3,   /* some inputs failed for good */
    TXM_EXIT_RETRY = 4,    /* some failed in a way that a retry may cure */
    TXM_EXIT_FINDINGS = 5, /* differences or findings: not what was asked */
    TXM_EXIT_SIGINT = 130,
    TXM_EXIT_SIGTERM = 143
} txm_exit;

/* How the inputs of a command fared. Not thread-safe: add from one thread, or under a lock. */
typedef struct txm_tally {
    size_t total, failed;
    bool internal, usage, retryable, permanent; /* kinds of failures met */
    bool findings;                              /* set by commands that look for differences */
    size_t of[TXM_STATUSES];                    /* inputs that failed so */
} txm_tally;

/* Counts one input. TXM_OK counts as done. */
void txm_tally_add(txm_tally *tally, txm_status status);

/* A failure that is of no input: of the run. */
void txm_tally_fail(txm_tally *tally, txm_status status);

/* The exit code: 4 if a retry may cure something, else 1 if txmill is at fault, else 2, 3, 5 or 0. A signal that asked
 * to stop (txm_signal_caught) comes first. */
txm_exit txm_tally_exit(const txm_tally *tally);

/* Something that was to be printed was not, and the user was warned: the command fails in a way that a retry may cure.
 * From any thread. */
void txm_results_missing(void);

/* Flushes stdout (a failure there counts as one that a retry may cure), prints the last line if something failed, and
 * returns the exit code. The last call of every command. */
int txm_finish(const txm_tally *tally);

/* From now on failures of the run are JSON objects as well, of this schema ("txmill.info"). NULL: they are not. */
void txm_finish_in_json(const char *schema, unsigned version);

/* Where the config that cannot be used is named, if not by --ocio or $OCIO: "FILE:LINE" or a variable. The advice for
 * such failures names it. From one thread. */
void txm_advise_config(const char *origin);

/* What to do about a kind of failure, in one clause that names a command or an option where there is one. Never NULL.
 */
const char *txm_next_step(txm_status status);
/* Which files the command reads, one of TXM_VALUES_* or NULL: the advice at the end fits them. */
void txm_advise_for(const char *operand_values);
/* What to do where memory is short, which depends on the command's options; a static string. */
void txm_advise_memory(const char *step);

/* Says what ended a run, and, where the message does not, the next step. */
void txm_say_failure(const txm_error *err);

/* For failures before any input was looked at (broken config, no memory): reports `err`, as text and, where that was
 * asked for, as an object, and counts `total` inputs as failed. */
int txm_finish_failed(const txm_error *err, size_t total);

/* A library that can only abort for lack of memory ends the process with a message and an exit code like any other. */
void txm_aborts_install(void);

/* SIGINT and SIGTERM: the first sets the cancel flag and removes temporaries; work stops at the next band.
 * SIGBUS: a tx file that cannot be read any more fails, nothing else does. */
void txm_signals_install(void);
/* From now on the first signal only sets the flag, so that the command can write what is complete; a second one ends
 * the process, and removes temporaries first. */
void txm_signals_publish(void);
const volatile int *txm_signal_flag(void);
int txm_signal_caught(void); /* 0 or the signal's number */

/* One sentence on what an exit code means, NULL for codes that do not exist. */
const char *txm_exit_text(int code);

#endif
