/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of colour spaces that a config has and the library was not given.
 *
 * A config newer than the library is reduced to what the library can read (reduce.c); the spaces that fell away are
 * kept here with the reason, so that a request for one fails with a message that says why.
 */
#include <stdlib.h>
#include <string.h>

#include "color/reduce.h"
#include "core/mem.h"

txm_color_missing *txm_color_missing_add(txm_color_missing_list *list)
{
    if (!TXM_GROW(list->items, list->capacity, list->count))
        return NULL;
    return memset(&list->items[list->count++], 0, sizeof list->items[0]);
}

void txm_color_missing_free(txm_color_missing_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++) {
        txm_color_missing *m = &list->items[i];
        for (char **alias = m->aliases; alias && *alias; alias++)
            free(*alias);
        free(m->aliases);
        free(m->name);
        free(m->family);
        free(m->description);
        free(m->reason);
    }
    free(list->items);
    memset(list, 0, sizeof *list);
}
