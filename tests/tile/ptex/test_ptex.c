/* SPDX-License-Identifier: Apache-2.0
 * Ptex files of testdata/ptex: every line of expected.txt, which write_ptex.py computed from the texels; lookups that
 * Disney's library made; the same from memory, with alpha, with wrong requests, and from files that are damaged
 * anywhere. */
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <math.h>
#include <pthread.h>

#include "txtile/ptex.h"
#include "util_check.h"
#include "util_faults.h"

enum { MAX_WORDS = 32, FIRST = 1 };

/* What vm.max_map_count seems to be; NULL: what it is. This replaces the C library's function, which libtxtile calls.
 */
static const char *most_maps;

FILE *fopen64(const char *path, const char *mode)
{
    if (most_maps && strcmp(path, "/proc/sys/vm/max_map_count") == 0)
        return fmemopen((char *)(uintptr_t)most_maps, strlen(most_maps), "r");
    const int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    const int fd = open(path, flags | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Lines of expected.txt are compared with this: the file that the last "file" line named. */
typedef struct reading {
    txm_ptex *ptex;
    txm_ptex_filter *filter;
    char *words[MAX_WORDS];
    int count, line;
    size_t read[8]; /* lines of each kind */
} reading;

static const char *data_path(const char *name)
{
    static char path[512];
    const char *data = getenv("TXM_TESTDATA");
    snprintf(path, sizeof path, "%s/ptex/%s", data ? data : "testdata", name);
    return path;
}

static txm_ptex *open_ptex_file(const char *name, unsigned flags)
{
    txm_ptex *p;
    txm_error err;
    if (txm_ptex_open(data_path(name), flags, &p, &err) != TXM_OK)
        ck_abort_msg("%s", err.message);
    return p;
}

static long number(const reading *r, int word)
{
    ck_assert_int_lt(word, r->count);
    return strtol(r->words[word], NULL, 10);
}

static uint32_t crc_of(const void *data, size_t bytes)
{
    return libdeflate_crc32(0, data, bytes);
}

/* ---- one function for each kind of line ------------------------------------------------------------------------- */

static void close_reading(reading *r)
{
    txm_ptex_filter_free(&r->filter);
    txm_ptex_close(&r->ptex);
}

static void check_file(reading *r)
{
    txm_error err;
    close_reading(r);
    r->ptex = open_ptex_file(r->words[FIRST], 0);
    const txm_ptex_info *i = txm_ptex_info_of(r->ptex);
    const long is[] = {i->mesh,      i->type,  i->channels, i->alpha_channel, i->u_border,   i->v_border,
                       i->edge_mode, i->faces, i->levels,   i->metas,         i->face_edits, i->meta_edits};
    for (int k = 0; k < 12; k++)
        if (is[k] != number(r, k + 2))
            ck_abort_msg("%s: number %d is %ld, not %s", r->words[FIRST], k, is[k], r->words[k + 2]);
    ck_assert_int_eq(txm_ptex_filter_new(r->ptex, 1000, &r->filter, &err), TXM_OK);
}

static void check_face(reading *r)
{
    uint32_t face = (uint32_t)number(r, FIRST);
    const txm_ptex_face *f = txm_ptex_face_of(r->ptex, face);
    ck_assert_ptr_nonnull(f);
    const long is[] = {f->u_log2,        f->v_log2,        f->edges,         f->flags,
                       f->neighbours[0], f->neighbours[1], f->neighbours[2], f->neighbours[3]};
    for (int k = 0; k < 8; k++)
        ck_assert_int_eq(is[k], number(r, k + 2));
    const uint8_t *constant = txm_ptex_constant_of(r->ptex, face);
    /* An average is a sum of floats, whose last digit depends on the order. Constant faces are exact. */
    for (uint32_t k = 0; f->flags & TXM_PTEX_CONSTANT && k < txm_ptex_info_of(r->ptex)->pixel_bytes; k++) {
        char byte[3] = {r->words[10][2 * k], r->words[10][2 * k + 1], 0};
        ck_assert_int_eq(constant[k], strtol(byte, NULL, 16));
    }
}

/* Reads a face at a size; at full size also tile by tile. */
static void check_read(reading *r)
{
    uint32_t face = (uint32_t)number(r, 1), u = (uint32_t)number(r, 2), v = (uint32_t)number(r, 3);
    size_t bytes = txm_ptex_face_bytes(r->ptex, u, v);
    FREED uint8_t *pixels = malloc(bytes);
    txm_error err;
    if (txm_ptex_read(r->ptex, face, u, v, pixels, &err) != TXM_OK)
        ck_abort_msg("line %d: %s", r->line, err.message);
    if (crc_of(pixels, bytes) != (uint32_t)strtoul(r->words[4], NULL, 10))
        ck_abort_msg("line %d: face %u at 2^%u x 2^%u differs", r->line, face, u, v);
}

static void check_pixel(reading *r)
{
    float is[8];
    txm_error err;
    uint32_t channels = txm_ptex_info_of(r->ptex)->channels;
    ck_assert_int_eq(txm_ptex_pixel(r->ptex, (uint32_t)number(r, 1), (uint32_t)number(r, 2), (uint32_t)number(r, 3), 0,
                                    channels, is, &err),
                     TXM_OK);
    for (uint32_t c = 0; c < channels; c++)
        ck_assert_float_eq(is[c], strtof(r->words[4 + c], NULL));
}

/* All tiles together make the face. */
static void check_tiling(reading *r)
{
    uint32_t face = (uint32_t)number(r, 1), u, v;
    txm_error err;
    const txm_ptex_face *f = txm_ptex_face_of(r->ptex, face);
    ck_assert_int_eq(txm_ptex_tiling(r->ptex, face, &u, &v, &err), TXM_OK);
    ck_assert_int_eq(u, number(r, 2));
    ck_assert_int_eq(v, number(r, 3));
    size_t px = txm_ptex_info_of(r->ptex)->pixel_bytes, row = px << f->u_log2;
    FREED uint8_t *whole = malloc(row << f->v_log2), *tile = malloc(px << (u + v));
    ck_assert_int_eq(txm_ptex_read(r->ptex, face, f->u_log2, f->v_log2, whole, &err), TXM_OK);
    uint32_t across = f->u_log2 - u, tiles = 1u << (across + f->v_log2 - v);
    for (uint32_t t = 0; t < tiles; t++) {
        ck_assert_int_eq(txm_ptex_read_tile(r->ptex, face, t, tile, &err), TXM_OK);
        for (uint32_t y = 0; y < 1u << v; y++)
            ck_assert_mem_eq(tile + y * (px << u),
                             whole + (((t >> across) << v) + y) * row + (t & ((1u << across) - 1)) * (px << u),
                             px << u);
    }
    ck_assert_int_eq(txm_ptex_read_tile(r->ptex, face, tiles, tile, &err), TXM_STATUS_USAGE);
}

static void check_meta(reading *r)
{
    txm_error err;
    const txm_ptex_meta *m = txm_ptex_meta_of(r->ptex, (uint32_t)number(r, 1));
    char hex[256] = "";
    ck_assert_ptr_nonnull(m);
    for (size_t i = 0; m->key[i] && i < 100; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)m->key[i]);
    ck_assert_str_eq(hex, r->words[2]);
    ck_assert_int_eq(m->type, number(r, 3));
    ck_assert_int_eq(m->bytes, number(r, 4));
    FREED uint8_t *data = malloc(m->bytes);
    ck_assert_int_eq(txm_ptex_meta_read(r->ptex, (uint32_t)number(r, 1), data, &err), TXM_OK);
    ck_assert_uint_eq(crc_of(data, m->bytes), (uint32_t)strtoul(r->words[5], NULL, 10));
}

static void check_look(reading *r)
{
    float result[8], width = strtof(r->words[5], NULL);
    txm_ptex_request q;
    txm_error err;
    txm_ptex_request_init(&q);
    q.kind = number(r, 1) ? TXM_PTEX_BILINEAR : TXM_PTEX_POINT;
    q.face = (uint32_t)number(r, 2);
    q.u = strtof(r->words[3], NULL);
    q.v = strtof(r->words[4], NULL);
    q.u_width1 = width;
    q.v_width2 = -width;
    q.blur = strtof(r->words[6], NULL);
    q.no_edge_blend = number(r, 7) != 0;
    q.channels = txm_ptex_info_of(r->ptex)->channels;
    q.result = result;
    ck_assert_int_eq(txm_ptex_look_up(r->filter, &q, &err), TXM_OK);
    for (uint32_t c = 0; c < q.channels; c++) {
        float want = strtof(r->words[8 + c], NULL);
        if (!(fabsf(result[c] - want) <= 4e-6f * fmaxf(1, fabsf(want))))
            ck_abort_msg("line %d: channel %u is %.9g, not %.9g", r->line, c, (double)result[c], (double)want);
    }
}

/* The second time as if the process had no maps left for Ptex files. */
TESTS(every_expected_line, 2)
{
    static const struct {
        const char *word;
        void (*check)(reading *);
        size_t least; /* lines that must be there */
    } kinds[] = {{"file", check_file, 17},   {"face", check_face, 80},    {"read", check_read, 900},
                 {"pixel", check_pixel, 50}, {"tiling", check_tiling, 1}, {"meta", check_meta, 10},
                 {"look", check_look, 1000}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    reading r = {0};
    FILE *f = fopen(data_path("expected.txt"), "r");
    char line[4096];
    ck_assert_ptr_nonnull(f);
    most_maps = _i ? "1" : NULL;
    while (fgets(line, sizeof line, f)) {
        int kind = 0;
        r.line++;
        r.count = 0;
        for (char *word = strtok(line, " \n"); word && r.count < MAX_WORDS; word = strtok(NULL, " \n"))
            r.words[r.count++] = word;
        while (kind < KINDS && strcmp(r.words[0], kinds[kind].word) != 0)
            kind++;
        ck_assert_int_lt(kind, KINDS);
        kinds[kind].check(&r);
        r.read[kind]++;
    }
    for (int k = 0; k < KINDS; k++)
        ck_assert_msg(r.read[k] >= kinds[k].least, "%zu lines of %s", r.read[k], kinds[k].word);
    fclose(f);
    close_reading(&r);
}

/* ---- lookups ----------------------------------------------------------------------------------------------------- */

static uint8_t *load(const char *name, size_t *bytes)
{
    FILE *f = fopen(data_path(name), "rb");
    ck_assert_ptr_nonnull(f);
    uint8_t *data = malloc(1 << 20);
    *bytes = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

static float next_number(char **rest)
{
    return strtof(strsep(rest, "\t"), NULL);
}

/* A row has the file, whether it was opened premultiplied, and a lookup with its results. Rows are sorted. */
TEST(lookups_of_disneys_library)
{
    static const char *const words[] = {"point",   "bilinear", "box",        "gaussian",
                                        "bicubic", "bspline",  "catmullrom", "mitchell"};
    enum { KINDS = sizeof words / sizeof *words };
    size_t bytes, rows[KINDS] = {0};
    FREED uint8_t *packed = load("disney/lookups.tsv.gz", &bytes);
    char *text = calloc(1, 1 << 20), *rest = text, *line, open[128] = "";
    unsigned opened = 0;
    struct libdeflate_decompressor *gzip = libdeflate_alloc_decompressor();
    ck_assert_int_eq(libdeflate_gzip_decompress(gzip, packed, bytes, text, (1 << 20) - 1, &bytes), 0);
    txm_ptex *p = NULL;
    txm_ptex_filter *filter = NULL;
    txm_error err;
    while ((line = strsep(&rest, "\n")) && *line) {
        char name[128];
        float result[8];
        txm_ptex_request q;
        txm_ptex_request_init(&q);
        snprintf(name, sizeof name, "disney/%s", strsep(&line, "\t"));
        const unsigned flags = next_number(&line) != 0 ? TXM_PTEX_PREMULTIPLY : 0;
        if (strcmp(name, open) != 0 || flags != opened) {
            txm_ptex_filter_free(&filter);
            txm_ptex_close(&p);
            p = open_ptex_file(strcpy(open, name), opened = flags);
            ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 20, &filter, &err), TXM_OK);
        }
        q.face = (uint32_t)next_number(&line);
        float *const numbers[] = {&q.u, &q.v, &q.u_width1, &q.v_width1, &q.u_width2, &q.v_width2, &q.width, &q.blur};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            *numbers[i] = next_number(&line);
        const char *word = strsep(&line, "\t");
        while (strcmp(words[q.kind], word) != 0)
            ck_assert_int_lt(++q.kind, KINDS);
        q.lerp = next_number(&line) != 0;
        q.no_edge_blend = next_number(&line) != 0;
        q.first_channel = (uint32_t)next_number(&line);
        q.channels = (uint32_t)next_number(&line);
        q.result = result;
        ck_assert_int_eq(txm_ptex_look_up(filter, &q, &err), TXM_OK);
        const float least = txm_ptex_info_of(p)->type <= TXM_TYPE_U16 ? 1e-3f : 1;
        for (uint32_t c = 0; c < q.channels; c++) {
            const float want = strtof(strsep(&line, ","), NULL);
            if (!(fabsf(result[c] - want) <= 2e-6f * fmaxf(fabsf(want), least)))
                ck_abort_msg("%s, face %u at %a, %a, %s, channel %u: %.9g, not %.9g", name, q.face, (double)q.u,
                             (double)q.v, word, c, (double)result[c], (double)want);
        }
        rows[q.kind]++;
    }
    for (int k = TXM_PTEX_BOX; k < KINDS; k++)
        ck_assert_uint_ge(rows[k], 50);
    txm_ptex_filter_free(&filter);
    txm_ptex_close(&p);
    libdeflate_free_decompressor(gzip);
    free(text);
}

static void look(txm_ptex_filter *filter, txm_ptex_request *q, float *result)
{
    txm_error err;
    q->result = result;
    if (txm_ptex_look_up(filter, q, &err) != TXM_OK)
        ck_abort_msg("%s", err.message);
}

/* Named cubics are bicubic ones of a sharpness. A program that knows no sharpness gets 0. */
TEST(sharpness_of_cubics)
{
    static const struct {
        txm_ptex_filter_kind kind;
        float sharpness;
    } cubics[] = {{TXM_PTEX_BSPLINE, 0},         {TXM_PTEX_BSPLINE, -7},    {TXM_PTEX_BSPLINE, NAN},
                  {TXM_PTEX_MITCHELL, 2.0f / 3}, {TXM_PTEX_CATMULL_ROM, 1}, {TXM_PTEX_CATMULL_ROM, INFINITY}};
    SCOPED(txm_ptex_close) txm_ptex *p = open_ptex_file("grid-float.ptx", 0);
    SCOPED(txm_ptex_filter_free) txm_ptex_filter *f = NULL;
    txm_error err;
    float named[4], bicubic[4];
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 20, &f, &err), TXM_OK);
    for (size_t i = 0; i < sizeof cubics / sizeof *cubics; i++) {
        txm_ptex_request q;
        txm_ptex_request_init(&q);
        q.kind = cubics[i].kind;
        q.face = 4;
        q.u = q.v = 0.4f;
        q.channels = 4;
        look(f, &q, named);
        q.kind = TXM_PTEX_BICUBIC;
        q.sharpness = cubics[i].sharpness;
        look(f, &q, bicubic);
        ck_assert_mem_eq(named, bicubic, sizeof named);
        q.struct_size = offsetof(txm_ptex_request, sharpness);
        look(f, &q, bicubic);
        ck_assert_int_eq(memcmp(named, bicubic, sizeof named) == 0, cubics[i].kind == TXM_PTEX_BSPLINE);
    }
    ck_assert_str_eq(txm_ptex_filter_kind_name(TXM_PTEX_CATMULL_ROM), "Catmull-Rom");
    ck_assert_str_eq(txm_ptex_filter_kind_name((txm_ptex_filter_kind)8), "unknown");
}

