/* SPDX-License-Identifier: Apache-2.0
 * Tx files as other libraries see them: every pixel of every level and the metadata, read back with libtiff and
 * OpenEXRCore; descriptors that fail. */
#include <errno.h>
#include <fcntl.h>
#include <openexr.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tiffio.h>

#include "base/endian.h"
#include "base/mem.h"
#include "mill/write/writer.h"
#include "mill/write/writer_metadata.h"
#include "util_check.h"
#include "util_writer.h"

static const txm_compression zip = {TXM_CODEC_ZIP, 0}, none = {TXM_CODEC_NONE, 0}, zstd = {TXM_CODEC_ZSTD, 0};

static char path[64];
static txm_error err;

static int open_file(void)
{
    strcpy(path, "/tmp/txm-writer-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    memset(&err, 0, sizeof err);
    return fd;
}

static void close_file(int fd)
{
    close(fd);
    unlink(path);
}

/* ---- pixels through libtiff ---- */

static void check_tiff_level(TIFF *t, const made_image *m, uint32_t level)
{
    uint32_t w = txm_level_size(m->layout.width, level), h = txm_level_size(m->layout.height, level), v;
    uint32_t tile = m->layout.tile_px;
    size_t pixel = made_pixel_bytes(m);
    ck_assert(TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &v) && v == w);
    ck_assert(TIFFGetField(t, TIFFTAG_IMAGELENGTH, &v) && v == h);
    ck_assert_int_eq(TIFFTileSize(t), (tmsize_t)(tile * tile * pixel));
    FREED uint8_t *b = txm_alloc_pixels((size_t)TIFFTileSize(t), 1);
    for (uint32_t y = 0; y < h; y += tile)
        for (uint32_t x = 0; x < w; x += tile) {
            ck_assert_int_eq(TIFFReadTile(t, b, x, y, 0, 0), TIFFTileSize(t));
            for (uint32_t r = 0; r < tile; r++)
                for (uint32_t c = 0; c < tile; c++) {
                    /* Beyond the edge, the last column and row are repeated. */
                    uint32_t sx = x + c < w ? x + c : w - 1, sy = y + r < h ? y + r : h - 1;
                    const uint8_t *want = m->levels[level] + ((size_t)sy * w + sx) * pixel;
                    if (memcmp(want, b + ((size_t)r * tile + c) * pixel, pixel))
                        ck_abort_msg("level %u pixel %u,%u differs", level, x + c, y + r);
                }
        }
}

static void check_tiff(const made_image *m)
{
    TIFF *t = TIFFOpen(path, "r");
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(TIFFNumberOfDirectories(t), (int)m->layout.levels);
    for (uint32_t i = 0; i < m->layout.levels; i++) {
        ck_assert(TIFFSetDirectory(t, (tdir_t)i));
        check_tiff_level(t, m, i);
    }
    TIFFClose(t);
}

/* ---- pixels through OpenEXRCore ---- */

static void check_exr_tile(exr_context_t exr, const made_image *m, uint32_t level, uint32_t tx, uint32_t ty)
{
    static const char *const names[] = {"R", "channel1", "channel2", "channel3"}; /* as in Blender's files */
    uint32_t w = txm_level_size(m->layout.width, level), tile = m->layout.tile_px;
    size_t pixel = made_pixel_bytes(m), sample = txm_type_bytes(m->layout.type);
    exr_chunk_info_t chunk;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* OpenEXR's initializer lacks some */
    exr_decode_pipeline_t decode = EXR_DECODE_PIPELINE_INITIALIZER;
#pragma GCC diagnostic pop
    ck_assert_int_eq(exr_read_tile_chunk_info(exr, 0, (int)tx, (int)ty, (int)level, (int)level, &chunk), 0);
    FREED uint8_t *b = txm_alloc_pixels((size_t)chunk.width * (size_t)chunk.height, pixel);
    ck_assert_int_eq(exr_decoding_initialize(exr, 0, &chunk, &decode), 0);
    ck_assert_int_eq(decode.channel_count, (int)m->layout.channels);
    for (int c = 0; c < decode.channel_count; c++) {
        size_t at = 0;
        while (at < m->layout.channels && strcmp(names[at], decode.channels[c].channel_name))
            at++;
        ck_assert_msg(at < m->layout.channels, "channel %s", decode.channels[c].channel_name);
        decode.channels[c].decode_to_ptr = b + at * sample;
        decode.channels[c].user_pixel_stride = (int32_t)pixel;
        decode.channels[c].user_line_stride = (int32_t)(pixel * (size_t)chunk.width);
        decode.channels[c].user_bytes_per_element = (int16_t)sample;
        decode.channels[c].user_data_type = m->layout.type == TXM_TYPE_HALF ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    }
    ck_assert_int_eq(exr_decoding_choose_default_routines(exr, 0, &decode), 0);
    ck_assert_int_eq(exr_decoding_run(exr, 0, &decode), 0);
    for (size_t y = 0; y < (size_t)chunk.height; y++)
        ck_assert_mem_eq(b + y * pixel * (size_t)chunk.width,
                         m->levels[level] + ((ty * tile + y) * w + tx * tile) * pixel, pixel * (size_t)chunk.width);
    exr_decoding_destroy(exr, &decode);
}

