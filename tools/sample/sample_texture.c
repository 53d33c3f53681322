/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture of a lookup: a tx file, or the tiles of a UDIM set, and what Cycles would do with each file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/inspect/info_report.h"
#include "tools/output/say.h"
#include "tools/sample/sample.h"

size_t txm_sampled_inputs(const txm_inputs *inputs, size_t first)
{
    const txm_input *input = txm_inputs_at(inputs, first), *next;
    size_t n = 1;
    while (txm_input_udim(input) && (next = txm_inputs_at(inputs, first + n)) && txm_input_udim(next) &&
           strcmp(next->pattern, input->pattern) == 0)
        n++;
    return n;
}

size_t txm_sampled_count(const txm_inputs *inputs)
{
    size_t n = 0;
    for (size_t i = 0; i < txm_inputs_count(inputs); i += txm_sampled_inputs(inputs, i))
        n++;
    return n;
}

/* The highest numbers determine the rows and columns of the set; missing tiles remain holes. */
static txm_status add_tiles(txm_sampled_texture *t, txm_extension extension, uint32_t *numbers, uint32_t *ids,
                            txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < t->count; i++) {
        const txm_input *input = txm_inputs_at(t->inputs, t->first + i);
        numbers[i] = txm_input_udim(input);
        t->columns = numbers[i] % 10 == 0 ? 10 : t->columns > numbers[i] % 10 ? t->columns : numbers[i] % 10;
        t->rows = t->rows > (numbers[i] - 1001) / 10 + 1 ? t->rows : (numbers[i] - 1001) / 10 + 1;
        status = txm_input_check(input, err);
        if (status == TXM_OK)
            status = txm_texture_set_add(t->set, input->path, extension, &ids[i], err);
    }
    return status == TXM_OK ? txm_texture_set_add_udim(t->set, numbers, ids, t->count, &t->id, err) : status;
}

txm_status txm_sampled_open(txm_sampled_texture *t, txm_extension extension, txm_error *err)
{
    const txm_input *input = txm_inputs_at(t->inputs, t->first);
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK)
        status = txm_texture_set_new(&t->set, err);
    if (status == TXM_OK && !txm_input_udim(input))
        return txm_texture_set_add(t->set, input->path, extension, &t->id, err);
    if (status != TXM_OK)
        return status;
    uint32_t *numbers = txm_calloc(t->count, 2 * sizeof *numbers);
    status = numbers ? add_tiles(t, extension, numbers, numbers + t->count, err)
                     : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %zu UDIM tiles", t->count);
    free(numbers);
    return status;
}

size_t txm_sampled_tile_index(const txm_sampled_texture *t, uint32_t tile)
{
    size_t i = 0;
    while (i < t->count && txm_input_udim(txm_inputs_at(t->inputs, t->first + i)) != tile)
        i++;
    return i;
}

const char *txm_sampled_tile_path(const txm_sampled_texture *t, uint32_t tile)
{
    const size_t i = txm_sampled_tile_index(t, tile);
    return i < t->count ? txm_inputs_at(t->inputs, t->first + i)->path : NULL;
}

/* If no verdict is possible, as for an image in a closed folder, the colour is still printed; but not if a retry may
 * give one. */
txm_status txm_sampled_judge(txm_sampled_texture *t, const txm_project_contexts *contexts, txm_error *err)
{
    t->verdicts = txm_calloc(t->count, sizeof *t->verdicts);
    if (!t->verdicts)
        return txm_no_memory(err, t->name);
    for (size_t i = 0; i < t->count; i++) {
        const size_t input = t->first + i;
        const txm_verify_options how = {.struct_size = sizeof how, .no_decoding = true};
        const char *path = txm_inputs_at(t->inputs, input)->path;
        txm_verdict *v = &t->verdicts[i];
        txm_error own = {0};
        const txm_status status = txm_judge(txm_project_context(contexts, input), path, &how, v, &own);
        if (txm_status_retryable(status) || status == TXM_STATUS_CANCELLED)
            return txm_fail_as(err, &own);
        if (status != TXM_OK)
            txm_say(TXM_SAY_WARNING, "%s", own.message);
        else if (!txm_info_is_good(v))
            txm_say(TXM_SAY_WARNING, "%s: Cycles %s%s%s", path, v->shows, *v->reason ? ": " : "", v->reason);
    }
    return TXM_OK;
}

uint32_t txm_sampled_udim(const txm_sampled_texture *t, txm_lookup *at)
{
    return t->rows ? txm_udim_of(&at->u, &at->v) : 0;
}
