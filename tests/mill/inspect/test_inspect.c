/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification: txmill's own files are good; cuts at any place, flipped bytes in any tile, exchanged levels, wrong
 * digests and names that do not match are found, with the right finding.
 */
#include <errno.h>
#include <sys/stat.h>
#include <utime.h>

#include "base/path.h"
#include "tile/reader/reader_impl.h"
#include "tile/reader/section_reader.h"
#include "txmill/inspect.h"
#include "util_check.h"
#include "util_tx.h"

static txm_context *context;

static void start(void)
{
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 2};
    txm_error err = {0};
    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
}

static void stop(void)
{
    txm_context_free(&context);
}
FIXTURE(start, stop)

/* Converts a golden source into the tx file `out`. */
static void make_tx(const char *source, const char *out, const txm_settings *settings)
{
    char path[1024];
    txm_settings defaults;
    txm_settings_init(&defaults);
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options), .output = out};
    txm_error err = {0};
    txm_result result;
    defaults.redact = true; /* damaged files get another time, so that their source is not found */
    snprintf(path, sizeof path, "%s/golden/%s", getenv("TXM_TESTDATA"), source);
    ck_assert_msg(!txm_convert(context, path, settings ? settings : &defaults, &options, &result, &err), "%s",
                  err.message);
    txm_result_clear(&result);
}

static txm_findings verify(const char *path, bool deep)
{
    txm_findings findings = {0};
    txm_error err = {0};
    const txm_verify_options options = {.struct_size = sizeof(txm_verify_options), .deep = deep};
    ck_assert_msg(!txm_verify(context, path, &options, &findings, &err), "%s", err.message);
    return findings;
}

static bool failed(const txm_findings *f)
{
    return f->severities[TXM_SEVERITY_WARNING] || f->severities[TXM_SEVERITY_ERROR];
}

static const txm_finding *find(const txm_findings *f, const char *id)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->items[i].kind->id, id))
            return &f->items[i];
    return NULL;
}

static void expect(const char *path, bool deep, const char *id)
{
    SCOPED(txm_findings_clear) txm_findings f = verify(path, deep);
    ck_assert_msg(find(&f, id) != NULL, "%s: %s not found, but %s", path, id, f.count ? f.items[0].text : "nothing");
}

/* Expects no finding worse than a note, except findings with this id. */
static void expect_good_but(const char *path, bool deep, const char *id)
{
    SCOPED(txm_findings_clear) txm_findings f = verify(path, deep);
    for (size_t i = 0; i < f.count; i++)
        ck_assert_msg(f.items[i].kind->severity == TXM_SEVERITY_NOTE || (id && !strcmp(f.items[i].kind->id, id)),
                      "%s: %s %s", path, f.items[i].kind->id, f.items[i].text);
    ck_assert_msg(!id || find(&f, id), "%s: no %s", path, id);
}

static void expect_good(const char *path, bool deep)
{
    expect_good_but(path, deep, NULL);
}

static const char *const sources[] = {"rgb8.png",     "gray8.png",     "rgba8.png",    "rgb16.png",
                                      "half-rgb.exr", "float-rgb.exr", "constant.png", "narrow.png"};

TESTS(own_files_are_good, sizeof sources / sizeof *sources)
{
    FREED char *out = strdup(temp_file("good.tx"));
    static const uint32_t tiles[] = {16, 64, 512};
    for (size_t t = 0; t < 3; t++) {
        txm_settings s;
        txm_settings_init(&s);
        s.tile_px = tiles[t];
        make_tx(sources[_i], out, &s);
        expect_good(out, true);
    }
}

/* Finds the bytes of each tile, which the callback damages. */
static void each_tile(const char *path, void (*fn)(const char *path, const txm_tile_id *tile, uint64_t at, size_t n))
{
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    const txm_tx_info info = *txm_tx_info_of(tx);
    for (uint32_t l = 0; l < info.levels; l++)
        for (uint32_t y = 0; y < txm_tx_level_of(tx, l)->tiles_y; y++)
            for (uint32_t x = 0; x < txm_tx_level_of(tx, l)->tiles_x; x++) {
                txm_tile_id tile;
                txm_span span;
                ck_assert(!txm_tile_at(tx, l, x, y, &tile, NULL));
                ck_assert(!tx->ops->find(tx, &tile, &span, NULL));
                fn(path, &tile, (uint64_t)(span.data - tx->map.data), span.bytes);
            }
}