static void check_exr(const made_image *m)
{
    exr_context_t exr = NULL;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    int32_t levels_x, levels_y;
    ck_assert_int_eq(exr_start_read(&exr, path, &init), 0);
    ck_assert_int_eq(exr_get_tile_levels(exr, 0, &levels_x, &levels_y), 0);
    ck_assert_int_eq(levels_x, (int)m->layout.levels);
    uint32_t tile = m->layout.tile_px;
    for (uint32_t i = 0; i < m->layout.levels; i++)
        for (uint32_t y = 0; y * tile < txm_level_size(m->layout.height, i); y++)
            for (uint32_t x = 0; x * tile < txm_level_size(m->layout.width, i); x++)
                check_exr_tile(exr, m, i, x, y);
    exr_finish(&exr);
}

/* Writes a made image and reads every pixel back. */
static void round_trip(uint32_t w, uint32_t h, uint32_t channels, txm_type type, uint32_t tile,
                       txm_compression compression, made_content content)
{
    made_image m = make_image(w, h, channels, type, tile, compression, content);
    int fd = open_file();
    uint64_t bytes = 0;
    ck_assert_msg(write_image(fd, &m, NULL, NULL, &bytes, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(bytes, (uint64_t)lseek(fd, 0, SEEK_END));
    if (txm_type_is_float(type))
        check_exr(&m);
    else
        check_tiff(&m);
    free_image(&m);
    close_file(fd);
}

TESTS(every_type_and_compression, 4)
{
    txm_type type = (txm_type)_i;
    const txm_compression compressions[] = {zip, none, {TXM_CODEC_ZIP, 1}, {TXM_CODEC_ZIP, 12}, zstd};
    size_t count = txm_type_is_float(type) ? 4 : 5;
    for (size_t i = 0; i < count; i++)
        for (uint32_t channels = 1; channels <= 4; channels += 3)
            for (made_content content = MADE_SMOOTH; content <= MADE_CONSTANT; content++)
                round_trip(150, 90, channels, type, 64, compressions[i], content);
}

TESTS(odd_sizes, 4)
{
    static const uint32_t sizes[][2] = {{1, 1},   {2, 2},    {1, 500},   {500, 3},
                                        {65, 64}, {63, 129}, {300, 200}, {777, 333}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        round_trip(sizes[i][0], sizes[i][1], i % 2 ? 1 : 4, (txm_type)_i, 64, zip, MADE_SMOOTH);
}

TESTS(every_tile_size, 4)
{
    for (uint32_t tile = TXM_MIN_TILE_PX; tile <= TXM_MAX_TILE_PX; tile *= 2)
        round_trip(270, 130, 4, (txm_type)_i, tile, zip, MADE_SMOOTH);
}

/* ---- metadata ---- */

static void ck_tag(TIFF *t, uint32_t tag, const char *want)
{
    char *text = NULL;
    ck_assert_msg(TIFFGetField(t, tag, &text), "tag %u is missing", tag);
    ck_assert_str_eq(text, want);
}

TEST(tiff_metadata)
{
    made_image m = make_image(129, 65, 4, TXM_TYPE_U8, 64, zip, MADE_SMOOTH);
    uint16_t count = 0, v = 0, *kinds = NULL;
    int fd = open_file();
    setenv("TZ", "UTC", 1);
    ck_assert_int_eq(write_image(fd, &m, NULL, NULL, NULL, &err), TXM_OK);
    TIFF *t = TIFFOpen(path, "r");
    ck_tag(t, TIFFTAG_DOCUMENTNAME,
           "/src/wall.png (colorspace: scene_linear_srgb, xyz_to_scene_linear:3.241_-1.537_-0.4986_0, alpha: "
           "unassociated)");
    ck_tag(t, TIFFTAG_IMAGEDESCRIPTION,
           "A wall oiio:SHA-1=5B96709E01AC5D5CE9445B4D4E072A644CD115F1 "
           "oiio:AverageColor=0.509998,0.499984,0.422656,0.728136 txmill:ColorSpace=\"sRGB\" "
           "txmill:Config=\"scene_linear_srgb\" txmill:Blender=\"5.3\" txmill:Limit=\"2048\""
           " txmill:Content=\"70000:0123456789abcdef0123456789abcdef\" asset=\"say \\\"wall\\\"\"");
    ck_tag(t, TIFFTAG_SOFTWARE, "Blender maketx v0");
    ck_tag(t, TIFFTAG_PIXAR_TEXTUREFORMAT, "Plain Texture");
    ck_tag(t, TIFFTAG_PIXAR_WRAPMODES, "black,black");
    ck_tag(t, TIFFTAG_COPYRIGHT, "(c) a painter");
    for (tdir_t i = 0; i < 8; i++) {
        ck_assert(TIFFSetDirectory(t, i));
        ck_tag(t, TIFFTAG_DATETIME, "2023:11:14 22:13:20");
        ck_assert(TIFFGetField(t, TIFFTAG_COMPRESSION, &v) && v == COMPRESSION_ADOBE_DEFLATE);
        ck_assert(TIFFGetField(t, TIFFTAG_PREDICTOR, &v) && v == PREDICTOR_HORIZONTAL);
        ck_assert(TIFFGetField(t, TIFFTAG_ORIENTATION, &v) && v == ORIENTATION_TOPLEFT);
        ck_assert(TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &count, &kinds) && count == 1);
        ck_assert_int_eq(kinds[0], EXTRASAMPLE_UNSPECIFIED);
    }
    TIFFClose(t);
    free_image(&m);
    close_file(fd);
}

static void ck_attribute(exr_context_t exr, const char *name, const char *want)
{
    const char *text = NULL;
    int32_t n = 0;
    ck_assert_msg(exr_attr_get_string(exr, 0, name, &n, &text) == EXR_ERR_SUCCESS, "%s is missing", name);
    ck_assert_str_eq(text, want);
}

TEST(exr_metadata)
{
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    made_image m = make_image(129, 65, 4, TXM_TYPE_HALF, 64, zip, MADE_SMOOTH);
    exr_context_t exr = NULL;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    const txm_tx_attribute extra[] = {{"Copyright", "(c) a painter"},
                                      {"a name that is much longer than EXR's short names", "kept"}};
    metadata.attributes = extra;
    metadata.attribute_count = 2;
    summary.constant = true;
    memcpy(summary.constant_color, summary.average, sizeof summary.average);
    int fd = open_file();
    setenv("TZ", "UTC", 1);
    ck_assert_int_eq(write_image(fd, &m, &metadata, &summary, NULL, &err), TXM_OK);
    ck_assert_int_eq(exr_start_read(&exr, path, &init), 0);
    ck_attribute(exr, "Software", "Blender maketx v0");
    ck_attribute(exr, "capDate", "2023:11:14 22:13:20");
    ck_attribute(exr, "textureformat", "Plain Texture");
    ck_attribute(exr, "wrapmodes", "black,black");
    ck_attribute(exr, "colorInteropID", "lin_rec709_scene");
    ck_attribute(exr, "blender:SourceFile", "/src/wall.png");
    ck_attribute(exr, "blender:SourceColorSpace", "scene_linear_srgb");
    ck_attribute(exr, "blender:SourceAlpha", "unassociated");
    ck_attribute(exr, "blender:XYZToSceneLinear", "3.241_-1.537_-0.4986_0");
    ck_attribute(exr, "oiio:SHA-1", summary.sha1);
    ck_attribute(exr, "oiio:AverageColor", "0.509998,0.499984,0.422656,0.728136");
    ck_attribute(exr, "oiio:ConstantColor", "0.509998,0.499984,0.422656,0.728136");
    ck_attribute(exr, "txmill:ColorSpace", "sRGB");
    ck_attribute(exr, "owner", "(c) a painter");
    ck_attribute(exr, extra[1].name, "kept");
    exr_finish(&exr);
    free_image(&m);
    close_file(fd);
}

/* ---- aspect and resolution ---- */

static const struct {
    txm_density said;
    float x, y; /* TIFF; 0: no such tag */
    int unit;
    float aspect, x_density; /* EXR; 0: no such attribute */
    const char *exr_unit;
} densities[] = {
    {{0}, 0, 0, 0, 1, 0, NULL},
    {{.aspect = 1}, 0, 0, 0, 1, 0, NULL},
    {{.aspect = 2}, 1, 2, 0, 2, 0, NULL},
    {{.aspect = 0.5f}, 1, 0.5f, 0, 0.5f, 0, NULL},
    {{.x = 72, .y = 72, .unit = "in"}, 72, 72, RESUNIT_INCH, 1, 72, "in"},
    {{.x = 72, .y = 72, .unit = "inch"}, 72, 72, RESUNIT_INCH, 1, 72, "inch"},
    {{.x = 254, .y = 254, .unit = "cm"}, 254, 254, RESUNIT_CENTIMETER, 1, 100, "cm"},
    {{.x = 254, .unit = "cm"}, 254, 254, RESUNIT_CENTIMETER, 1, 254, "cm"},
    {{.x = 300, .y = 150, .unit = "none"}, 300, 300, RESUNIT_NONE, 2, 300, "none"},
    {{.x = 2835, .y = 2835, .unit = "m"}, 2835, 2835, 0, 1, 2835, "m"},
    {{.aspect = 3, .x = 0.25f, .y = 0.75f, .unit = "in"}, 1, 3, RESUNIT_NONE, 3, 0.25f, "in"},
    {{.unit = "cm"}, 0, 0, RESUNIT_CENTIMETER, 1, 0, "cm"},
    {{.unit = "furlong"}, 0, 0, 0, 1, 0, "furlong"},
    /* Values that a container cannot hold are left out of it. */
    {{.aspect = 1e-7f, .x = 300, .y = 300}, 300, 3e-5f, 0, 1, 300, NULL},
    {{.aspect = 4e9f, .x = 300, .y = 300}, 0, 0, 0, 1, 300, NULL},
    {{.aspect = 1e-20f}, 0, 0, 0, 1, 0, NULL},
};

static void check_tiff_density(int i)
{
    float x = 0, y = 0;
    uint16_t unit = 0;
    TIFF *t = TIFFOpen(path, "r");
    ck_assert_ptr_nonnull(t);
    TIFFGetField(t, TIFFTAG_XRESOLUTION, &x);
    TIFFGetField(t, TIFFTAG_YRESOLUTION, &y);
    TIFFGetField(t, TIFFTAG_RESOLUTIONUNIT, &unit);
    ck_assert_float_eq_tol(x, densities[i].x, 1e-6f * x + 1e-12f);
    ck_assert_float_eq_tol(y, densities[i].y, 1e-4f * y + 1e-12f);
    ck_assert_int_eq(unit, densities[i].unit);
    TIFFClose(t);
}

static void check_exr_density(int i)
{
    exr_context_t exr = NULL;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    const exr_attribute_t *x = NULL, *unit = NULL;
    float aspect = 0;
    ck_assert_int_eq(exr_start_read(&exr, path, &init), 0);
    ck_assert_int_eq(exr_get_pixel_aspect_ratio(exr, 0, &aspect), 0);
    ck_assert_float_eq(aspect, densities[i].aspect);
    exr_get_attribute_by_name(exr, 0, "xDensity", &x);
    ck_assert_float_eq(x ? x->f : 0, densities[i].x_density);
    exr_get_attribute_by_name(exr, 0, "ResolutionUnit", &unit);
    ck_assert_pstr_eq(unit ? unit->string->str : NULL, densities[i].exr_unit);
    exr_finish(&exr);
}

/* Pixels are constant, so that all values that come late are written: the EXR header must keep its size when it is
 * rewritten. */
TESTS(density, (int)(sizeof densities / sizeof *densities))
{
    static const txm_type types[] = {TXM_TYPE_U8, TXM_TYPE_HALF};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        txm_tx_metadata metadata = made_metadata();
        txm_tx_summary summary = made_summary();
        summary.constant = true;
        metadata.density = densities[_i].said;
        made_image m = make_image(20, 30, 4, types[k], 16, zip, MADE_CONSTANT);
        int fd = open_file();
        ck_assert_msg(write_image(fd, &m, &metadata, &summary, NULL, &err) == TXM_OK, "%s", err.message);
        if (txm_type_is_float(types[k])) {
            check_exr(&m);
            check_exr_density(_i);
        } else {
            check_tiff(&m);
            check_tiff_density(_i);
        }
        free_image(&m);
        close_file(fd);
    }
}

/* Attributes with these names would contradict the container's own. */
TEST(density_is_reserved)
{
    static const char *const names[] = {"XResolution", "yresolution", "ResolutionUnit", "PixelAspectRatio", "xDensity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert(txm_metadata_is_reserved(names[i]));
}

/* The longest numbers that "%.6g" prints must fit into the reserved space. */
TESTS(longest_late_values, 4)
{
    txm_tx_summary summary = made_summary();
    summary.constant = true;
    for (int c = 0; c < 4; c++)
        summary.average[c] = summary.constant_color[c] = -1.23457e-38f;
    made_image m = make_image(20, 30, 4, (txm_type)_i, 16, zip, MADE_CONSTANT);
    int fd = open_file();
    ck_assert_msg(write_image(fd, &m, NULL, &summary, NULL, &err) == TXM_OK, "%s", err.message);
    if (txm_type_is_float(m.layout.type))
        check_exr(&m);
    else
        check_tiff(&m);
    free_image(&m);
    close_file(fd);
}

/* ---- failures ---- */

/* Writes to a file that cannot grow beyond `limit` bytes. */
static txm_status write_limited(const made_image *m, rlim_t limit)
{
    struct rlimit old, new;
    getrlimit(RLIMIT_FSIZE, &old);
    new = old;
    new.rlim_cur = limit;
    signal(SIGXFSZ, SIG_IGN);
    int fd = open_file();
    setrlimit(RLIMIT_FSIZE, &new);
    txm_status status = write_image(fd, m, NULL, NULL, NULL, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    close_file(fd);
    return status;
}

TESTS(file_too_large, 4)
{
    SCOPED(free_image) made_image m = make_image(700, 500, 4, (txm_type)_i, 64, none, MADE_NOISE);
    static const rlim_t limits[] = {0, 100, 5000, 400000, 700000};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        txm_status status = write_limited(&m, limits[i]);
        ck_assert_int_eq(status, err.status);
        ck_assert_int_eq(err.sys_errno, EFBIG);
        ck_assert_msg(strstr(err.message, "made.tx"), "%s", err.message);
    }
}

/* A device without space gives the error of a full disk. */
TESTS(full_disk, 4)
{
    SCOPED(free_image) made_image m = make_image(400, 300, 4, (txm_type)_i, 64, none, MADE_NOISE);
    SCOPED(close_descriptor) int fd = open("/dev/full", O_RDWR);
    ck_assert_int_ge(fd, 0);
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(write_image(fd, &m, NULL, NULL, NULL, &err), TXM_STATUS_DISK_FULL);
    ck_assert_int_eq(err.sys_errno, ENOSPC);
    ck_assert_msg(strstr(err.message, "made.tx"), "%s", err.message);
}

TESTS(bad_descriptor, 4)
{
    made_image m = make_image(300, 300, 4, (txm_type)_i, 64, none, MADE_NOISE);
    int fd = open_file();
    int read_only = open(path, O_RDONLY);
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(write_image(read_only, &m, NULL, NULL, NULL, &err), TXM_STATUS_IO);
    ck_assert_int_eq(err.sys_errno, EBADF);
    close(read_only);
    free_image(&m);
    close_file(fd);
}

TEST(wrong_use)
{
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    txm_tx_layout layout = {100, 100, 7, 4, TXM_TYPE_U8, 64, zip};
    txm_tx_writer *w = NULL;
    int fd = open_file();
    layout.channels = 3;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, NULL), TXM_STATUS_USAGE);
    layout.channels = 4, layout.tile_px = 48;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, NULL), TXM_STATUS_USAGE);
    layout.tile_px = 64, layout.levels = 3;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, NULL), TXM_STATUS_USAGE);
    layout.levels = 7, layout.type = TXM_TYPE_HALF, layout.compression = zstd;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, NULL), TXM_STATUS_USAGE);
    layout.type = TXM_TYPE_U8, layout.width = TXM_MAX_SIZE_PX + 1;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, NULL), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_null(w);
    layout.width = 100, layout.compression = zip;
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, &err), TXM_OK);
    ck_assert_int_eq(txm_tx_writer_finish(w, &summary, NULL, &err), TXM_STATUS_INTERNAL); /* tiles are missing */
    txm_tx_writer_close(&w);
    ck_assert_ptr_null(w);
    txm_tx_writer_close(&w);
    close_file(fd);
}

