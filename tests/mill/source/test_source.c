/* SPDX-License-Identifier: Apache-2.0
 * Sources: what is refused and with which message, and what the readers report about real files. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "util_check.h"

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/txm-source-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
FIXTURE(make_folder, remove_folder)

static char *write_file(const char *name, const void *data, size_t size)
{
    char *path = txm_asprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, size, f), size);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

/* Writes at most the first `keep` bytes of a test image under a new name. */
static char *copy(const char *name, size_t keep, const char *new_name)
{
    static char data[1 << 20];
    const char *path = testdata("%s", name);
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    return write_file(new_name, data, keep < size ? keep : size);
}

/* Opens and reads everything; returns the status of the first call that fails. */
static txm_status read_all(const char *path, txm_error *err)
{
    txm_source *s = NULL;
    txm_status status = txm_source_open(path, NULL, &s, err);
    if (status != TXM_OK) {
        ck_assert_ptr_null(s);
        return status;
    }
    const txm_source_info *i = txm_source_info_of(s);
    size_t stride = (size_t)i->width * i->channels * txm_type_bytes(i->type);
    uint8_t *band = malloc(stride * 64);
    for (uint32_t y = 0; y < i->height && status == TXM_OK; y += 64)
        status = txm_source_read(s, y, i->height - y < 64 ? i->height - y : 64, band, stride, err);
    free(band);
    txm_source_close(&s);
    ck_assert_ptr_null(s);
    return status;
}

static void expect(const char *path, txm_status status, const char *words)
{
    txm_error err = {0};
    txm_status got = read_all(path, &err);
    ck_assert_msg(got == status && err.status == status, "%s: %s (%s), expected %s", path, txm_status_name(got),
                  err.message, txm_status_name(status));
    ck_assert_msg(strstr(err.message, words) != NULL, "'%s' does not say '%s'", err.message, words);
    ck_assert_msg(strstr(err.message, path) != NULL, "'%s' does not name %s", err.message, path);
}

