/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a batch from the command line: inputs and rules from the arguments, events to report and progress.
 *
 * The room tools/make runs conversions: it turns arguments into inputs (batch_job, make_scene, make_mesh), events into
 * lines and JSON (make_report, make_text), and logs into results (run_log, run_tx). `make`, `plan`, `check` and `watch`
 * share it.
 */
#ifndef TXM_TOOLS_MAKE_RUN_H
#define TXM_TOOLS_MAKE_RUN_H
#include "tools/make/batch_job.h"
#include "tools/options/shard_args.h"

/* Options for a Ptex file and its mesh. */
typedef struct txm_mesh_args {
    const char *mesh; /* NULL: the operands are images */
    const char *pages;
    uint32_t page_px;
    int padding; /* 0: chosen for the file, n: 2^(n - 1) px */
} txm_mesh_args;

typedef struct txm_make_args {
    txm_input_args input;
    txm_mesh_args mesh;
    txm_rule_args rules;
    txm_config_args config;
    txm_settings_args settings;
    const char *output;
    int key; /* --key: 1, --key=content: 2 */
    const char *store, *log;
    txm_cache_limit limit;
    bool watching; /* called by txmill watch: folders may be empty */
    bool copies;   /* called by txmill mirror: see txm_batch_options */
    bool force, deep, dry_run, plan, lint, no_claims, fail_fast, progress;
    txm_running_args running;
    txm_shard_args shard;
    txm_report_args report;
} txm_make_args;

/* Runs the batch; returns the exit code. */
int txm_make_run(const txm_make_args *args, const txm_operands *operands);
#endif
