/* SPDX-License-Identifier: Apache-2.0
 *
 * Tx files from the command line, for the commands that look into them: files, folders, lists, patterns.
 *
 * Shared by info, verify, diff, view and the others that take many files, so that folders, lists and patterns
 * mean the same everywhere and a mistake in one operand reads the same.
 */
#ifndef TXM_TOOLS_TX_FILES_H
#define TXM_TOOLS_TX_FILES_H
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "txmill/batch.h"
#include "txmill/inspect.h"

typedef struct txm_tx_files_args {
    bool recursive;
    txm_opt_list include, exclude;
} txm_tx_files_args;
extern const txm_option txm_tx_files_options[]; /* -r, --include, --exclude */
#define TXM_FILES_GROUP(args)                                                                                          \
    {                                                                                                                  \
        "Inputs", txm_tx_files_options, offsetof(args, files)                                                          \
    }

/* The tx files that the operands name; in folders, blender_tx folders included, those with the extension. What cannot
 * be read is among them as a failure. USAGE when there is none at all (`command` is named then), NO_MEMORY. Free
 * with txm_inputs_free. */
txm_status txm_tx_files_collect(const char *command, const txm_tx_files_args *args, const txm_operands *operands,
                                txm_inputs **out, txm_error *err);

/* The last call of a command over such inputs, NULL where they were not collected: frees them; the exit code, of what
 * ended the run (`err`) or else of `tally`. */
int txm_files_finish(txm_inputs **inputs, const txm_tally *tally, const txm_error *err);

/* The same where the operands may be missing because there is more to come, and for other files than tx files. */
typedef struct txm_files_how {
    const char *command;      /* for the message that nothing was given */
    const char *what;         /* "tx file" */
    bool tx;                  /* tx files in folders, else images */
    bool ptex;                /* beside tx files: Ptex files as well */
    const char *const *usual; /* globs that are taken in folders where --include says nothing; may be NULL */
    bool may_be_none;
    bool of_images;         /* an image means its tx files */
    bool places;            /* folders are taken as such, not searched */
    bool dash_is_file;      /* "-" is standard input itself, not a list; @- is the list */
    txm_inputs_scene scene; /* as in txm_inputs_options; may be NULL */
    void *scene_user;
} txm_files_how;
txm_status txm_files_collect(const txm_files_how *how, const txm_tx_files_args *args, const txm_operands *operands,
                             txm_inputs **out, txm_error *err);

/* USAGE where globs that only choose among the files of folders were given, and no operand can hold a folder: then they
 * would do nothing. */
txm_status txm_globs_check(const txm_operands *operands, txm_error *err);

/* Where nothing is given, an option for an output may have taken the only name, as in view --html *.tx: says so after
 * "no tx file given". "" where there is no such option. */
const char *txm_besides_output(const txm_operands *operands);

/* The folders and files that the operands name, folders as such: for commands that go through folders themselves. USAGE
 * when there is none, NO_MEMORY. */
txm_status txm_places_collect(const char *command, const char *what, const txm_operands *operands, txm_inputs **out,
                              txm_error *err);
/* TXM_OK, or the failure that takes the place of a folder or file. */
txm_status txm_place_check(const txm_input *input, txm_error *err);

/* TXM_OK, or the failure that takes the place of the file. */
txm_status txm_input_check(const txm_input *input, txm_error *err);

/* The word that summaries count a verdict under: "used", "outdated", "damaged", "under another name" ... */
const char *txm_use_word(txm_use use);

/* The operands as paths, for a guard: txm_guard_input. */
const char *txm_files_path(const void *inputs, size_t index);

/* Whose project a tx file belongs to, for txm_project_contexts: its image, where that lies in another folder than one
 * above the tx file, else the tx file itself. *place owned by the caller. What is wrong with a file is said when it is
 * read: only a file that changes or whose disk fails meanwhile fails here, since another look may see something else.
 */
txm_status txm_tx_place(const char *path, char **place, txm_error *err);

/* Says of a file that is no tx file what it is, and which command shows it. */
void txm_tx_explain(const char *path, txm_error *err);
#endif
