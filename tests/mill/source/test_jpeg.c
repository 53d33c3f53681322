/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct JPEG reader against OpenImageIO: kinds of files, metadata, damaged files. */
#include <glob.h>
#include <stdio.h>

/* Needs FILE. */
#include <jpeglib.h>

#include "base/mem.h"
#include "util_check.h"
#include "util_png.h"
#include "util_raster.h"

static txm_bytes load(const char *name)
{
    return raster_load(testdata("jpeg/%s", name));
}

TEST(files_of_all_kinds_are_as_oiio_reads_them)
{
    glob_t found;

    ck_assert_int_eq(glob(testdata("jpeg/good-*.jpg"), 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 20);
    for (size_t i = 0; i < found.gl_pathc; i++)
        raster_compare(found.gl_pathv[i], "jpeg", found.gl_pathv[i]);
    globfree(&found);
}

TEST(bands_strides_and_rewind)
{
    static const char *const names[] = {"good-420.jpg", "good-progressive.jpg", "good-gray.jpg", "good-cmyk.jpg"};
    txm_error err = {0};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SCOPED(raster_free) raster whole = raster_read(testdata("jpeg/%s", names[i]), false, 100);
        ck_assert_msg(!whole.status, "%s", whole.error.message);
        const txm_source_info *info = txm_source_info_of(whole.source);
        size_t row = whole.bytes / info->height, stride = row + 7;
        FREED uint8_t *band = malloc(info->height * stride);
        for (uint32_t step = 1; step < 20; step += 3) {
            ck_assert_int_eq(txm_source_rewind(whole.source, &err), TXM_OK);
            ck_assert_int_eq(txm_source_read(whole.source, 0, step, band, stride, &err), TXM_OK);
            ck_assert_int_eq(txm_source_rewind(whole.source, &err), TXM_OK);
            for (uint32_t y = 0; y < info->height; y += step) {
                uint32_t n = info->height - y < step ? info->height - y : step;
                memset(band, 0x5a, info->height * stride);
                ck_assert_int_eq(txm_source_read(whole.source, y, n, band, stride, &err), TXM_OK);
                for (uint32_t r = 0; r < n; r++) {
                    ck_assert_int_eq(memcmp(band + r * stride, whole.pixels + (y + r) * row, row), 0);
                    for (size_t g = row; g < stride; g++)
                        if (band[r * stride + g] != 0x5a)
                            ck_abort_msg("written after row %u", y + r);
                }
            }
        }
    }
}

/* ---- metadata ---------------------------------------------------------------------------------------------------- */

/* Appends a marker segment with `prefix`, including its NUL, and `data`. */
static void segment(txm_bytes *f, int marker, const char *prefix, size_t prefix_bytes, const void *data, size_t bytes)
{
    size_t length = prefix_bytes + bytes + 2;
    uint8_t head[4] = {0xff, (uint8_t)marker, (uint8_t)(length >> 8), (uint8_t)length};

    ck_assert(txm_bytes_add(f, head, 4) && txm_bytes_add(f, prefix, prefix_bytes) && txm_bytes_add(f, data, bytes));
}

static const char xmp_name[] = "http://ns.adobe.com/xap/1.0/", photoshop_name[] = "Photoshop 3.0";

static void add_xmp(txm_bytes *f, const char *packet)
{
    segment(f, 0xe1, xmp_name, sizeof xmp_name, packet, strlen(packet));
}

static void add_exif(txm_bytes *f)
{
    static const uint8_t block[] = {
        'M',  'M',  0, 42, 0,   0,   0,   8,   0,   3,             /* header, three entries */
        0x01, 0x0e, 0, 2,  0,   0,   0,   3,   'E', 'd', 0,   0,   /* ImageDescription */
        0x01, 0x31, 0, 2,  0,   0,   0,   4,   'E', 's', 'o', 'f', /* Software, without a NUL */
        0x01, 0x3b, 0, 2,  0,   0,   0,   8,   0,   0,   0,   50,  /* Artist */
        0,    0,    0, 0,  'E', 'x', 'i', 'f', 'a', 'r', 't', 0,
    };

    segment(f, 0xe1, "Exif\0", 6, block, sizeof block);
}