static void flip(const char *path, uint64_t at)
{
    FILE *f = fopen(path, "r+b");
    ck_assert(f && !fseek(f, (long)at, SEEK_SET));
    int c = getc(f);
    ck_assert(c != EOF && !fseek(f, (long)at, SEEK_SET));
    putc(c ^ 0x10, f);
    ck_assert(!fclose(f));
}

enum { TILE = 64 };

static void flip_and_find(const char *path, const txm_tile_id *tile, uint64_t at, size_t n)
{
    /* The last bytes of an uncompressed tile may be padding outside of the image, so a change there is not a
     * finding. */
    const size_t places[] = {0, n / 2, n - 1};
    for (int i = 0; i < (n == TILE * TILE * 4 || n == TILE * TILE * 8 + 20 ? 1 : 3); i++) {
        flip(path, at + places[i]);
        txm_findings f = verify(path, false);
        ck_assert_msg(f.severities[TXM_SEVERITY_ERROR], "level %u, tile %u,%u: byte %zu of %zu", tile->level, tile->x,
                      tile->y, places[i], n);
        txm_findings_clear(&f);
        flip(path, at + places[i]);
    }
}

TESTS(a_flipped_byte_in_any_tile_is_found, 5)
{
    FREED char *out = strdup(temp_file("flip.tx"));
    txm_settings s;
    txm_settings_init(&s);
    s.redact = true;
    s.compression = (txm_compression){_i == 4 ? TXM_CODEC_ZSTD : _i % 2 ? TXM_CODEC_NONE : TXM_CODEC_ZIP, 0};
    s.tile_px = TILE;
    make_tx(_i / 2 == 1 ? "half-rgb.exr" : "rgb8.png", out, &s);
    each_tile(out, flip_and_find);
    /* Blender's libtiff does not support zstd, which is a warning; the pixels are correct. */
    expect_good_but(out, false, s.compression.codec == TXM_CODEC_ZSTD ? "TXM-106" : NULL);
}

/* Every cut is found, from the end on, except for one exactly at the section's start: the rest is a file without a
 * section, and a note says so. */
TESTS(any_cut_is_found, 2)
{
    FREED char *out = strdup(temp_file("whole.tx")), *cut = strdup(temp_file("cut.tx"));
    size_t bytes;
    make_tx(_i ? "half-rgb.exr" : "gray8.png", out, NULL);
    txm_tx *tx = open_tx(out);
    uint64_t image = txm_tx_info_of(tx)->image_bytes;
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_VALID);
    txm_tx_close(&tx);
    uint8_t *data = load_file(out, &bytes);
    save_file(cut, data, bytes);
    free(data);
    for (size_t n = bytes - 1, step; n > 0 && n < bytes; n -= step) {
        /* Every byte around the section's start. */
        step = n + 40 > image && n <= image + 40 ? 1 : 61 * case_part();
        step = n > image + 40 && n - image - 40 < step ? n - image - 40 : step;
        ck_assert(!truncate(cut, (off_t)n));
        SCOPED(txm_findings_clear) txm_findings f = verify(cut, false);
        bool at_section = n == image;
        ck_assert_msg(failed(&f) == !at_section, "cut at %zu of %zu, image %zu", n, bytes, (size_t)image);
        ck_assert(!at_section || find(&f, "TXM-504"));
    }
}

/* Does the same for small files at every byte, for both containers. */
TESTS(a_cut_at_every_byte_is_found, 2)
{
    FREED char *out = strdup(temp_file("small.tx")), *cut = strdup(temp_file("cut.tx"));
    size_t bytes;
    txm_settings s;
    txm_settings_init(&s);
    s.redact = true;
    s.tile_px = 16;
    make_tx(_i ? "five-channels.exr" : "narrow.png", out, &s);
    txm_tx *tx = open_tx(out);
    uint64_t image = txm_tx_info_of(tx)->image_bytes;
    txm_tx_close(&tx);
    uint8_t *data = load_file(out, &bytes);
    save_file(cut, data, bytes);
    free(data);
    /* Changes every byte of the header and of the section's beginning and end. Between them every seventh byte is
     * enough to reach each place in a tile's stream. */
    for (size_t n = bytes - 1, step; n > 0 && n < bytes; n -= step * case_part()) {
        step = n < 3000 || (n + 200 > image && n < image + 200) || n + 200 > bytes ? 1 : 7;
        ck_assert(!truncate(cut, (off_t)n));
        SCOPED(txm_findings_clear) txm_findings f = verify(cut, false);
        ck_assert_msg(failed(&f) == (n != image), "cut at %zu of %zu, image %zu", n, bytes, (size_t)image);
    }
}

