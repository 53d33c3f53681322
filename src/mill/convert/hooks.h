/* SPDX-License-Identifier: Apache-2.0
 *
 * Hooks by which a batch coordinates with other processes during a conversion: between finding out that a file is
 * needed and making it, and between making it and reporting it.
 */
#ifndef TXM_CONVERT_HOOKS_H
#define TXM_CONVERT_HOOKS_H
#include "mill/convert/resolve.h"
#include "txmill/convert.h"

/* A file that is about to be made, or was made. */
typedef struct txm_making {
    const char *source, *target;
    const txm_source *opened; /* the source */
    const txm_source_info *info;
    const txm_settings *settings;
    const txm_resolved *resolved;
    const char *fresh; /* the same file in another folder, to copy; NULL: none */
} txm_making;

/* Members may be NULL. A conversion with hooks carries out a plan, so it does not repeat the warnings of the dry run.
 */
typedef struct txm_convert_hooks {
    void *user;
    /* Claims `target`; the lookup is repeated afterwards. Any failure ends the conversion; LOCKED: another process has
     * the claim. */
    txm_status (*acquire)(void *user, const char *target, txm_error *err);
    /* Puts a finished file into place, if a store or another folder has it, and fills in the result's members about
     * it. */
    bool (*fetch)(void *user, const txm_making *making, txm_result *result);
    /* Called when the file was made and published. */
    void (*keep)(void *user, const txm_making *making);
    /* Drops the claim; called once after every acquire that returned OK, whatever the result of the conversion is. */
    void (*release)(void *user);
} txm_convert_hooks;

/* Does the same as txm_convert, with hooks. */
txm_status txm_convert_hooked(txm_context *context, const char *source, const txm_settings *settings,
                              const txm_convert_options *options, const txm_convert_hooks *hooks, txm_result *result,
                              txm_error *err);
#endif
