/* SPDX-License-Identifier: Apache-2.0
 * Border sections. They are decoded by a separate decoder, which follows the text of section_format.h, and compared
 * with borders gathered by brute force. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <zstd.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "mill/write/section_writer.h"
#include "tile/reader/border_order.h"
#include "tile/reader/identity.h"
#include "tile/reader/section_format.h"
#include "txtile/reader.h"
#include "util_check.h"
#include "util_writer.h"

static const txm_compression zip = {TXM_CODEC_ZIP, 1};
static txm_error err;

/* ---- brute force ---- */

static uint64_t get_le(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | p[bytes];
    return v;
}

static void put_le(uint8_t *p, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

typedef struct tile_window {
    uint32_t w, h;   /* valid size */
    size_t px;       /* bytes of a pixel */
    uint8_t *padded; /* (w + 4) x (h + 4) px of the level, with repeat */
    uint8_t *border; /* its border, in the order of borders */
} tile_window;

static tile_window cut(const made_image *m, uint32_t level, uint32_t x0, uint32_t y0)
{
    uint32_t lw = txm_level_size(m->layout.width, level), lh = txm_level_size(m->layout.height, level);
    uint32_t tile = m->layout.tile_px;
    tile_window t = {lw - x0 < tile ? lw - x0 : tile, lh - y0 < tile ? lh - y0 : tile, made_pixel_bytes(m), NULL, NULL};
    uint8_t *p = t.padded = txm_alloc_pixels((size_t)(t.w + 4) * (t.h + 4), t.px);
    uint8_t *r = t.border = txm_alloc_pixels(txm_border_pixels(t.w, t.h), t.px);
    for (int64_t y = -2; y < (int64_t)t.h + 2; y++)
        for (int64_t x = -2; x < (int64_t)t.w + 2; x++, p += t.px) {
            size_t sx = (size_t)((x0 + x + 2 * (int64_t)lw) % lw), sy = (size_t)((y0 + y + 2 * (int64_t)lh) % lh);
            memcpy(p, m->levels[level] + (sy * lw + sx) * t.px, t.px);
            if (x < 0 || y < 0 || x >= t.w || y >= t.h) {
                memcpy(r, p, t.px);
                r += t.px;
            }
        }
    return t;
}

static void free_window(tile_window *t)
{
    free(t->padded);
    free(t->border);
}

/* ---- the decoder ---- */

static uint64_t sample_at(const uint8_t *p, size_t bytes)
{
    return get_le(p, bytes);
}

static uint64_t predict(uint64_t l, uint64_t u, uint64_t k)
{
    uint64_t high = l > u ? l : u, low = l > u ? u : l;
    return k >= high ? low : k <= low ? high : l + u - k;
}

/* Fills the border of `window`, whose inside holds the tile, from the planes of residuals. */
static void decode_lines(uint8_t *window, uint32_t w, uint32_t h, uint32_t channels, size_t bytes,
                         const uint8_t *planes)
{
    int64_t px = (int64_t)(channels * bytes), row = (w + 4) * px;
    const int64_t W = w, H = h;
    uint8_t *o = window + 2 * row + 2 * px;
    const struct {
        int64_t start, step, reference;
        uint32_t count;
    } lines[TXM_BORDER_LINES] = {{-px, row, px, h},
                                 {-2 * px, row, px, h},
                                 {W * px, row, -px, h},
                                 {(W + 1) * px, row, -px, h},
                                 {-row - 2 * px, px, row, w + 4},
                                 {-2 * row - 2 * px, px, row, w + 4},
                                 {H * row - 2 * px, px, -row, w + 4},
                                 {(H + 1) * row - 2 * px, px, -row, w + 4}};
    size_t n = 4 * ((size_t)w + h + 4), at = 0;
    uint64_t mask = (1ull << (8 * bytes)) - 1;
    for (int i = 0; i < TXM_BORDER_LINES; i++)
        for (uint32_t k = 0; k < lines[i].count; k++, at++) {
            uint8_t *p = o + lines[i].start + k * lines[i].step;
            uint64_t r[4] = {0};
            for (uint32_t c = 0; c < channels; c++) {
                for (size_t b = 0; b < bytes; b++)
                    r[c] = r[c] << 8 | planes[(c * bytes + b) * n + at];
                r[c] = (r[c] >> 1 ^ (0 - (r[c] & 1))) & mask;
            }
            if (channels == 4)
                r[0] += r[1], r[2] += r[1];
            for (uint32_t c = 0; c < channels; c++) {
                const uint8_t *s = p + c * bytes, *u = s + lines[i].reference, *l = s - lines[i].step;
                uint64_t v =
                    k ? predict(sample_at(l, bytes), sample_at(u, bytes), sample_at(l + lines[i].reference, bytes))
                      : sample_at(u, bytes);
                put_le(p + c * bytes, v + r[c], bytes);
            }
        }
}

/* Decodes a payload into the border of the window. */
static void decode(const uint8_t *payload, size_t size, uint8_t *window, const tile_window *t, uint32_t channels)
{
    size_t n = txm_border_pixels(t->w, t->h), row = (t->w + 4) * t->px;
    FREED uint8_t *planes = txm_calloc(n, t->px), *packed = txm_calloc(n, t->px);
    uint64_t mask = size ? get_le(payload, 2) : 0;
    if (size && !mask) {
        ck_assert_uint_eq(size, 2 + t->px);
        for (size_t y = 0; y < t->h + 4; y++)
            for (size_t x = 0; x < t->w + 4; x++)
                if (x < 2 || y < 2 || x >= t->w + 2 || y >= t->h + 2)
                    memcpy(window + y * row + x * t->px, payload + 2, t->px);
    } else {
        size_t got = size ? ZSTD_decompress(packed, n * t->px, payload + 2, size - 2) : 0, used = 0;
        ck_assert(!ZSTD_isError(got));
        for (size_t p = 0; p < t->px; p++)
            if (mask >> p & 1) {
                memcpy(planes + p * n, packed + used, n);
                used += n;
            }
        ck_assert_uint_eq(used, got);
        decode_lines(window, t->w, t->h, channels, t->px / channels, planes);
    }
}

/* ---- writing ---- */

typedef struct tile_ref {
    uint32_t level, tile, x, y;
} tile_ref;

/* Writes all tiles. Unless `shuffle` is 0, their order is far from that of the file. */
static size_t list_tiles(const made_image *m, tile_ref *list, size_t shuffle)
{
    size_t n = 0;
    for (uint32_t i = 0; i < m->layout.levels; i++) {
        uint32_t tile = 0;
        for (uint32_t y = 0; y < txm_level_size(m->layout.height, i); y += m->layout.tile_px)
            for (uint32_t x = 0; x < txm_level_size(m->layout.width, i); x += m->layout.tile_px)
                list[n++] = (tile_ref){i, tile++, x, y};
    }
    for (size_t i = 0; shuffle && i < n; i++) {
        size_t k = (i * 7919 + shuffle) % n;
        tile_ref t = list[i];
        list[i] = list[k];
        list[k] = t;
    }
    return n;
}

enum { MAX_TILES = 4096 };

static txm_status append_section(int fd, uint64_t image_bytes, const made_image *m, size_t shuffle)
{
    static tile_ref list[MAX_TILES];
    SCOPED(txm_border_encoder_free) txm_border_encoder *encoder = NULL;
    SCOPED(txm_section_writer_free) txm_section_writer *writer = NULL;
    size_t n = list_tiles(m, list, shuffle);
    ck_assert_int_eq(txm_border_encoder_new(&m->layout, &encoder, &err), TXM_OK);
    ck_assert_int_eq(txm_section_writer_new(&m->layout, "/tmp", &writer, &err), TXM_OK);
    for (size_t i = 0; i < n; i++) {
        SCOPED(free_window) tile_window t = cut(m, list[i].level, list[i].x, list[i].y);
        const void *encoded = NULL;
        size_t size = 0, row = (t.w + 4) * t.px;
        ck_assert_int_eq(
            txm_border_encode(encoder, t.border, t.padded + 2 * row + 2 * t.px, row, t.w, t.h, &encoded, &size, &err),
            TXM_OK);
        ck_assert_int_eq(txm_section_writer_add(writer, list[i].level, list[i].tile, encoded, size, &err), TXM_OK);
    }
    txm_status status = txm_section_writer_finish(writer, fd, image_bytes, &err);
    return status;
}

typedef struct file {
    int fd;
    uint64_t image_bytes, bytes;
    uint8_t *p; /* mapped */
} file;

static file make_file(const made_image *m, size_t shuffle)
{
    file f = {.fd = memfd_create("section", 0)};
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(write_image(f.fd, m, NULL, NULL, &f.image_bytes, &err), TXM_OK);
    ck_assert_msg(append_section(f.fd, f.image_bytes, m, shuffle) == TXM_OK, "%s", err.message);
    f.bytes = (uint64_t)lseek(f.fd, 0, SEEK_END);
    f.p = mmap(NULL, f.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, f.fd, 0);
    ck_assert_ptr_ne(f.p, MAP_FAILED);
    return f;
}

static void free_file(file *f)
{
    munmap(f->p, f->bytes);
    close(f->fd);
}

/* ---- checking ---- */

/* Counts the borders of the special kinds. */
typedef struct counts {
    size_t repeats, missing;
} counts;

static counts check_section(const made_image *m, const file *f)
{
    static tile_ref list[MAX_TILES];
    txm_section_footer footer;
    uint64_t identity = 0;
    size_t n = list_tiles(m, list, 0);
    ck_assert(txm_section_footer_parse(f->p + f->bytes - TXM_SECTION_FOOTER_BYTES, &footer));
    ck_assert_uint_eq(footer.version, 1);
    ck_assert_uint_eq(footer.tiles, n);
    ck_assert_uint_eq(footer.tile_px, m->layout.tile_px);
    ck_assert_uint_eq(footer.channels, m->layout.channels);
    ck_assert_uint_eq(footer.type, m->layout.type);
    ck_assert_uint_eq(footer.border_px, 2);
    ck_assert_uint_eq(footer.image_bytes, f->image_bytes);
    ck_assert(txm_image_identity(f->p, f->image_bytes, &identity));
    ck_assert_uint_eq(footer.identity, identity);
    ck_assert_uint_eq(footer.index_offset + footer.index_bytes + TXM_SECTION_FOOTER_BYTES, f->bytes);
    ck_assert_uint_eq(footer.check,
                      txm_xxh64(f->p + footer.index_offset, footer.index_bytes + TXM_SECTION_CHECK_AT, 0));
    ck_assert_uint_eq(footer.index_raw, 4 + 8 * m->layout.levels + 8 * n);

    FREED uint8_t *index = txm_calloc(footer.index_raw, 1);
    ck_assert_uint_eq(ZSTD_decompress(index, footer.index_raw, f->p + footer.index_offset, footer.index_bytes),
                      footer.index_raw);
    ck_assert_uint_eq(get_le(index, 4), m->layout.levels);
    const uint8_t *sizes = index + 4 + 8 * m->layout.levels, *checks = sizes + 4 * n;
    uint64_t at = footer.image_bytes, *offsets = txm_calloc(n, sizeof *offsets);
    counts seen = {0};
    for (size_t i = 0; i < n; i++) {
        SCOPED(free_window) tile_window t = cut(m, list[i].level, list[i].x, list[i].y);
        size_t size = get_le(sizes + 4 * i, 4), row = (t.w + 4) * t.px, from = i;
        offsets[i] = at;
        if (size == TXM_BORDER_REFERENCE_BYTES) {
            ck_assert_uint_eq(get_le(f->p + at, 3), 0);
            from = get_le(f->p + at + 3, 4);
            ck_assert_uint_lt(from, i);
            ck_assert_uint_gt(get_le(sizes + 4 * from, 4), TXM_BORDER_REFERENCE_BYTES);
            seen.repeats++;
        }
        if (size == TXM_BORDER_MISSING_BYTES) {
            ck_assert_uint_eq(f->p[at], 0);
            seen.missing++;
        } else {
            FREED uint8_t *window = txm_calloc((size_t)(t.h + 4), row);
            for (size_t y = 0; y < t.h; y++) /* a reader knows only the tile itself */
                memcpy(window + (y + 2) * row + 2 * t.px, t.padded + (y + 2) * row + 2 * t.px, t.w * t.px);
            decode(f->p + offsets[from], get_le(sizes + 4 * from, 4), window, &t, m->layout.channels);
            if (memcmp(window, t.padded, (t.h + 4) * row))
                ck_abort_msg("border of tile %u, level %u", list[i].tile, list[i].level);
        }
        ck_assert_uint_eq(get_le(checks + 4 * i, 4),
                          (uint32_t)txm_xxh64(t.border, txm_border_pixels(t.w, t.h) * t.px, 0));
        at += size;
    }
    ck_assert_uint_eq(at, footer.index_offset);
    free(offsets);
    return seen;
}

/* The library's reader returns the same pixels from it, whatever kind a border is, and verify finds nothing wrong. */
static void check_reader(const made_image *m, const file *f)
{
    static tile_ref list[MAX_TILES];
    size_t n = list_tiles(m, list, 0);
    char path[64];
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", f->fd);
    ck_assert_msg(txm_tx_open(path, &tx, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_VALID);
    for (size_t i = 0; i < n; i++) {
        SCOPED(free_window) tile_window t = cut(m, list[i].level, list[i].x, list[i].y);
        uint32_t x = list[i].x / m->layout.tile_px, y = list[i].y / m->layout.tile_px;
        size_t row = (t.w + 4) * t.px;
        FREED uint8_t *got = txm_calloc(t.h + 4, row);
        ck_assert_int_eq(txm_tx_read_tile(tx,
                                          &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                            .level = list[i].level,
                                                            .tile_x = x,
                                                            .tile_y = y,
                                                            .padding_px = 2,
                                                            .extension = TXM_EXTENSION_REPEAT,
                                                            .pixels = got,
                                                            .pixel_stride_bytes = t.px,
                                                            .row_stride_bytes = row},
                                          &err),
                         TXM_OK);
        ck_assert_mem_eq(got, t.padded, (t.h + 4) * row);
        ck_assert_msg(txm_tx_check_border(tx, list[i].level, x, y, &err) == TXM_OK, "%s", err.message);
    }
}

static void round_trip(uint32_t w, uint32_t h, uint32_t channels, txm_type type, uint32_t tile, made_content content)
{
    SCOPED(free_image) made_image m = make_image(w, h, channels, type, tile, zip, content);
    SCOPED(free_file) file f = make_file(&m, 1);
    check_section(&m, &f);
}

TESTS(every_type, 4)
{
    for (uint32_t channels = 1; channels <= 4; channels += 3)
        for (made_content content = MADE_SMOOTH; content <= MADE_CONSTANT; content++)
            round_trip(200, 140, channels, (txm_type)_i, 64, content);
}

TESTS(odd_sizes, 4)
{
    static const uint32_t sizes[][2] = {{1, 1},   {2, 2},    {1, 500},   {500, 3},
                                        {65, 64}, {63, 129}, {300, 200}, {777, 333}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(sizes[i][0], sizes[i][1], i % 2 ? 1 : 4, (txm_type)_i, 64, MADE_SMOOTH);
}

TESTS(every_tile_size, 4)
{
    for (uint32_t tile = TXM_MIN_TILE_PX; tile <= TXM_MAX_TILE_PX; tile *= 4)
        round_trip(300, 130, 4, (txm_type)_i, tile, MADE_SMOOTH);
}

/* Files of other programs may have two or three channels. */
TEST(two_and_three_channels)
{
    for (uint32_t channels = 2; channels <= 3; channels++) {
        txm_tx_layout layout = {64, 64, 7, channels, TXM_TYPE_U8, 64, zip};
        uint8_t pixels[68 * 68 * 3], border[528 * 3], *r = border;
        SCOPED(txm_border_encoder_free) txm_border_encoder *encoder = NULL;
        const void *encoded;
        size_t size;
        for (size_t i = 0; i < sizeof pixels; i++)
            pixels[i] = (uint8_t)(i * i >> 3);
        for (uint32_t y = 0; y < 68; y++)
            for (uint32_t x = 0; x < 68; x++)
                if (x < 2 || y < 2 || x > 65 || y > 65) {
                    memcpy(r, pixels + (y * 68 + x) * channels, channels);
                    r += channels;
                }
        ck_assert_int_eq(txm_border_encoder_new(&layout, &encoder, &err), TXM_OK);
        ck_assert_int_eq(txm_border_encode(encoder, border, pixels + (2 * 68 + 2) * channels, 68 * channels, 64, 64,
                                           &encoded, &size, &err),
                         TXM_OK);
        tile_window t = {64, 64, channels, NULL, NULL};
        FREED uint8_t *window = txm_calloc(sizeof pixels, 1);
        for (uint32_t y = 2; y < 66; y++)
            memcpy(window + (y * 68 + 2) * channels, pixels + (y * 68 + 2) * channels, 64 * channels);
        decode((const uint8_t *)encoded + 4, size - 4, window, &t, channels);
        ck_assert_mem_eq(window, pixels, 68 * 68 * channels);
    }
}

/* A flat image needs an index and a footer, but no payloads. If a border's colour differs from its tile's, its payload
 * is that colour. */
TESTS(flat_borders, 4)
{
    SCOPED(free_image) made_image m = make_image(256, 256, 4, (txm_type)_i, 64, zip, MADE_CONSTANT);
    size_t px = made_pixel_bytes(&m);
    SCOPED(free_file) file flat = make_file(&m, 0);
    txm_section_footer footer;
    ck_assert(txm_section_footer_parse(flat.p + flat.bytes - TXM_SECTION_FOOTER_BYTES, &footer));
    ck_assert_uint_eq(footer.index_offset, footer.image_bytes);
    for (uint32_t y = 64; y < 128; y++) /* one tile of level 0 becomes black */
        memset(m.levels[0] + ((size_t)y * 256 + 64) * px, 0, 64 * px);
    SCOPED(free_file) file hole = make_file(&m, 0);
    check_section(&m, &hole);
    FREED uint8_t *index = txm_calloc(footer.index_raw, 1);
    ck_assert(txm_section_footer_parse(hole.p + hole.bytes - TXM_SECTION_FOOTER_BYTES, &footer));
    ZSTD_decompress(index, footer.index_raw, hole.p + footer.index_offset, footer.index_bytes);
    ck_assert_uint_eq(get_le(index + 4 + 8 * m.layout.levels + 4 * 5, 4), 2 + px); /* the black tile's */
}

/* Borders of a pattern repeat. */
TESTS(repeated_borders, 4)
{
    SCOPED(free_image) made_image m = make_image(512, 512, 4, (txm_type)_i, 64, zip, MADE_CONSTANT);
    size_t px = made_pixel_bytes(&m);
    for (uint32_t y = 0; y < 512; y++) /* tiles of two kinds, like a chess board */
        for (uint32_t x = 0; x < 512; x++)
            if ((x / 64 + y / 64) % 2)
                memset(m.levels[0] + ((size_t)y * 512 + x) * px, (int)(y % 64 * 3), px);
    SCOPED(free_file) file f = make_file(&m, 3);
    ck_assert_uint_ge(check_section(&m, &f).repeats, 60);
    check_reader(&m, &f);
}

/* Tiles shrink to almost nothing, while their borders do not. Still the section takes at most a fifth of the file. */
TESTS(bounded, 4)
{
    static const uint32_t sizes[] = {511, 512, 700};
    for (size_t i = 0; i < (_i && !thorough() ? 2 : 3); i++) {
        uint32_t size = sizes[i];
        SCOPED(free_image) made_image m = make_image(size, size, 4, (txm_type)_i, 64, zip, MADE_CONSTANT);
        size_t px = made_pixel_bytes(&m);
        uint64_t state = 1;
        for (uint32_t y = 0; y < size; y++)
            for (uint32_t x = 0; x < size; x++)
                for (size_t b = 0; (x % 64 == 0 || y % 64 == 0) && b < px; b++) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    m.levels[0][((size_t)y * size + x) * px + b] = (uint8_t)(state >> 60);
                }
        SCOPED(free_file) file f = make_file(&m, 1);
        counts seen = check_section(&m, &f);
        check_reader(&m, &f);
        if (size >= 512) {
            ck_assert_uint_le((f.bytes - f.image_bytes) * 5, f.bytes);
            ck_assert_uint_gt(seen.missing, 0);
        } else {
            ck_assert_uint_eq(seen.missing, 0);
        }
    }
}

/* The order of the calls does not influence the result. */
TESTS(any_order, 4)
{
    SCOPED(free_image) made_image m = make_image(700, 300, 4, (txm_type)_i, 32, zip, MADE_SMOOTH);
    SCOPED(free_file) file a = make_file(&m, 0);
    for (size_t shuffle = 1; shuffle < 4; shuffle++) {
        SCOPED(free_file) file b = make_file(&m, shuffle * 31);
        ck_assert_uint_eq(a.bytes, b.bytes);
        ck_assert_mem_eq(a.p, b.p, a.bytes);
    }
}

/* Any change of the header, of directories or of their values changes the identity; changes of tiles do not. */
TESTS(identity, 4)
{
    SCOPED(free_image) made_image m = make_image(300, 200, 4, (txm_type)_i, 64, zip, MADE_SMOOTH);
    SCOPED(free_file) file f = make_file(&m, 0);
    uint64_t want = 0, got = 0, changed = 0;
    ck_assert(txm_image_identity(f.p, f.image_bytes, &want));
    ck_assert(!txm_image_identity(f.p, 7, &got));
    if (txm_image_identity(f.p, f.image_bytes - 1, &got))
        ck_assert_uint_ne(got, want);
    const uint64_t part = case_part();
    for (uint64_t i = (uint64_t)_i; i < f.image_bytes; i += part) { /* a change must not lead out of bounds either */
        f.p[i] ^= 0x41;
        changed += !txm_image_identity(f.p, f.image_bytes, &got) || got != want;
        f.p[i] ^= 0x41;
    }
    const uint8_t *sha1 = memmem(f.p, f.image_bytes, "5B96709E01", 10);
    ck_assert_ptr_nonnull(sha1);
    f.p[sha1 - f.p] ^= 1;
    ck_assert(txm_image_identity(f.p, f.image_bytes, &got));
    ck_assert_uint_ne(got, want);
    ck_assert_uint_gt(part * changed, 500);
    ck_assert_uint_lt(part * changed, f.image_bytes / 4);
}

TEST(identity_of_hostile_bytes)
{
    static const char *const magics[] = {"II*\0\10\0\0\0", "MM\0*\0\0\0\10", "II+\0\10\0\0\0", "MM\0+\0\10\0\0",
                                         "\x76\x2f\x31\1\2\2\0\0"};
    uint8_t b[400];
    uint64_t state = 1, id;
    for (int round = 0; round < 20000; round++) {
        size_t n = 8 + (size_t)(state >> 40) % (sizeof b - 8);
        uint8_t *tight = malloc(n); /* exact, so that AddressSanitizer sees a byte too far */
        for (size_t i = 0; i < n; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            tight[i] = (uint8_t)(state >> 60 ? (state >> 56) & 1 : state >> 48);
        }
        memcpy(tight, magics[round % 5], 8);
        txm_image_identity(tight, n, &id);
        free(tight);
    }
    ck_assert(!txm_image_identity((const uint8_t *)"neither of the two", 18, &id));
}

/* ---- failures ---- */

TEST(wrong_use)
{
    SCOPED(free_image) made_image m = make_image(100, 100, 4, TXM_TYPE_U8, 64, zip, MADE_SMOOTH);
    txm_section_writer *w = NULL;
    txm_border_encoder *e = NULL;
    txm_tx_layout layout = m.layout;
    uint8_t border[8] = {0};
    SCOPED(close_descriptor) int fd = memfd_create("x", 0);
    ck_assert_int_eq(txm_section_writer_new(&layout, "/tmp", &w, NULL), TXM_OK);
    ck_assert_int_eq(txm_section_writer_add(w, 0, 4, border, 6, NULL), TXM_STATUS_INTERNAL); /* 2 x 2 tiles */
    ck_assert_int_eq(txm_section_writer_add(w, 7, 0, border, 6, NULL), TXM_STATUS_INTERNAL); /* 7 levels */
    ck_assert_int_eq(txm_section_writer_add(w, 0, 0, border, 3, NULL), TXM_STATUS_INTERNAL); /* no room for a check */
    ck_assert_int_eq(txm_section_writer_add(w, 0, 0, border, 6, NULL), TXM_OK);
    ck_assert_int_eq(txm_section_writer_add(w, 0, 0, border, 6, NULL), TXM_STATUS_INTERNAL); /* twice */
    ck_assert_int_eq(txm_section_writer_finish(w, fd, 8, NULL), TXM_STATUS_INTERNAL);        /* borders are missing */
    txm_section_writer_free(&w);
    txm_section_writer_free(&w);
    layout.levels = 40;
    ck_assert_int_eq(txm_section_writer_new(&layout, "/tmp", &w, NULL), TXM_STATUS_USAGE);
    layout.channels = 5;
    ck_assert_int_eq(txm_border_encoder_new(&layout, &e, NULL), TXM_STATUS_USAGE);
    ck_assert_ptr_null(w);
    ck_assert_ptr_null(e);
    ck_assert_int_eq(ftruncate(fd, 5000), 0); /* zeros are not an image */
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(append_section(fd, 5000, &m, 0), TXM_STATUS_UNSUPPORTED);
}

TEST(file_too_large)
{
    SCOPED(free_image) made_image m = make_image(500, 400, 4, TXM_TYPE_U8, 64, zip, MADE_NOISE);
    char path[] = "/tmp/txm-section-XXXXXX";
    int fd = mkstemp(path);
    uint64_t image_bytes = 0;
    struct rlimit old, limit;
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(write_image(fd, &m, NULL, NULL, &image_bytes, &err), TXM_OK);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = image_bytes + 100;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    txm_status status = append_section(fd, image_bytes, &m, 0);
    setrlimit(RLIMIT_FSIZE, &old);
    ck_assert_int_eq(status, err.status);
    ck_assert_int_eq(err.sys_errno, EFBIG);
    close(fd);
    unlink(path);
}
