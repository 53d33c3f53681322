/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups against vectors that Cycles' kernel computed (Blender 5.2; testdata/lookup): levels, tiles and coordinates
 * are equal, and colours differ by no more than Cycles' own result does with the place of a tile.
 */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <zstd.h>

#include "tile/ops/arith.h"
#include "tile/sample/wrap.h"
#include "txtile/ray.h"
#include "txtile/sampler.h"
#include "util_check.h"
#include "util_tx.h"

enum { TABLE_COLUMNS = 48 };

typedef struct table {
    char *text;
    char *names[TABLE_COLUMNS];
    char **cells; /* rows * columns */
    size_t rows, columns;
} table;

static char *decompress(const char *path)
{
    enum { MAX = 8 << 20 };
    FILE *f = fopen(path, "rb");
    char *packed = malloc(MAX), *text = malloc(MAX);
    if (!f || !packed || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        abort();
    }
    size_t n = ZSTD_decompress(text, MAX - 1, packed, fread(packed, 1, MAX, f));
    if (ZSTD_isError(n)) {
        fprintf(stderr, "%s: %s\n", path, ZSTD_getErrorName(n));
        abort();
    }
    text[n] = 0;
    free(packed);
    fclose(f);
    return text;
}

/* Reads a file of testdata; aborts the test on failure. */
static table table_read(const char *name)
{
    char path[1024];
    table t = {0};
    snprintf(path, sizeof path, "%s/%s", getenv("TXM_TESTDATA"), name);
    t.text = decompress(path);
    size_t lines = 0;
    for (char *p = t.text; (p = strchr(p, '\n')); p++)
        lines++;
    char *rest = t.text, *line = strsep(&rest, "\n");
    for (char *cell; (cell = strsep(&line, "\t")) && t.columns < TABLE_COLUMNS;)
        t.names[t.columns++] = cell;
    t.cells = calloc(lines, t.columns * sizeof *t.cells);
    while (rest && *rest) {
        line = strsep(&rest, "\n");
        for (size_t c = 0; c < t.columns; c++) {
            char *cell = strsep(&line, "\t");
            t.cells[t.rows * t.columns + c] = cell ? cell : "";
        }
        t.rows++;
    }
    return t;
}

static void table_free(table *t)
{
    free(t->text);
    free(t->cells);
    memset(t, 0, sizeof *t);
}

/* The cell of a named column, which must exist. Numbers are those of C99, including hexadecimal floats. */
static const char *table_cell(const table *t, size_t row, const char *column)
{
    for (size_t c = 0; c < t->columns; c++)
        if (strcmp(t->names[c], column) == 0)
            return t->cells[row * t->columns + c];
    fprintf(stderr, "no column %s\n", column);
    abort();
}

static float table_float(const table *t, size_t row, const char *column)
{
    return strtof(table_cell(t, row, column), NULL);
}

static uint32_t table_uint(const table *t, size_t row, const char *column)
{
    const char *cell = table_cell(t, row, column);
    return strcmp(cell, "none") == 0 ? 0 : (uint32_t)strtoul(cell, NULL, 10);
}

static int same_float(float a, float b)
{
    return a == b || (a != a && b != b);
}

static txm_lookup lookup_of(const table *t, size_t row)
{
    return (txm_lookup){table_float(t, row, "u"),    table_float(t, row, "v"),    table_float(t, row, "dudx"),
                        table_float(t, row, "dvdx"), table_float(t, row, "dudy"), table_float(t, row, "dvdy")};
}

/* Cycles squares sizes above 46340 px in 32 bits. These rows have flag O, and txmill does not imitate the overflow.
 * Levels may differ if the fractional level is within 2e-6 of an integer, which is the error of Cycles' logarithm; the
 * tables' README counts 25 of 21429 rows that differ from an exact one. */
