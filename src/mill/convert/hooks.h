/* SPDX-License-Identifier: Apache-2.0
 *
 * Where many processes meet in one conversion: between finding out that a file is needed and making it, and between
 * making and telling. The converter calls; batches decide.
 */
#ifndef TXM_CONVERT_HOOKS_H
#define TXM_CONVERT_HOOKS_H
#include "mill/convert/resolve.h"
#include "txmill/convert.h"

/* A file that is about to be made, or was. */
typedef struct txm_making {
    const char *source, *target;
    const txm_source *opened; /* the source */
    const txm_source_info *info;
    const txm_settings *settings;
    const txm_resolved *resolved;
} txm_making;

/* Members may be NULL. A conversion with hooks carries a plan out: what a dry run has warned of is not said again. */
typedef struct txm_convert_hooks {
    void *user;
    /* Takes the right to make `target`: the lookup is repeated after it. Any failure ends the conversion; LOCKED:
     * another process has it. */
    txm_status (*acquire)(void *user, const char *target, txm_error *err);
    /* Puts a finished file in place and fills the result's members about it, if there is one somewhere. */
    bool (*fetch)(void *user, const txm_making *making, txm_result *result);
    /* The file was made and is in its place. */
    void (*keep)(void *user, const txm_making *making);
    /* Gives the right back; called once after every acquire that returned OK, however the conversion ended. */
    void (*release)(void *user);
} txm_convert_hooks;

/* As txm_convert. */
txm_status txm_convert_hooked(txm_context *context, const char *source, const txm_settings *settings,
                              const txm_convert_options *options, const txm_convert_hooks *hooks, txm_result *result,
                              txm_error *err);
#endif