/* The same input gives the same bytes. */
TESTS(deterministic, 4)
{
    SCOPED(free_image) made_image m = make_image(200, 150, 4, (txm_type)_i, 64, zip, MADE_SMOOTH);
    int a = memfd_create("a", 0), b = memfd_create("b", 0);
    uint64_t n = 0, n2 = 0;
    ck_assert_int_eq(write_image(a, &m, NULL, NULL, &n, NULL), TXM_OK);
    ck_assert_int_eq(write_image(b, &m, NULL, NULL, &n2, NULL), TXM_OK);
    ck_assert_uint_eq(n, n2);
    void *pa = mmap(NULL, n, PROT_READ, MAP_SHARED, a, 0), *pb = mmap(NULL, n, PROT_READ, MAP_SHARED, b, 0);
    ck_assert_mem_eq(pa, pb, n);
    munmap(pa, n), munmap(pb, n);
    close(a), close(b);
}

/* The file is a BigTIFF if and only if the uncompressed levels could exceed 4 GiB. */
TEST(big_tiff)
{
    static const struct {
        uint32_t size;
        uint8_t version;
    } cases[] = {{16384, 42}, {27648, 42}, {28672, 43}, {65536, 43}};
    txm_tx_metadata metadata = made_metadata();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t s = cases[i].size;
        txm_tx_layout layout = {s, s, txm_level_count(s, s), 4, TXM_TYPE_U8, 64, zip};
        txm_tx_writer *w = NULL;
        static uint8_t tile[1 << 19]; /* larger than the writer's buffer, so that the header reaches the file */
        uint8_t head[4];
        int fd = open_file();
        ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, &err), TXM_OK);
        ck_assert_int_eq(txm_tx_writer_add(w, tile, sizeof tile, &err), TXM_OK);
        ck_assert_int_eq(pread(fd, head, sizeof head, 0), sizeof head);
        ck_assert_uint_eq(head[2], cases[i].version);
        txm_tx_writer_close(&w);
        close_file(fd);
    }
}

