/* SPDX-License-Identifier: Apache-2.0
 * The direct EXR reader: its codecs alone, files written by OpenEXR, and damage at every place. */
#include <fcntl.h>
#include <openexr.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "mill/source/exr/exr.h"
#include "tile/decode/exr_decode.h"
#include "tile/reader/exr_channels.h"
#include "util_check.h"
#include "util_faults.h"

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/txm-exr-XXXXXX");
    SCOPED(close_descriptor) int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
}

static void remove_path(void)
{
    unlink(path);
}
FIXTURE(make_path, remove_path)

/* ---- codecs ---- */

/* Encodes by the definition, byte by byte. */
static void unpredict_slowly(const uint8_t *in, uint8_t *out, size_t n)
{
    uint8_t sums[512];
    for (size_t i = 0; i < n; i++)
        sums[i] = i ? (uint8_t)(sums[i - 1] + in[i] - 128) : in[i];
    for (size_t i = 0; i < n; i++)
        out[i] = sums[(i & 1 ? (n + 1) / 2 : 0) + i / 2];
}

TEST(unpredict_every_size)
{
    unsigned seed = 3;
    for (size_t n = 0; n <= 400; n++) {
        uint8_t in[512], expected[512], out[512];
        for (size_t i = 0; i < n; i++)
            in[i] = (uint8_t)rand_r(&seed);
        unpredict_slowly(in, expected, n);
        out[n] = 77;
        txm_exr_unsplit(in, out, n);
        ck_assert_mem_eq(out, expected, n);
        ck_assert_uint_eq(out[n], 77);
    }
}

TEST(runs)
{
    static const uint8_t good[] = {2, 'a', (uint8_t)-3, 'x', 'y', 'z', 0, 'b'};
    uint8_t out[8];
    ck_assert(txm_exr_rle_decode(good, sizeof good, out, 7));
    ck_assert_mem_eq(out, "aaaxyzb", 7);
    ck_assert(!txm_exr_rle_decode(good, sizeof good, out, 8)); /* too few */
    ck_assert(!txm_exr_rle_decode(good, sizeof good, out, 6)); /* too many */
    ck_assert(!txm_exr_rle_decode(good, 1, out, 3));           /* an empty run */
    ck_assert(!txm_exr_rle_decode(good + 2, 3, out, 3));       /* three are announced, but there are two */
    ck_assert(!txm_exr_rle_decode(good, 0, out, 1));
    ck_assert(txm_exr_rle_decode(good, 0, out, 0));
}

/* ---- order of channels ---- */