/* A changed byte of the section is found in payloads, index and footer. Only bytes of padding do not count. */
TEST(a_flipped_byte_in_the_section_is_found)
{
    FREED char *out = strdup(temp_file("border.tx"));
    make_tx("rgb8.png", out, NULL);
    txm_tx *tx = open_tx(out);
    const txm_tx_info info = *txm_tx_info_of(tx);
    txm_tx_close(&tx);
    for (uint64_t at = info.image_bytes; at < info.file_bytes; at += 97 * case_part()) {
        flip(out, at);
        txm_findings f = verify(out, false);
        ck_assert_msg(failed(&f), "byte %llu", (unsigned long long)(at - info.image_bytes));
        txm_findings_clear(&f);
        flip(out, at);
    }
    expect_good(out, false);
}

/* Levels of one file are put into another file of the same shape: sizes and checksums are right, but pixels are
 * wrong. */
TEST(an_exchanged_level_is_found)
{
    SCOPED(free_image)
    made_image a = make_image(160, 96, 4, TXM_TYPE_U8, 32, (txm_compression){TXM_CODEC_ZIP, 6}, MADE_SMOOTH);
    const char *path = temp_file("levels.tx");
    FILE *f = fopen(path, "w+b");
    txm_tx_metadata m = made_metadata();
    m.requested_colorspace = "sRGB";
    ck_assert(f && !write_image(fileno(f), &a, &m, NULL, NULL, NULL));
    fclose(f);
    /* Every level of a made image has its own content; the summary is invented. */
    SCOPED(txm_findings_clear) txm_findings found = verify(path, false);
    ck_assert_ptr_nonnull(find(&found, "TXM-201"));
    ck_assert_ptr_nonnull(find(&found, "TXM-202"));
    bool levels[8] = {false};
    for (size_t i = 0; i < found.count; i++)
        if (!strcmp(found.items[i].kind->id, "TXM-204"))
            levels[found.items[i].level] = true;
    ck_assert(levels[1] && levels[2] && levels[3]);
}

/* Replaces the tiles of one level with those of another file with the same layout. */
static void copy_level(const char *from, const char *to, uint32_t level)
{
    size_t bytes, other_bytes;
    txm_tx *a = open_tx(from), *b = open_tx(to);
    FREED uint8_t *data = load_file(to, &bytes), *other = load_file(from, &other_bytes);
    const txm_tx_level *l = txm_tx_level_of(a, level);
    for (uint32_t y = 0; y < l->tiles_y; y++)
        for (uint32_t x = 0; x < l->tiles_x; x++) {
            txm_tile_id id[2];
            txm_span span[2];
            ck_assert(!txm_tile_at(a, level, x, y, &id[0], NULL) && !txm_tile_at(b, level, x, y, &id[1], NULL));
            ck_assert(!a->ops->find(a, &id[0], &span[0], NULL) && !b->ops->find(b, &id[1], &span[1], NULL));
            ck_assert_uint_eq(span[0].bytes, span[1].bytes);
            memcpy(data + (span[1].data - b->map.data), other + (span[0].data - a->map.data), span[0].bytes);
        }
    txm_tx_close(&a);
    txm_tx_close(&b);
    save_file(to, data, bytes);
}

/* If a level of another texture replaces a file's own, the finding is about that level and no other. */
TESTS(a_swapped_level_is_found, 2)
{
    FREED char *own = strdup(temp_file("own.tx")), *other = strdup(temp_file("other.tx"));
    txm_settings s;
    txm_settings_init(&s);
    s.redact = true;
    s.borders = false;
    s.compression = (txm_compression){TXM_CODEC_NONE, 0};
    /* The same picture has other values. 8-bit colour differs from data only in levels above 0. */
    for (uint32_t level = _i ? 0 : 1; level < 4; level++) {
        s.colorspace = NULL;
        make_tx(_i ? "half-rgb.exr" : "rgb8.png", own, &s);
        s.colorspace = _i ? "ACEScg" : "Non-Color";
        make_tx(_i ? "half-rgb.exr" : "rgb8.png", other, &s);
        copy_level(other, own, level);
        SCOPED(txm_findings_clear) txm_findings f = verify(own, false);
        for (size_t i = 0; i < f.count; i++)
            if (!strcmp(f.items[i].kind->id, "TXM-204"))
                ck_assert(level == 0 || f.items[i].level == (int)level);
        ck_assert_msg(find(&f, level ? "TXM-204" : "TXM-201") != NULL, "level %u", level);
    }
}