TEST(levels_tiles_and_coordinates)
{
    SCOPED(table_free) table t = table_read("lookup/level.tsv.zst");
    size_t compared = 0, near_integer = 0, wrong = 0;
    for (size_t i = 0; i < t.rows; i++) {
        if (strchr(table_cell(&t, i, "flags"), 'O'))
            continue;
        txm_sampler how;
        txm_sampler_init(&how);
        how.mip_bias = table_float(&t, i, "mip_bias");
        txm_lookup at = lookup_of(&t, i);
        int extension = (int)table_uint(&t, i, "extension"), clip = strcmp(table_cell(&t, i, "level"), "clip") == 0;
        uint32_t random = table_uint(&t, i, "lcg_in"), width = table_uint(&t, i, "width"),
                 height = table_uint(&t, i, "height");
        int inside = txm_wrap(&at.u, extension) & txm_wrap(&at.v, extension);
        compared++;
        if (clip || !inside) {
            wrong += !clip || inside;
            continue;
        }
        float level = txm_level_of(width, height, &how, &at, &random), blend, want = table_float(&t, i, "flevel");
        uint32_t low = txm_level_clamp(level, table_uint(&t, i, "levels"), 0, &blend), l = table_uint(&t, i, "level");
        wrong +=
            !(fabsf(level - want) <= fmaxf(2e-6f, 1.2e-7f * fabsf(want))) || random != table_uint(&t, i, "lcg_out");
        if (low != l) {
            near_integer++;
            wrong += fabsf(want - rintf(want)) > 2e-6f;
        }
        uint32_t w = txm_level_size(width, l), h = txm_level_size(height, l);
        float x = txm_pixel_x(at.u, w), y = txm_pixel_y(at.v, h);
        wrong += !same_float(x, table_float(&t, i, "x")) || !same_float(y, table_float(&t, i, "y"));
        wrong +=
            txm_tile_of(x, w, 6) != table_uint(&t, i, "tile_x") || txm_tile_of(y, h, 6) != table_uint(&t, i, "tile_y");
        ck_assert_msg(!wrong, "row %s: level %.9g for %.9g, pixel %a %a for %s %s", table_cell(&t, i, "id"),
                      (double)level, (double)want, (double)x, (double)y, table_cell(&t, i, "x"),
                      table_cell(&t, i, "y"));
    }
    ck_assert_msg(compared > 11000 && near_integer <= 25, "%zu compared, %zu near integers differ", compared,
                  near_integer);
}

/* ---- colours ---- */

/* The textures of the tables are noise: a hash of place, channel, level and texture. */
typedef struct noise {
    uint32_t width, height;
    txm_type type;
    uint32_t channels;
} noise;

static const noise tiled[] = {
    {64, 64, TXM_TYPE_U8, 1},      {64, 64, TXM_TYPE_U8, 4},      {65, 64, TXM_TYPE_U8, 4},
    {300, 200, TXM_TYPE_U8, 4},    {777, 333, TXM_TYPE_U16, 4},   {300, 200, TXM_TYPE_HALF, 4},
    {777, 333, TXM_TYPE_FLOAT, 4}, {1024, 1024, TXM_TYPE_U8, 1},  {1024, 1024, TXM_TYPE_HALF, 4},
    {65, 64, TXM_TYPE_FLOAT, 1},   {300, 200, TXM_TYPE_FLOAT, 1}, {1024, 1024, TXM_TYPE_U16, 4},
    {300, 200, TXM_TYPE_HALF, 1},  {65, 64, TXM_TYPE_U16, 1},     {33, 200, TXM_TYPE_U8, 4},
    {1000, 70, TXM_TYPE_FLOAT, 4}};
static const noise full[] = {{40, 30, TXM_TYPE_U8, 4}, {40, 30, TXM_TYPE_FLOAT, 4}, {7, 5, TXM_TYPE_FLOAT, 1},
                             {1, 1, TXM_TYPE_U8, 4},   {63, 20, TXM_TYPE_U16, 4},   {13, 50, TXM_TYPE_HALF, 4}};
enum { TILED = sizeof tiled / sizeof *tiled, FULL = sizeof full / sizeof *full };

static uint32_t hash(uint32_t t, uint32_t l, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t n = x * 0x9E3779B1u + y * 0x85EBCA77u + l * 0xC2B2AE3Du + c * 0x27D4EB2Fu + t * 0x165667B1u;
    n ^= n >> 15;
    n *= 0x2C1B3C6Du;
    n ^= n >> 12;
    n *= 0x297A2D39u;
    return n ^ n >> 15;
}