/* A complete BigTIFF: the late description and the links of its directories use 64-bit offsets. */
TEST(big_tiff_whole)
{
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    txm_tx_layout layout = {65536, 28672, 17, 1, TXM_TYPE_U16, 1024, zip};
    txm_tx_writer *w = NULL;
    uint8_t tile[16] = {0};
    int fd = open_file();
    ck_assert_int_eq(txm_tx_writer_open(fd, "x", &layout, &metadata, &w, &err), TXM_OK);
    for (uint32_t i = 0; i < layout.levels; i++) {
        uint32_t x = (txm_level_size(layout.width, i) + 1023) / 1024,
                 y = (txm_level_size(layout.height, i) + 1023) / 1024;
        for (uint32_t t = 0; t < x * y; t++)
            ck_assert_int_eq(txm_tx_writer_add(w, tile, sizeof tile, &err), TXM_OK);
    }
    ck_assert_int_eq(txm_tx_writer_finish(w, &summary, NULL, &err), TXM_OK);
    txm_tx_writer_close(&w);
    TIFF *t = TIFFOpen(path, "r");
    ck_assert_ptr_nonnull(t);
    ck_assert(TIFFIsBigTIFF(t));
    ck_assert_int_eq(TIFFNumberOfDirectories(t), 17);
    ck_tag(t, TIFFTAG_IMAGEDESCRIPTION,
           "A wall oiio:SHA-1=5B96709E01AC5D5CE9445B4D4E072A644CD115F1 oiio:AverageColor=0.509998 "
           "txmill:ColorSpace=\"sRGB\" txmill:Config=\"scene_linear_srgb\" txmill:Blender=\"5.2 5.3\" "
           "txmill:Limit=\"2048\" txmill:Content=\"70000:0123456789abcdef0123456789abcdef\" asset=\"say "
           "\\\"wall\\\"\"");
    TIFFClose(t);
    close_file(fd);
}