/* Two directories of a TIFF are exchanged. The directory after level 0 is then not half its size, so the pyramid ends
 * there. */
TEST(levels_in_the_wrong_order_are_found)
{
    FREED char *out = strdup(temp_file("order.tx"));
    size_t bytes;
    uint32_t at[4], next[4];
    txm_settings s;
    txm_settings_init(&s);
    s.redact = true;
    make_tx("rgb8.png", out, &s);
    uint8_t *data = load_file(out, &bytes);
    memcpy(&at[0], data + 4, 4);
    for (int n = 0; n < 4; n++) {
        uint16_t entries;
        memcpy(&entries, data + at[n], 2);
        next[n] = at[n] + 2 + 12u * entries;
        if (n < 3)
            memcpy(&at[n + 1], data + next[n], 4);
    }
    /* 0 -> 2 -> 1 -> 3 */
    memcpy(data + next[0], &at[2], 4);
    memcpy(data + next[2], &at[1], 4);
    memcpy(data + next[1], &at[3], 4);
    save_file(out, data, bytes);
    free(data);
    expect(out, false, "TXM-104");
    expect(out, false, "TXM-103");
}

/* Replaces the first occurrence of a text in a file with another one of the same length. */
static void replace(const char *path, const char *from, const char *to)
{
    size_t bytes;
    uint8_t *data = load_file(path, &bytes), *at = memmem(data, bytes, from, strlen(from));
    ck_assert_msg(at != NULL, "%s is not in %s", from, path);
    memcpy(at, to, strlen(to));
    save_file(path, data, bytes);
    free(data);
}

/* A digit of the SHA-1 is changed, which is found. Changed back, the file is good again. */
static void expect_wrong_sha1(const char *path)
{
    char sha1[41], wrong[41];
    txm_tx *tx = open_tx(path);
    snprintf(sha1, sizeof sha1, "%s", txm_tx_metadata_of(tx, "oiio:SHA-1"));
    txm_tx_close(&tx);
    memcpy(wrong, sha1, sizeof wrong);
    wrong[20] = wrong[20] == 'A' ? 'B' : 'A';
    replace(path, sha1, wrong);
    expect(path, false, "TXM-201");
    replace(path, wrong, sha1);
    expect_good(path, false);
}

TEST(wrong_metadata_is_found)
{
    FREED char *out = strdup(temp_file("meta.tx"));
    txm_settings s;
    txm_settings_init(&s);
    s.borders = false;
    s.redact = true;
    /* OpenEXR first, which holds them as attributes of their own. */
    make_tx("half-rgb.exr", out, &s);
    expect_wrong_sha1(out);
    make_tx("rgb8.png", out, &s);
    expect_wrong_sha1(out);
    replace(out, "oiio:AverageColor=0.", "oiio:AverageColor=7.");
    expect(out, false, "TXM-202");
    make_tx("constant.png", out, &s);
    replace(out, "oiio:ConstantColor=0.", "oiio:ConstantColor=3.");
    expect(out, false, "TXM-203");
}

/* ---- names and sources ------------------------------------------------------------------------------------------ */

static char *copy_source(const char *name, const char *dir)
{
    char from[1024], *to = malloc(1024);
    size_t bytes;
    snprintf(from, sizeof from, "%s/golden/%s", getenv("TXM_TESTDATA"), name);
    snprintf(to, 1024, "%s/%s", dir, name);
    mkdir(dir, 0777);
    FREED uint8_t *data = load_file(from, &bytes);
    save_file(to, data, bytes);
    return to;
}

/* Converts the image beside itself and returns the tx file's path. */
static char *convert_in_place(const char *source, const txm_settings *settings)
{
    txm_result result;
    txm_error err = {0};
    ck_assert_msg(!txm_convert(context, source, settings, NULL, &result, &err), "%s", err.message);
    char *path = strdup(result.tx_path);
    txm_result_clear(&result);
    return path;
}