static float value_of(const noise *n, uint32_t t, uint32_t l, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t h = hash(t, l, x, y, c);
    switch (n->type) {
    case TXM_TYPE_U8:
        return (float)(h >> 24) * (1.0f / 255.0f);
    case TXM_TYPE_U16:
        return (float)(h >> 16) * (1.0f / 65535.0f);
    case TXM_TYPE_HALF:
        return (float)((int32_t)(h >> 21) - 512) / 1024.0f;
    default:
        return (float)((int32_t)(h >> 8) - 4194304) / 4194304.0f;
    }
}

static void put_sample(uint8_t *p, txm_type type, uint32_t h, float value)
{
    uint16_t s = type == TXM_TYPE_HALF ? txm_float_to_half(value) : (uint16_t)(h >> 16);
    if (type == TXM_TYPE_U8)
        *p = (uint8_t)(h >> 24);
    else if (type == TXM_TYPE_FLOAT)
        memcpy(p, &value, sizeof value);
    else
        memcpy(p, &s, sizeof s);
}

static const char *write_noise(const noise *n, uint32_t t)
{
    SCOPED(free_image)
    made_image m = make_image(n->width, n->height, n->channels, n->type, 64, (txm_compression){0}, MADE_CONSTANT);
    for (uint32_t l = 0; l < m.layout.levels; l++) {
        uint32_t w = txm_level_size(n->width, l), height = txm_level_size(n->height, l);
        uint8_t *p = m.levels[l];
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < w; x++)
                for (uint32_t c = 0; c < n->channels; c++, p += txm_type_bytes(n->type))
                    put_sample(p, n->type, hash(t, l, x, y, c), value_of(n, t, l, x, y, c));
    }
    static char name[32];
    snprintf(name, sizeof name, "noise%u.tx", t);
    return write_made(temp_file(name), &m);
}

/* Adds the first `count` textures with all extensions; id = 4 * texture + extension. */
static txm_texture_set *load_noise(const noise *all, uint32_t count, uint32_t first)
{
    txm_texture_set *set = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_texture_set_new(&set, &err), TXM_OK);
    for (uint32_t t = 0; t < count; t++) {
        const char *path = write_noise(&all[t], first + t);
        for (uint32_t e = 0; e < 4; e++) {
            uint32_t id;
            ck_assert_msg(txm_texture_set_add(set, path, (txm_extension)e, &id, &err) == TXM_OK, "%s", err.message);
            ck_assert_uint_eq(id, 4 * t + e);
            ck_assert_msg(txm_texture_set_load_all(set, id, &err) == TXM_OK, "%s", err.message);
        }
    }
    return set;
}

/* Returns the difference between the largest and the smallest value that an explained lookup read, including padding
 * that CLIP clears. */
static float contrast_of(const txm_explanation *e, int c)
{
    float low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < e->tap_count; i++) {
        low = fminf(low, e->taps[i].value[c]);
        high = fmaxf(high, e->taps[i].value[c]);
    }
    return high > low ? high - low : 0.0f;
}

/* Compares the colour in columns r g b a of a row; returns 0 if it is within the tolerance. */
static int differs(const table *t, size_t row, const float got[4], const txm_explanation *e)
{
    static const char *const names[4] = {"r", "g", "b", "a"};
    for (int c = 0; c < 4; c++) {
        float want = table_float(t, row, names[c]), tolerance = fmaxf(1e-6f, contrast_of(e, c) / 2048.0f);
        if (!(same_float(got[c], want) || fabsf(got[c] - want) <= tolerance))
            return 1;
    }
    return 0;
}

static const uint8_t filters[4] = {TXM_FILTER_LINEAR, TXM_FILTER_CLOSEST, TXM_FILTER_CUBIC, TXM_FILTER_CUBIC};

/* Lookups 1117 and 5993 lie an ulp below an integer. Adding the slot's offset moves Cycles' coordinate to the next
 * pixel. Rows with flag D have no defined value. */
