/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of commands that treat one input after the other: info, verify, tile, view, extract, borders, sample,
 * resolve and list. Progress, counting, the summary, messages and JSON objects of failures are the same in all of them;
 * a command says what it does with one input.
 */
#ifndef TXM_TOOLS_EACH_FILE_H
#define TXM_TOOLS_EACH_FILE_H
#include <cjson/cJSON.h>

#include "tools/output/exits.h"
#include "txmill/batch.h"
#include "txmill/convert.h"

/* One input, and what the command found out about it. */
typedef struct txm_one_file {
    const txm_input *input;
    size_t index;     /* of the input */
    const char *name; /* in the object of a failure: the input's path, unless the command sets another */
    const char *word; /* under which the summary counts it, if it did not fail: each_file.good, or what is set here */
    size_t inputs;    /* how many inputs it stands for: 1, or the tiles of a UDIM set */
    bool findings;    /* the command exits with TXM_EXIT_FINDINGS */
    bool skipped;     /* it does not count */
} txm_one_file;

typedef struct txm_each_file {
    /* Prints the result, if there is one. */
    txm_status (*one)(void *user, txm_one_file *file, txm_error *err);
    void *user;
    bool stops;              /* a file that is cancelled ends the loop, without being counted or reported */
    const char *doing;       /* for the progress: "verifying"; NULL: none */
    const char *noun;        /* what the summary counts: "file"; NULL: no summary */
    const char *good;        /* its first word */
    const char *member;      /* the member of JSON objects that has the name; NULL: `describe` adds it */
    bool json, quiet;        /* no summary; with json failures are objects as well */
    bool data;               /* standard output is data, so the summary is a message */
    txm_context *in_context; /* runs several at once, in any order; NULL: one after the other */
    void (*explain)(const char *path, txm_error *err);                     /* extends messages; may be NULL */
    void (*describe)(void *user, const txm_one_file *file, cJSON *object); /* adds members to the object of a
                                                                              failure; may be NULL */
} txm_each_file;

/* Calls `one` for the inputs until a signal is caught. */
void txm_each_file_run(const txm_each_file *how, const txm_inputs *inputs, txm_tally *tally);
#endif