TEST(names_stand_for_settings)
{
    FREED char *source = copy_source("rgb8.png", temp_file("names")), *dir = strdup(temp_file("cache"));
    static const struct {
        const char *space;
        txm_alpha alpha;
        bool equiangular, absolute;
    } cases[] = {{"sRGB", TXM_ALPHA_STRAIGHT, false, false},
                 {"Non-Color", TXM_ALPHA_NONE, false, false},
                 {"auto", TXM_ALPHA_AUTO, false, false},
                 {"Linear Rec.709", TXM_ALPHA_PREMULTIPLIED, true, false},
                 {"ACEScg", TXM_ALPHA_CHANNEL_PACKED, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_settings s;
        txm_settings_init(&s);
        txm_name_match match;
        bool found = false;
        s.colorspace = cases[i].space;
        s.alpha = cases[i].alpha;
        s.equiangular = cases[i].equiangular;
        s.cache_dir = cases[i].absolute ? dir : NULL;
        FREED char *tx = convert_in_place(source, &s);
        expect_good(tx, true);
        ck_assert(!txm_name_search(context, tx, source, NULL, &match, &found, NULL));
        ck_assert_msg(found, "%s", cases[i].space);
        ck_assert_str_eq(match.colorspace, strcmp(cases[i].space, "Non-Color") ? cases[i].space : "data");
        ck_assert_int_eq(match.alpha, cases[i].alpha);
        ck_assert_int_eq(match.equiangular, cases[i].equiangular);
        ck_assert_int_eq(match.absolute_dir, cases[i].absolute);
    }
}

TEST(a_misfit_name_is_found)
{
    FREED char *source = copy_source("rgb8.png", temp_file("misfit"));
    txm_settings s;
    txm_settings_init(&s);
    FREED char *srgb = convert_in_place(source, &s);
    s.colorspace = "Non-Color";
    FREED char *data = convert_in_place(source, &s);
    ck_assert_str_ne(srgb, data);
    ck_assert(!rename(srgb, data));
    expect(data, false, "TXM-301");
    SCOPED(txm_findings_clear) txm_findings f = verify(data, false);
    ck_assert_ptr_nonnull(strstr(find(&f, "TXM-301")->text, "the name says colour space data"));
}

TEST(a_stale_source_is_found)
{
    FREED char *source = copy_source("rgb8.png", temp_file("stale"));
    txm_settings s;
    txm_settings_init(&s);
    FREED char *tx = convert_in_place(source, &s);
    expect_good(tx, true);
    const struct utimbuf other = {1000000000, 1000000000};
    ck_assert(!utime(source, &other));
    expect(tx, false, "TXM-401");
    FREED char *changed = copy_source("rgba8.png", temp_file("stale"));
    ck_assert(!rename(changed, source) && !utime(tx, &other) && !utime(source, &other));
    expect(tx, false, "TXM-403");
    expect(tx, true, "TXM-602");
    ck_assert(!unlink(source));
    expect(tx, false, "TXM-402");
    expect(tx, true, "TXM-603");
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

TEST(what_cannot_be_read_is_a_failure)
{
    txm_findings f = {0};
    txm_error err = {0};
    ck_assert_int_eq(txm_verify(context, temp_file("nothing.tx"), NULL, &f, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_uint_eq(f.count, 0);
    volatile int cancel = 1;
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 2, .cancel = &cancel};
    SCOPED(txm_context_free) txm_context *cancelled = NULL;
    FREED char *out = strdup(temp_file("cancel.tx"));
    make_tx("rgb8.png", out, NULL);
    ck_assert(!txm_context_new(&options, &cancelled, NULL));
    ck_assert_int_eq(txm_verify(cancelled, out, NULL, &f, NULL), TXM_STATUS_CANCELLED);
    txm_findings_clear(&f);
}

TEST(ids_are_in_order_and_unique)
{
    const txm_finding_kind *kind, *before = NULL;
    for (size_t i = 0; (kind = txm_finding_kind_at(i)); before = kind, i++)
        ck_assert(strlen(kind->id) == 7 && (!before || strcmp(before->id, kind->id) < 0));
    ck_assert_ptr_nonnull(before);
}
