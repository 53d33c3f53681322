/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard in front of the tx files that `txmill make` writes.
 *
 * In: the planned files. A name that a user gave for output may be a source of the same run or a file of another kind;
 * such a run is refused before anything is written.
 */
#include "tools/make/make_guard.h"

#include <sys/stat.h>

#include "mill/base/names.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tools/output/guard.h"
#include "txmill/garbage.h"

/* Inputs may be many, and so may the outputs of a list: those that are the same file are found by its number. */
typedef struct same_input {
    const txm_inputs *inputs;
    txm_names *ids; /* txm_file_id of each input, with its index + 1 */
    const char *output;
} same_input;

/* The guard asks for one input after another; here the table of identities answers at once, since a batch of a
 * million outputs would compare each with a million inputs. */
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

/* Device and inode, not names: a link to a source, or the same file by another path, is the source. */
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

/* Entries of a list carry outputs of their own. A refused one becomes a failed input and the others go on: a
 * list is often made by a program, and one bad line must not cost the night. */
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