/* ---- reading back before the file is published ---- */

typedef struct written {
    int fd;
    made_image image;
    txm_tx_metadata metadata;
    txm_tx_summary summary;
    uint64_t bytes;
} written;

static written write_sound(uint32_t channels, txm_type type, txm_compression compression)
{
    written w = {.fd = open_file(), .metadata = made_metadata(), .summary = made_summary()};
    w.image = make_image(200, 150, channels, type, 64, compression, MADE_NOISE);
    ck_assert_int_eq(write_image(w.fd, &w.image, &w.metadata, &w.summary, &w.bytes, &err), TXM_OK);
    return w;
}

static txm_status read_back(const written *w)
{
    memset(&err, 0, sizeof err);
    return txm_tx_read_back(w->fd, "wall.tx", &w->image.layout, &w->metadata, &w->summary, w->bytes, false, &err);
}

static void end_written(written *w)
{
    ck_assert_msg(read_back(w) == TXM_OK, "%s", err.message);
    free_image(&w->image);
    close_file(w->fd);
}

/* Replaces a byte, expects an error that names the field, and restores the byte. */
static void refuses_byte(const written *w, uint64_t at, uint8_t wrong, const char *what)
{
    uint8_t right;
    ck_assert_int_eq(pread(w->fd, &right, 1, (off_t)at), 1);
    ck_assert_uint_ne(right, wrong);
    ck_assert_int_eq(pwrite(w->fd, &wrong, 1, (off_t)at), 1);
    ck_assert_msg(read_back(w) == TXM_STATUS_IO && strstr(err.message, "wall.tx"), "%s, byte %llu: %s", what,
                  (unsigned long long)at, err.message);
    ck_assert_int_eq(pwrite(w->fd, &right, 1, (off_t)at), 1);
}

