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
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "txtile/status.h"

typedef enum txm_exit {
    TXM_EXIT_OK = 0,
    TXM_EXIT_INTERNAL = 1,
    TXM_EXIT_USAGE = 2,
    TXM_EXIT_FAILED = 3,   /* some inputs failed; a retry would not help */
    TXM_EXIT_RETRY = 4,    /* some inputs failed, and a retry may succeed */
    TXM_EXIT_FINDINGS = 5, /* differences or findings */
    TXM_EXIT_SIGHUP = 129, /* 128 and the signal's number, as shells count */
    TXM_EXIT_SIGINT = 130,
    TXM_EXIT_SIGTERM = 143,
    TXM_EXIT_SIGXCPU = 152
} txm_exit;

/* Counts the results of a command's inputs. Not thread-safe: add from one thread, or under a lock. */
typedef struct txm_tally {
    size_t total, failed;
    bool internal, usage, retryable, permanent; /* kinds of failures that occurred */
    bool findings;                              /* set by commands that look for differences */
    size_t of[TXM_STATUSES];                    /* number of inputs with each status */
} txm_tally;

/* Counts one input. TXM_OK counts as done. */
void txm_tally_add(txm_tally *tally, txm_status status);

/* Records a failure of the run as a whole. */
void txm_tally_fail(txm_tally *tally, txm_status status);

/* The exit code: 4 if a retry may help, else 1 for an internal error, else 2, 3, 5 or 0. A signal
 * (txm_signal_caught) takes precedence. */
txm_exit txm_tally_exit(const txm_tally *tally);

/* Records that output is missing and that the user was warned: the command fails, and a retry may succeed. From any
 * thread. */
void txm_results_missing(void);

/* Flushes stdout (after a failure a retry may succeed), prints the last line if something failed, and returns the
 * exit code. The last call of every command. */
int txm_finish(const txm_tally *tally);

/* From now on failures of the run are JSON objects as well, of this schema ("txmill.info"). NULL: they are not. */
void txm_finish_in_json(const char *schema);
/* A new object of that schema. NULL: no memory, or no schema. */
cJSON *txm_json_result(void);

/* Sets the place that names the unusable config, if not --ocio or $OCIO: "FILE:LINE" or a variable. The advice for
 * such failures contains it. From one thread. */
void txm_advise_config(const char *origin);

/* Returns advice about a kind of failure, in one clause with a command or option if possible. Never NULL. */
const char *txm_next_step(txm_status status);
/* Sets the kind of files that the command reads, one of TXM_VALUES_* or NULL, for the advice at the end. */
void txm_advise_for(const char *operand_values);
/* Sets the advice for lack of memory, which depends on the command's options; a static string. */
void txm_advise_memory(const char *step);

/* Prints what ended a run and, if the message does not say so, what to do. */
void txm_say_failure(const txm_error *err);

/* For failures before inputs were read (broken config, no memory): prints `err`, as text and, with --json, as an
 * object, and counts `total` inputs as failed. */
int txm_finish_failed(const txm_error *err, size_t total);

/* Installs a handler, so that a library that aborts for lack of memory ends the process with a message and an exit
 * code. */
void txm_aborts_install(void);

/* Installs handlers. The first SIGINT, SIGTERM, SIGHUP or SIGXCPU sets the cancel flag and removes temporary files and
 * claims; work stops at the next band. If it goes on computing, the process ends within a second all the same. After
 * SIGBUS only the tx file that cannot be read fails; a file beyond the limit of file sizes fails to be written. */
void txm_signals_install(void);
const volatile int *txm_signal_flag(void);
int txm_signal_caught(void); /* 0 or the signal's number */

/* A sentence about an exit code; NULL for unused codes. */
const char *txm_exit_text(int code);

#endif
