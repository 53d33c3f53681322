/* SPDX-License-Identifier: Apache-2.0
 * Writes tx files of other programs for tests. */
#include "util_tx.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <unistd.h>

#include "mill/pyramid/border.h"
#include "mill/write/section_writer.h"

/* ---- files ---- */

static char folder[] = "/tmp/txm-test-XXXXXX";
static pid_t owner;

static void remove_folder(void)
{
    DIR *dir = getpid() == owner ? opendir(folder) : NULL; /* Check runs each test in a child process */
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    if (dir) {
        closedir(dir);
        rmdir(folder);
    }
}

const char *temp_file(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    if (!owner) {
        owner = getpid();
        if (!mkdtemp(folder))
            abort();
        atexit(remove_folder);
    }
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

uint8_t *load_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*bytes ? *bytes : 1);
    ck_assert_uint_eq(fread(data, 1, *bytes, f), *bytes);
    fclose(f);
    return data;
}

void save_file(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f != NULL, "cannot create %s", path);
    ck_assert_uint_eq(fwrite(data, 1, bytes, f), bytes);
    ck_assert_int_eq(fclose(f), 0);
}

txm_tx *open_tx(const char *path)
{
    txm_tx *tx;
    txm_error err = {0};
    ck_assert_msg(txm_tx_open(path, &tx, &err) == TXM_OK, "%s", err.message);
    return tx;
}

/* Copies the tile at (x, y) of a level into `tile`, filled up to full size with zeros. */
static void cut_tile(const made_image *m, uint32_t level, uint32_t x, uint32_t y, uint8_t *tile)
{
    uint32_t w = txm_level_size(m->layout.width, level), h = txm_level_size(m->layout.height, level);
    uint32_t t = m->layout.tile_px;
    size_t px = made_pixel_bytes(m);
    memset(tile, 0, t * t * px);
    for (uint32_t r = 0; r < t && y + r < h; r++)
        memcpy(tile + r * t * px, m->levels[level] + ((size_t)(y + r) * w + x) * px, (w - x < t ? w - x : t) * px);
}

/* ---- TIFF ---- */

void write_foreign_tiff(const char *path, const made_image *m, foreign_tiff how)
{
    const txm_tx_layout *l = &m->layout;
    char mode[8];
    TIFFSetWarningHandler(NULL); /* unusual files are the purpose */
    snprintf(mode, sizeof mode, "w%s%s", how.big_endian ? "b" : "l", how.big ? "8" : "");
    TIFF *tif = TIFFOpen(path, mode);
    ck_assert_ptr_nonnull(tif);
    uint8_t *tile = malloc(l->tile_px * l->tile_px * made_pixel_bytes(m));
    for (uint32_t i = 0; i < l->levels; i++) {
        uint32_t w = txm_level_size(l->width, i), h = txm_level_size(l->height, i);
        TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, w);
        TIFFSetField(tif, TIFFTAG_IMAGELENGTH, h);
        TIFFSetField(tif, TIFFTAG_TILEWIDTH, l->tile_px);
        TIFFSetField(tif, TIFFTAG_TILELENGTH, l->tile_px);
        TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, (int)txm_type_bytes(l->type) * 8);
        TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, txm_type_is_float(l->type) ? 3 : 1);
        TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, (int)l->channels);
        TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, l->channels < 3 ? 1 : 2);
        TIFFSetField(tif, TIFFTAG_PLANARCONFIG, 1);
        TIFFSetField(tif, TIFFTAG_COMPRESSION, how.compression);
        if (how.predictor)
            TIFFSetField(tif, TIFFTAG_PREDICTOR, how.predictor);
        if (!i) {
            TIFFSetField(tif, TIFFTAG_PIXAR_TEXTUREFORMAT, "Plain Texture");
            TIFFSetField(tif, TIFFTAG_SOFTWARE, "a test");
            TIFFSetField(tif, TIFFTAG_IMAGEDESCRIPTION, "oiio:SHA-1=ABC name=\"two words\" plain =x last=1,2");
        }
        for (uint32_t y = 0; y < h; y += l->tile_px)
            for (uint32_t x = 0; x < w; x += l->tile_px) {
                cut_tile(m, i, x, y, tile);
                ck_assert_int_ne(TIFFWriteTile(tif, tile, x, y, 0, 0), -1);
            }
        ck_assert_int_eq(TIFFWriteDirectory(tif), 1);
    }
    free(tile);
    TIFFClose(tif);
}