TEST(colours)
{
    SCOPED(table_free) table t = table_read("lookup/colour.tsv.zst");
    SCOPED(txm_texture_set_free) txm_texture_set *set = load_noise(tiled, TILED, 0);
    static txm_explanation e;
    size_t exceptions = 0, closest_equal = 0;
    for (size_t i = 0; i < t.rows; i++) {
        if (strchr(table_cell(&t, i, "flags"), 'D'))
            continue;
        uint32_t texture = 4 * table_uint(&t, i, "tex") + table_uint(&t, i, "extension"),
                 result = table_uint(&t, i, "look"), kind = table_uint(&t, i, "interpolation");
        txm_sampler how;
        txm_sampler_init(&how);
        how.filter = filters[kind];
        how.mip_bias = table_float(&t, i, "mip_bias");
        txm_lookup at = lookup_of(&t, i);
        txm_lookup_state lookup_state = {.random = table_uint(&t, i, "lcg_in")}, again = lookup_state;
        float out[4], explained[4];
        ck_assert_int_eq(txm_sample(txm_texture_set_view(set), texture, &how, &at, &lookup_state, out), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_sample_explain(txm_texture_set_view(set), texture, &how, &at, &again, explained, &e),
                         TXM_LOOKUP_HIT);
        ck_assert_mem_eq(out, explained, sizeof out);
        ck_assert_uint_eq(lookup_state.random, table_uint(&t, i, "lcg_out"));
        ck_assert_uint_eq(again.random, lookup_state.random);
        ck_assert_int_eq(e.rejected, strcmp(table_cell(&t, i, "level"), "clip") == 0);
        if (!e.rejected)
            ck_assert_uint_eq(e.level_low, table_uint(&t, i, "level"));
        if (differs(&t, i, out, &e)) {
            exceptions++;
            ck_assert_msg(result == 1117 || result == 5993, "lookup %u: %a %a %a %a", result, (double)out[0],
                          (double)out[1], (double)out[2], (double)out[3]);
        } else {
            closest_equal += kind == 1;
        }
    }
    ck_assert_uint_le(exceptions, 6);
    ck_assert_uint_gt(closest_equal, 1000);
}

/* Cycles does not tile these images. It stores them bottom up and takes v h as the row, while txmill takes (1 - v) h.
 * The two round differently: if the row is within rounding of an integer, the closest pixel may be the next one. At
 * exact negative integers Cycles is one too far. It clamps or clips taps instead of coordinates at the edge, which
 * shows outside of the image. */
TEST(full_images)
{
    SCOPED(table_free) table t = table_read("lookup/full.tsv.zst");
    SCOPED(txm_texture_set_free) txm_texture_set *set = load_noise(full, FULL, 100);
    static txm_explanation e;
    size_t exceptions = 0;
    for (size_t i = 0; i < t.rows; i++) {
        uint32_t tex = table_uint(&t, i, "tex"), kind = table_uint(&t, i, "interpolation");
        txm_sampler how;
        txm_sampler_init(&how);
        how.mode = TXM_LEVEL_MODE_FLOOR;
        how.filter = filters[kind];
        txm_lookup at = {table_float(&t, i, "u"), table_float(&t, i, "v"), 0, 0, 0, 0};
        txm_lookup_state lookup_state = {0};
        float out[4];
        ck_assert_int_eq(txm_sample_explain(txm_texture_set_view(set), 4 * tex + table_uint(&t, i, "extension"), &how,
                                            &at, &lookup_state, out, &e),
                         TXM_LOOKUP_HIT);
        if (!differs(&t, i, out, &e))
            continue;
        float x = at.u * (float)full[tex].width, y = at.v * (float)full[tex].height;
        int edge = kind == 1 && (fabsf(x - rintf(x)) < 1e-4f || fabsf(y - rintf(y)) < 1e-4f);
        int beyond = table_uint(&t, i, "extension") == TXM_EXTENSION_EXTEND && kind >= 2 &&
                     !(at.u >= 0 && at.u <= 1 && at.v >= 0 && at.v <= 1);
        exceptions++;
        ck_assert_msg(edge || beyond || e.rejected, "row %s: %a %a %a %a", table_cell(&t, i, "id"), (double)out[0],
                      (double)out[1], (double)out[2], (double)out[3]);
    }
    ck_assert_msg(exceptions < 60, "%zu rows differ", exceptions);
}

