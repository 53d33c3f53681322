/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns the images of a scene, with the settings of their nodes, into textures for lookups: numbers of textures in a
 * cache, or in a set with every tile in memory, and how each is looked up. If an image's tx file is missing or
 * outdated it fails, and the message says which command makes the file.
 */
#include "render/textures.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "txmill/convert.h"
#include "txmill/inspect.h"
#include "txtile/describe.h"

/* ---- finding tx files ---- */

/* The path of a UDIM tile: <UDIM> or <UVTILE> replaced by its number. NULL if memory is exhausted. */
static char *udim_path(const char *pattern, uint32_t number)
{
    static const char *const tokens[] = {"<UDIM>", "<UVTILE>"};
    for (int i = 0; i < 2; i++)
        for (const char *at = pattern; *at; at++) {
            if (strncasecmp(at, tokens[i], strlen(tokens[i])) != 0)
                continue;
            uint32_t tile = number - 1001;
            const char *rest = at + strlen(tokens[i]);
            return i == 0 ? stm_asprintf("%.*s%u%s", (int)(at - pattern), pattern, number, rest)
                          : stm_asprintf("%.*su%u_v%u%s", (int)(at - pattern), pattern, tile % 10 + 1, tile / 10 + 1,
                                         rest);
        }
    return stm_strdup(pattern);
}

/* Tries every number, because a set may have gaps, and its folder any number of other files. */
txm_status stm_scene_find_udims(stm_scene_image *image, txm_error *err)
{
    size_t capacity = 0;
    for (uint32_t number = 1001; number <= 9999; number++) {
        char *path = udim_path(image->path, number);
        bool there = path && access(path, F_OK) == 0;
        free(path);
        if (!path || (there && !STM_GROW(image->udims, capacity, image->udim_count)))
            return stm_no_memory(err, image->path);
        if (there)
            image->udims[image->udim_count++] = number;
    }
    return image->udim_count ? TXM_OK
                             : stm_fail(err, TXM_STATUS_NOT_FOUND, "%s: none of its UDIM tiles exists", image->path);
}

/* Images that differ only in extension or interpolation have the same file. */
static int compare_files(const void *a, const void *b)
{
    const stm_scene_image *x = a, *y = b;
    const int path = strcmp(x->path, y->path), space = path ? path : strcmp(x->colorspace, y->colorspace);
    if (space || x->alpha != y->alpha)
        return space ? space : (int)x->alpha - (int)y->alpha;
    return (x->udim_count > y->udim_count) - (x->udim_count < y->udim_count);
}

static void keep_image(void *image)
{
    (void)image;
}

txm_status stm_render_scene_files(const stm_render_scene *scene,
                                  txm_status (*call)(void *user, const stm_render_scene_file *file, txm_error *err),
                                  void *user, txm_error *err)
{
    txm_status status = TXM_OK;
    void *seen = NULL; /* a tree of the images whose files were handed out */
    txm_error_clear(err);
    for (size_t i = 0; status == TXM_OK && i < scene->image_count; i++) {
        stm_scene_image *image = &scene->images[i];
        stm_render_scene_file file = {image->path, NULL, image->colorspace, image->alpha};
        if (image->pages) /* a Ptex file is read directly and has no tx file */
            continue;
        stm_scene_image **first = tsearch(image, &seen, compare_files);
        if (!first)
            status = stm_no_memory(err, image->path);
        if (!first || *first != image)
            continue;
        if (!image->udim_count)
            status = call(user, &file, err);
        for (size_t k = 0; status == TXM_OK && k < image->udim_count; k++) {
            char *path = udim_path(image->path, image->udims[k]);
            file.path = path;
            file.pattern = image->path;
            status = path ? call(user, &file, err) : stm_no_memory(err, image->path);
            free(path);
        }
    }
    tdestroy(seen, keep_image);
    return status;
}

struct stm_pixel_file {
    int fd;
    char *name; /* owned; NULL once it is removed */
};

/* Images of one pixel have no tx file, because Cycles uses them directly. Here a tx file is made in TMPDIR, and its
 * name is removed before it is used, if /proc has another one. */
