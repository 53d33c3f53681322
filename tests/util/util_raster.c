/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes whole files through the readers and compares direct readers with OpenImageIO.
 */
#include "util_raster.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

raster raster_read(const char *path, bool oiio, uint32_t band)
{
    raster r = {0};
    txm_source_options options = {.force_oiio = oiio};
    r.status = txm_source_open(path, &options, &r.source, &r.error);
    if (r.status)
        return r;
    r.opened = true;
    const txm_source_info *info = txm_source_info_of(r.source);
    size_t row = (size_t)info->width * info->channels * txm_type_bytes(info->type);
    r.bytes = row * info->height;
    r.pixels = malloc(r.bytes);
    ck_assert_ptr_nonnull(r.pixels);
    for (uint32_t y = 0; y < info->height && !r.status; y += band) {
        uint32_t rows = info->height - y < band ? info->height - y : band;
        r.status = txm_source_read(r.source, y, rows, r.pixels + y * row, row, &r.error);
        if (!r.status)
            r.rows_read += rows;
    }
    if (r.status) {
        free(r.pixels);
        r.pixels = NULL;
    }
    return r;
}

void raster_free(raster *r)
{
    txm_source_close(&r->source);
    free(r->pixels);
    *r = (raster){0};
}

static void same_attributes(const txm_source_info *a, const txm_source_info *b, const char *what)
{
    ck_assert_msg(a->attribute_count == b->attribute_count, "%s: %zu attributes, OIIO has %zu", what,
                  a->attribute_count, b->attribute_count);
    for (size_t i = 0; i < a->attribute_count; i++) {
        const txm_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        ck_assert_msg(strcmp(x->name, y->name) == 0 && strcmp(x->value, y->value) == 0, "%s: %s='%s', OIIO %s='%s'",
                      what, x->name, x->value, y->name, y->value);
    }
}

bool raster_same_hint(const txm_source_info *direct, const txm_source_info *oiio)
{
    const char *a = direct->colorspace_hint, *b = oiio->colorspace_hint;

    if (strcmp(a, b) == 0)
        return true;
    /* OpenImageIO 3.1 takes the ACES container as a colour space; Blender makes no tx files of such images. */
    if (strcmp(direct->format, "openexr") == 0 && !*a && strcmp(b, "lin_ap0_scene") == 0)
        return true;
    /* A text of a PNG file that looks like a curve of old versions: neither reader takes it as a colour space. */
    return strcmp(direct->format, "png") == 0 && strncmp(a, "Gamma", 5) == 0;
}

void raster_same(const raster *direct, const raster *oiio, const char *what)
{
    const txm_source_info *a = txm_source_info_of(direct->source), *b = txm_source_info_of(oiio->source);

    ck_assert_msg(a->width == b->width && a->height == b->height && a->channels == b->channels &&
                      a->file_channels == b->file_channels && a->type == b->type,
                  "%s: %ux%u %u of %u channels type %d, OIIO %ux%u %u of %u type %d", what, a->width, a->height,
                  a->channels, a->file_channels, a->type, b->width, b->height, b->channels, b->file_channels, b->type);
    ck_assert_msg(a->file_alpha == b->file_alpha && strcmp(a->format, b->format) == 0, "%s: alpha or format", what);
    ck_assert_msg(raster_same_hint(a, b), "%s: hint '%s', OIIO '%s'", what, a->colorspace_hint, b->colorspace_hint);
    ck_assert_msg(strcmp(a->interop_id, b->interop_id) == 0, "%s: interop id '%s', OIIO '%s'", what, a->interop_id,
                  b->interop_id);
    ck_assert_msg(a->density.aspect == b->density.aspect && a->density.x == b->density.x &&
                      a->density.y == b->density.y && strcmp(a->density.unit, b->density.unit) == 0,
                  "%s: density %g %g %g %s, OIIO %g %g %g %s", what, (double)a->density.aspect, (double)a->density.x,
                  (double)a->density.y, a->density.unit, (double)b->density.aspect, (double)b->density.x,
                  (double)b->density.y, b->density.unit);
    ck_assert_msg(strcmp(a->software, b->software) == 0, "%s: software '%s', OIIO '%s'", what, a->software,
                  b->software);
    same_attributes(a, b, what);
    /* An assertion per byte would take a system call per byte. */
    for (size_t i = 0; i < direct->bytes; i++)
        if (direct->pixels[i] != oiio->pixels[i])
            ck_abort_msg("%s: byte %zu is %u, OIIO %u", what, i, direct->pixels[i], oiio->pixels[i]);
}

void raster_compare(const char *path, const char *reader, const char *what)
{
    raster direct = raster_read(path, false, 5), oiio = raster_read(path, true, 64);

    ck_assert_msg(!direct.status, "%s: %s", what, direct.error.message);
    ck_assert_msg(!oiio.status, "%s: OIIO: %s", what, oiio.error.message);
    ck_assert_msg(strcmp(txm_source_info_of(direct.source)->reader, reader) == 0, "%s: served by %s", what,
                  txm_source_info_of(direct.source)->reader);
    raster_same(&direct, &oiio, what);
    raster_free(&direct);
    raster_free(&oiio);
}

static char *folder;
static pid_t owner;

/* Tests run in forked children: only the process that made the folder removes it. */
static void remove_folder(void)
{
    char *command = getpid() == owner ? txm_asprintf("rm -rf '%s'", folder) : NULL;

    if (command && system(command) != 0)
        fprintf(stderr, "could not remove %s\n", folder);
    free(command);
    free(folder);
}

const char *raster_temp(const char *name, const txm_bytes *content)
{
    static char path[256];
    FILE *f;

    if (!folder) {
        folder = txm_strdup("/tmp/txmill-raster-XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        owner = getpid();
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path); /* some file systems wait for the disk when a file is written again */
    f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(content->data, 1, content->size, f), content->size);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

txm_bytes raster_load(const char *path)
{
    txm_bytes b = {0};
    char piece[4096];
    FILE *f = fopen(path, "rb");

    ck_assert_msg(f != NULL, "%s cannot be opened", path);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        ck_assert(txm_bytes_add(&b, piece, n));
    fclose(f);
    return b;
}