static void add_iptc(txm_bytes *f)
{
    static const uint8_t block[] = {
        '8',  'B', 'I', 'M', 4, 4,   0,   0,   0,    0, 0,   21,         /* a resource of 21 bytes */
        0x1c, 2,   80,  0,   3, 'B', 'o', 'b', 0x1c, 2, 116, 0,  1, 'c', /* creator, copyright */
        0x1c, 2,   120, 0,   9, 'C', 'a',                                /* a caption that is cut short */
    };

    segment(f, 0xed, photoshop_name, sizeof photoshop_name, block, sizeof block);
}

static void compare_with(const txm_bytes *segments, const char *what)
{
    SCOPED(txm_bytes_free) txm_bytes plain = load("good-420.jpg"), f = {0};

    ck_assert(txm_bytes_add(&f, plain.data, 2));
    ck_assert(txm_bytes_add(&f, segments->data, segments->size));
    ck_assert(txm_bytes_add(&f, plain.data + 2, plain.size - 2));
    raster_compare(raster_temp("meta.jpg", &f), "jpeg", what);
}

TEST(which_metadata_wins_is_as_oiio_has_it)
{
    static const char packet[] = "<rdf:Description dc:creator='Xa' xmp:CreatorTool='Xt'></rdf:Description>";

    /* Every order of two of the four kinds of metadata. */
    for (int first = 0; first < 4; first++)
        for (int second = 0; second < 4; second++) {
            if (first == 1 || second == 1) /* OpenImageIO takes nothing from IPTC */
                continue;
            SCOPED(txm_bytes_free) txm_bytes f = {0};
            char what[16];
            for (int i = 0; i < 2; i++)
                switch (i ? second : first) {
                case 0:
                    add_exif(&f);
                    break;
                case 1:
                    add_iptc(&f);
                    break;
                case 2:
                    add_xmp(&f, packet);
                    break;
                default:
                    segment(&f, 0xfe, "", 0, i ? "two\0cut" : "one", i ? 7 : 3);
                }
            snprintf(what, sizeof what, "%d then %d", first, second);
            compare_with(&f, what);
        }
}

TEST(xmp_is_read_as_oiio_reads_it)
{
    static const char *const bodies[] = {
        "<dc:creator><rdf:Seq><rdf:li>Jane</rdf:li><rdf:li>Joe</rdf:li></rdf:Seq></dc:creator>",
        "<dc:creator> <rdf:Seq> <rdf:li> Jane </rdf:li> </rdf:Seq> </dc:creator>",
        "<dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>D</rdf:li></rdf:Alt></dc:rights>",
        "<dc:creator>a &amp; b &lt;c&gt; &quot;&apos; &#233; &#x20AC; &#x1F600; &foo; &;</dc:creator>",
        "<dc:creator>a\r\nb\rc\td</dc:creator>",
        "<dc:creator></dc:creator><dc:rights/>",
        "<dc:creator>a<!-- c -->b</dc:creator>",
        "<dc:creator>a<![CDATA[x<&amp;\r\ny]]></dc:creator>",
        "<dc:creator>a<b>c</b>d</dc:creator>",
        "<dc:creator>a</dc:creator><tiff:Artist>b</tiff:Artist>",
        "<?pi dc:creator='x'?><TIFF:copyright>after</TIFF:copyright>",
        "<foo:bar dc:creator='a  b\tc\r\nd' dc:rights=\"&#65;&lt;>/>\"/>",
        "<dc:creator>unclosed",
        "<dc:creator>wrong end</dc:rights><dc:rights>not reached</dc:rights>",
        "<dc:creator a=b>x</dc:creator>",
        "<dc:creator a='1'b='2'>x</dc:creator>",
        "<dc:creator a = '1' >x</dc:creator >",
        "<dc:creator><!-- never closed </dc:creator>",
        "<dc:creator>&#0;x</dc:creator>",
        "<xmpMM:History><rdf:Seq><rdf:li dc:creator='h'/></rdf:Seq></xmpMM:History>",
        "<rdf:Description dc:rights='inner'/>",
        "</rdf:Description><rdf:Description tiff:ImageDescription='second'>",
        "<tiff:Software>s</tiff:Software><xmp:CreatorTool>c</xmp:CreatorTool>",
    };

    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        if (strstr(bodies[i], "tiff:Artist")) /* OpenImageIO keeps the first of two artists */
            continue;
        SCOPED(txm_bytes_free) txm_bytes f = {0};
        FREED char *packet =
            txm_asprintf("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description rdf:about=''>%s"
                         "</rdf:Description></rdf:RDF></x:xmpmeta>",
                         bodies[i]);
        add_xmp(&f, packet);
        compare_with(&f, bodies[i]);
    }
}

