/* SPDX-License-Identifier: Apache-2.0
 * What the direct readers share: fields of Exif, IPTC and XMP blocks that are composed byte by byte, and which reader
 * recognises which file by its first bytes. */
#include <math.h>

#include "mill/source/formats.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/readers.h"
#include "util_check.h"
#include "util_faults.h"

/* Returns the text, or "" if there is none. */
static const char *field(const txm_raster_meta *meta, int which)
{
    return meta->fields[which] ? meta->fields[which] : "";
}

/* ---- Exif -------------------------------------------------------------------------------------------------------- */

/* A block with one directory, whose entries are at 10 + 12 i; texts and numbers follow it. */
typedef struct exif {
    uint8_t bytes[256];
    size_t size, entries;
    bool big;
} exif;

static void put(exif *e, size_t at, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        e->bytes[at + i] = (uint8_t)(value >> 8 * (e->big ? bytes - 1 - i : i));
}

static exif new_exif(bool big, uint32_t count)
{
    exif e = {.big = big, .size = 10 + 12 * (size_t)count};
    memcpy(e.bytes, big ? "MM" : "II", 2);
    put(&e, 2, 42, 2);
    put(&e, 4, 8, 4);
    put(&e, 8, count, 2);
    return e;
}

static void add_entry(exif *e, uint32_t tag, uint32_t type, uint32_t count, uint32_t value, unsigned value_bytes)
{
    size_t at = 10 + 12 * e->entries++;
    put(e, at, tag, 2);
    put(e, at + 2, type, 2);
    put(e, at + 4, count, 4);
    put(e, at + 8, value, value_bytes);
}

static uint32_t append(exif *e, const void *data, size_t bytes)
{
    memcpy(e->bytes + e->size, data, bytes);
    e->size += bytes;
    return (uint32_t)(e->size - bytes);
}

TESTS(exif_in_either_order, 2)
{
    txm_raster_meta meta = {0};
    exif e = new_exif(_i, 4);
    size_t ratio;
    add_entry(&e, 0x013b, 2, 9, append(&e, "a painter", 9), 4);
    add_entry(&e, 0x8298, 2, 3, 0, 0); /* short enough to fit into the entry */
    memcpy(e.bytes + 10 + 12 + 8, "(c)", 3);
    ratio = append(&e, "\0\0\0\0\0\0\0\0", 8);
    put(&e, ratio, 300, 4);
    put(&e, ratio + 4, 4, 4);
    add_entry(&e, 0x011a, 5, 1, (uint32_t)ratio, 4);
    /* A directory below it says that it is sRGB. */
    size_t list = append(&e, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15); /* with a byte after the entry */
    put(&e, list, 1, 2);
    put(&e, list + 2, 0xa001, 2);
    put(&e, list + 4, 3, 2);
    put(&e, list + 6, 1, 4);
    put(&e, list + 10, 1, 2);
    add_entry(&e, 0x8769, 4, 1, (uint32_t)list, 4);
    ck_assert(txm_raster_meta_add_exif(&meta, e.bytes, e.size));
    ck_assert_str_eq(field(&meta, TXM_META_ARTIST), "a painter");
    ck_assert_str_eq(field(&meta, TXM_META_COPYRIGHT), "(c)");
    ck_assert(meta.x_resolution == 75 && meta.y_resolution == 0 && meta.says_srgb);
    /* Values that are already there stay, but of two colour spaces the last one counts. */
    put(&e, list + 10, 0xffff, 2);
    memcpy(e.bytes + 10 + 48, "A PAINTER", 9);
    ck_assert(txm_raster_meta_add_exif(&meta, e.bytes, e.size));
    ck_assert_str_eq(field(&meta, TXM_META_ARTIST), "a painter");
    ck_assert(!meta.says_srgb);
    txm_raster_meta_clear(&meta);
    ck_assert(!meta.fields[TXM_META_ARTIST] && meta.x_resolution == 0);
}

/* The block may be cut anywhere and any byte may be changed: it is used as far as possible and never read beyond its
 * end. */
