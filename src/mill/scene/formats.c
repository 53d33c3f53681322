/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks scene formats up by extension and by word.
 */
#include "mill/scene/formats.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "mill/scene/nodes.h"
#include "mill/scene/scene.h"

static const txm_scene_reader readers[] = {
#define SCENE_FORMAT(id, noun, extensions, mark, begins, normal, data, read)                                           \
    {{id, noun, extensions, mark, begins}, normal, data, read},
#include "mill/scene/format_table.h"
#undef SCENE_FORMAT
};
enum { READERS = sizeof readers / sizeof *readers };

const txm_scene_format *txm_scene_format_at(size_t index)
{
    return index < READERS ? &readers[index].shown : NULL;
}

/* Whether a word of a list of extensions is that of the path. */
static bool has_extension(const char *path, const char *list)
{
    const char *own = txm_path_ext(path);
    for (size_t n; *own && *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (strlen(own + 1) == n && txm_ncasecmp(own + 1, list, n) == 0)
            return true;
    }
    return false;
}

const txm_scene_format *txm_scene_format_of(const char *path)
{
    for (size_t i = 0; path && i < READERS; i++)
        if (has_extension(path, readers[i].shown.extensions))
            return &readers[i].shown;
    return NULL;
}

const txm_scene_reader *txm_scene_reader_of(const char *id)
{
    for (size_t i = 0; i < READERS; i++)
        if (!strcmp(readers[i].shown.id, id))
            return &readers[i];
    return NULL;
}
