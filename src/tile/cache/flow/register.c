/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that register textures and change them as a whole. They take the lock around what the catalog does.
 */
#include <errno.h>
#include <sys/stat.h>

#include "tile/cache/flow/flow.h"
#include "tile/terms/extension.h"

/* A missing file is reported when it is added, and not in the middle of a render. */
static txm_status look_at(const char *path, txm_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot open", path);
    if (!S_ISREG(st.st_mode))
        return txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    return TXM_OK;
}

static txm_status add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                      uint32_t *texture, txm_error *err)
{
    if (!txm_extension_exists(extension))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: unknown extension mode %d", path, (int)extension);
    txm_status status = called ? TXM_OK : look_at(path, err);
    if (status != TXM_OK)
        return status;
    pthread_mutex_lock(&c->lock);
    status = txm_texture_add(&c->catalog, path, called, extension, texture, err);
    pthread_mutex_unlock(&c->lock);
    if (status == TXM_OK)
        txm_stand_in_load(c, *texture);
    return status;
}

txm_status txm_cache_add(txm_cache *c, const char *path, txm_extension extension, uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no tx file given: its path is NULL");
    return add(c, path, NULL, extension, texture, err);
}

txm_status txm_cache_add_source(txm_cache *c, const char *name, const txm_tile_source *source, txm_extension extension,
                                uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    if (!name || !source || source->struct_size < sizeof *source || !source->describe || !source->read)
        return txm_fail(err, TXM_STATUS_USAGE, "a source of tiles needs a name, its struct_size, describe and read");
    return add(c, name, source, extension, texture, err);
}

txm_status txm_cache_add_udim(txm_cache *c, const txm_cache_udim *udim, uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_udim_check(&c->catalog, udim, err);
    if (status == TXM_OK && udim->base != TXM_NO_TEXTURE) /* its size decides which lookups it serves */
        status = txm_texture_open(c, udim->base, err);
    if (status == TXM_OK)
        status = txm_udim_add(&c->catalog, udim, texture, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_cache_open(txm_cache *c, uint32_t texture, txm_view_texture *info, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = texture < c->stats.textures
                            ? txm_texture_open(c, texture, err)
                            : txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u", texture);
    if (info)
        *info = status == TXM_OK ? c->catalog.view_textures[texture] : (txm_view_texture){0};
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_cache_register(txm_cache *c, uint32_t texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_texture_check(&c->catalog, texture, err);
    if (status == TXM_OK)
        status = txm_texture_open(c, texture, err);
    if (status == TXM_OK && c->catalog.textures[texture].source)
        status = txm_source_register(&c->catalog, c->catalog.textures[texture].source, 0, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_cache_replace(txm_cache *c, uint32_t texture, const char *path, txm_error *err)
{
    txm_error_clear(err);
    txm_status status = path ? look_at(path, err) : TXM_OK;
    if (status != TXM_OK)
        return status;
    pthread_mutex_lock(&c->lock);
    status = txm_own_view_allows(c, "txm_cache_replace", err);
    if (status == TXM_OK)
        status = txm_texture_check(&c->catalog, texture, err);
    while (status == TXM_OK && c->catalog.textures[texture].opening)
        pthread_cond_wait(&c->changed, &c->lock);
    if (status == TXM_OK)
        status = txm_texture_replace(&c->catalog, texture, path, err);
    if (status == TXM_OK) {
        txm_trace_replace(c);
        txm_notify(c);
    }
    pthread_mutex_unlock(&c->lock);
    if (status == TXM_OK)
        txm_stand_in_load(c, texture);
    return status;
}

/* Frees the tiles, also for textures that share the source, but keeps the file registered: the next lookup reads them
 * again. */
txm_status txm_cache_unload(txm_cache *c, uint32_t texture, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_own_view_allows(c, "txm_cache_unload", err);
    if (status == TXM_OK)
        status = txm_texture_check(&c->catalog, texture, err);
    if (status == TXM_OK && c->catalog.textures[texture].source)
        txm_source_unload(&c->catalog, c->catalog.textures[texture].source);
    pthread_mutex_unlock(&c->lock);
    return status;
}