TEST(damaged_exif_is_used_as_far_as_it_goes)
{
    exif e = new_exif(false, 3);
    add_entry(&e, 0x013b, 2, 9, append(&e, "a painter", 9), 4);
    add_entry(&e, 0x010e, 2, 0xffffffff, 4, 4);  /* longer than any file */
    add_entry(&e, 0x8769, 4, 1, 0xfffffff0u, 4); /* a directory beyond the end */
    for (size_t cut = 0; cut <= e.size; cut++) {
        txm_raster_meta meta = {0};
        FREED uint8_t *exact = malloc(cut ? cut : 1); /* so that AddressSanitizer sees its end */
        memcpy(exact, e.bytes, cut);
        ck_assert(txm_raster_meta_add_exif(&meta, exact, cut));
        ck_assert_str_eq(field(&meta, TXM_META_ARTIST), cut == e.size ? "a painter" : "");
        ck_assert_str_eq(field(&meta, TXM_META_DESCRIPTION), "");
        txm_raster_meta_clear(&meta);
        for (int value = 0; cut == e.size && value < 256; value += 15)
            for (size_t i = 0; i < cut; i++) {
                exact[i] ^= (uint8_t)value;
                ck_assert(txm_raster_meta_add_exif(&meta, exact, cut));
                txm_raster_meta_clear(&meta);
                exact[i] ^= (uint8_t)value;
            }
    }
    txm_raster_meta meta = {0};
    ck_assert(txm_raster_meta_add_exif(&meta, (const uint8_t *)"XX\x2a\0\x08\0\0\0\0\0", 10));
    ck_assert_ptr_null(meta.fields[TXM_META_ARTIST]);
}

TEST(ratios_by_zero_are_infinite)
{
    txm_raster_meta meta = {0};
    exif e = new_exif(false, 1);
    add_entry(&e, 0x011b, 5, 1, append(&e, "\1\0\0\0\0\0\0\0", 8), 4);
    ck_assert(txm_raster_meta_add_exif(&meta, e.bytes, e.size));
    ck_assert(isinf(meta.y_resolution));
}

/* ---- IPTC -------------------------------------------------------------------------------------------------------- */

#define RECORD(set, length) "\x1c\2" set "\0" length

TEST(iptc_records_fill_what_is_open)
{
    static const char records[] = RECORD("\x50", "\5") "maker" RECORD("\x50", "\5") "other" RECORD(
        "\x74", "\3") "(c)" RECORD("\x78", "\6") "a wall" RECORD("\x41", "\7") "program"
                                                                               "\x1c\1\x50\0\5"
                                                                               "elder";
    static const uint8_t head[] = {'8', 'B', 'I', 'M', 4, 4, 0, 0, 0, 0, 0, sizeof records - 1};
    txm_raster_meta meta = {0};
    uint8_t block[sizeof head + sizeof records];
    memcpy(block, head, sizeof head);
    memcpy(block + sizeof head, records, sizeof records);
    ck_assert(txm_raster_meta_add_iptc(&meta, block, sizeof block - 1));
    ck_assert_str_eq(field(&meta, TXM_META_ARTIST), "maker"); /* the first one */
    ck_assert_str_eq(field(&meta, TXM_META_COPYRIGHT), "(c)");
    ck_assert_str_eq(field(&meta, TXM_META_DESCRIPTION), "a wall");
    ck_assert_str_eq(field(&meta, TXM_META_SOFTWARE), "program");
    txm_raster_meta_clear(&meta);
    /* Without a resource, as in TIFF, and cut in the third. */
    ck_assert(txm_raster_meta_add_iim(&meta, (const uint8_t *)records, 10 + 10 + 5 + 2));
    ck_assert_str_eq(field(&meta, TXM_META_COPYRIGHT), "(c");
    txm_raster_meta_clear(&meta);
    block[4] = 5; /* another resource */
    ck_assert(txm_raster_meta_add_iptc(&meta, block, sizeof block - 1));
    ck_assert_ptr_null(meta.fields[TXM_META_ARTIST]);
    for (size_t cut = 0; cut < sizeof head + 3; cut++)
        ck_assert(txm_raster_meta_add_iptc(&meta, block, cut));
    txm_raster_meta_clear(&meta);
}

/* ---- XMP --------------------------------------------------------------------------------------------------------- */

#define RDF(inside) "<x:xmpmeta><rdf:RDF><rdf:Description " inside "</rdf:Description></rdf:RDF></x:xmpmeta>"