/* ---- EXR ---- */

static void must(exr_result_t rv)
{
    ck_assert_msg(rv == EXR_ERR_SUCCESS, "OpenEXRCore: %s", exr_get_default_error_message(rv));
}

static void put_chunk(exr_context_t exr, const made_image *m, uint32_t level, uint32_t tx, uint32_t ty)
{
    static const char order[] = "RGBA";
    const txm_tx_layout *l = &m->layout;
    size_t px = made_pixel_bytes(m), sample = txm_type_bytes(l->type);
    uint32_t w = txm_level_size(l->width, level);
    exr_chunk_info_t info;
    exr_encode_pipeline_t chunk = {0};
    must(exr_write_tile_chunk_info(exr, 0, (int)tx, (int)ty, (int)level, (int)level, &info));
    /* OpenEXRCore 3.1 takes the sizes of edge tiles of the smaller levels from level 0. */
    uint32_t h = txm_level_size(l->height, level), x0 = tx * l->tile_px, y0 = ty * l->tile_px;
    info.width = (int32_t)(w - x0 < l->tile_px ? w - x0 : l->tile_px);
    info.height = (int32_t)(h - y0 < l->tile_px ? h - y0 : l->tile_px);
    info.unpacked_size = (uint64_t)info.width * (uint64_t)info.height * px;
    must(exr_encoding_initialize(exr, 0, &info, &chunk));
    for (int c = 0; c < chunk.channel_count; c++) {
        const char *at = strchr(order, *chunk.channels[c].channel_name);
        size_t slot = at ? (size_t)(at - order) : 0; /* "Y" is the only other */
        chunk.channels[c].encode_from_ptr = m->levels[level] + ((size_t)y0 * w + x0) * px + slot * sample;
        chunk.channels[c].user_pixel_stride = (int32_t)px;
        chunk.channels[c].user_line_stride = (int32_t)(w * px);
        chunk.channels[c].user_bytes_per_element = (int16_t)sample;
    }
    must(exr_encoding_choose_default_routines(exr, 0, &chunk));
    must(exr_encoding_run(exr, 0, &chunk));
    must(exr_encoding_destroy(exr, &chunk));
}

void write_foreign_exr(const char *path, const made_image *m, int compression)
{
    const txm_tx_layout *l = &m->layout;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t exr;
    exr_pixel_type_t type = l->type == TXM_TYPE_HALF ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    int part;
    must(exr_start_write(&exr, path, EXR_WRITE_FILE_DIRECTLY, &init));
    must(exr_add_part(exr, "", EXR_STORAGE_TILED, &part));
    must(exr_initialize_required_attr_simple(exr, part, (int)l->width, (int)l->height, (exr_compression_t)compression));
    must(exr_set_tile_descriptor(exr, part, l->tile_px, l->tile_px, EXR_TILE_MIPMAP_LEVELS, EXR_TILE_ROUND_DOWN));
    for (uint32_t c = 0; c < l->channels; c++) {
        const char name[2] = {l->channels == 1 ? 'Y' : "RGBA"[c], 0};
        must(exr_add_channel(exr, part, name, type, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1));
    }
    must(exr_attr_set_string(exr, part, "Software", "a test"));
    must(exr_write_header(exr));
    for (uint32_t i = 0; i < l->levels; i++)
        for (uint32_t y = 0; y * l->tile_px < txm_level_size(l->height, i); y++)
            for (uint32_t x = 0; x * l->tile_px < txm_level_size(l->width, i); x++)
                put_chunk(exr, m, i, x, y);
    must(exr_finish(&exr));
}

/* ---- sections ---- */

typedef struct rows {
    const uint8_t *pixels;
    size_t stride;
} rows;

