/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch from the command line: inputs and rules from the arguments, planned with the options of the command.
 *
 * Collect, then plan; in between a command may guard its outputs or split off its shard. Zero-initialise a job, and
 * free it in any case.
 */
#ifndef TXM_TOOLS_BATCH_JOB_H
#define TXM_TOOLS_BATCH_JOB_H
#include "tools/make/make_scene.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/options/rule_args.h"
#include "txmill/batch.h"

/* The inputs, and rules by their names. */
typedef struct txm_input_args {
    txm_opt_list include, exclude;
    const char *packed; /* folder for packed images of scenes */
} txm_input_args;
extern const txm_option txm_input_options[];
#define TXM_INPUTS_GROUP(args)                                                                                         \
    {                                                                                                                  \
        "Inputs", txm_input_options, offsetof(args, input)                                                             \
    }

/* The parts of a job that come from groups of options. */
typedef struct txm_batch_job_args {
    const txm_input_args *input;
    const txm_rule_args *rules;
    const txm_config_args *config;
    const txm_running_args *running;
    bool lint;
    bool nodes;         /* scenes tell what is unusual about how their nodes use images, even without lint */
    bool unpack;        /* packed images of scenes may be unpacked */
    bool find_unpacked; /* they are expected to be unpacked already */
    txm_batch_events events;
    const char *doing; /* of the progress while inputs are examined: "checking"; NULL: neither progress nor warnings */
    /* Adds the inputs that are converted instead of the operands; NULL: these. */
    txm_status (*add)(void *user, txm_inputs *inputs, txm_error *err);
    void *add_user;
} txm_batch_job_args;

/* Zero-initialise; must not be moved until it is freed. */
typedef struct txm_batch_job {
    bool may_be_empty; /* a folder without images is not an error, because it is watched */
    txm_make_scenes scenes;
    txm_rules *rules;
    txm_inputs *inputs;
    txm_project_contexts contexts; /* for other work on its files */
    txm_batch_events events;
    txm_batch *batch;
} txm_batch_job;

/* The inputs that the operands name: files, folders, patterns, lists, scenes. */
txm_status txm_batch_job_collect(txm_batch_job *job, const txm_batch_job_args *args, const txm_operands *operands,
                                 txm_error *err);
/* Makes the batch and its plan. Rules, lint, memory and events are taken from the arguments. */
txm_status txm_batch_job_plan(txm_batch_job *job, const txm_batch_job_args *args, const txm_batch_options *options,
                              txm_error *err);
void txm_batch_job_free(txm_batch_job *job);
#endif