/* ---- damage ------------------------------------------------------------------------------------------------- */

/* libjpeg warns of these anomalies, which do not affect the pixels, and the direct reader accepts them. */
static bool harmless(const char *words)
{
    static const char *const some[] = {"unknown JFIF revision", "Unknown Adobe color transform",
                                       "Invalid SOS parameters for sequential", "Inconsistent progression sequence",
                                       "extraneous bytes before marker"};

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
        if (strstr(words, some[i]))
            return true;
    return false;
}

/* Damage in the header may turn the file into one that OpenImageIO reads, or one that is refused for its size. */
static bool served_elsewhere(const raster *r)
{
    return r->status == TXM_STATUS_TOO_LARGE ||
           (r->opened && strcmp(txm_source_info_of(r->source)->reader, "jpeg") != 0) ||
           (!r->opened && strstr(r->error.message, "JPEG error"));
}

/* A file is refused if and only if libjpeg refuses it or warns. */
static void compare_outcome(const txm_bytes *f, const char *what)
{
    size_t bytes = 0;
    long warnings = 0;
    char words[200] = "";
    SCOPED(raster_free) raster direct = raster_read(raster_temp("outcome.jpg", f), false, 4);
    FREED uint8_t *pixels = raster_by_libjpeg(f, &bytes, &warnings, words);
    bool clean = pixels && !warnings;
    /* libjpeg gives no warning if a whole scan is missing. The tests of truncation compare what is accepted then. */
    bool ends_early = pixels && warnings == 1 && strstr(words, "Premature end of JPEG file");

    if (!direct.status != clean && !(pixels && harmless(words)) && !ends_early && !served_elsewhere(&direct))
        ck_abort_msg("%s: '%s', libjpeg: '%s'", what, direct.error.message, words);
    if (!direct.status && clean && memcmp(direct.pixels, pixels, bytes) != 0)
        ck_abort_msg("%s: other pixels", what);
    if (direct.status && direct.opened && !strstr(direct.error.message, "row "))
        ck_abort_msg("%s: no row in '%s'", what, direct.error.message);
}

TEST(truncated_anywhere)
{
    static const char *const names[] = {"good-420.jpg",     "good-progressive.jpg",      "good-gray.jpg",
                                        "good-restart.jpg", "good-gray-progressive.jpg", "good-three-scans.jpg",
                                        "good-cmyk.jpg"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SCOPED(txm_bytes_free) txm_bytes f = load(names[i]);
        SCOPED(raster_free) raster whole = raster_read(raster_temp("whole.jpg", &f), false, 64);
        size_t end = f.size - 2; /* of everything except the end marker */
        ck_assert_int_eq(whole.status, TXM_OK);
        ck_assert_ptr_null(txm_source_warning(whole.source));
        for (size_t cut = f.size - 1; cut > 2; cut--) {
            char what[64];
            f.size = cut;
            snprintf(what, sizeof what, "%s cut to %zu bytes", names[i], cut);
            compare_outcome(&f, what);
            SCOPED(raster_free) raster r = raster_read(raster_temp("cut.jpg", &f), false, 4);
            ck_assert_msg(!r.status || cut < end, "%s: %s", what, r.error.message);
            if (!r.status) {
                ck_assert_msg(memcmp(r.pixels, whole.pixels, whole.bytes) == 0, "%s: other pixels", what);
                ck_assert_msg(txm_source_warning(r.source) != NULL || cut < end, "%s: no warning", what);
            }
        }
    }
}

