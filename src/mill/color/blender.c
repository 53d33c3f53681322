/* SPDX-License-Identifier: Apache-2.0
 *
 * The supported versions of Blender, and their names, from the table of releases.
 */
#include <string.h>

#include "mill/color/config.h"

int txm_blender_index(txm_blender blender)
{
    return txm_release_column((int)blender);
}

/* Patch levels are accepted, since Blender displays them, but make no difference. */
bool txm_blender_parse(const char *text, txm_blender *out)
{
    for (int i = 0; i < TXM_RELEASE_COUNT; i++) {
        size_t n = strlen(txm_release_names[i]);
        if (strncmp(text, txm_release_names[i], n) != 0)
            continue;
        const char *patch = text + n;
        size_t digits = *patch == '.' ? strspn(patch + 1, "0123456789") : 0;
        if (*patch && (!digits || patch[1 + digits]))
            continue;
        *out = (txm_blender)txm_release_numbers[i];
        return true;
    }
    return false;
}

const char *txm_blender_name(txm_blender blender)
{
    int i = txm_blender_index(blender);
    return i < 0 ? "" : txm_release_names[i];
}

const txm_blender *txm_blender_versions(void)
{
#define VERSION(number, name) (txm_blender)(number),
    static const txm_blender list[] = {TXM_RELEASE_COLUMNS(VERSION, VERSION, VERSION) TXM_BLENDER_NEWEST};
#undef VERSION
    return list;
}
