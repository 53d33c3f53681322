/* SPDX-License-Identifier: Apache-2.0
 * Source files of every kind, made by other programs: how they are read, and whether their pixels show the motif. */
#include <dirent.h>
#include <math.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "util_check.h"

/* The content of a picture (testdata/sources/README.md), and how close to it the result must be. */
typedef enum motif { RGB, RGBA, GRAY, RGB16, RGBA16, NONE } motif;

#define EXACT 0.0
#define ROUNDED 1e-7 /* to float */
#define HALF_FLOAT 5e-4
#define LOSSY 0.25
#define COARSE 0.6 /* few colours */

#define SILENT TXM_FILE_ALPHA_SILENT
#define STRAIGHT TXM_FILE_ALPHA_UNASSOCIATED

static const struct {
    const char *name, *format;
    uint32_t file_channels;
    txm_type type;
    txm_file_alpha alpha;
    motif shows;
    double tolerance;
    const char *hint;
} files[] = {
    {"gray1.png", "png", 1, TXM_TYPE_U8, STRAIGHT, GRAY, COARSE, "srgb_rec709_scene"},
    {"gray2.png", "png", 1, TXM_TYPE_U8, STRAIGHT, GRAY, 0.2, "srgb_rec709_scene"},
    {"gray4.png", "png", 1, TXM_TYPE_U8, STRAIGHT, GRAY, 0.04, "srgb_rec709_scene"},
    {"palette1.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, COARSE, "srgb_rec709_scene"},
    {"palette2.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, COARSE, "srgb_rec709_scene"},
    {"palette4.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, 0.3, "srgb_rec709_scene"},
    {"palette8-interlaced.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, 0.1, "srgb_rec709_scene"},
    {"palette-trns.png", "png", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, "srgb_rec709_scene"},
    {"palette-alpha.png", "png", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, "g22_rec709_scene"},
    {"rgb-interlaced.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, EXACT, "g22_rec709_scene"},
    {"rgb-trns.png", "png", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, "g22_rec709_scene"},
    {"gray-trns.png", "png", 2, TXM_TYPE_U8, STRAIGHT, NONE, 0, "g22_rec709_scene"},
    {"rgba16-interlaced.png", "png", 4, TXM_TYPE_U16, STRAIGHT, RGBA16, EXACT, "g22_rec709_scene"},
    {"graya.png", "png", 2, TXM_TYPE_U8, STRAIGHT, NONE, 0, "g22_rec709_scene"},
    {"text-gamma.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, EXACT, "g22_rec709_scene"},
    {"rgb-cicp-pq.png", "png", 3, TXM_TYPE_U8, STRAIGHT, RGB, EXACT, "pq_rec2020_display"},

    {"rgb-420.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"},
    {"rgb-progressive.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"},
    {"rgb-422-restart.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"},
    {"rgb-arithmetic.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"},
    {"gray.jpg", "jpeg", 1, TXM_TYPE_U8, SILENT, GRAY, LOSSY, "srgb_rec709_scene"},
    {"cmyk.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"},
    {"rotated.jpg", "jpeg", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, "srgb_rec709_scene"}, /* orientation is ignored */

    {"strip-none.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"strip-lzw.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"strip-zip.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"strip-packbits.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"strip-zstd.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"strip-jpeg-ycbcr.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, ""},
    {"strip-jpeg-rgb.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, ""},
    {"big-endian.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"bigtiff.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"tiled-lzw.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"tiled-big-endian.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"planar.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"planar-tiled.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"multi-page.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""}, /* the first page */
    {"gray.tif", "tiff", 1, TXM_TYPE_U8, SILENT, GRAY, EXACT, ""},
    {"rgb16.tif", "tiff", 3, TXM_TYPE_U16, SILENT, RGB16, EXACT, ""},
    {"rgb16-big-endian-lzw.tif", "tiff", 3, TXM_TYPE_U16, SILENT, RGB16, EXACT, ""},
    {"rgba16.tif", "tiff", 4, TXM_TYPE_U16, STRAIGHT, RGBA16, EXACT, ""},
    {"rgba-associated.tif", "tiff", 4, TXM_TYPE_U8, SILENT, NONE, 0, ""},
    {"rgba-straight.tif", "tiff", 4, TXM_TYPE_U8, STRAIGHT, RGBA, EXACT, ""},
    {"graya.tif", "tiff", 2, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""},
    {"float.tif", "tiff", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"float-predictor.tif", "tiff", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"float-big-endian.tif", "tiff", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"half.tif", "tiff", 3, TXM_TYPE_HALF, SILENT, RGB16, HALF_FLOAT, ""},
    {"double.tif", "tiff", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"uint32.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB16, 0.5 / 255 + 1e-5, ""},
    {"palette.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, 0.3, ""},
    {"cmyk.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, LOSSY, ""},
    {"bilevel-g4.tif", "tiff", 1, TXM_TYPE_U8, SILENT, GRAY, COARSE, ""},
    {"gray4.tif", "tiff", 1, TXM_TYPE_U8, SILENT, GRAY, 0.07, ""},
    {"min-is-white.tif", "tiff", 1, TXM_TYPE_U8, SILENT, NONE, 0, ""}, /* not inverted by OpenImageIO */
    {"oriented.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},  /* orientation is ignored */
    {"exif.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, "srgb_rec709_scene"},
    {"xmp.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"iptc.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"ppm2tiff.tif", "tiff", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},

    {"half-none.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-rle.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-zips.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-zip.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-piz.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-pxr24.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-b44.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-b44a.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-dwaa.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"half-dwab.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"float-none.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"float-zip.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"float-piz.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"float-pxr24.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, 1.1e-4, ""},
    {"float-b44.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, LOSSY, ""},
    {"float-dwab.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, LOSSY, ""},
    {"tiled.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"mipmap.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"ripmap.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"tile-larger-than-image.exr", "openexr", 3, TXM_TYPE_FLOAT, SILENT, RGB16, ROUNDED, ""},
    {"multi-part.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"multi-layer.exr", "openexr", 8, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"layer-only.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"luminance-alpha.exr", "openexr", 2, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"depth.exr", "openexr", 1, TXM_TYPE_FLOAT, SILENT, NONE, 0, ""},
    {"odd-names.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"mixed-types.exr", "openexr", 5, TXM_TYPE_FLOAT, SILENT, NONE, 0, ""},
    {"data-window.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"uint.exr", "openexr", 3, TXM_TYPE_U8, SILENT, NONE, 0, ""},
    {"attributes.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, "lin_ap1_scene"},
    {"aces-container.exr", "openexr", 4, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"decreasing-y.exr", "openexr", 3, TXM_TYPE_HALF, SILENT, NONE, 0, ""},
    {"luminance-chroma.exr", "openexr", 3, TXM_TYPE_HALF, SILENT, NONE, 0, ""},

    {"new-rle.hdr", "hdr", 3, TXM_TYPE_FLOAT, SILENT, NONE, 0, "g22_rec709_scene"},
    {"flat.hdr", "hdr", 3, TXM_TYPE_FLOAT, SILENT, NONE, 0, "lin_rec709_scene"},

    {"rgb.tga", "targa", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"rgb-rle.tga", "targa", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"palette.tga", "targa", 3, TXM_TYPE_U8, SILENT, RGB, 0.15, ""},
    {"gray.tga", "targa", 1, TXM_TYPE_U8, SILENT, GRAY, EXACT, ""},
    {"rgba-rle.tga", "targa", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""}, /* upside down as ImageMagick stores it */
    {"alpha-type-0.tga", "targa", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""},
    {"alpha-type-1.tga", "targa", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""},
    {"alpha-type-2.tga", "targa", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""},
    {"alpha-type-3.tga", "targa", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""},
    {"alpha-type-4.tga", "targa", 4, TXM_TYPE_U8, SILENT, NONE, 0, ""}, /* premultiplied */
    {"rgb555.tga", "targa", 3, TXM_TYPE_U8, SILENT, NONE, 0, ""},

    {"rgb.bmp", "bmp", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"rgba.bmp", "bmp", 4, TXM_TYPE_U8, SILENT, RGBA, EXACT, ""},
    {"palette4.bmp", "bmp", 3, TXM_TYPE_U8, SILENT, RGB, 0.3, ""},
    {"palette-rle.bmp", "bmp", 3, TXM_TYPE_U8, SILENT, NONE, 0, ""},
    {"rgba-lossless.webp", "webp", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, "srgb_rec709_scene"},
    {"rgba-lossy.webp", "webp", 4, TXM_TYPE_U8, STRAIGHT, RGBA, LOSSY, "srgb_rec709_scene"},
    {"rgb10.dpx", "dpx", 3, TXM_TYPE_U16, SILENT, RGB16, 0.002, ""},
    {"rgb16.dpx", "dpx", 3, TXM_TYPE_U16, SILENT, RGB16, EXACT, ""},
    {"rgb10.cin", "cineon", 3, TXM_TYPE_U16, SILENT, NONE, 0, "KodakLog"},
    {"rgba.psd", "psd", 4, TXM_TYPE_U8, STRAIGHT, NONE, 0, ""}, /* the white matte is removed */
    {"rgb16.psd", "psd", 3, TXM_TYPE_U16, SILENT, RGB16, EXACT, ""},
    {"rgb.jp2", "jpeg2000", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, "srgb_rec709_scene"},
    {"rgb.j2k", "jpeg2000", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, "srgb_rec709_scene"},
    {"rgb16.jp2", "jpeg2000", 3, TXM_TYPE_U16, SILENT, RGB16, EXACT, "srgb_rec709_scene"},
    {"animated.gif", "gif", 4, TXM_TYPE_U8, SILENT, NONE, 0, "srgb_rec709_scene"},
    {"interlaced.gif", "gif", 4, TXM_TYPE_U8, SILENT, NONE, 0, "srgb_rec709_scene"},
    {"binary.ppm", "pnm", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, "Rec709"},
    {"binary16.ppm", "pnm", 3, TXM_TYPE_U16, SILENT, RGB16, 1.6e-5, "Rec709"}, /* OpenImageIO rounds */
    {"plain.pgm", "pnm", 1, TXM_TYPE_U8, SILENT, GRAY, EXACT, "Rec709"},
    {"bitmap.pbm", "pnm", 1, TXM_TYPE_U8, SILENT, NONE, 0, "Rec709"},
    {"rgb.pfm", "pnm", 3, TXM_TYPE_FLOAT, SILENT, NONE, 0, "Rec709"},
    {"gray.fits", "fits", 1, TXM_TYPE_U8, SILENT, NONE, 0, ""}, /* bottom row first */
    {"gray16.fits", "fits", 1, TXM_TYPE_U8, SILENT, NONE, 0, ""},
    {"rgba-dxt5.dds", "dds", 4, TXM_TYPE_U8, STRAIGHT, RGBA, LOSSY, ""},
    {"rgb-dxt1.dds", "dds", 4, TXM_TYPE_U8, STRAIGHT, RGB, LOSSY, ""},
    {"rgba-none.dds", "dds", 4, TXM_TYPE_U8, STRAIGHT, RGBA, EXACT, ""},
    {"la.dds", "dds", 2, TXM_TYPE_U8, SILENT, NONE, 0, ""},
    {"rgb-rle.sgi", "sgi", 3, TXM_TYPE_U8, SILENT, RGB, EXACT, ""},
    {"rgba16.sgi", "sgi", 4, TXM_TYPE_U16, SILENT, RGBA16, EXACT, ""},
    {"rgba.ico", "ico", 4, TXM_TYPE_U8, SILENT, NONE, 0, ""},
};
enum { FILE_COUNT = sizeof files / sizeof files[0] };

typedef struct picture {
    uint32_t width, height, channels;
    float *samples; /* 0 to 1 */
} picture;

static float from_half(uint16_t h)
{
    int exponent = h >> 10 & 31;
    float m = (float)(h & 1023);
    float v = exponent ? ldexpf(m + 1024, exponent - 25) : ldexpf(m, -24);
    return h & 0x8000 ? -v : v;
}

static txm_source *open_source(const char *name)
{
    txm_error err = {0};
    txm_source *s = NULL;
    const char *path = testdata("sources/%s", name);
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    return s;
}

static picture load(const char *name, txm_source_info *info)
{
    txm_error err = {0};
    SCOPED(txm_source_close) txm_source *s = open_source(name);
    const txm_source_info *i = txm_source_info_of(s);
    picture p = {i->width, i->height, i->channels, NULL};
    size_t row = (size_t)p.width * p.channels, count = row * p.height;
    FREED void *raw = malloc(count * txm_type_bytes(i->type));
    p.samples = malloc(count * sizeof(float));
    ck_assert_msg(txm_source_read(s, 0, p.height, raw, row * txm_type_bytes(i->type), &err) == TXM_OK, "%s",
                  err.message);
    for (size_t k = 0; k < count; k++)
        p.samples[k] = i->type == TXM_TYPE_U8     ? ((uint8_t *)raw)[k] / 255.0f
                       : i->type == TXM_TYPE_U16  ? ((uint16_t *)raw)[k] / 65535.0f
                       : i->type == TXM_TYPE_HALF ? from_half(((uint16_t *)raw)[k])
                                                  : ((float *)raw)[k];
    if (info) {
        *info = *i;
        info->attributes = NULL;
    }
    return p;
}

static const char *motif_file(motif m)
{
    static const char *const names[] = {"binary.ppm", "rgba-straight.tif", "plain.pgm", "rgb16.tif", "rgba16.tif"};
    return names[m];
}

TESTS(reads_as_expected, FILE_COUNT)
{
    txm_source_info info;
    picture p = load(files[_i].name, &info);
    bool icon = strcmp(files[_i].format, "ico") == 0;
    bool even = strcmp(files[_i].name, "decreasing-y.exr") == 0 ||
                strcmp(files[_i].name, "luminance-chroma.exr") == 0; /* chroma is subsampled by two */
    ck_assert_uint_eq(info.width, icon ? 32 : even ? 36 : 37);
    ck_assert_uint_eq(info.height, icon ? 20 : even ? 22 : 23);
    ck_assert_str_eq(info.format, files[_i].format);
    ck_assert_uint_eq(info.file_channels, files[_i].file_channels);
    ck_assert_uint_eq(info.channels, files[_i].file_channels < 4 ? files[_i].file_channels : 4);
    ck_assert_str_eq(txm_type_name(info.type), txm_type_name(files[_i].type));
    ck_assert_int_eq(info.file_alpha, files[_i].alpha);
    ck_assert_str_eq(info.colorspace_hint, files[_i].hint);
    if (files[_i].shows != NONE) {
        picture m = load(motif_file(files[_i].shows), NULL);
        /* A picture without alpha shows its motif's colours; DXT1 adds an alpha that the motif lacks. */
        uint32_t common = m.channels < p.channels ? m.channels : p.channels;
        double worst = 0;
        for (size_t k = 0; k < (size_t)p.width * p.height; k++)
            for (uint32_t c = 0; c < common; c++)
                worst = fmax(worst, fabs((double)p.samples[k * p.channels + c] - m.samples[k * m.channels + c]));
        ck_assert_msg(worst <= files[_i].tolerance, "%s: off by %g, allowed %g", files[_i].name, worst,
                      files[_i].tolerance);
        free(m.samples);
    }
    free(p.samples);
}

/* The same half pixels are stored in every lossless way, and nearly the same ones in every lossy way. */
TEST(exr_ways_agree)
{
    static const struct {
        const char *name;
        double tolerance;
    } ways[] = {{"half-rle.exr", 0},     {"half-zips.exr", 0},     {"half-zip.exr", 0},     {"half-piz.exr", 0},
                {"half-pxr24.exr", 0},   {"half-b44.exr", 0.05},   {"half-b44a.exr", 0.05}, {"half-dwaa.exr", 0.05},
                {"half-dwab.exr", 0.05}, {"tiled.exr", 0},         {"mipmap.exr", 0},       {"multi-part.exr", 0},
                {"multi-layer.exr", 0},  {"layer-only.exr", 0},    {"data-window.exr", 0},  {"mixed-types.exr", 0},
                {"attributes.exr", 0},   {"aces-container.exr", 0}};
    picture reference = load("half-none.exr", NULL);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        picture p = load(ways[w].name, NULL);
        ck_assert_uint_eq(p.channels, 4);
        for (size_t k = 0; k < (size_t)p.width * p.height * 4; k++)
            ck_assert_msg(fabs((double)p.samples[k] - reference.samples[k]) <= ways[w].tolerance, "%s: sample %zu",
                          ways[w].name, k);
        free(p.samples);
    }
    free(reference.samples);
}

TEST(metadata)
{
    static const struct {
        const char *name, *interop, *software;
        size_t attributes;
    } said[] = {{"attributes.exr", "lin_ap1_scene", "oiiotool", 2},
                {"aces-container.exr", "lin_ap0_scene", "", 0},
                {"rgb-cicp-pq.png", "pq_rec2020_display", "", 3},
                {"rgba-straight.tif", "", "tiffset", 3},
                {"xmp.tif", "", "a tool", 3},
                {"iptc.tif", "", "a tool", 3},
                {"half-zip.exr", "", "", 0}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        SCOPED(txm_source_close) txm_source *s = open_source(said[i].name);
        const txm_source_info *info = txm_source_info_of(s);
        ck_assert_str_eq(info->interop_id, said[i].interop);
        ck_assert_str_eq(info->software, said[i].software);
        ck_assert_uint_eq(info->attribute_count, said[i].attributes);
    }
}

TEST(unsupported_files)
{
    static const struct {
        const char *name;
        txm_status status;
        const char *words;
    } refused[] = {{"unsupported-chroma-layer.exr", TXM_STATUS_UNSUPPORTED, "only Y, with RY and BY of half"},
                   {"unsupported-volume.dds", TXM_STATUS_UNSUPPORTED, "a volume of 4 layers"}};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        SCOPED(txm_source_close) txm_source *s = NULL;
        txm_error err = {0};
        uint8_t rows[37 * 16 * 23];
        const char *path = testdata("sources/%s", refused[i].name);
        txm_status status = txm_source_open(path, NULL, &s, &err);
        if (status == TXM_OK)
            status = txm_source_read(s, 0, 23, rows, 37 * 16, &err);
        ck_assert_msg(status == refused[i].status, "%s: %s", refused[i].name, err.message);
        ck_assert_msg(strstr(err.message, path) && strstr(err.message, refused[i].words), "%s", err.message);
    }
}

/* Every file in the folder has a line in the table. */
TEST(every_file_has_a_line)
{
    DIR *dir = opendir(testdata("sources"));
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        bool known = e->d_name[0] == '.' || strncmp(e->d_name, "unsupported-", 12) == 0 ||
                     strncmp(e->d_name, "make.", 5) == 0 || strcmp(e->d_name, "README.md") == 0;
        for (int i = 0; i < FILE_COUNT && !known; i++)
            known = strcmp(files[i].name, e->d_name) == 0;
        ck_assert_msg(known, "%s is not tested", e->d_name);
    }
    closedir(dir);
}

int main(void)
{
    return run_tests_in_one_process();
}