/* Returns the first value of a directory entry: its only byte or its highest. */
static uint64_t value_at(const uint8_t *entry, uint32_t at)
{
    uint32_t width = entry[2] == TIFF_ASCII ? 1 : entry[2] == TIFF_SHORT ? 2 : 4, count = txm_load_le32(entry + 4);
    return (width * count > 4 ? txm_load_le32(entry + 8) : at + 8) + width - 1;
}

/* Every field of every directory that a failed allocation can lose, or that affects the pixels. */
TESTS(read_back_tiff, 3)
{
    static const uint16_t tags[] = {256, 257, 258, 259, 262, 269, 270,   277,   305,  306,
                                    317, 322, 323, 324, 325, 338, 33302, 33303, 33432};
    unsigned seen = 0, levels = 0;
    written w = write_sound(_i ? 4 : 1, _i == 2 ? TXM_TYPE_U16 : TXM_TYPE_U8, _i == 1 ? zstd : zip);
    uint8_t *file = malloc((size_t)w.bytes);
    ck_assert_int_eq(pread(w.fd, file, (size_t)w.bytes, 0), (ssize_t)w.bytes);
    for (uint32_t at = txm_load_le32(file + 4); at; levels++) {
        uint32_t count = txm_load_le16(file + at);
        if (levels) /* the level is not reached */
            refuses_byte(&w, at + 2 + 12 * count, 0x77, "the next directory");
        for (uint32_t i = 0; i < count; i++) {
            uint32_t entry = at + 2 + 12 * i, tag = file[entry] | (uint32_t)file[entry + 1] << 8;
            for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
                if (tags[k] != tag)
                    continue;
                seen++;
                if (_i || tag != TIFFTAG_SAMPLESPERPIXEL) /* 1 if it is absent */
                    refuses_byte(&w, entry, 0xFE, "a lost tag");
                refuses_byte(&w, value_at(file + entry, entry), 0x7E, "a wrong value");
                refuses_byte(&w, entry + 7, 0x7E, "a wrong count");
            }
        }
        at = txm_load_le32(file + at + 2 + 12 * count);
    }
    ck_assert_uint_eq(levels, w.image.layout.levels);
    ck_assert_uint_eq(seen, levels * (_i ? 13 : 12) + 6);
    free(file);
    end_written(&w);
}