TEST(refuses_what_is_no_image)
{
    expect("/nowhere/at-all.png", TXM_STATUS_NOT_FOUND, "No such file");
    expect(folder, TXM_STATUS_NOT_A_FILE, "folder");
    char *path = write_file("empty.png", "", 0);
    expect(path, TXM_STATUS_CORRUPT, "empty");
    free(path);
    path = txm_asprintf("%s/pipe.png", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect(path, TXM_STATUS_NOT_A_FILE, "regular");
    free(path);
    path = write_file("words.xyz", "no image at all, just words that go on for a while\n", 52);
    expect(path, TXM_STATUS_UNSUPPORTED, "");
    free(path);
    /* OpenImageIO would return black for any file with this name. */
    path = write_file("words.null", "no image\n", 9);
    expect(path, TXM_STATUS_UNSUPPORTED, "");
    free(path);
}

/* OpenImageIO would interpret parts of these names. */
TEST(odd_names)
{
    static const char *const names[] = {"what?.hdr", "a?b=1.hdr",    "no extension?",
                                        "wrong.png", "sp ace\n.hdr", "-o.hdr"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        FREED char *path = copy("golden/light.hdr", SIZE_MAX, names[i]);
        txm_error err = {0};
        ck_assert_msg(read_all(path, &err) == TXM_OK, "%s", err.message);
    }
}

TEST(refuses_what_may_not_be_read)
{
    if (geteuid() == 0) {
        printf("skip unreadable file (root may read everything)\n");
        return;
    }
    FREED char *path = write_file("secret.png", "x", 1);
    chmod(path, 0);
    expect(path, TXM_STATUS_DENIED, "Permission denied");
}

static const char *const cut_short[] = {"golden/rgb8.png",       "golden/photo.jpg",     "golden/rgba16-straight.tif",
                                        "golden/half-rgba.exr",  "golden/light.hdr",     "golden/rgba8.tga",
                                        "sources/palette.tif",   "sources/rgb10.dpx",    "sources/rgb10.cin",
                                        "sources/rgb.bmp",       "sources/rgb.jp2",      "sources/rgba-lossless.webp",
                                        "sources/rgba.psd",      "sources/rgb-dxt1.dds", "sources/rgba16.sgi",
                                        "sources/binary.ppm",    "sources/mipmap.exr",   "sources/interlaced.gif",
                                        "sources/half-dwaa.exr", "sources/cmyk.jpg"};

/* A truncated image is an error that names the file. It must never become a texture with black or stale rows. */
TESTS(refuses_truncated_files, sizeof cut_short / sizeof cut_short[0])
{
    const char *name = cut_short[_i];
    struct stat st;
    ck_assert_int_eq(stat(testdata("%s", name), &st), 0);
    const bool one = !thorough();
    for (int part = one ? 1 + _i % 3 : 1; part <= 3; part += one ? 3 : 1) {
        FREED char *path = copy(name, (size_t)st.st_size * (size_t)part / 4, strrchr(name, '/') + 1);
        txm_error err = {0};
        txm_status status = read_all(path, &err);
        /* Some formats cannot be recognised any more. */
        ck_assert_msg(status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED, "%s: %s", path, err.message);
        ck_assert_msg(strstr(err.message, path) != NULL, "'%s' does not name %s", err.message, path);
    }
}

static const struct {
    const char *name, *format;
    uint32_t width, height, file_channels, channels;
    txm_type type;
    txm_file_alpha alpha;
} files[] = {
    {"constant.png", "png", 300, 200, 3, 3, TXM_TYPE_U8, TXM_FILE_ALPHA_UNASSOCIATED},
    {"five-channels.exr", "openexr", 80, 80, 5, 4, TXM_TYPE_HALF, TXM_FILE_ALPHA_SILENT},
    {"float-gray.exr", "openexr", 150, 90, 1, 1, TXM_TYPE_FLOAT, TXM_FILE_ALPHA_SILENT},
    {"gray8.png", "png", 128, 128, 1, 1, TXM_TYPE_U8, TXM_FILE_ALPHA_UNASSOCIATED},
    {"graya8.png", "png", 100, 60, 2, 2, TXM_TYPE_U8, TXM_FILE_ALPHA_UNASSOCIATED},
    {"half-rgba.exr", "openexr", 96, 96, 4, 4, TXM_TYPE_HALF, TXM_FILE_ALPHA_SILENT},
    {"light.hdr", "hdr", 256, 128, 3, 3, TXM_TYPE_FLOAT, TXM_FILE_ALPHA_SILENT},
    {"photo.jpg", "jpeg", 320, 240, 3, 3, TXM_TYPE_U8, TXM_FILE_ALPHA_SILENT},
    {"rgb16.png", "png", 200, 150, 3, 3, TXM_TYPE_U16, TXM_FILE_ALPHA_UNASSOCIATED},
    {"rgba16-straight.tif", "tiff", 130, 70, 4, 4, TXM_TYPE_U16, TXM_FILE_ALPHA_UNASSOCIATED},
    {"rgba8.tga", "targa", 90, 130, 4, 4, TXM_TYPE_U8, TXM_FILE_ALPHA_UNASSOCIATED},
    {"tiled-source.tif", "tiff", 200, 200, 3, 3, TXM_TYPE_U8, TXM_FILE_ALPHA_SILENT},
};

TESTS(describes_files, sizeof files / sizeof files[0])
{
    const char *path = testdata("golden/%s", files[_i].name);
    txm_error err = {0};
    SCOPED(txm_source_close) txm_source *s = NULL;
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    const txm_source_info *i = txm_source_info_of(s);
    ck_assert_uint_eq(i->width, files[_i].width);
    ck_assert_uint_eq(i->height, files[_i].height);
    ck_assert_uint_eq(i->file_channels, files[_i].file_channels);
    ck_assert_uint_eq(i->channels, files[_i].channels);
    ck_assert_int_eq(i->type, files[_i].type);
    ck_assert_int_eq(i->file_alpha, files[_i].alpha);
    ck_assert_str_eq(i->format, files[_i].format);
    ck_assert(i->tiff_premultiplied_default == (strcmp(files[_i].name, "rgba16-straight.tif") == 0));
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(i->file_bytes, st.st_size);
    ck_assert_int_eq(i->mtime.tv_sec, st.st_mtim.tv_sec);
    ck_assert_msg(txm_source_check_unchanged(s, &err) == TXM_OK, "%s", err.message);
}

/* Bands of any height and a second pass give the same rows; other orders are refused. */
TESTS(delivers_rows_in_bands, sizeof files / sizeof files[0])
{
    const char *path = testdata("golden/%s", files[_i].name);
    txm_error err = {0};
    SCOPED(txm_source_close) txm_source *s = NULL;
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    const txm_source_info *i = txm_source_info_of(s);
    size_t stride = (size_t)i->width * i->channels * txm_type_bytes(i->type);
    FREED uint8_t *whole = malloc(stride * i->height), *bands = calloc(i->height, stride + 8);
    ck_assert_msg(txm_source_read(s, 0, i->height, whole, stride, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(txm_source_rewind(s, &err) == TXM_OK, "%s", err.message);
    for (uint32_t y = 0, rows = 1; y < i->height; y += rows, rows = rows * 2 + 1) {
        rows = rows < i->height - y ? rows : i->height - y;
        ck_assert_msg(txm_source_read(s, y, rows, bands + y * (stride + 8), stride + 8, &err) == TXM_OK, "%s",
                      err.message);
    }
    for (uint32_t y = 0; y < i->height; y++)
        ck_assert_mem_eq(whole + y * stride, bands + y * (stride + 8), stride);
    ck_assert_int_eq(txm_source_read(s, 0, 1, whole, stride, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_source_rewind(s, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_read(s, 0, i->height + 1, whole, stride, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_source_read(s, 0, 1, whole, stride - 1, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_source_read(s, 0, 1, whole, stride, NULL), TXM_OK);
}

/* Every reader refuses images beyond 1048575 px on a side. */
TEST(refuses_absurd_sizes)
{
    static const char ppm[] = "P5 2000000 2 255\n........",
                      hdr[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1400000 +X 3\n....";
    /* A little-endian TIFF: 1188576 x 1 px, 8 bits, one strip at byte 8. */
    static const uint8_t tiff[] = {'I',  'I', 42, 0, 8, 0, 0, 0, 7,    0,                        /**/
                                   0,    1,   4,  0, 1, 0, 0, 0, 0xE0, 0x22, 18, 0,              /* width */
                                   1,    1,   4,  0, 1, 0, 0, 0, 1,    0,    0,  0,              /* height */
                                   2,    1,   3,  0, 1, 0, 0, 0, 8,    0,    0,  0,              /* bits */
                                   3,    1,   3,  0, 1, 0, 0, 0, 1,    0,    0,  0,              /* no compression */
                                   6,    1,   3,  0, 1, 0, 0, 0, 1,    0,    0,  0,              /* grey */
                                   0x11, 1,   4,  0, 1, 0, 0, 0, 8,    0,    0,  0,              /* offset */
                                   0x17, 1,   4,  0, 1, 0, 0, 0, 0xE0, 0x22, 18, 0, 0, 0, 0, 0}; /* bytes; the end */
    char *path = write_file("wide.pgm", ppm, sizeof ppm - 1);
    expect(path, TXM_STATUS_TOO_LARGE, "2000000 x 2 px");
    free(path);
    path = write_file("high.hdr", hdr, sizeof hdr - 1);
    expect(path, TXM_STATUS_CORRUPT, "3x1400000");
    free(path);
    path = write_file("wide.tif", tiff, sizeof tiff);
    expect(path, TXM_STATUS_TOO_LARGE, "1188576 x 1 px");
    free(path);
}

TEST(notices_changes)
{
    FREED char *path = copy("golden/light.hdr", 20000, "changing.hdr");
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    ck_assert_int_eq(txm_source_check_unchanged(s, &err), TXM_STATUS_CHANGED);
    ck_assert_ptr_nonnull(strstr(err.message, "changed"));
    unlink(path);
    ck_assert_int_eq(txm_source_check_unchanged(s, NULL), TXM_STATUS_CHANGED);
}

TEST(obeys_the_memory_bound)
{
    const char *path = testdata("golden/rgba8.tga"); /* decoded as a whole: 90 x 130 x 4 bytes */
    txm_source_options options = {.max_memory_bytes = 30000};
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_source_open(path, &options, &s, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_null(s);
    options.max_memory_bytes = 1 << 20;
    ck_assert_int_eq(txm_source_open(path, &options, &s, NULL), TXM_OK);
}

int main(void)
{
    return run_tests_in_one_process();
}
