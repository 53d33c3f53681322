/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies data-blocks, and looks them up by address, which is what pointers contain, and by name, which is what
 * links from other files contain. Both indexes are sorted arrays, built once after the scan.
 */
#include "mill/scene/blend/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The types of data-blocks that matter here; all others may still link to them. */
txm_role txm_role_of(const char *code)
{
    static const struct {
        char code[3];
        txm_role role;
    } roles[] = {{"MA", TXM_ROLE_TREE},      {"WO", TXM_ROLE_TREE},        {"LA", TXM_ROLE_TREE},
                 {"LS", TXM_ROLE_TREE},      {"NT", TXM_ROLE_TREE},        {"IM", TXM_ROLE_IMAGE},
                 {"LI", TXM_ROLE_LIBRARY},   {"ID", TXM_ROLE_PLACEHOLDER}, {"SC", TXM_ROLE_SCENE},
                 {"AC", TXM_ROLE_ACTION},    {"WM", TXM_ROLE_INTERFACE},   {"WS", TXM_ROLE_INTERFACE},
                 {"SR", TXM_ROLE_INTERFACE}, {"SN", TXM_ROLE_INTERFACE}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].code, code) == 0)
            return roles[i].role;
    return TXM_ROLE_OTHER;
}

/* Sorts indexes instead of pointers, since the table of IDs may move while it grows. */
static int compare_addresses(const void *a, const void *b, void *ids)
{
    const txm_id *left = (const txm_id *)ids + *(const uint32_t *)a,
                 *right = (const txm_id *)ids + *(const uint32_t *)b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left < right ? -1 : left > right; /* the first of two with the same address counts */
}

/* A data-block comes before a placeholder of the same name, because links mean the data-block. */
static int compare_names(const void *a, const void *b, void *ids)
{
    const txm_id *left = (const txm_id *)ids + *(const uint32_t *)a,
                 *right = (const txm_id *)ids + *(const uint32_t *)b;
    int order = strcmp(left->name, right->name);
    if (order == 0)
        order = (left->role == TXM_ROLE_PLACEHOLDER) - (right->role == TXM_ROLE_PLACEHOLDER);
    return order ? order : left < right ? -1 : left > right;
}

static uint32_t *order(const txm_model *model, int (*compare)(const void *, const void *, void *))
{
    uint32_t *indices = txm_calloc(model->ids.count, sizeof *indices);
    for (size_t i = 0; indices && i < model->ids.count; i++)
        indices[i] = (uint32_t)i;
    if (indices && model->ids.count > 0)
        qsort_r(indices, model->ids.count, sizeof *indices, compare, model->ids.data);
    return indices;
}

bool txm_model_order_addresses(txm_model *model)
{
    free(model->by_address);
    model->by_address = order(model, compare_addresses);
    return model->by_address != NULL;
}

bool txm_model_order_names(txm_model *model)
{
    free(model->by_name);
    model->by_name = order(model, compare_names);
    return model->by_name != NULL;
}

uint32_t txm_model_named(const txm_model *model, const char *name)
{
    size_t low = 0, high = model->ids.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(model->ids.data[model->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < model->ids.count && strcmp(model->ids.data[model->by_name[low]].name, name) == 0;
    return found ? model->by_name[low] : TXM_NO_INDEX;
}

uint32_t txm_model_find(const txm_model *model, uint64_t address)
{
    size_t low = 0, high = model->ids.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (model->ids.data[model->by_address[middle]].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (address == 0 || low == model->ids.count || model->ids.data[model->by_address[low]].address != address)
        return TXM_NO_INDEX;
    return model->by_address[low];
}

void txm_model_free(txm_model *model)
{
    free(model->ids.data);
    free(model->by_address);
    free(model->by_name);
    free(model->images.data);
    free(model->tiles.data);
    free(model->packed.data);
    free(model->trees.data);
    free(model->nodes.data);
    free(model->links.data);
    free(model->libraries.data);
    free(model->edges.data);
    free(model->ranges.data);
    memset(model, 0, sizeof *model);
}
