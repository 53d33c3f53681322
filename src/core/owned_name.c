/* SPDX-License-Identifier: Apache-2.0
 * Names of files that say whose they are. */
#include "core/owned_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/path.h"

enum { NAME_BYTES = 255, RANDOM_DIGITS = 16, SUFFIX_BYTES = 32 };

char *txm_owned_path(const char *folder, const char *what, const char *suffix)
{
    const txm_owner self = txm_owner_self();
    char owner[TXM_OWNER_TEXT], end[TXM_OWNER_TEXT + RANDOM_DIGITS + SUFFIX_BYTES + 3];
    txm_owner_print(&self, owner);
    int n = snprintf(end, sizeof end, ".%s-%016" PRIx64 "%s", owner, txm_random_bits(), suffix);
    char *name = txm_asprintf(".%.*s%s", (int)txm_path_cut(what, (size_t)(NAME_BYTES - 1 - n)), what, end);
    char *path = name ? txm_path_join(folder, name) : NULL;
    free(name);
    return path;
}

/* The names of files and hosts may hold dots and dashes, so every dot may be where the owner begins. Only an owner of
 * this very host and kernel can be known to be dead: a wrong guess is somebody elsewhere. */
txm_owner_state txm_owned_name_state(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    txm_owner owner;
    if (n < s + RANDOM_DIGITS + 1 || strcmp(name + n - s, suffix) != 0)
        return TXM_OWNER_ELSEWHERE;
    const char *end = name + n - s - RANDOM_DIGITS - 1;
    if (*end != '-' || strspn(end + 1, "0123456789abcdef") < RANDOM_DIGITS)
        return TXM_OWNER_ELSEWHERE;
    for (const char *p = name; p < end; p++) {
        if (*p != '.' || txm_owner_parse(p + 1, (size_t)(end - p - 1), &owner) != 0)
            continue;
        txm_owner_state state = txm_owner_state_of(&owner);
        if (state != TXM_OWNER_ELSEWHERE)
            return state;
    }
    return TXM_OWNER_ELSEWHERE;
}