static const uint8_t *row_of(void *context, uint32_t y)
{
    const rows *r = context;
    return r->pixels + y * r->stride;
}

void append_section(const char *path, const made_image *m)
{
    const txm_tx_layout *l = &m->layout;
    size_t px = made_pixel_bytes(m);
    txm_error err = {0};
    txm_border_encoder *encoder;
    txm_section_writer *section;
    ck_assert_int_eq(txm_border_encoder_new(l, &encoder, &err), TXM_OK);
    ck_assert_int_eq(txm_section_writer_new(l, "/tmp", &section, &err), TXM_OK);
    uint8_t *border = malloc(txm_border_pixels(l->tile_px, l->tile_px) * px);
    for (uint32_t i = 0; i < l->levels; i++) {
        uint32_t w = txm_level_size(l->width, i), h = txm_level_size(l->height, i), t = l->tile_px;
        rows r = {m->levels[i], w * px};
        for (uint32_t y = 0; y < h; y += t)
            for (uint32_t x = 0; x < w; x += t) {
                uint32_t vw = w - x < t ? w - x : t, vh = h - y < t ? h - y : t;
                const void *encoded;
                size_t bytes;
                txm_border_gather(row_of, &r, w, h, px, x, y, vw, vh, border);
                ck_assert_int_eq(txm_border_encode(encoder, border, r.pixels + y * r.stride + x * px, r.stride, vw, vh,
                                                   &encoded, &bytes, &err),
                                 TXM_OK);
                ck_assert_int_eq(
                    txm_section_writer_add(section, i, (y / t) * ((w + t - 1) / t) + x / t, encoded, bytes, &err),
                    TXM_OK);
            }
    }
    int fd = open(path, O_RDWR);
    off_t end = lseek(fd, 0, SEEK_END);
    ck_assert_msg(txm_section_writer_finish(section, fd, (uint64_t)end, &err) == TXM_OK, "%s", err.message);
    close(fd);
    free(border);
    txm_section_writer_free(&section);
    txm_border_encoder_free(&encoder);
}

/* ---- the rule ---- */

/* One axis of the plane by its definition; -1: clear. It walks instead of computing, so that it shares no formula with
 * the reader. */
static int64_t walk(int64_t x, int64_t n, txm_extension extension)
{
    if (extension == TXM_EXTENSION_EXTEND)
        return x < 0 ? 0 : x >= n ? n - 1 : x;
    if (extension == TXM_EXTENSION_CLIP)
        return x < 0 || x >= n ? -1 : x;
    while (x < 0 || x >= n) {
        if (extension == TXM_EXTENSION_REPEAT)
            x += x < 0 ? n : -n;
        else
            x = x < 0 ? -1 - x : 2 * n - 1 - x; /* folds at one edge; the other may be next */
    }
    return x;
}

uint8_t *brute_window(const made_image *m, uint32_t level, uint32_t x0, uint32_t y0, uint32_t w, uint32_t h,
                      uint32_t padding, txm_extension extension)
{
    uint32_t lw = txm_level_size(m->layout.width, level), lh = txm_level_size(m->layout.height, level);
    size_t px = made_pixel_bytes(m);
    uint32_t ow = w + 2 * padding, oh = h + 2 * padding;
    uint8_t *out = calloc((size_t)ow * oh, px);
    int64_t *columns = malloc(ow * sizeof *columns);
    for (uint32_t x = 0; x < ow; x++)
        columns[x] = walk((int64_t)x0 + x - padding, lw, TXM_EXTENSION_U(extension));
    for (uint32_t y = 0; y < oh; y++) {
        int64_t sy = walk((int64_t)y0 + y - padding, lh, TXM_EXTENSION_V(extension));
        for (uint32_t x = 0; x < ow && sy >= 0; x++)
            if (columns[x] >= 0)
                memcpy(out + ((size_t)y * ow + x) * px, m->levels[level] + ((size_t)sy * lw + (size_t)columns[x]) * px,
                       px);
    }
    free(columns);
    return out;
}
