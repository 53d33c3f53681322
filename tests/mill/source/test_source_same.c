/* SPDX-License-Identifier: Apache-2.0
 * The direct readers give the same as OpenImageIO: every file of the corpus is read both ways. */
#include <dirent.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "util_check.h"
#include "util_raster.h"

static void same_text(const char *path, const char *what, const char *direct, const char *oiio)
{
    ck_assert_msg(strcmp(direct, oiio) == 0, "%s: %s is '%s' directly, '%s' with OpenImageIO", path, what, direct,
                  oiio);
}

static void same_number(const char *path, const char *what, long long direct, long long oiio)
{
    ck_assert_msg(direct == oiio, "%s: %s is %lld directly, %lld with OpenImageIO", path, what, direct, oiio);
}

static void same_info(const char *path, const txm_source_info *d, const txm_source_info *o)
{
    same_number(path, "width", d->width, o->width);
    same_number(path, "height", d->height, o->height);
    same_number(path, "file channels", d->file_channels, o->file_channels);
    same_number(path, "channels", d->channels, o->channels);
    same_number(path, "type", d->type, o->type);
    same_number(path, "file alpha", d->file_alpha, o->file_alpha);
    same_number(path, "premultiplied default", d->tiff_premultiplied_default, o->tiff_premultiplied_default);
    same_text(path, "format", d->format, o->format);
    ck_assert_msg(raster_same_hint(d, o), "%s: hint '%s' directly, '%s' with OpenImageIO", path, d->colorspace_hint,
                  o->colorspace_hint);
    same_text(path, "interop id", d->interop_id, o->interop_id);
    same_text(path, "software", d->software, o->software);
    ck_assert_msg(d->density.aspect == o->density.aspect && d->density.x == o->density.x &&
                      d->density.y == o->density.y,
                  "%s: density %g %g %g, OpenImageIO: %g %g %g", path, (double)d->density.aspect, (double)d->density.x,
                  (double)d->density.y, (double)o->density.aspect, (double)o->density.x, (double)o->density.y);
    same_text(path, "unit of resolution", d->density.unit, o->density.unit);
    same_number(path, "number of attributes", (long long)d->attribute_count, (long long)o->attribute_count);
    for (size_t i = 0; i < d->attribute_count; i++) {
        same_text(path, "an attribute's name", d->attributes[i].name, o->attributes[i].name);
        same_text(path, d->attributes[i].name, d->attributes[i].value, o->attributes[i].value);
    }
}

static txm_source *open_source(const char *path, bool force_oiio)
{
    txm_source_options options = {.force_oiio = force_oiio};
    txm_source *s = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_source_open(path, &options, &s, &err) == TXM_OK, "%s", err.message);
    return s;
}

/* One side reads bands of 64 rows and the other bands of 37, which match the blocks of no file. */
static uint8_t *read_pixels(txm_source *s, uint32_t rows, size_t stride)
{
    uint32_t height = txm_source_info_of(s)->height;
    uint8_t *pixels = malloc(stride * height);
    txm_error err = {0};
    ck_assert_ptr_nonnull(pixels);
    for (uint32_t y = 0; y < height; y += rows) {
        uint32_t n = height - y < rows ? height - y : rows;
        ck_assert_msg(txm_source_read(s, y, n, pixels + y * stride, stride, &err) == TXM_OK, "%s", err.message);
    }
    return pixels;
}

/* Returns whether a direct reader read the file. */
static bool compare(const char *path)
{
    SCOPED(txm_source_close) txm_source *direct = open_source(path, false), *oiio = NULL;
    const txm_source_info *d = txm_source_info_of(direct);
    bool served = strcmp(d->reader, "oiio") != 0;
    if (served) {
        oiio = open_source(path, true);
        const txm_source_info *o = txm_source_info_of(oiio);
        ck_assert_str_eq(o->reader, "oiio");
        if (!strstr(path, "iptc")) /* OpenImageIO takes nothing from it */
            same_info(path, d, o);
        size_t stride = (size_t)d->width * d->channels * txm_type_bytes(d->type);
        FREED uint8_t *a = read_pixels(direct, 64, stride), *b = read_pixels(oiio, 37, stride);
        for (uint32_t y = 0; y < d->height; y++)
            ck_assert_msg(memcmp(a + y * stride, b + y * stride, stride) == 0, "%s: row %u differs", path, y);
        /* Reads once more from the start, in other portions. */
        ck_assert_int_eq(txm_source_rewind(direct, NULL), TXM_OK);
        FREED uint8_t *c = read_pixels(direct, 5, stride);
        ck_assert_mem_eq(a, c, stride * d->height);
    }
    return served;
}

static void compare_folder(const char *folder, unsigned at_least)
{
    unsigned served = 0, files = 0;
    DIR *dir = opendir(folder);
    ck_assert_msg(dir != NULL, "%s", folder);
    for (struct dirent *e; (e = readdir(dir));) {
        static const char *const kinds[] = {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".exr"};
        const char *dot = strrchr(e->d_name, '.');
        if (e->d_name[0] == '.' || strncmp(e->d_name, "bad-", 4) == 0 || strncmp(e->d_name, "unsupported-", 12) == 0)
            continue;
        if (strcmp(e->d_name, "strip-zstd.tif") == 0) /* the libtiff of OpenImageIO has no zstd */
            continue;
        for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; i++)
            if (strcmp(dot, kinds[i]) == 0) {
                FREED char *path = txm_asprintf("%s/%s", folder, e->d_name);
                bool direct = compare(path);
                if (getenv("TXM_VERBOSE"))
                    printf("note %s %s\n", direct ? "direct" : "oiio", e->d_name);
                served += direct;
                files++;
            }
    }
    closedir(dir);
    ck_assert_msg(served >= at_least, "%s: only %u of %u files were read directly", folder, served, files);
}

TEST(folders)
{
    compare_folder(testdata("sources"), 12);
    compare_folder(testdata("density"), 50);
    compare_folder(testdata("golden"), 6);
}

/* The environment may name another folder of images. */
TEST(other_folder)
{
    const char *folder = getenv("TXM_OTHER_SOURCES");
    if (folder)
        compare_folder(folder, 0);
}

int main(void)
{
    return run_tests_in_one_process();
}
