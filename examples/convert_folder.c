/* SPDX-License-Identifier: Apache-2.0
 * Makes the tx files of every image below a folder, on all cores, and stops cleanly on Ctrl-C:
 *
 *     cc convert_folder.c $(pkg-config --cflags --libs txmill) -o convert_folder
 *     ./convert_folder textures */
#include <signal.h>
#include <stdio.h>
#include <txmill/batch.h>

static volatile int cancel;

static void on_signal(int signal)
{
    (void)signal;
    txm_cancel_request(&cancel);
}

/* Called when an image is done, from any thread, but never twice at the same time. */
static void on_done(void *user, const txm_batch_file *file)
{
    size_t *failed = user;
    if (file->err->status != TXM_OK) {
        fprintf(stderr, "%s\n", file->err->message);
        ++*failed;
    } else if (file->result->outcome == TXM_OUTCOME_CREATED) {
        printf("%s: created %s\n", file->input->path, file->result->tx_path);
    } else if (file->result->outcome == TXM_OUTCOME_UP_TO_DATE) {
        printf("%s: up to date\n", file->input->path);
    }
}

/* Chooses what to convert and how. Every options struct is initialised by its init function, which sets its size and
 * the defaults. */
static txm_status convert(const char *folder, size_t *failed, txm_error *err)
{
    txm_context_options machine;
    txm_inputs_options which;
    txm_settings settings;
    txm_batch_events events;
    txm_batch_options how;
    txm_context *context = NULL;
    txm_inputs *inputs = NULL;
    txm_rules *rules = NULL;
    txm_batch *batch = NULL;

    txm_context_options_init(&machine);
    machine.cancel = &cancel;
    txm_inputs_options_init(&which);
    which.recursive = true;
    txm_settings_init(&settings);
    txm_batch_events_init(&events);
    events.user = failed;
    events.done = on_done;
    txm_batch_options_init(&how);
    how.settings = &settings;
    how.events = &events;

    txm_status status = txm_context_new(&machine, &context, err);
    if (status == TXM_OK)
        status = txm_inputs_new(&which, &inputs, err);
    if (status == TXM_OK)
        status = txm_inputs_add(inputs, folder, err);
    if (status == TXM_OK)
        status = txm_rules_new(&rules, err);
    if (status == TXM_OK) /* makes normal and roughness maps Non-Color */
        status = txm_rules_preset(rules, "pbr", err);
    how.rules = rules;
    if (status == TXM_OK)
        status = txm_batch_new(context, inputs, &how, &batch, err);
    if (status == TXM_OK)
        status = txm_batch_plan(batch, err);
    if (status == TXM_OK)
        status = txm_batch_run(batch, err);
    txm_batch_free(&batch);
    txm_rules_free(&rules);
    txm_inputs_free(&inputs);
    txm_context_free(&context);
    return status;
}

int main(int argc, char **argv)
{
    size_t failed = 0;
    txm_error err;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    signal(SIGINT, on_signal);
    if (convert(argv[1], &failed, &err) != TXM_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return failed ? 1 : 0;
}