TEST(every_byte_damaged)
{
    static const uint8_t flips[] = {0x04, 0xff};
    static const char *const names[] = {"good-restart.jpg", "good-gray-progressive.jpg"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SCOPED(txm_bytes_free) txm_bytes f = load(names[i]);
        for (size_t at = 3; at < f.size; at++)
            for (size_t k = 0; k < sizeof flips; k++) {
                char what[64];
                f.data[at] = (char)(f.data[at] ^ flips[k]);
                snprintf(what, sizeof what, "%s byte %zu ^ %#x", names[i], at, flips[k]);
                compare_outcome(&f, what);
                f.data[at] = (char)(f.data[at] ^ flips[k]);
            }
    }
}

/* Finds a marker after the first `from` bytes. */
static size_t find_marker(const txm_bytes *f, int marker, size_t from)
{
    for (size_t i = from; i + 1 < f->size; i++)
        if ((uint8_t)f->data[i] == 0xff && (uint8_t)f->data[i + 1] == marker)
            return i;
    ck_abort_msg("no marker %#x", marker);
    return 0;
}

TEST(a_truncated_file_names_its_row)
{
    txm_bytes f = load("good-444.jpg"); /* 21 rows, in blocks of 8 */
    size_t scan = find_marker(&f, 0xda, 0);

    f.size = scan + (f.size - scan) * 2 / 3;
    raster r = raster_read(raster_temp("half.jpg", &f), false, 1);
    ck_assert_int_eq(r.status, TXM_STATUS_CORRUPT);
    ck_assert_uint_ge(r.rows_read, 8); /* rows that are there are delivered */
    ck_assert_uint_lt(r.rows_read, 21);
    char row[64];
    snprintf(row, sizeof row, "row %u of 21: truncated", r.rows_read);
    ck_assert_ptr_nonnull(strstr(r.error.message, row));
    /* The error stays, and after a rewind the same row fails. */
    uint8_t line[33 * 3];
    txm_error err = {0};
    ck_assert_int_eq(txm_source_read(r.source, r.rows_read, 1, line, sizeof line, &err), TXM_STATUS_CORRUPT);
    ck_assert_int_eq(txm_source_rewind(r.source, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_read(r.source, 0, 1, line, sizeof line, NULL), TXM_OK);
    raster_free(&r);
    txm_bytes_free(&f);
}

TEST(odd_headers_leave_the_pixels_alone)
{
    SCOPED(txm_bytes_free) txm_bytes plain = load("good-420.jpg");
    SCOPED(raster_free) raster want = raster_read(testdata("jpeg/good-420.jpg"), false, 21);
    size_t scan = find_marker(&plain, 0xda, 0);

    for (int c = 0; c < 2; c++) {
        SCOPED(txm_bytes_free) txm_bytes f = {0};
        ck_assert(txm_bytes_add(&f, plain.data, scan));
        if (c == 0)
            ck_assert(txm_bytes_add(&f, "\0\0\0", 3)); /* stray bytes between two markers */
        else
            f.data[11] = 9; /* JFIF 9.01 */
        ck_assert(txm_bytes_add(&f, plain.data + scan, plain.size - scan));
        SCOPED(raster_free) raster r = raster_read(raster_temp("odd.jpg", &f), false, 21);
        ck_assert_msg(!r.status, "%s", r.error.message);
        ck_assert_int_eq(memcmp(r.pixels, want.pixels, want.bytes), 0);
    }
}

/* Makes a CMYK JPEG, or a YCCK one as Photoshop writes it, of 256 blocks whose inks are pairs of levels in steps of
 * 17. */
static txm_bytes cmyk_blocks(J_COLOR_SPACE stored)
{
    struct jpeg_compress_struct jpeg = {0};
    struct jpeg_error_mgr errors;
    FREED unsigned char *data = NULL;
    unsigned long bytes = 0;
    txm_bytes out = {0};

    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &data, &bytes);
    jpeg.image_width = jpeg.image_height = 16 * DCTSIZE;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, stored);
    jpeg_set_quality(&jpeg, 100, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (int y = 0; y < 16 * DCTSIZE; y++) {
        uint8_t row[16 * DCTSIZE * 4];
        JSAMPROW line = row;
        for (int x = 0; x < 16 * DCTSIZE; x++) {
            uint8_t ink = (uint8_t)(x / DCTSIZE * 17), black = (uint8_t)(y / DCTSIZE * 17);
            memcpy(row + x * 4, (uint8_t[]){ink, (uint8_t)(255 - ink), (uint8_t)(ink / 2), black}, 4);
        }
        jpeg_write_scanlines(&jpeg, &line, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    ck_assert(txm_bytes_add(&out, data, bytes));
    return out;
}

TEST(inks_become_the_colours_of_oiio)
{
    SCOPED(txm_bytes_free) txm_bytes cmyk = cmyk_blocks(JCS_CMYK), ycck = cmyk_blocks(JCS_YCCK);

    raster_compare(raster_temp("cmyk.jpg", &cmyk), "jpeg", "CMYK");
    raster_compare(raster_temp("ycck.jpg", &ycck), "jpeg", "YCCK");
    SCOPED(raster_free) raster r = raster_read(raster_temp("cmyk.jpg", &cmyk), false, 21);
    ck_assert_uint_eq(txm_source_info_of(r.source)->channels, 3);
    const uint8_t *pixel = r.pixels + (r.bytes / (16 * DCTSIZE)) * (15 * DCTSIZE) + 4 * DCTSIZE * 3; /* no black */
    ck_assert_mem_eq(pixel, ((uint8_t[]){68, 187, 34}), 3);
}

/* A short scan is repeated without end, and each one is a pass over the whole image. */
TEST(too_many_scans_are_refused)
{
    SCOPED(txm_bytes_free) txm_bytes plain = load("good-gray-progressive.jpg"), f = {0};
    size_t last = 0, end = plain.size - 2; /* without the end marker */

    for (size_t i = 0; i + 1 < end; i++)
        if ((uint8_t)plain.data[i] == 0xff && (uint8_t)plain.data[i + 1] == 0xda)
            last = i;
    ck_assert(txm_bytes_add(&f, plain.data, last));
    for (int i = 0; i < 600; i++)
        ck_assert(txm_bytes_add(&f, plain.data + last, end - last));
    ck_assert(txm_bytes_add(&f, "\xff\xd9", 2));
    SCOPED(raster_free) raster r = raster_read(raster_temp("scans.jpg", &f), false, 21);
    ck_assert_int_eq(r.status, TXM_STATUS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(r.error.message, "scans"));
}

/* Writes a size into the frame header. */
static void set_size(txm_bytes *f, int frame_marker, unsigned width, unsigned height)
{
    uint8_t *p = (uint8_t *)f->data + find_marker(f, frame_marker, 0) + 5;

    p[0] = (uint8_t)(height >> 8);
    p[1] = (uint8_t)height;
    p[2] = (uint8_t)(width >> 8);
    p[3] = (uint8_t)width;
}

TEST(memory_is_asked_for_before_it_is_taken)
{
    txm_source_options options = {.max_memory_bytes = 64 << 20};
    txm_source *source;
    txm_error err = {0};
    txm_bytes f = load("good-progressive.jpg");

    set_size(&f, 0xc2, 30000, 30000);
    const char *path = raster_temp("huge.jpg", &f);
    ck_assert_int_eq(txm_source_open(path, &options, &source, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "30000 x 30000"));
    /* A file of this size needs no such memory; an explicit bound allows it. Opening an image does not allocate it. */
    txm_error_clear(&err);
    ck_assert_int_eq(txm_source_open(path, NULL, &source, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "--max-memory"));
    options.max_memory_bytes = (uint64_t)64 << 30;
    ck_assert_int_eq(txm_source_open(path, &options, &source, NULL), TXM_OK);
    options.max_memory_bytes = 64 << 20;
    txm_source_close(&source);
    txm_bytes_free(&f);

    f = load("good-420.jpg"); /* rows are read one after the other, so memory is needed only for a few */
    set_size(&f, 0xc0, 65000, 65000);
    ck_assert_int_eq(txm_source_open(raster_temp("wide.jpg", &f), &options, &source, NULL), TXM_OK);
    txm_source_close(&source);
    txm_bytes_free(&f);
}

int main(void)
{
    return run_tests_in_one_process();
}