TEST(channel_order)
{
    /* Names as they are in a file, and in the order in which OpenImageIO 3.1 and 2.4 deliver them. */
    static const struct {
        const char *stored[7], *delivered[7];
    } cases[] = {
        {{"X", "Y", "Z"}, {"X", "Y", "Z"}},
        {{"A", "X", "Y", "Z"}, {"X", "Y", "Z", "A"}},
        {{"N.X", "N.Y", "N.Z"}, {"N.X", "N.Y", "N.Z"}},
        {{"V.W", "V.X", "V.Y", "V.Z"}, {"V.X", "V.Y", "V.Z", "V.W"}},
        {{"a.b.x", "a.b.y"}, {"a.b.x", "a.b.y"}},
        {{"X", "Z"}, {"X", "Z"}},
        {{"Y", "Z"}, {"Y", "Z"}},
        {{"A", "Y", "Z"}, {"Y", "A", "Z"}},     /* luminance, alpha, depth */
        {{"A", "X"}, {"A", "X"}},               /* an X alone is not a vector */
        {{"X", "Y", "red"}, {"red", "X", "Y"}}, /* in one layer */
        {{"N.X", "Y", "Z"}, {"Y", "Z", "N.X"}}, /* in two layers */
        {{"A", "B", "G", "R", "Z"}, {"R", "G", "B", "A", "Z"}},
        {{"A", "B", "G", "R", "X", "Y"}, {"R", "G", "B", "X", "Y", "A"}},
        {{"Depth", "X", "Y", "imag", "real"}, {"X", "Y", "real", "imag", "Depth"}},
        {{"v", "u", "Zback", "Z"}, {"Z", "Zback", "u", "v"}},
        {{"b.X", "a.Z", "b.Z", "a.Y"}, {"a.Y", "a.Z", "b.X", "b.Z"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t count = 0, order[7];
        while (count < 7 && cases[i].stored[count])
            count++;
        txm_exr_channel_order(cases[i].stored, count, order);
        for (uint32_t c = 0; c < count; c++)
            ck_assert_msg(strcmp(cases[i].stored[order[c]], cases[i].delivered[c]) == 0, "case %zu: %s as channel %u",
                          i, cases[i].stored[order[c]], c);
    }
}

/* ---- files ---- */

typedef struct kind {
    exr_compression_t compression;
    bool is_float, tiled;
    uint32_t channels;
    int noise; /* 0: smooth; otherwise this many random bits */
} kind;

enum { WIDTH = 151, HEIGHT = 143 };

static uint32_t sample(const kind *k, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t hash = (x * 2654435761u) ^ (y * 40503u + c * 977u) * 2246822519u;
    hash ^= hash >> 15;
    uint32_t random = k->noise ? hash & ((1u << k->noise) - 1) : 0;
    if (k->is_float)
        return 0x3f000000u + (x << 10) + (y << 14) + random;
    return (0x3800 + x + 3 * y + 100 * c + random) & 0xffff;
}

/* Names are in the file's order, and are delivered as R, G, B, A. */
static const char *const names[][4] = {{"Y"}, {"A", "Y"}, {"B", "G", "R"}, {"A", "B", "G", "R"}};
static const int delivered[][4] = {{0}, {1, 0}, {2, 1, 0}, {3, 2, 1, 0}};

static void write_chunk(exr_context_t f, const kind *k, exr_encode_pipeline_t *e, const exr_chunk_info_t *chunk,
                        uint32_t x0, uint32_t y0, bool first)
{
    uint32_t bytes = k->is_float ? 4 : 2;
    ck_assert_int_eq(first ? exr_encoding_initialize(f, 0, chunk, e) : exr_encoding_update(f, 0, chunk, e), 0);
    size_t plane = (size_t)chunk->width * (size_t)chunk->height * (size_t)bytes;
    FREED uint8_t *pixels = malloc(plane * k->channels);
    for (uint32_t c = 0; c < k->channels; c++) {
        uint8_t *p = pixels + c * plane;
        for (int32_t y = 0; y < chunk->height; y++)
            for (int32_t x = 0; x < chunk->width; x++, p += bytes) {
                uint32_t v = sample(k, x0 + (uint32_t)x, y0 + (uint32_t)y, c);
                memcpy(p, &v, bytes);
            }
        e->channels[c].encode_from_ptr = pixels + c * plane;
        e->channels[c].user_pixel_stride = (int32_t)bytes;
        e->channels[c].user_line_stride = chunk->width * (int32_t)bytes;
        e->channels[c].user_bytes_per_element = (int16_t)bytes;
        e->channels[c].user_data_type = e->channels[c].data_type;
    }
    if (first)
        ck_assert_int_eq(exr_encoding_choose_default_routines(f, 0, e), 0);
    ck_assert_int_eq(exr_encoding_run(f, 0, e), 0);
}

static void write_exr(const kind *k)
{
    exr_context_t f;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_encode_pipeline_t e = {0};
    int part = 0;
    ck_assert_int_eq(exr_start_write(&f, path, EXR_WRITE_FILE_DIRECTLY, &init), 0);
    ck_assert_int_eq(exr_add_part(f, "p", k->tiled ? EXR_STORAGE_TILED : EXR_STORAGE_SCANLINE, &part), 0);
    ck_assert_int_eq(exr_initialize_required_attr_simple(f, 0, WIDTH, HEIGHT, k->compression), 0);
    if (k->tiled)
        ck_assert_int_eq(exr_set_tile_descriptor(f, 0, 48, 80, EXR_TILE_ONE_LEVEL, EXR_TILE_ROUND_DOWN), 0);
    for (uint32_t c = 0; c < k->channels; c++)
        ck_assert_int_eq(exr_add_channel(f, 0, names[k->channels - 1][c],
                                         k->is_float ? EXR_PIXEL_FLOAT : EXR_PIXEL_HALF, EXR_PERCEPTUALLY_LOGARITHMIC,
                                         1, 1),
                         0);
    ck_assert_int_eq(exr_write_header(f), 0);
    exr_chunk_info_t chunk;
    bool first = true;
    int32_t lines = 80;
    if (!k->tiled)
        ck_assert_int_eq(exr_get_scanlines_per_chunk(f, 0, &lines), 0);
    for (uint32_t y = 0; y < HEIGHT; y += (uint32_t)lines)
        for (uint32_t x = 0; x < (k->tiled ? WIDTH : 1); x += 48, first = false) {
            ck_assert_int_eq(k->tiled ? exr_write_tile_chunk_info(f, 0, (int)x / 48, (int)y / 80, 0, 0, &chunk)
                                      : exr_write_scanline_chunk_info(f, 0, (int)y, &chunk),
                             0);
            write_chunk(f, k, &e, &chunk, x, y, first);
        }
    exr_encoding_destroy(f, &e);
    ck_assert_int_eq(exr_finish(&f), 0);
}

static txm_status read_and_compare(const kind *k, uint32_t band_rows, txm_error *err)
{
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_status status = txm_source_open(path, NULL, &s, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *i = txm_source_info_of(s);
    uint32_t bytes = k->is_float ? 4 : 2;
    size_t stride = (size_t)WIDTH * k->channels * bytes;
    FREED uint8_t *band = malloc(stride * band_rows);
    ck_assert_str_eq(i->reader, "exr");
    ck_assert_uint_eq(i->channels, k->channels);
    for (uint32_t y = 0; y < HEIGHT && status == TXM_OK; y += band_rows) {
        uint32_t rows = HEIGHT - y < band_rows ? HEIGHT - y : band_rows;
        status = txm_source_read(s, y, rows, band, stride, err);
        const uint8_t *p = band;
        for (uint32_t r = y; r < y + rows && status == TXM_OK; r++)
            for (uint32_t x = 0; x < WIDTH; x++)
                for (uint32_t c = 0; c < k->channels; c++, p += bytes) {
                    uint32_t v = sample(k, x, r, (uint32_t)delivered[k->channels - 1][c]);
                    if (memcmp(p, &v, bytes) != 0)
                        ck_abort_msg("pixel %u, %u channel %u differs", x, r, c);
                }
    }
    return status;
}

/* With few values, PIZ's wavelet uses signed differences; with 15 and more random bits it does not. */
static const kind kinds[] = {
    {EXR_COMPRESSION_NONE, false, false, 3, 4}, {EXR_COMPRESSION_NONE, true, true, 1, 20},
    {EXR_COMPRESSION_RLE, false, false, 4, 0},  {EXR_COMPRESSION_RLE, true, true, 2, 2},
    {EXR_COMPRESSION_ZIPS, false, false, 2, 5}, {EXR_COMPRESSION_ZIPS, true, false, 4, 0},
    {EXR_COMPRESSION_ZIP, false, false, 3, 3},  {EXR_COMPRESSION_ZIP, true, true, 4, 8},
    {EXR_COMPRESSION_ZIP, false, true, 1, 0},   {EXR_COMPRESSION_PIZ, false, false, 3, 0},
    {EXR_COMPRESSION_PIZ, false, false, 1, 6},  {EXR_COMPRESSION_PIZ, false, true, 4, 3},
    {EXR_COMPRESSION_PIZ, false, false, 4, 16}, {EXR_COMPRESSION_PIZ, false, false, 2, 13},
    {EXR_COMPRESSION_PIZ, true, false, 3, 9},   {EXR_COMPRESSION_PIZ, true, true, 1, 0},
    {EXR_COMPRESSION_PIZ, true, false, 4, 20},  {EXR_COMPRESSION_PIZ, true, true, 2, 12},
};

TESTS(reads_what_openexr_writes, sizeof kinds / sizeof *kinds)
{
    static const uint32_t bands[] = {64, 1, 37, HEIGHT};
    write_exr(&kinds[_i]);
    for (size_t b = 0; b < sizeof bands / sizeof bands[0]; b++) {
        txm_error err = {0};
        ck_assert_msg(read_and_compare(&kinds[_i], bands[b], &err) == TXM_OK, "%s", err.message);
    }
}

TESTS(truncation, sizeof kinds / sizeof *kinds)
{
    const kind *k = &kinds[_i];
    struct stat st;
    write_exr(k);
    ck_assert_int_eq(stat(path, &st), 0);
    for (int part = 9; part > 0; part--) {
        txm_error err = {0};
        ck_assert_int_eq(truncate(path, st.st_size * part / 10), 0);
        txm_status status = read_and_compare(k, 64, &err);
        /* If a header is cut short, OpenImageIO may report an unknown format. */
        ck_assert_msg(status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED, "%s", err.message);
        ck_assert_ptr_nonnull(strstr(err.message, path));
    }
}

/* Any byte after the header may be wrong. With a broken header another reader would try the file. */
TESTS(damaged_blocks, sizeof kinds / sizeof *kinds)
{
    const kind *k = &kinds[_i];
    struct stat st;
    unsigned seed = (unsigned)_i + 1;
    write_exr(k);
    FILE *f = fopen(path, "r+b");
    ck_assert_int_eq(fstat(fileno(f), &st), 0);
    for (size_t round = 0; round < some_of(80); round++) {
        long at = 2000 + (long)((unsigned)rand_r(&seed) % (unsigned)(st.st_size - 2000));
        fseek(f, at, SEEK_SET);
        int old = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(rand_r(&seed) & 255, f);
        fflush(f);
        txm_source *s = NULL;
        ck_assert_int_eq(txm_source_open(path, NULL, &s, NULL), TXM_OK);
        uint8_t *rows = malloc((size_t)WIDTH * HEIGHT * 16);
        txm_source_read(s, 0, HEIGHT, rows, (size_t)WIDTH * 16, NULL); /* correct or refused, but never a crash */
        free(rows);
        txm_source_close(&s);
        fseek(f, at, SEEK_SET);
        fputc(old, f);
    }
    fclose(f);
}

/* ---- the reader alone, without OpenImageIO ----------------------------------------------------------------------- */

/* Writes one small part, compressed or not, whose pixels are never read. */
typedef struct header {
    const char *names[8]; /* by name; the list ends with NULL */
    exr_pixel_type_t type, last_type;
    exr_compression_t compression;
    unsigned subsampled; /* bit i: channel i has half the width and height */
    int32_t min_x, min_y, width, height;
    uint32_t tile;
    void (*more)(exr_context_t f);
} header;

static void say_nothing(exr_const_context_t exr, exr_result_t code, const char *message)
{
    (void)exr, (void)code, (void)message;
}

static int64_t write_to_memory(exr_const_context_t exr, void *user, const void *data, uint64_t size, uint64_t offset,
                               exr_stream_error_func_ptr_t fail)
{
    txm_bytes *b = user;
    (void)exr, (void)fail;
    return offset == b->size && txm_bytes_add(b, data, (size_t)size) ? (int64_t)size : -1;
}

/* The table of chunks after it has only zeros. */
static void write_header_only(const header *h)
{
    static const uint8_t table[512];
    SCOPED(txm_bytes_free) txm_bytes bytes = {0};
    exr_context_t f;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_attr_box2i_t window = {.min = {.x = h->min_x, .y = h->min_y}};
    int part = 0;
    window.max.x = h->min_x + h->width - 1;
    window.max.y = h->min_y + h->height - 1;
    init.write_fn = write_to_memory;
    init.user_data = &bytes;
    init.error_handler_fn = say_nothing;
    ck_assert_int_eq(exr_start_write(&f, path, EXR_WRITE_FILE_DIRECTLY, &init), 0);
    ck_assert_int_eq(exr_add_part(f, "p", h->tile ? EXR_STORAGE_TILED : EXR_STORAGE_SCANLINE, &part), 0);
    ck_assert_int_eq(exr_initialize_required_attr_simple(f, 0, h->width, h->height, h->compression), 0);
    ck_assert_int_eq(exr_set_data_window(f, 0, &window), 0);
    if (h->tile)
        ck_assert_int_eq(exr_set_tile_descriptor(f, 0, h->tile, h->tile, EXR_TILE_ONE_LEVEL, EXR_TILE_ROUND_DOWN), 0);
    for (int i = 0; h->names[i]; i++) {
        bool last = !h->names[i + 1];
        int32_t step = h->subsampled >> i & 1 ? 2 : 1;
        ck_assert_int_eq(exr_add_channel(f, 0, h->names[i], last && i ? h->last_type : h->type,
                                         EXR_PERCEPTUALLY_LOGARITHMIC, step, step),
                         0);
    }
    if (h->more)
        h->more(f);
    ck_assert_int_eq(exr_write_header(f), 0);
    exr_finish(&f); /* reports that the image is missing, which is intended */
    ck_assert(txm_bytes_add(&bytes, table, sizeof table));
    FILE *file = fopen(path, "wb");
    ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    ck_assert_int_eq(fclose(file), 0);
}

static const txm_source_options no_bound;

static txm_status open_direct(txm_source_info *info, txm_exr **out, txm_error *err)
{
    void *self = NULL;
    *info = (txm_source_info){0};
    txm_status status = txm_exr_reader.open(path, &no_bound, info, &self, err);
    *out = self;
    return status;
}

static void close_direct(txm_source_info *info, txm_exr *x)
{
    txm_exr_reader.close(x);
    txm_source_forget(info);
}

TEST(what_openimageio_must_read_is_left_to_it)
{
    static const struct {
        header h;
        txm_status status;
        const char *why;
    } cases[] = {
        {{{"Y"}, EXR_PIXEL_UINT, EXR_PIXEL_UINT, EXR_COMPRESSION_ZIP, 0, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "integer data"},
        {{{"G", "R"}, EXR_PIXEL_HALF, EXR_PIXEL_FLOAT, EXR_COMPRESSION_ZIP, 0, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "several kinds"},
        {{{"B", "Y"}, EXR_PIXEL_HALF, EXR_PIXEL_HALF, EXR_COMPRESSION_ZIP, 1, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "several kinds"},
        {{{"BY", "RY", "Y"}, EXR_PIXEL_HALF, EXR_PIXEL_HALF, EXR_COMPRESSION_ZIP, 0, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "luminance and chroma"},
        {{{"a.RY", "a.Y"}, EXR_PIXEL_HALF, EXR_PIXEL_HALF, EXR_COMPRESSION_ZIP, 0, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "luminance and chroma"},
        {{{"Y"}, EXR_PIXEL_HALF, EXR_PIXEL_HALF, EXR_COMPRESSION_B44, 0, 0, 0, 8, 8, 0, NULL},
         TXM_STATUS_UNSUPPORTED,
         "this compression"},
        {{{"Y"}, EXR_PIXEL_HALF, EXR_PIXEL_HALF, EXR_COMPRESSION_ZIP, 0, 0, 0, TXM_MAX_SIZE_PX + 1, 1, 0, NULL},
         TXM_STATUS_TOO_LARGE,
         "the limit is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_source_info info;
        txm_exr *x;
        txm_error err = {0};
        write_header_only(&cases[i].h);
        ck_assert_msg(open_direct(&info, &x, &err) == cases[i].status, "case %zu: %s", i, err.message);
        ck_assert_msg(strstr(err.message, cases[i].why) && strstr(err.message, path), "case %zu: %s", i, err.message);
        ck_assert_ptr_null(x);
        txm_source_forget(&info);
    }
}

/* OpenImageIO does not see colours in such files. OpenEXR's own interface gives the expected ones, if it can read
 * them. */
TEST(luminance_and_chroma_are_served_by_the_worker)
{
    static const struct {
        const char *names[8];
        unsigned subsampled;
        uint32_t channels; /* 0: refused */
        txm_type type;
    } cases[] = {
        {{"BY", "RY", "Y"}, 3, 3, TXM_TYPE_HALF},
        {{"A", "BY", "RY", "Y"}, 6, 4, TXM_TYPE_HALF},
        {{"BY", "RY", "Y"}, 0, 0, TXM_TYPE_HALF},       /* chroma of full size */
        {{"BY", "RY", "Y"}, 1, 0, TXM_TYPE_HALF},       /* and one of them */
        {{"A", "BY", "RY", "Y"}, 7, 0, TXM_TYPE_HALF},  /* alpha of half the size */
        {{"a.BY", "a.RY", "a.Y"}, 3, 0, TXM_TYPE_HALF}, /* in a layer */
        {{"BY", "RY", "Y", "Z"}, 3, 0, TXM_TYPE_HALF},  /* with another channel */
        {{"B", "G", "R"}, 1, 0, TXM_TYPE_HALF},         /* subsampled, but no chroma */
        {{"Y"}, 0, 1, TXM_TYPE_HALF},
        {{"B", "G", "R"}, 0, 3, TXM_TYPE_HALF},
        {{"RY", "X", "Y"}, 0, 3, TXM_TYPE_HALF}, /* a name that only looks like it */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        header h = {
            .type = EXR_PIXEL_HALF, .last_type = EXR_PIXEL_HALF, .min_x = 2, .min_y = -4, .width = 8, .height = 8};
        txm_source_info info = {0};
        txm_error err = {0};
        void *self = NULL;
        memcpy(h.names, cases[i].names, sizeof h.names);
        h.subsampled = cases[i].subsampled;
        write_header_only(&h);
        txm_status status = txm_oiio_reader.open(path, &no_bound, &info, &self, &err);
        if (cases[i].channels) {
            ck_assert_msg(status == TXM_OK, "case %zu: %s", i, err.message);
            ck_assert_msg(info.channels == cases[i].channels && info.width == 8 && info.type == cases[i].type,
                          "case %zu: %u channels", i, info.channels);
        } else {
            ck_assert_msg(status == TXM_STATUS_UNSUPPORTED && strstr(err.message, "only Y, with RY and BY of half"),
                          "case %zu: %d, %s", i, status, err.message);
        }
        if (self)
            txm_oiio_reader.close(self);
        txm_source_forget(&info);
    }
}

static void add_texts(exr_context_t f)
{
    ck_assert_int_eq(exr_attr_set_string(f, 0, "owner", "a painter"), 0);
    ck_assert_int_eq(exr_attr_set_string(f, 0, "comments", "a wall"), 0);
    ck_assert_int_eq(exr_attr_set_string(f, 0, "Software", "a program"), 0);
    ck_assert_int_eq(exr_attr_set_string(f, 0, "colorInteropID", "lin_rec709_scene"), 0);
    ck_assert_int_eq(exr_attr_set_float(f, 0, "xDensity", 72), 0);
    ck_assert_int_eq(exr_set_pixel_aspect_ratio(f, 0, 2), 0);
}

static void add_aces_flag(exr_context_t f)
{
    ck_assert_int_eq(exr_attr_set_int(f, 0, "acesImageContainerFlag", 1), 0);
    ck_assert_int_eq(exr_attr_set_string(f, 0, "colorInteropID", "another"), 0);
}

static void add_aces_primaries(exr_context_t f)
{
    const exr_attr_chromaticities_t ap0 = {0.7347f, 0.2653f, 0.0f, 1.0f, 0.0001f, -0.077f, 0.32168f, 0.33767f};
    ck_assert_int_eq(exr_attr_set_chromaticities(f, 0, "chromaticities", &ap0), 0);
}

TEST(attributes_become_information)
{
    header h = {.names = {"Y"}, .type = EXR_PIXEL_HALF, .width = 4, .height = 4, .more = add_texts};
    txm_source_info info;
    txm_exr *x;
    write_header_only(&h);
    ck_assert_int_eq(open_direct(&info, &x, NULL), TXM_OK);
    ck_assert_str_eq(info.software, "a program");
    ck_assert_str_eq(info.interop_id, "lin_rec709_scene");
    ck_assert_str_eq(info.density.unit, "in");
    ck_assert(info.density.x == 72 && info.density.y == 144 && info.density.aspect == 2);
    ck_assert_uint_eq(info.attribute_count, 2);
    ck_assert_str_eq(info.attributes[0].name, "Copyright");
    ck_assert_str_eq(info.attributes[1].value, "a wall");
    close_direct(&info, x);
    for (int i = 0; i < 2; i++) { /* either one marks the file as ACES, whatever else it says */
        h.more = i ? add_aces_primaries : add_aces_flag;
        write_header_only(&h);
        ck_assert_int_eq(open_direct(&info, &x, NULL), TXM_OK);
        ck_assert_str_eq(info.interop_id, TXM_INTEROP_ACES2065);
        close_direct(&info, x);
    }
}

/* OpenEXR reports damage, although the disk failed. */
TESTS(a_failing_disk_is_no_damage, sizeof kinds / sizeof *kinds)
{
    const kind *k = &kinds[_i];
    txm_source_info info;
    txm_exr *x;
    txm_error err = {0};
    write_exr(k);
    ck_assert_int_eq(open_direct(&info, &x, NULL), TXM_OK);
    ck_assert_int_eq(txm_exr_cause(x, &err), TXM_OK);
    uint8_t *rows = malloc((size_t)WIDTH * HEIGHT * 16);
    close(x->file.fd);
    ck_assert_int_ge(x->file.fd = open("/proc/self/mem", O_RDONLY), 0); /* its first bytes match no format */
    ck_assert_int_eq(txm_exr_decode_rows(x, 0, rows, (size_t)WIDTH * 16, &err), TXM_STATUS_IO);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_exr_cause(x, &err), TXM_STATUS_IO);
    txm_error_clear(&err);
    x->no_memory = true; /* this one is reported first */
    ck_assert_int_eq(txm_exr_cause(x, &err), TXM_STATUS_NO_MEMORY);
    free(rows);
    close_direct(&info, x);
}

TEST(chunks_that_were_never_written)
{
    const header h = {.names = {"Y"}, .type = EXR_PIXEL_HALF, .width = 4, .height = 4};
    txm_source_info info;
    txm_exr *x;
    txm_error err = {0};
    uint8_t rows[4 * 4 * 2];
    write_header_only(&h);
    ck_assert_int_eq(open_direct(&info, &x, NULL), TXM_OK);
    ck_assert_int_eq(txm_exr_decode_rows(x, 2, rows, 8, &err), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(err.message, "row 2: a block of pixels is missing") != NULL, "%s", err.message);
    close_direct(&info, x);
}

static txm_status read_again(void *user)
{
    static uint8_t rows[WIDTH * 80 * 16];
    txm_source_info info;
    txm_exr *x;
    (void)user;
    txm_status status = open_direct(&info, &x, NULL);
    if (status == TXM_OK)
        status = txm_exr_reader.read(x, 0, 3, rows, (size_t)WIDTH * 16, NULL);
    close_direct(&info, x);
    return status;
}

TESTS(the_reader_may_find_no_memory, 10)
{
    write_exr(&kinds[_i]);
    refuse_each(read_again, NULL);
}

int main(void)
{
    return run_tests_in_one_process(); /* the search for leaks at the end of each takes most of the time */
}