static txm_status make_of_pixel(stm_render_textures *t, const stm_render_options *o, const char *path,
                                const txm_settings *settings, char **tx, txm_error *err)
{
    const char *folder = getenv("TMPDIR");
    char *name = stm_asprintf("%s/.txmill-pixel-XXXXXX.txm-tmp", folder && *folder ? folder : "/tmp");
    const int reserved = name ? mkostemps(name, sizeof ".txm-tmp" - 1, O_CLOEXEC) : -1;
    txm_result made = {0};
    txm_convert_options how;
    txm_convert_options_init(&how);
    how.output = name;
    txm_status status = TXM_OK;
    if (reserved >= 0)
        status = txm_convert(o->context, path, settings, &how, &made, err);
    else
        status = name ? stm_fail_errno(err, errno, "%s: cannot make a tx file of its pixel in TMPDIR", path)
                      : stm_no_memory(err, path);
    if (reserved >= 0)
        close(reserved);
    txm_result_clear(&made);
    int file = status == TXM_OK ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (status == TXM_OK && file < 0)
        status = stm_fail_errno(err, errno, "%s: cannot make a tx file of its pixel in TMPDIR", path);
    if (status == TXM_OK) {
        *tx = stm_asprintf("/proc/self/fd/%d", file);
        if (*tx && access(*tx, F_OK) != 0) {
            free(*tx);
            *tx = stm_strdup(name);
        }
        if (!*tx || !STM_GROW(t->pixels, t->pixel_capacity, t->pixel_count))
            status = stm_no_memory(err, path);
    }
    if (name && (status != TXM_OK || strcmp(*tx, name) != 0)) {
        unlink(name);
        free(name);
        name = NULL;
    }
    if (status == TXM_OK)
        t->pixels[t->pixel_count++] = (struct stm_pixel_file){file, name};
    else if (file >= 0)
        close(file);
    return status;
}

/* Binds an image that Cycles uses directly: a tx file, or a single pixel. */
static txm_status take_as_is(stm_render_textures *t, const stm_render_options *o, const char *path,
                             const txm_settings *settings, char **tx, txm_error *err)
{
    txm_result found = {0};
    txm_convert_options how;
    txm_convert_options_init(&how);
    how.dry_run = true;
    txm_status status = txm_convert(o->context, path, settings, &how, &found, err);
    const bool is_pixel = found.outcome == TXM_OUTCOME_USED_AS_IS;
    txm_result_clear(&found);
    if (status != TXM_OK)
        return status;
    if (is_pixel)
        return make_of_pixel(t, o, path, settings, tx, err);
    *tx = stm_strdup(path);
    return *tx ? TXM_OK : stm_no_memory(err, path);
}

/* The command that makes the tx file of an image, or the tx files of a scene if `image` is NULL, as a shell reads it.
 */
static char *make_command(const char *path, const stm_scene_image *image, const char *cache_dir)
{
    char *file = stm_shell_path(path), *space = image ? stm_shell_word(image->colorspace) : NULL;
    char *dir = cache_dir ? stm_shell_word(cache_dir) : NULL;
    char *command = NULL;
    if (file && (space || !image) && (dir || !cache_dir))
        command =
            stm_asprintf("txmill make%s%s%s%s%s%s %s", image ? " -c " : "", image ? space : "", image ? " -a " : "",
                         image ? txm_alpha_name(image->alpha) : "", dir ? " -d " : "", dir ? dir : "", file);
    free(file);
    free(space);
    free(dir);
    return command;
}

static txm_status say_unready(const stm_render_options *o, const stm_scene_image *image, const char *path,
                              const txm_resolution *r, txm_error *err)
{
    char *command = make_command(path, image, o->cache_dir);
    if (!command)
        return stm_no_memory(err, path);
    stm_fail(err, TXM_STATUS_NOT_FOUND, "%s: its tx file is %s%s%s; Cycles %s; make it with '%s'", path,
             txm_tx_state_name(r->state), *r->reason ? ": " : "", r->reason, r->shows, command);
    free(command);
    return TXM_STATUS_NOT_FOUND;
}

/* Finds the tx file that Cycles would load for an image. Without a context the path must be that of a tx file. Tiles
 * are not decoded here; a damaged one is reported when it is looked up. The caller frees *tx. */
