/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects tx files from the command line: files, folders, lists, patterns.
 *
 * It is used by info, verify, diff, view and other commands that read files, so that folders, lists and patterns mean
 * the same in all of them and mistakes are reported in the same way.
 */
#ifndef TXM_TOOLS_TX_FILES_H
#define TXM_TOOLS_TX_FILES_H
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/words.h"
#include "txmill/batch.h"
#include "txmill/inspect.h"

typedef struct txm_tx_files_args {
    txm_opt_list include, exclude;
} txm_tx_files_args;
extern const txm_option txm_tx_files_options[]; /* --include, --exclude */
#define TXM_FILES_GROUP(args)                                                                                          \
    {                                                                                                                  \
        "Inputs", txm_tx_files_options, offsetof(args, files)                                                          \
    }

/* The tx files that the operands name; in folders, including blender_tx, those with the extension. A file that
 * cannot be read is among them as a failure. USAGE if there are none (the message has the name of the command),
 * NO_MEMORY. Free with txm_inputs_free. */
txm_status txm_tx_files_collect(const char *command, const txm_tx_files_args *args, const txm_operands *operands,
                                txm_inputs **out, txm_error *err);

/* The last call of a command with such inputs, which are NULL if they were not collected. Frees them and returns the
 * exit code: that of `err`, which ended the run, or else of `tally`. */
int txm_files_finish(txm_inputs **inputs, const txm_tally *tally, const txm_error *err);

/* The same for commands that also read other files, or that need not have operands. */
typedef struct txm_files_how {
    const char *command;      /* name for the message that no file was given */
    const char *what;         /* "tx file" */
    bool tx;                  /* tx files in folders, else images */
    bool ptex;                /* takes Ptex files too */
    const char *const *usual; /* globs that are used in folders if --include is not given; may be NULL */
    const char *hint;         /* ends the message that there are none; may be NULL */
    bool may_be_none;
    bool of_images;         /* the name of an image selects its tx files */
    bool one;               /* of several only the one that the settings choose, if it is there */
    bool places;            /* folders are not searched */
    bool dash_is_file;      /* "-" is standard input itself, not a list; a list is @- */
    txm_inputs_scene scene; /* as in txm_inputs_options; may be NULL */
    void *scene_user;
} txm_files_how;
txm_status txm_files_collect(const txm_files_how *how, const txm_tx_files_args *args, const txm_operands *operands,
                             txm_inputs **out, txm_error *err);

/* USAGE if globs were given that apply only to files in folders, and no operand can be a folder: they would have no
 * effect. */
txm_status txm_globs_check(const txm_operands *operands, txm_error *err);

/* If no file is given, an option for an output may have taken the only name, as in view --html *.tx. Returns text
 * for the message that says so, or "" if there is no such option. */
const char *txm_besides_output(const txm_operands *operands);

/* The folders and files that the operands name, without searching folders, for commands that do so themselves. USAGE
 * if there are none, NO_MEMORY. */
txm_status txm_places_collect(const char *command, const char *what, const txm_operands *operands, txm_inputs **out,
                              txm_error *err);
/* TXM_OK, or the error of a folder or file that could not be examined. */
txm_status txm_place_check(const txm_input *input, txm_error *err);

/* TXM_OK, or the error of a file that could not be read. */
txm_status txm_input_check(const txm_input *input, txm_error *err);

/* The operands as paths, for a guard: txm_guard_input. */
const char *txm_files_path(const void *inputs, size_t index);

/* The path whose project a tx file belongs to, for txm_project_contexts: its image, if that is not in a folder above
 * the tx file, else the tx file itself. *place is owned by the caller. Errors in a file are reported when it is
 * read; this fails only if the file changes or its disk fails, because then another look may give another result. */
txm_status txm_tx_place(const char *path, char **place, txm_error *err);

/* For a file that is not a tx file, extends the message: what the file is, and which command shows it. */
void txm_tx_explain(const char *path, txm_error *err);
/* Whether a file that is not a tx file is an image or a scene, and not a damaged file of a texture cache; then it fails
 * with that message. */
bool txm_tx_explain_other(const char *path, txm_error *err);
#endif
