/* SPDX-License-Identifier: Apache-2.0
 *
 * The supported versions of Blender, and their names.
 */
#include <string.h>

#include "mill/color/config.h"

static const struct {
    txm_blender version;
    const char *name;
} versions[TXM_BLENDERS] = {{TXM_BLENDER_5_2, "5.2"}, {TXM_BLENDER_5_3, "5.3"}};

/* Changes when a version is released. */
enum { NEWEST_RELEASE = TXM_BLENDER_5_2 };

int txm_blender_index(txm_blender blender)
{
    int i = 0;
    txm_blender wanted = blender == TXM_BLENDER_NEWEST ? NEWEST_RELEASE : blender;
    while (i < TXM_BLENDERS && versions[i].version != wanted)
        i++;
    return i < TXM_BLENDERS ? i : -1;
}

/* Patch levels are accepted, since Blender displays them, but make no difference. */
bool txm_blender_parse(const char *text, txm_blender *out)
{
    for (int i = 0; i < TXM_BLENDERS; i++) {
        size_t n = strlen(versions[i].name);
        if (strncmp(text, versions[i].name, n) != 0)
            continue;
        const char *patch = text + n;
        size_t digits = *patch == '.' ? strspn(patch + 1, "0123456789") : 0;
        if (*patch && (!digits || patch[1 + digits]))
            continue;
        *out = versions[i].version;
        return true;
    }
    return false;
}

const char *txm_blender_name(txm_blender blender)
{
    int i = txm_blender_index(blender);
    return i < 0 ? "" : versions[i].name;
}

const txm_blender *txm_blender_versions(void)
{
    static const txm_blender list[TXM_BLENDERS + 1] = {TXM_BLENDER_5_2, TXM_BLENDER_5_3, TXM_BLENDER_NEWEST};
    return list;
}
