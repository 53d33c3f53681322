/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `txmill gc`.
 *
 * cmd_gc.c has the options; gc_folders.c removes unneeded files, gc_used.c finds those that scenes still need. Both
 * use this struct and nothing else of the command line.
 */
#ifndef TXM_TOOLS_GC_ARGS_H
#define TXM_TOOLS_GC_ARGS_H
#include "tools/options/args.h"
#include "tools/options/rule_args.h"
#include "tools/output/json.h"
#include "txmill/garbage.h"

typedef struct txm_gc_args {
    const char *store;
    double older_than_s; /* negative: any age */
    uint64_t max_size;   /* limit of the store; UINT64_MAX: any size */
    bool remove;
    txm_opt_list keep_for; /* scenes */
    const char *cache_dir; /* folder with which the scenes are rendered */
    bool missing_folders;
    txm_cache_limit limit;
    txm_rule_args rules;
    txm_config_args config;
    txm_report_args report;
} txm_gc_args;

/* A file that is removed, would be, or is kept. */
typedef struct txm_gc_file {
    const char *path;
    bool kept;
    const char *reason, *image; /* may be NULL */
    uint64_t bytes;
    const char *age; /* the member of JSON that has the seconds; NULL: none */
    double seconds;
    const char *details; /* of the line */
} txm_gc_file;
/* Prints it as a line or an object. */
void txm_gc_tell(const txm_gc_args *args, const txm_gc_file *file);

/* Finds what the scenes of --keep-for use; free it with txm_used_free. Fails if a scene or library cannot be read,
 * because what it uses is then unknown. A missing image is not a failure. */
txm_status txm_gc_find_used(const txm_gc_args *args, txm_used **used, txm_error *err);

/* Searches folders, and examines single tx files; returns the exit code. */
int txm_gc_folders(const txm_gc_args *args, const txm_inputs *places);
#endif