static txm_status find_tx(stm_render_textures *t, const stm_render_options *o, const stm_scene_image *image,
                          const char *path, char **tx, txm_error *err)
{
    txm_settings settings;
    txm_resolve_options how;
    txm_resolution r;
    if (!o->context) {
        *tx = stm_strdup(path);
        return *tx ? TXM_OK : stm_no_memory(err, path);
    }
    txm_settings_init(&settings);
    settings.colorspace = image->colorspace;
    settings.alpha = image->alpha;
    settings.cache_dir = o->cache_dir;
    txm_resolve_options_init(&how);
    txm_status status = txm_resolve_image(o->context, path, &settings, &how, &r, err);
    if (status)
        return status;
    if (r.state == TXM_TX_STATE_SOURCE)
        status = take_as_is(t, o, path, &settings, tx, err);
    else if (r.state != TXM_TX_STATE_FRESH)
        status = say_unready(o, image, path, &r, err);
    else if (!(*tx = stm_strdup(r.path)))
        status = stm_no_memory(err, path);
    txm_resolution_clear(&r);
    return status;
}

typedef struct missing {
    const stm_render_options *options;
    stm_render_textures pixels; /* made for images of one pixel */
    size_t count, gone;         /* tx files that can be made, and files that the scene names and that do not exist */
} missing;

static txm_status name_missing(void *user, const stm_render_scene_file *file, txm_error *err)
{
    missing *m = user;
    const stm_scene_image image = {.colorspace = (char *)file->colorspace, .alpha = file->alpha};
    txm_error why = {0};
    char *tx = NULL;
    const txm_status status = find_tx(&m->pixels, m->options, &image, file->path, &tx, &why);
    free(tx);
    if (status == TXM_OK)
        return TXM_OK;
    if (status != TXM_STATUS_NOT_FOUND)
        return stm_fail_as(err, &why);
    if (access(file->path, F_OK) != 0)
        m->gone++;
    else
        m->count++;
    m->options->missing(m->options->missing_user, why.message);
    return TXM_OK;
}

/* Called after a tx file was missing: reports all that are missing. Another failure is kept. */
static txm_status name_all_missing(const stm_render_scene *scene, const stm_render_options *o, txm_error *err)
{
    missing m = {.options = o};
    txm_status status = stm_render_scene_files(scene, name_missing, &m, err);
    stm_render_textures_free(&m.pixels);
    if (status)
        return status;
    if (m.gone)
        return stm_fail(err, TXM_STATUS_NOT_FOUND,
                        "%s: %zu of the files that it names %s not exist; check its paths, and whether the share is "
                        "mounted",
                        scene->folder, m.gone, m.gone == 1 ? "does" : "do");
    if (!m.count)
        return stm_fail(err, TXM_STATUS_CHANGED, "%s: its tx files changed while they were opened; run the same again",
                        scene->folder);
    char *command = make_command(scene->folder, NULL, o->cache_dir);
    if (!command)
        return stm_no_memory(err, scene->folder);
    stm_fail(err, TXM_STATUS_NOT_FOUND, "%s: %zu of its tx files %s missing or outdated; make %s with '%s'",
             scene->folder, m.count, m.count == 1 ? "is" : "are", m.count == 1 ? "it" : "them", command);
    free(command);
    return TXM_STATUS_NOT_FOUND;
}

/* Reads size and encoding of a tx file: colours stored as sRGB are decoded after the lookup, as in Cycles. */
static txm_status read_shape(const char *path, stm_bound_image *bound, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_status status = txm_tx_open(path, &tx, err);
    if (status == TXM_OK) {
        const txm_tx_info *info = txm_tx_info_of(tx);
        bound->how.after = info->encoding == TXM_ENCODING_SRGB ? TXM_AFTER_SRGB : 0;
        bound->width = info->width;
        bound->height = info->height;
    }
    txm_tx_close(&tx);
    return status;
}

/* ---- registering ---- */

/* Records the image of a texture, for statistics: UDIM tiles are many textures of one image. */
static txm_status enter(stm_render_textures *t, uint32_t texture, uint32_t image, const char *name, txm_error *err)
{
    while (t->count <= texture) {
        if (!STM_GROW(t->image_of, t->capacity, t->count))
            return stm_no_memory(err, NULL);
        t->image_of[t->count++] = STM_SCENE_NONE;
    }
    if (t->image_of[texture] == STM_SCENE_NONE)
        t->name_bytes += strlen(name);
    t->image_of[texture] = image;
    return TXM_OK;
}