TESTS(read_back_exr, 2)
{
    static const char *const texts[] = {
        "wall.png", "A wall",         "say \"wall\"", "(c) a painter", "lin_rec709_scene",  "3.241_", "5B96709E",
        "0.509998", "Blender maketx", "black,black",  "Plain Texture", "scene_linear_srgb", "sRGB",   "SourceAlpha",
        "capDate",  "oiio:SHA-1",     "owner"};
    written w = write_sound(_i ? 4 : 1, _i ? TXM_TYPE_HALF : TXM_TYPE_FLOAT, zip);
    uint8_t file[4096];
    ck_assert_int_eq(pread(w.fd, file, sizeof file, 0), sizeof file);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const uint8_t *at = memmem(file, sizeof file, texts[i], strlen(texts[i]));
        ck_assert_msg(at, "%s", texts[i]);
        refuses_byte(&w, (uint64_t)(at - file), '~', texts[i]);
    }
    end_written(&w);
}

/* Other files than the expected one, and one that is cut short. */
TESTS(read_back_shape, 4)
{
    written w = write_sound(4, _i & 1 ? TXM_TYPE_HALF : TXM_TYPE_U8, _i & 2 ? none : zip);
    const txm_tx_layout sound = w.image.layout;
    txm_tx_layout *l = &w.image.layout;
    uint32_t *const numbers[] = {&l->width, &l->height, &l->levels, &l->channels, &l->tile_px};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ++*numbers[i];
        ck_assert_int_eq(read_back(&w), TXM_STATUS_IO);
        *l = sound;
    }
    l->type = _i & 1 ? TXM_TYPE_FLOAT : TXM_TYPE_U16;
    ck_assert_int_eq(read_back(&w), TXM_STATUS_IO);
    *l = sound;
    l->compression = _i & 2 ? zip : none;
    ck_assert_int_eq(read_back(&w), TXM_STATUS_IO);
    *l = sound;
    w.bytes++;
    ck_assert_int_eq(read_back(&w), TXM_STATUS_IO);
    w.bytes--;
    ck_assert_int_eq(txm_tx_read_back(w.fd, "wall.tx", l, &w.metadata, &w.summary, w.bytes, true, &err), TXM_STATUS_IO);
    uint8_t *file = malloc((size_t)w.bytes);
    ck_assert_int_eq(pread(w.fd, file, (size_t)w.bytes, 0), (ssize_t)w.bytes);
    for (uint64_t size = 0; size < w.bytes; size += 1 + size / 2) {
        ck_assert_int_eq(ftruncate(w.fd, (off_t)size), 0);
        ck_assert_msg(read_back(&w) == TXM_STATUS_IO, "%llu bytes: %s", (unsigned long long)size, err.message);
    }
    ck_assert_int_eq(pwrite(w.fd, file, (size_t)w.bytes, 0), (ssize_t)w.bytes);
    free(file);
    end_written(&w);
}

int main(void)
{
    return run_tests_in_one_process();
}