TEST(udim_tiles)
{
    SCOPED(table_free) table t = table_read("lookup/udim.tsv.zst");
    static const uint32_t present[] = {1001, 1002, 1003, 1005, 1010, 1011, 1012, 1020, 1021, 1055, 1100, 1101, 1990};
    for (size_t i = 0; i < t.rows; i++) {
        float u = table_float(&t, i, "u"), v = table_float(&t, i, "v");
        uint32_t number = txm_udim_of(&u, &v), found = 0, want = table_uint(&t, i, "tile");
        for (size_t k = 0; k < sizeof present / sizeof *present; k++)
            found = present[k] == number ? number : found;
        ck_assert_msg(found == want, "row %s: %u for %u", table_cell(&t, i, "id"), found, want);
        if (want)
            ck_assert(u == table_float(&t, i, "sub_u") && v == table_float(&t, i, "sub_v"));
    }
}

/* ---- differentials ---- */

static txm_vec3 vec(const table *t, size_t row, const char *name)
{
    static const char *const axes[3] = {"x", "y", "z"};
    float v[3];
    for (int i = 0; i < 3; i++) {
        char column[32];
        snprintf(column, sizeof column, "%s%s", name, axes[i]);
        v[i] = table_float(t, row, column);
    }
    return txm_vec_make(v[0], v[1], v[2]);
}

static void check_uv(const table *t, size_t row, txm_uv_differential d)
{
    const float got[4] = {d.dudx, d.dudy, d.dvdx, d.dvdy};
    static const char *const names[4] = {"dudx", "dudy", "dvdx", "dvdy"};
    float want[4];
    for (int i = 0; i < 4; i++)
        want[i] = table_float(t, row, names[i]);
    for (int i = 0; i < 4; i++) {
        float larger = fmaxf(fmaxf(fabsf(want[0]), fabsf(want[1])), fmaxf(fabsf(want[2]), fabsf(want[3])));
        ck_assert_msg(fabsf(got[i] - want[i]) <= 5e-5f * larger, "row %s: %s %a for %a", table_cell(t, row, "id"),
                      names[i], (double)got[i], (double)want[i]);
    }
}

TEST(compact_differentials)
{
    table t = table_read("lookup/diff.tsv.zst");
    for (size_t i = 0; i < t.rows; i++) {
        txm_compact c = {table_float(&t, i, "ray_dP"), table_float(&t, i, "ray_dD")};
        c = txm_compact_transfer(c, table_float(&t, i, "t"));
        ck_assert(c.dP == table_float(&t, i, "dP"));
        if (strcmp(table_cell(&t, i, "group"), "degenerate") != 0)
            check_uv(&t, i, txm_compact_uv(c, vec(&t, i, "N"), vec(&t, i, "dPdu_"), vec(&t, i, "dPdv_")));
    }
    table_free(&t);
    t = table_read("lookup/compact.tsv.zst");
    for (size_t i = 0; i < t.rows; i++) {
        float d = txm_compact_of(vec(&t, i, "a"), vec(&t, i, "b")), want = table_float(&t, i, "d");
        ck_assert(fabsf(d - want) <= 1e-6f * want);
    }
    table_free(&t);
    t = table_read("lookup/widen.tsv.zst");
    for (size_t i = 0; i < t.rows; i++) {
        txm_compact c = {0, table_float(&t, i, "prev_dD")};
        ck_assert(txm_compact_widen(c, table_float(&t, i, "avg_roughness_sq")).dD == table_float(&t, i, "dD"));
    }
    table_free(&t);
}

TEST(full_differentials)
{
    SCOPED(table_free) table t = table_read("lookup/diff_igehy.tsv.zst");
    for (size_t i = 0; i < t.rows; i++) {
        txm_full f = {vec(&t, i, "dPx_"), vec(&t, i, "dPy_"), vec(&t, i, "dDx_"), vec(&t, i, "dDy_")};
        txm_vec3 n = vec(&t, i, "N"), x = vec(&t, i, "sPx_"), y = vec(&t, i, "sPy_");
        f = txm_full_transfer(f, vec(&t, i, "D"), table_float(&t, i, "t"), n);
        float scale = txm_vec_length(x) + txm_vec_length(y);
        ck_assert(txm_vec_length(txm_vec_add(f.dPdx, -1, x)) <= 5e-5f * scale);
        ck_assert(txm_vec_length(txm_vec_add(f.dPdy, -1, y)) <= 5e-5f * scale);
        f.dPdx = x;
        f.dPdy = y;
        check_uv(&t, i, txm_full_uv(f, n, vec(&t, i, "dPdu_"), vec(&t, i, "dPdv_")));
    }
}