/* The file's header is read now, although the cache would open it later, because choosing a level needs its size. */
static txm_status add_file(stm_render_textures *t, const stm_render_options *o, const stm_render_scene *scene,
                           uint32_t image, const char *path, bool load, uint32_t *texture, txm_error *err)
{
    const stm_scene_image *from = &scene->images[image];
    char *tx = NULL;
    txm_status status = find_tx(t, o, from, path, &tx, err);
    if (status == TXM_OK)
        status = read_shape(tx, &t->bound[image], err);
    if (status == TXM_OK)
        status = t->set ? txm_texture_set_add(t->set, tx, from->extension, texture, err)
                        : txm_cache_add(t->cache, tx, from->extension, texture, err);
    if (status == TXM_OK && load)
        status = txm_texture_set_load_all(t->set, *texture, err);
    if (status == TXM_OK)
        status = enter(t, *texture, image, tx, err);
    if (status == TXM_OK && image == scene->world.image && !from->udim_count) {
        t->world = tx;
        tx = NULL;
    }
    free(tx);
    return status;
}

static txm_encoding ptex_encoding(const stm_scene_image *image)
{
    return strcmp(image->colorspace, "sRGB") == 0        ? TXM_ENCODING_SRGB
           : strcmp(image->colorspace, "Non-Color") == 0 ? TXM_ENCODING_DATA
                                                         : TXM_ENCODING_LINEAR;
}

static txm_status describe_ptex_page(void *user, txm_tile_shape *shape, txm_error *err)
{
    const stm_ptex_page *page = user;
    const txm_ptex_pages_info *info = txm_ptex_pages_info_of(page->image->pages);
    (void)err;
    txm_ptex_page_size(page->image->pages, page->number, &shape->width, &shape->height);
    shape->levels = txm_level_count(shape->width, shape->height);
    /* If there are many files, their pages are small and shown on their last levels, and each has a tile in memory. */
    const uint32_t side = shape->width > shape->height ? shape->width : shape->height;
    shape->tile_px = side <= 128 ? 16 : side <= 256 ? 32 : TXM_DEFAULT_TILE_PX;
    shape->channels = info->channels;
    shape->type = (uint32_t)info->type;
    shape->encoding = (uint32_t)ptex_encoding(page->image);
    return TXM_OK;
}

static txm_status read_ptex_page(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                                 void *pixels, size_t row_stride_bytes, txm_error *err)
{
    const stm_ptex_page *page = user;
    return txm_ptex_page_read(page->image->pages, page->number, level, x, y, width, height, pixels, row_stride_bytes,
                              err);
}

/* Adds a page of a Ptex file: the cache, or the set, reads its tiles from the faces. */
static txm_status add_ptex_page(stm_render_textures *t, const stm_render_scene *scene, uint32_t image, uint32_t number,
                                bool load, uint32_t *texture, txm_error *err)
{
    const stm_scene_image *from = &scene->images[image];
    const txm_ptex_pages_info *info = txm_ptex_pages_info_of(from->pages);
    stm_bound_image *bound = &t->bound[image];
    if (!t->pages[image])
        t->pages[image] = stm_calloc(info->pages, sizeof *t->pages[image]);
    char *name = stm_asprintf("%s, page %u", from->path, number + 1001);
    if (!t->pages[image] || !name) {
        free(name);
        return stm_no_memory(err, from->path);
    }
    stm_ptex_page *page = &t->pages[image][number];
    *page = (stm_ptex_page){from, number};
    txm_ptex_page_size(from->pages, number, &bound->width, &bound->height);
    bound->how.after = ptex_encoding(from) == TXM_ENCODING_SRGB ? TXM_AFTER_SRGB : 0;
    const txm_called_texture called = {sizeof called,  bound->width,         bound->height,
                                       info->channels, (uint32_t)info->type, (uint32_t)ptex_encoding(from),
                                       page,           read_ptex_page};
    const txm_tile_source source = {sizeof source, page, describe_ptex_page, read_ptex_page, NULL};
    txm_status status = t->set ? txm_texture_set_add_called(t->set, &called, from->extension, texture, err)
                               : txm_cache_add_source(t->cache, name, &source, from->extension, texture, err);
    if (status == TXM_OK && load)
        status = txm_texture_set_load_all(t->set, *texture, err);
    if (status == TXM_OK)
        status = enter(t, *texture, image, name, err);
    free(name);
    return status;
}