/* A filter that may keep little reads a large face tile by tile. */
TEST(tiles_give_the_same)
{
    SCOPED(txm_ptex_close) txm_ptex *p = open_ptex_file("tiled.ptx", 0);
    txm_ptex_filter *whole, *tiles;
    txm_error err;
    float a, b;
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 24, &whole, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 21, &tiles, &err), TXM_OK);
    for (int i = 0; i < 8 * 200; i++) {
        txm_ptex_request q;
        txm_ptex_request_init(&q);
        q.kind = (txm_ptex_filter_kind)(i % 8);
        q.u = (float)(i * 7 % 401) / 400;
        q.v = (float)(i * 11 % 401) / 400;
        q.u_width1 = q.v_width2 = (float)(i % 3) / 512;
        q.channels = 1;
        look(whole, &q, &a);
        look(tiles, &q, &b);
        ck_assert_float_eq_tol(a, b, 1e-6f);
    }
    txm_ptex_filter_free(&whole);
    txm_ptex_filter_free(&tiles);
}

/* Where all texels are equal, every lookup gives their colour, whatever the place and the footprint: weights add up. */
TESTS(one_colour_under_any_footprint, 5)
{
    static const char *const files[] = {"star3.ptx", "star4.ptx", "star5.ptx", "star8.ptx", "polygon.ptx"};
    static const float places[] = {-1e30f, -1, 0, 1e-30f, 0.01f, 0.3f, 0.5f, 0.99f, 1, 7, INFINITY, NAN};
    static const float widths[] = {-1, 0, 1e-30f, 0.1f, 0.13f, 0.3f, 0.7f, 1, 3, 1e30f, INFINITY, NAN};
    enum { PLACES = sizeof places / sizeof *places, WIDTHS = sizeof widths / sizeof *widths };
    SCOPED(txm_ptex_close) txm_ptex *p = open_ptex_file(files[_i], 0);
    SCOPED(txm_ptex_filter_free) txm_ptex_filter *f = NULL;
    txm_error err;
    float colour[2], result[2];
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 20, &f, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_pixel(p, 0, 0, 0, 0, 2, colour, &err), TXM_OK);
    for (uint32_t i = 0; i < txm_ptex_info_of(p)->faces * PLACES * WIDTHS; i++) {
        txm_ptex_request q;
        txm_ptex_request_init(&q);
        q.face = i / (PLACES * WIDTHS);
        q.u = places[i % PLACES];
        q.u_width1 = widths[i / PLACES % WIDTHS];
        q.channels = 2;
        for (uint32_t k = 0; k < 8 * 2; k++) {
            q.kind = (txm_ptex_filter_kind)(k / 2 % 8);
            q.lerp = k % 2;
            q.v = places[(i / 5 + k) % PLACES];
            q.blur = widths[(i + k) % WIDTHS];
            look(f, &q, result);
            ck_assert_float_le(fabsf(result[0] - colour[0]) + fabsf(result[1] - colour[1]), 4e-6f);
        }
    }
}

