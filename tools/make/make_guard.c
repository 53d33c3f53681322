/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the names under which `txmill make` writes tx files.
 *
 * In: the planned files. An output that the user named may be a source of the same run or a file of another kind; the
 * run is then refused before anything is written.
 */
#include "tools/make/make_guard.h"

#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "txmill/garbage.h"
#include "txmill/guard.h"

/* There may be many inputs and many outputs in a list, so equal files are found by their identity. */
typedef struct same_input {
    const txm_inputs *inputs;
    txm_names *ids; /* txm_file_id of each input, with its index + 1 */
    const char *output;
} same_input;

/* txm_guard_output goes through all inputs; this function finds the right one in the table at once, because a batch
 * of a million outputs would otherwise be compared with a million inputs each. */
static const char *same_as_output(const void *user, size_t index)
{
    const same_input *s = user;
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    if (index || stat(s->output, &st) != 0)
        return NULL;
    txm_file_id(&st, id);
    txm_name *entry = txm_names_has(s->ids, id) ? txm_names_entry(s->ids, id) : NULL;
    return entry ? txm_inputs_at(s->inputs, entry->value - 1)->path : NULL;
}

/* By device and inode, because a link to a source, or another path to it, is the same file. */
static txm_status number_inputs(const txm_inputs *inputs, txm_names *ids, txm_error *err)
{
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        if (stat(txm_inputs_at(inputs, i)->path, &st) != 0)
            continue;
        txm_file_id(&st, id);
        txm_name *entry = txm_names_entry(ids, id);
        if (!entry)
            return txm_no_memory(err, NULL);
        entry->value = i + 1;
    }
    return TXM_OK;
}

/* Entries of a list have their own outputs. If one is refused, it becomes a failed input and the others go on,
 * because lists are often made by programs and run at night. */
static txm_status guard_entries(same_input *s, txm_inputs *inputs, txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error failure = {0};
        const txm_output output = {"output", s->output = input->output, TXM_OUTPUT_TX, false};
        if (input->status == TXM_OK && (txm_guard_output(&output, same_as_output, s, &failure) != TXM_OK ||
                                        txm_guard_tx_of(&output, input->path, &failure) != TXM_OK)) {
            txm_error_prefix(&failure, "%s", input->origin ? input->origin : input->path);
            status = txm_inputs_fail(inputs, i, &failure, err);
        }
    }
    return status;
}

txm_status txm_make_guard(const txm_make_args *args, txm_inputs *inputs, txm_error *err)
{
    txm_names ids = {0};
    same_input s = {.inputs = inputs, .ids = &ids};
    const txm_output tx = {"-o", args->output, TXM_OUTPUT_TX, false};
    txm_status status = number_inputs(inputs, &ids, err);
    s.output = args->output;
    if (status == TXM_OK)
        status = txm_guard_output(&tx, same_as_output, &s, err);
    if (status == TXM_OK && txm_inputs_count(inputs) == 1)
        status = txm_guard_tx_of(&tx, txm_inputs_at(inputs, 0)->path, err);
    if (status == TXM_OK)
        status = guard_entries(&s, inputs, err);
    txm_names_free(&ids);
    return status;
}