/* Registers the tiles as textures, then the set. There is no base texture for distant views. */
static txm_status add_udim(stm_render_textures *t, const stm_render_options *o, const stm_render_scene *scene,
                           uint32_t image, bool load, uint32_t *texture, txm_error *err)
{
    const stm_scene_image *from = &scene->images[image];
    uint32_t *parts = stm_calloc(from->udim_count, sizeof *parts);
    txm_status status = parts ? TXM_OK : stm_no_memory(err, from->path);
    for (size_t i = 0; status == TXM_OK && i < from->udim_count; i++) {
        if (from->pages) {
            status = add_ptex_page(t, scene, image, (uint32_t)i, load, &parts[i], err);
            continue;
        }
        char *path = udim_path(from->path, from->udims[i]);
        status = path ? add_file(t, o, scene, image, path, load, &parts[i], err) : stm_no_memory(err, from->path);
        free(path);
    }
    const txm_cache_udim udim = {from->udims, parts, from->udim_count, TXM_NO_TEXTURE, 0, 0};
    if (status == TXM_OK)
        status = t->set ? txm_texture_set_add_udim(t->set, from->udims, parts, from->udim_count, texture, err)
                        : txm_cache_add_udim(t->cache, &udim, texture, err);
    if (status == TXM_OK)
        status = enter(t, *texture, STM_SCENE_NONE, "", err);
    free(parts);
    return status;
}

/* Uses the node's settings for the filter, and the options' for levels. */
static txm_status add_image(stm_render_textures *t, const stm_render_options *o, const stm_render_scene *scene,
                            uint32_t image, bool load, txm_error *err)
{
    const stm_scene_image *from = &scene->images[image];
    stm_bound_image *bound = &t->bound[image];
    txm_sampler_init(&bound->how);
    bound->how.rule = (uint8_t)o->rule;
    bound->how.mode = (uint8_t)o->mode;
    bound->how.filter = (uint8_t)from->filter;
    bound->is_certain = !from->udim_count && !txm_filter_is_stochastic((txm_filter)from->filter) &&
                        TXM_EXTENSION_U(from->extension) != TXM_EXTENSION_CLIP &&
                        TXM_EXTENSION_V(from->extension) != TXM_EXTENSION_CLIP;
    txm_status status = from->udim_count ? add_udim(t, o, scene, image, load, &bound->texture, err)
                        : from->pages    ? add_ptex_page(t, scene, image, 0, load, &bound->texture, err)
                                         : add_file(t, o, scene, image, from->path, load, &bound->texture, err);
    if (status)
        return status;
    float share = o->cache ? o->cache->resolution : 1.0f;
    bound->how.mip_bias = !(share > 0.0f && share < 1.0f) ? 0.0f : t->cache ? txm_cache_bias(t->cache) : -log2f(share);
    return TXM_OK;
}

/* `reference` requests a set instead of a cache; `load` fills it, which a budget does not need. */
txm_status stm_render_textures_new(const stm_render_scene *scene, const stm_render_options *options, bool reference,
                                   bool load, stm_render_textures *out, txm_error *err)
{
    stm_render_textures t = {0};
    t.bound = stm_calloc(scene->image_count + 1, sizeof *t.bound);
    t.pages = stm_calloc(scene->image_count + 1, sizeof *t.pages);
    t.page_lists = scene->image_count;
    txm_status status = t.bound && t.pages ? TXM_OK : stm_no_memory(err, NULL);
    if (status == TXM_OK)
        status = reference ? txm_texture_set_new(&t.set, err) : txm_cache_new(options->cache, &t.cache, err);
    for (size_t i = 0; status == TXM_OK && i < scene->image_count; i++)
        status = add_image(&t, options, scene, (uint32_t)i, load, err);
    if (status == TXM_STATUS_NOT_FOUND && options->missing && scene->folder)
        status = name_all_missing(scene, options, err);
    if (status) {
        stm_render_textures_free(&t);
        return status;
    }
    *out = t;
    return TXM_OK;
}

/* The cache is freed first; its threads must have been freed before. */
void stm_render_textures_free(stm_render_textures *t)
{
    txm_cache_free(&t->cache);
    txm_texture_set_free(&t->set);
    for (size_t i = 0; t->pages && i < t->page_lists; i++)
        free(t->pages[i]);
    free(t->pages);
    free(t->bound);
    free(t->image_of);
    free(t->world);
    while (t->pixel_count) {
        const struct stm_pixel_file *file = &t->pixels[--t->pixel_count];
        close(file->fd);
        if (file->name)
            unlink(file->name);
        free(file->name);
    }
    free(t->pixels);
    *t = (stm_render_textures){0};
}