TEST(xmp_values_replace_what_was_there)
{
    static const struct {
        const char *packet, *artist, *rights, *description, *software;
    } cases[] = {
        {RDF("dc:creator=\"a painter\" xmp:CreatorTool='a program'>"), "a painter", "before", "", "a program"},
        {RDF("><dc:rights>(c)</dc:rights>"), "", "(c)", "", ""},
        {RDF("><dc:creator><rdf:Seq><rdf:li>one</rdf:li></rdf:Seq></dc:creator>"), "one", "before", "", ""},
        {RDF("><tiff:ImageDescription>a &lt;b&gt; &amp; c</tiff:ImageDescription>"), "", "before", "a <b> & c", ""},
        {RDF("><DC:Creator>any case</DC:Creator>"), "any case", "before", "", ""},
        {RDF("><dc:title>none of ours</dc:title>"), "", "before", "", ""},
        {"<dc:creator>outside</dc:creator>", "", "before", "", ""},
        {RDF("><dc:creator>open"), "open", "before", "", ""}, /* from here on it is not well-formed */
        {RDF("dc:creator=\"Tom & Jerry\">"), "Tom & Jerry", "before", "", ""},
        {RDF("><dc:rights>A & B, &copy;</dc:rights>"), "", "A & B, &copy;", "", ""},
        {RDF("><dc:creator>Ren\xe9</dc:creator><dc:rights>1999</dc:rights>"), "Ren\xe9", "1999", "", ""},
        {RDF("dc:creator=\"a\" dc:creator=\"b\">"), "b", "before", "", ""},
        {RDF("dc:creator=\"a<b\">"), "a<b", "before", "", ""},
        {RDF("><dc:creator>a&#1;b</dc:creator>"),
         "a\x01"
         "b",
         "before", "", ""},
        {"", "", "before", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED(txm_raster_meta_clear) txm_raster_meta meta = {0};
        ck_assert(txm_raster_meta_set(&meta, "cOPYRIGHT", "before"));
        ck_assert(txm_raster_meta_add_xmp(&meta, cases[i].packet, strlen(cases[i].packet)));
        ck_assert_msg(!strcmp(field(&meta, TXM_META_ARTIST), cases[i].artist), "case %zu: %s", i,
                      field(&meta, TXM_META_ARTIST));
        ck_assert_msg(!strcmp(field(&meta, TXM_META_COPYRIGHT), cases[i].rights), "case %zu: %s", i,
                      field(&meta, TXM_META_COPYRIGHT));
        ck_assert_msg(!strcmp(field(&meta, TXM_META_DESCRIPTION), cases[i].description), "case %zu: %s", i,
                      field(&meta, TXM_META_DESCRIPTION));
        ck_assert_msg(!strcmp(field(&meta, TXM_META_SOFTWARE), cases[i].software), "case %zu: %s", i,
                      field(&meta, TXM_META_SOFTWARE));
    }
}

/* Elements are nested without end, and packets end anywhere. */
TEST(hostile_packets_cost_nothing)
{
    static const char whole[] = RDF("dc:creator=\"a\"><dc:rights><![CDATA[x]]><!-- c --><rdf:Alt><rdf:li "
                                    "xml:lang='x'>&#65;&#x42;&bad;</rdf:li></rdf:Alt></dc:rights><?pi?>");
    for (size_t cut = 0; cut <= sizeof whole - 1; cut++) {
        SCOPED(txm_raster_meta_clear) txm_raster_meta meta = {0};
        FREED char *exact = malloc(cut ? cut : 1);
        memcpy(exact, whole, cut);
        ck_assert(txm_raster_meta_add_xmp(&meta, exact, cut));
    }
    enum { DEEP = 50000 };
    FREED char *deep = malloc(3 * DEEP);
    txm_raster_meta meta = {0};
    for (int i = 0; i < DEEP; i++)
        memcpy(deep + 3 * i, "<a>", 3);
    ck_assert(txm_raster_meta_add_xmp(&meta, deep, 3 * DEEP));
    txm_raster_meta_clear(&meta);
}

/* ---- fields ------------------------------------------------------------------------------------------------------ */

static txm_status store_again(void *user)
{
    /* Values that were set before, so that one which is lost would go unnoticed; of several attributes and texts only
     * the last of each may have memory. */
    static const char packet[] = RDF("tiff:Copyright='c' dc:creator=\"a painter whose name is longer than the first "
                                     "piece of memory for a text\" xmp:CreatorTool='a program'>"
                                     "<dc:rights><rdf:li>(c)</rdf:li><rdf:li>a text that is longer than the memory of "
                                     "the value before it, and is joined to nothing</rdf:li></dc:rights>");
    txm_raster_meta meta = {0};
    txm_source_info info = {0};
    (void)user;
    bool ok = txm_raster_meta_set(&meta, "Software", "a program") && txm_raster_meta_set(&meta, "Gamma", "2") &&
              txm_raster_meta_add_xmp(&meta, packet, sizeof packet - 1) && txm_raster_meta_store(&meta, &info);
    /* Lack of memory must have been reported: a field that is missing would be lost without a word. */
    const bool whole = !strcmp(info.software, "a program") && info.attribute_count == 2 &&
                       strstr(info.attributes[0].value, "for a text") && strstr(info.attributes[1].value, "to nothing");
    const bool lost = ok && !whole;
    txm_raster_meta_clear(&meta);
    txm_source_forget(&info);
    return lost ? TXM_STATUS_CORRUPT : ok ? TXM_OK : TXM_STATUS_NO_MEMORY;
}

TEST(fields_may_find_no_memory)
{
    refuse_each(store_again, NULL);
}

/* ---- first bytes ------------------------------------------------------------------------------------------------- */

TEST(first_bytes_name_the_format)
{
    static const struct {
        const char *head, *name, *noun;
        size_t needed; /* bytes of it */
        const txm_reader_ops *reader;
    } formats[] = {
        {"\x89PNG\r\n\x1a\n........", "png", "a PNG image", 8, &txm_png_reader},
        {"\xff\xd8\xff\xe0............", "jpeg", "a JPEG image", 3, &txm_jpeg_reader},
        {"\x76\x2f\x31\1............", "openexr", "an OpenEXR image", 4, &txm_exr_reader},
        {"II\x2a\0............", "tiff", "a TIFF image", 4, &txm_tiff_reader},
        {"MM\0\x2a............", "tiff", "a TIFF image", 4, &txm_tiff_reader},
        {"II\x2b\0............", "tiff", "a TIFF image", 4, &txm_tiff_reader},
        {"MM\0\x2b............", "tiff", "a TIFF image", 4, &txm_tiff_reader},
        {"RIFF....WEBP....", "webp", "a WebP image", 12, &txm_webp_reader},
        {"P6 1 1 255 .....", "pnm", "a PNM image", 3, &txm_pnm_reader},
        {"P1#.............", "pnm", "a PBM image", 3, NULL},
        {"Pf\n-1 1.........", "pnm", "a PFM image", 3, NULL},
        {"#?RADIANCE......", "hdr", "a Radiance image", 10, NULL},
        {"#?RGBE..........", "hdr", "a Radiance image", 6, NULL},
        {"\0\0\0\x0CjP  ........", "jpeg2000", "a JPEG 2000 image", 8, NULL},
    };
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const txm_image_format *found = txm_format_of_head(formats[f].head, 16);
        ck_assert_msg(found != NULL, "%s", formats[f].name);
        ck_assert_str_eq(found->name, formats[f].name);
        ck_assert_ptr_eq(found->reader, formats[f].reader);
        ck_assert_ptr_eq(txm_format_of_head(formats[f].head, formats[f].needed), found);
        ck_assert_ptr_null(txm_format_of_head(formats[f].head, formats[f].needed - 1));
        ck_assert_str_eq(txm_image_noun(formats[f].head, 16), formats[f].noun);
        if (found->reader)
            found->reader->close(NULL);
    }
    static const char *const others[] = {"II\0\x2a............", "\x76\x2f\x31\2............", "P7 .............",
                                         "P5.............. ",    "RIFF....WAVE....",           "#?shell.........",
                                         "P\0 ............."};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(!txm_format_of_head(others[i], 16), "%zu", i);
    ck_assert_ptr_null(txm_image_noun(NULL, 0));
}

