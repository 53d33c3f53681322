/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing a scene, and what it tells.
 */
#include "blend/scene.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/path.h"

txm_status txm_blend_exhausted(const txm_blend *blend, txm_error *err)
{
    return txm_fail(err, TXM_TOO_LARGE, "%s: the images and node trees of the scene need more than %d MiB of memory",
                    blend->files.count ? blend->files.data[0].path : "scene", TXM_BLEND_STORE_BYTES >> 20);
}

static txm_status fill_info(txm_blend *blend, txm_error *err)
{
    const txm_blend_file *scene = &blend->files.data[0];
    const txm_model *m = &scene->model;
    blend->info = (txm_blend_info){.path = scene->path,
                                   .version = m->format.version,
                                   .subversion = m->subversion,
                                   .compression = m->compression,
                                   .pointer_bytes = m->format.pointer_bytes,
                                   .big_endian = m->format.big_endian};
    if (*m->working_space) {
        const txm_blend_colors *c = &blend->colors;
        const char *name = c->canonical ? c->canonical(c->user, m->working_space) : NULL;
        name = name ? name : m->working_space; /* unknown to the config: whoever uses it will say so */
        blend->info.working_space = txm_store_string(&blend->store, name, strlen(name));
        if (!blend->info.working_space) {
            return txm_blend_exhausted(blend, err);
        }
    }
    return TXM_OK;
}

txm_status txm_blend_open(const char *path, const txm_blend_options *options, txm_blend **out, txm_error *err)
{
    txm_error_clear(err);
    txm_blend *blend = txm_calloc(1, sizeof *blend);
    char *absolute = txm_path_absolute(path);
    txm_status status;
    if (!blend || !absolute) {
        free(blend);
        free(absolute);
        return txm_fail(err, TXM_NO_MEMORY, "%s: no memory to open the scene", path);
    }
    blend->store.limit_bytes = TXM_BLEND_STORE_BYTES;
    if (options) {
        blend->colors = options->colors;
        blend->lint = options->lint;
    }
    status = txm_blend_link(blend, absolute, err);
    free(absolute);
    if (status == TXM_OK) {
        status = fill_info(blend, err);
    }
    if (status == TXM_OK) {
        status = txm_blend_collect(blend, err);
    }
    if (status == TXM_OK && blend->lint) {
        status = txm_blend_examine(blend, err);
    }
    if (status != TXM_OK) {
        txm_blend_close(&blend);
        return status;
    }
    *out = blend;
    return TXM_OK;
}

void txm_blend_close(txm_blend **blend)
{
    txm_blend *b = *blend;
    if (!b) {
        return;
    }
    for (size_t i = 0; i < b->files.count; i++) {
        txm_model_free(&b->files.data[i].model);
    }
    for (size_t i = 0; i < b->images.count; i++) {
        free((void *)b->images.data[i].files);
        free((void *)b->images.data[i].packed);
    }
    free(b->files.data);
    free(b->libraries.data);
    free(b->uses.data);
    free(b->images.data);
    free(b->origins.data);
    free(b->users.data);
    free(b->findings.data);
    txm_store_free(&b->store);
    free(b);
    *blend = NULL;
}

const txm_blend_info *txm_blend_info_of(const txm_blend *blend)
{
    return &blend->info;
}

size_t txm_blend_image_count(const txm_blend *blend)
{
    return blend->images.count;
}

const txm_blend_image *txm_blend_image_at(const txm_blend *blend, size_t index)
{
    return index < blend->images.count ? &blend->images.data[index] : NULL;
}

size_t txm_blend_library_count(const txm_blend *blend)
{
    return blend->libraries.count;
}

const txm_blend_library *txm_blend_library_at(const txm_blend *blend, size_t index)
{
    return index < blend->libraries.count ? &blend->libraries.data[index] : NULL;
}

size_t txm_blend_finding_count(const txm_blend *blend)
{
    return blend->findings.count;
}

const txm_blend_finding *txm_blend_finding_at(const txm_blend *blend, size_t index)
{
    return index < blend->findings.count ? &blend->findings.data[index] : NULL;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

const char *txm_blend_source_name(txm_blend_source source)
{
    static const char *const names[] = {"unknown", "file", "sequence", "movie", "generated", "viewer", "tiled"};
    return source >= TXM_BLEND_FILE && source <= TXM_BLEND_TILED ? names[source] : names[0];
}

const char *txm_blend_state_name(txm_blend_state state)
{
    static const char *const names[] = {"ready", "missing", "packed", "no-path", "no-file"};
    return names[state];
}

const char *txm_blend_library_state_name(txm_blend_library_state state)
{
    static const char *const names[] = {"read", "packed", "missing", "broken"};
    return names[state];
}