/* ---- from memory ------------------------------------------------------------------------------------------------- */

TEST(memory_is_as_good_as_a_file)
{
    size_t bytes;
    uint8_t *data = load("sizes-half.ptx", &bytes), a[1 << 13], b[1 << 13];
    txm_ptex *file = open_ptex_file("sizes-half.ptx", 0), *memory;
    txm_error err;
    ck_assert_int_eq(txm_ptex_open_memory(data, bytes, "here", 0, &memory, &err), TXM_OK);
    ck_assert_uint_eq(txm_ptex_info_of(memory)->file_bytes, bytes);
    size_t n = txm_ptex_face_bytes(file, 5, 5);
    ck_assert_int_eq(txm_ptex_read(file, 6, 5, 5, a, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_read(memory, 6, 5, 5, b, &err), TXM_OK);
    ck_assert_mem_eq(a, b, n);
    txm_ptex_close(&memory);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(txm_ptex_open_memory("nothing", 7, "here", 0, &memory, &err), TXM_STATUS_UNSUPPORTED);
    ck_assert_str_eq(err.message, "here: not a Ptex file");
    ck_assert_int_eq(txm_ptex_open_memory(data, 0, "here", 0, &memory, &err), TXM_STATUS_UNSUPPORTED);
    txm_ptex_close(&file);
    free(data);
}

/* ---- alpha ------------------------------------------------------------------------------------------------------- */

TEST(colours_times_alpha)
{
    SCOPED(txm_ptex_close)
    txm_ptex *plain = open_ptex_file("old.ptx", 0), *times = open_ptex_file("old.ptx", TXM_PTEX_PREMULTIPLY);
    uint8_t a[256], b[256];
    txm_error err;
    ck_assert_int_eq(txm_ptex_read(plain, 0, 3, 3, a, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_read(times, 0, 3, 3, b, &err), TXM_OK);
    for (int i = 0; i < 256; i++) {
        float alpha = 1.0f / 255.0f * (float)a[i | 3];
        ck_assert_int_eq(b[i], i % 4 == 3 ? a[i] : (uint8_t)((float)a[i] * alpha));
    }
    const uint8_t *c = txm_ptex_constant_of(plain, 0), *d = txm_ptex_constant_of(times, 0);
    ck_assert_int_eq(d[3], c[3]);
    ck_assert_int_eq(d[0], (uint8_t)((float)c[0] * (1.0f / 255.0f * (float)c[3])));
}

/* ---- wrong requests ---------------------------------------------------------------------------------------------- */

TEST(what_is_not_there)
{
    txm_ptex *p = open_ptex_file("triangles.ptx", 0), *none;
    uint8_t out[4096];
    float colour[4] = {9, 9, 9, 9};
    txm_error err;
    uint32_t u, v;
    ck_assert_ptr_null(txm_ptex_face_of(p, 4));
    ck_assert_ptr_null(txm_ptex_constant_of(p, 4));
    ck_assert_ptr_null(txm_ptex_meta_of(p, 0));
    ck_assert_int_eq(txm_ptex_read(p, 4, 0, 0, out, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_read(p, 0, 5, 5, out, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_read(p, 0, 2, 3, out, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_read(p, 0, UINT32_MAX, UINT32_MAX, out, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_tiling(p, 4, &u, &v, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_pixel(p, 0, 16, 0, 0, 1, colour, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_pixel(p, 0, 0, 0, 1, 2, colour, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_ptex_meta_read(p, 0, out, &err), TXM_STATUS_USAGE);
    ck_assert_uint_eq(txm_ptex_face_bytes(p, 17, 0), 0);
    ck_assert(txm_ptex_is_stored(p, 0, 3, 3) && !txm_ptex_is_stored(p, 0, 1, 1) && !txm_ptex_is_stored(p, 3, 0, 0));
    ck_assert_int_eq(txm_ptex_open(data_path("missing.ptx"), 0, &none, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(none);
    ck_assert_int_eq(txm_ptex_open(data_path(""), 0, &none, &err), TXM_STATUS_NOT_A_FILE);
    ck_assert_int_eq(txm_ptex_open(NULL, 0, &none, &err), TXM_STATUS_USAGE);
    txm_ptex_filter *f;
    ck_assert_int_eq(txm_ptex_filter_new(p, 0, &f, &err), TXM_OK);
    txm_ptex_request q;
    txm_ptex_request_init(&q);
    q.result = colour;
    q.channels = 4;
    ck_assert_int_eq(txm_ptex_look_up(f, &q, &err), TXM_OK);
    ck_assert(colour[2] == 0 && colour[3] == 0);
    q.face = 4;
    ck_assert_int_eq(txm_ptex_look_up(f, &q, &err), TXM_STATUS_USAGE);
    q.face = 0;
    q.kind = (txm_ptex_filter_kind)8;
    ck_assert_int_eq(txm_ptex_look_up(f, &q, &err), TXM_STATUS_USAGE);
    q.kind = TXM_PTEX_BOX;
    q.struct_size = 0;
    ck_assert_int_eq(txm_ptex_look_up(f, &q, &err), TXM_STATUS_USAGE);
    txm_ptex_filter_free(&f);
    txm_ptex_close(&p);
    txm_ptex_close(NULL);
    txm_ptex_filter_free(NULL);
    ck_assert_str_eq(txm_ptex_mesh_name(TXM_PTEX_QUADS), "quads");
    ck_assert_str_eq(txm_ptex_border_name(TXM_PTEX_PERIODIC), "periodic");
    ck_assert_str_eq(txm_ptex_edge_mode_name(TXM_PTEX_EDGE_TANGENT), "tangent vectors");
    ck_assert_str_eq(txm_ptex_meta_type_name(TXM_PTEX_DOUBLE), "double");
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

/* Requests everything that a small enough file has, and returns whether all of it could be read. */
static bool read_everything(const uint8_t *data, size_t bytes)
{
    SCOPED(txm_ptex_close) txm_ptex *p = NULL;
    SCOPED(txm_ptex_filter_free) txm_ptex_filter *f = NULL;
    txm_error err;
    if (txm_ptex_open_memory(data, bytes, "damaged", 0, &p, &err) != TXM_OK) {
        ck_assert_int_ne(err.message[0], 0);
        return false;
    }
    FREED uint8_t *out = malloc(1 << 22);
    float colour[64];
    bool whole = true;
    const txm_ptex_info *info = txm_ptex_info_of(p);
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 20, &f, &err), TXM_OK);
    for (uint32_t i = 0; i < info->faces && i < 20; i++) {
        const txm_ptex_face *face = txm_ptex_face_of(p, i);
        for (uint32_t k = 0; k <= face->u_log2 && k <= face->v_log2; k++)
            if (txm_ptex_face_bytes(p, face->u_log2 - k, face->v_log2 - k) <= 1 << 22)
                whole &= txm_ptex_read(p, i, face->u_log2 - k, face->v_log2 - k, out, &err) == TXM_OK;
        for (int k = 0; k < 9 + 7; k++) {
            txm_ptex_request q;
            txm_ptex_request_init(&q);
            q.kind = k < 9 ? TXM_PTEX_BILINEAR : (txm_ptex_filter_kind)(k - 8);
            q.face = i;
            q.u = (float)(k % 3) / 2;
            q.v = (float)(k / 3 % 3) / 2;
            q.blur = k < 9 ? 0 : 0.3f;
            q.channels = 64;
            q.result = colour;
            if (txm_ptex_face_bytes(p, face->u_log2, face->v_log2) <= 1 << 22)
                txm_ptex_look_up(f, &q, &err);
        }
    }
    for (uint32_t i = 0; i < info->metas; i++)
        whole &= txm_ptex_meta_of(p, i)->bytes > 1 << 22 || txm_ptex_meta_read(p, i, out, &err) == TXM_OK;
    return whole;
}

static const char *const to_damage[] = {"grid-u8.ptx",   "edits-no-meta.ptx", "meta.ptx",  "polygon.ptx",
                                        "triangles.ptx", "hexagon.ptx",       "later.ptx", "star5.ptx"};

/* A file that was cut off is never read as if it were complete. Bytes beyond its end belong to other memory. */
TESTS(cut_anywhere, sizeof to_damage / sizeof *to_damage)
{
    size_t bytes;
    FREED uint8_t *data = load(to_damage[_i], &bytes);
    ck_assert(read_everything(data, bytes));
    for (size_t n = 0; n < bytes; n += n < 200 ? 1 : 1 + bytes / 200) {
        FREED uint8_t *cut = malloc(n ? n : 1);
        memcpy(cut, data, n);
        ck_assert_msg(!read_everything(cut, n), "%zu of %zu bytes", n, bytes);
    }
}

TESTS(changed_anywhere, sizeof to_damage / sizeof *to_damage)
{
    size_t bytes;
    FREED uint8_t *data = load(to_damage[_i], &bytes);
    /* Changes every byte of the headers and several hundred of the rest. */
    for (size_t n = 0; n < bytes; n += n < 200 ? 1 : 1 + bytes / 500)
        for (int k = 0; k < (n < 104 ? 6 : 1); k++) {
            uint8_t old = data[n];
            data[n] = (uint8_t)(k < 3 ? old ^ (1u << (n + (size_t)k * 3) % 8) : k == 3 ? 0xFFu : k == 4 ? 0u : 0x7Fu);
            read_everything(data, bytes);
            data[n] = old;
        }
    ck_assert(read_everything(data, bytes));
}

/* Metadata whose header says how large they are, but not where. */
TEST(sizes_of_nothing)
{
    static const size_t places[] = {60, 76};
    size_t bytes;
    FREED uint8_t *data = load("grid-u8.ptx", &bytes);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        ck_assert(read_everything(data, bytes));
        data[places[i]] = 1;
        ck_assert(!read_everything(data, bytes));
        data[places[i]] = 0;
    }
}

typedef struct bytes_of {
    const uint8_t *data;
    size_t bytes;
} bytes_of;

static txm_status open_and_read(void *user)
{
    const bytes_of *b = user;
    uint8_t out[4096];
    float colour[2];
    SCOPED(txm_ptex_close) txm_ptex *p = NULL;
    SCOPED(txm_ptex_filter_free) txm_ptex_filter *f = NULL;
    txm_error err;
    txm_ptex_request q;
    txm_ptex_request_init(&q);
    q.kind = TXM_PTEX_BILINEAR;
    q.channels = 2;
    q.result = colour;
    txm_status status = txm_ptex_open_memory(b->data, b->bytes, "here", 0, &p, &err);
    if (status == TXM_OK)
        status = txm_ptex_read(p, 1, 2, 2, out, &err);
    if (status == TXM_OK)
        status = txm_ptex_filter_new(p, 1000, &f, &err);
    if (status == TXM_OK)
        status = txm_ptex_look_up(f, &q, &err);
    return status;
}

TEST(no_memory_is_an_error)
{
    bytes_of edits;
    edits.data = load("edits.ptx", &edits.bytes);
    refuse_each(open_and_read, &edits);
    free((void *)edits.data);
}

/* A program without a fault handler needs none: each call checks whether the file has become shorter. */
TEST(cut_while_it_is_open)
{
    size_t bytes;
    FREED uint8_t *data = load("sizes-float.ptx", &bytes), *out = malloc(1 << 14);
    char path[] = "test_ptex.XXXXXX";
    int fd = mkstemp(path);
    txm_ptex *p;
    txm_error err;
    uint32_t u, v;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    ck_assert_int_eq(txm_ptex_open(path, 0, &p, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_read(p, 6, 5, 5, out, &err), TXM_OK);
    ck_assert_int_eq(ftruncate(fd, 100), 0);
    ck_assert_int_eq(txm_ptex_read(p, 6, 5, 5, out, &err), TXM_STATUS_CHANGED);
    ck_assert_int_eq(txm_ptex_tiling(p, 6, &u, &v, &err), TXM_STATUS_CHANGED);
    txm_ptex_close(&p);
    close(fd);
    unlink(path);
}

/* Maps of half the number that the kernel allows, then none: no descriptor stays open, and what changes is noticed. */
TEST(more_files_than_maps)
{
    enum { FILES = 30, MAPPED = 10 };
    size_t bytes;
    uint8_t *data = load("sizes-float.ptx", &bytes), expected[1 << 14], out[1 << 14];
    char folder[] = "/tmp/txm-ptex-XXXXXX", path[64], other[64];
    txm_ptex *files[FILES];
    txm_error err;
    const txm_status ends[] = {TXM_STATUS_CHANGED, TXM_STATUS_CHANGED, TXM_STATUS_NOT_FOUND};
    most_maps = "20\n";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%d.ptx", folder, i);
        FILE *f = fopen(path, "w");
        ck_assert(f && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
        ck_assert_int_eq(txm_ptex_open(path, 0, &files[i], &err), TXM_OK);
        ck_assert_int_eq(txm_ptex_info_of(files[i])->is_unmapped, i >= MAPPED);
    }
    const int next = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_lt(next, MAPPED);
    close(next);
    ck_assert_int_eq(txm_ptex_read(files[0], 6, 5, 5, expected, &err), TXM_OK);
    for (int i = 1; i < FILES; i++) {
        ck_assert_int_eq(txm_ptex_read(files[i], 6, 5, 5, out, &err), TXM_OK);
        ck_assert_mem_eq(out, expected, txm_ptex_face_bytes(files[0], 5, 5));
    }
    /* Grown, replaced, and gone. */
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%d.ptx", folder, FILES - 1 - i);
        snprintf(other, sizeof other, "%s/%d.ptx", folder, MAPPED);
        ck_assert_int_eq(i == 0 ? truncate(path, (off_t)bytes + 1) : i == 1 ? rename(other, path) : unlink(path), 0);
        ck_assert_int_eq(txm_ptex_read(files[FILES - 1 - i], 6, 5, 5, out, &err), ends[i]);
        ck_assert_ptr_nonnull(strstr(err.message, path));
    }
    /* A file that is closed leaves its map to the next one. */
    txm_ptex_close(&files[0]);
    snprintf(path, sizeof path, "%s/1.ptx", folder);
    ck_assert_int_eq(txm_ptex_open(path, 0, &files[0], &err), TXM_OK);
    ck_assert(!txm_ptex_info_of(files[0])->is_unmapped);
    for (int i = 0; i < FILES; i++) {
        txm_ptex_close(&files[i]);
        snprintf(path, sizeof path, "%s/%d.ptx", folder, i);
        unlink(path);
    }
    rmdir(folder);
    free(data);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *read_in_thread(void *file)
{
    uint8_t out[16384];
    txm_error err;
    for (uint32_t i = 0; i < 300; i++)
        if (txm_ptex_read(file, 6, 5 - i % 4, 5 - i % 3, out, &err) != TXM_OK)
            return "failed";
    return NULL;
}

TEST(many_threads_read)
{
    SCOPED(txm_ptex_close) txm_ptex *p = open_ptex_file("sizes-float.ptx", 0);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_in_thread, p), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
}