TEST(names_name_the_format)
{
    ck_assert_str_eq(txm_format_of_source("a/b.JPEG", false)->name, "jpeg");
    ck_assert_ptr_null(txm_format_of_source("b.jpeg", true));
    ck_assert_str_eq(txm_format_of_source("b.jpg", true)->name, "jpeg");
    ck_assert_str_eq(txm_format_of_source("b.pfm", false)->noun, "a PFM image");
    static const char *const none[] = {"png", ".png", "a.pn", "a.pngs", "a.tif tiff", "a.", "a.tx", "a.rgbe", "a/b"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_msg(!txm_is_image_name(none[i]), "%s", none[i]);
    ck_assert(txm_is_image_name("x.Exr") && txm_is_image_name("x.avif") && !txm_is_image_name(NULL));
    size_t formats = 0;
    bool lists_jpeg = false;
    for (const char *words; (words = txm_image_extensions(formats)); formats++)
        lists_jpeg |= strcmp(words, "jpg jpeg jpe") == 0;
    ck_assert(formats > 20 && lists_jpeg);
    ck_assert_str_eq(txm_format_of_picture("a.rgbe")->name, "hdr");
    ck_assert_ptr_null(txm_format_of_picture("a.txt"));
    ck_assert(txm_picture_is_for_viewing("a.png") && txm_picture_is_for_viewing("a.ppm") &&
              txm_picture_is_for_viewing("a") && txm_picture_is_for_viewing(NULL));
    ck_assert(!txm_picture_is_for_viewing("a.PFM") && !txm_picture_is_for_viewing("a.sxr") &&
              !txm_picture_is_for_viewing("a.tx") && !txm_picture_is_for_viewing("a.dpx"));
    ck_assert_uint_eq(txm_format_named("webp")->role, TXM_ROLE_BYTE);
    ck_assert_uint_eq(txm_format_named("unheard of")->role, TXM_ROLE_BY_FLOATNESS);
    ck_assert_uint_eq(txm_format_extension_bytes(txm_format_named("tiff")), 3);
}
