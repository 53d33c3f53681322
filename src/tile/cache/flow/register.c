/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that register textures and change them as a whole. They take the lock around what the catalog does.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"

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

/* ---- patterns of UDIM sets ---- */

static const char TOKEN[] = "<UDIM>";
enum { UDIM_DIGITS = 4, FIRST_UDIM = 1001, LAST_UDIM = 9999 };

/* The number of a file of a set; 0: it is none of them. */
static uint32_t udim_in(const char *name, const char *pattern, const char *token)
{
    const size_t before = (size_t)(token - pattern), after = strlen(token + sizeof TOKEN - 1);
    uint32_t number = 0;
    if (strlen(name) != before + UDIM_DIGITS + after || memcmp(name, pattern, before) != 0 ||
        memcmp(name + before + UDIM_DIGITS, token + sizeof TOKEN - 1, after) != 0)
        return 0;
    for (const char *p = name + before; p < name + before + UDIM_DIGITS; p++) {
        if (*p < '0' || *p > '9')
            return 0;
        number = number * 10 + (uint32_t)(*p - '0');
    }
    return number >= FIRST_UDIM ? number : 0;
}

/* Finds the files of a set in their folder: `found` gets a bit for each number. */
static txm_status find_udims(const char *pattern, const char *token, uint64_t found[LAST_UDIM / 64 + 1], size_t *count,
                             txm_error *err)
{
    const char *base = txm_path_base(pattern);
    char *folder = base == pattern ? strdup(".") : strndup(pattern, (size_t)(base - pattern));
    DIR *d = folder ? opendir(folder) : NULL;
    txm_status status = TXM_OK;
    *count = 0;
    if (!folder)
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for its folder", pattern);
    else if (!d)
        status = txm_fail_errno(err, errno, "%s: cannot read its folder", pattern);
    for (const struct dirent *e; d && (e = readdir(d));) {
        const uint32_t number = udim_in(e->d_name, base, token);
        *count += number && !(found[number / 64] >> number % 64 & 1);
        found[number / 64] |= (uint64_t)(number != 0) << number % 64;
    }
    if (d)
        closedir(d);
    free(folder);
    if (status == TXM_OK && !*count)
        status = txm_fail(err, TXM_STATUS_NOT_FOUND, "%s: there is no file of this UDIM set", pattern);
    return status;
}

static txm_status add_pattern(txm_cache *c, const char *pattern, const char *token, txm_extension extension,
                              uint32_t *texture, txm_error *err)
{
    uint64_t found[LAST_UDIM / 64 + 1] = {0};
    size_t count, n = 0;
    txm_status status = find_udims(pattern, token, found, &count, err);
    uint32_t *numbers = status == TXM_OK ? malloc(2 * count * sizeof *numbers) : NULL;
    const size_t path_bytes = strlen(pattern) + 1;
    char *path = malloc(path_bytes);
    if (status == TXM_OK && (!numbers || !path))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a UDIM set", pattern);
    for (uint32_t i = FIRST_UDIM; i <= LAST_UDIM && status == TXM_OK; i++)
        if (found[i / 64] >> i % 64 & 1) {
            txm_format(path, path_bytes, "%.*s%u%s", (int)(token - pattern), pattern, i, token + sizeof TOKEN - 1);
            status = add(c, path, NULL, extension, &numbers[count + n], err);
            numbers[n++] = i;
        }
    if (status == TXM_OK)
        status = txm_cache_add_udim(
            c, &(txm_cache_udim){.numbers = numbers, .textures = numbers + count, .count = n, .base = TXM_NO_TEXTURE},
            texture, err);
    free(numbers);
    free(path);
    return status;
}

txm_status txm_cache_add(txm_cache *c, const char *path, txm_extension extension, uint32_t *texture, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no tx file given: its path is NULL");
    const char *token = strstr(txm_path_base(path), TOKEN);
    return token ? add_pattern(c, path, token, extension, texture, err) : add(c, path, NULL, extension, texture, err);
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
    txm_status status = TXM_OK;
    if (udim->base < c->stats.textures) /* its size decides which lookups it serves */
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
        txm_trace_event(c, txm_recorder_flush);
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
