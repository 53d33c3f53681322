/* SPDX-License-Identifier: Apache-2.0
 *
 * What differs between the releases of Blender: a row for each behaviour, a column for each release. Everything that
 * treats releases differently reads this table, and messages, help and manuals list the releases from it.
 *
 * When a release is out, it is a column here, a constant of txm_blender in txmill/color.h, and a row for each behaviour
 * that is new in it. The last column is the default.
 */
#ifndef TXM_TERMS_RELEASES_H
#define TXM_TERMS_RELEASES_H
#include <stdbool.h>
#include <stddef.h>

/* The columns, oldest first. */
#define TXM_RELEASE_COLUMNS(FIRST, NEXT, LAST) FIRST(502, "5.2") LAST(503, "5.3")

/* A set of channel counts; the last one stands for all that are larger. */
#define TXM_CHANNELS(n) (1u << (n))
#define TXM_CHANNELS_FROM(n) (~0u << (n))

#define TXM_LACKS_5_2                                                                                                  \
    "Rec.709-A\nblender:g1961_rec709_display\nvideo_rec709\nblender:lin_ciexyze_scene\nblender:lin_egamut_scene\n"     \
    "blender:filmiclog_rec709_scene\nblender:luminancecompensation_rec2020_scene\nblender:agxlog_rec2020_scene"

/* CIE XYZ (D65) to Rec.709, row by row. */
#define TXM_REC709_5_2                                                                                                 \
    {                                                                                                                  \
        {3.2404542f, -1.5371385f, -0.4985314f}, {-0.9692660f, 1.8760108f, 0.0415560f},                                 \
        {                                                                                                              \
            0.0556434f, -0.2040259f, 1.0572252f                                                                        \
        }                                                                                                              \
    }
#define TXM_REC709_5_3                                                                                                 \
    {                                                                                                                  \
        {3.2409699f, -1.5373832f, -0.4986108f}, {-0.9692436f, 1.8759675f, 0.0415551f},                                 \
        {                                                                                                              \
            0.0556301f, -0.2039770f, 1.0569715f                                                                        \
        }                                                                                                              \
    }

/* clang-format off */
/*      type      behaviour                   5.2                    5.3 */
#define TXM_RELEASE_ROWS(ROW)                                                                                          \
    /* The official build that make judge compares with, and chroots.sh installs. */                                   \
    ROW(txm_text, official_build,             "5.2.3",               "5.3.0")                                          \
    /* The version of the tx format, in names and Software. */                                                         \
    ROW(unsigned, tx_format,                  0,                     0)                                                \
                                                                                                                       \
    /* ---- names ---- */                                                                                              \
    /* When a scene is opened, a colour space that it stores by an alias, or in other case, gets the config's name. */ \
    ROW(bool,     canonical_names,            false,                 true)                                             \
    /* When a scene is opened, a stored interop id that the config knows decides, whatever the stored name is. */      \
    ROW(bool,     interop_ids,                false,                 true)                                             \
    /* Names, aliases and roles of the newest release's config that this one's lacks, each on a line. */               \
    ROW(txm_text, lacks,                      TXM_LACKS_5_2,         "")                                               \
    /* A project.toml above the scene may name the config. */                                                          \
    ROW(bool,     projects,                   false,                 true)                                             \
    /* The matrix for configs that do not define CIE XYZ; also what sRGB is compared with for its interop id. */       \
    ROW(txm_rec709, xyz_to_rec709,            TXM_REC709_5_2,        TXM_REC709_5_3)                                   \
                                                                                                                       \
    /* ---- pixels ---- */                                                                                             \
    /* Files with these numbers of channels are multiplied by an unassociated alpha. */                                \
    ROW(unsigned, associated,                 TXM_CHANNELS(4),       TXM_CHANNELS(2) | TXM_CHANNELS_FROM(4))           \
    /* Levels of a channel-packed image of class sRGB are filtered on colours that were divided by alpha. */           \
    ROW(bool,     packed_levels_divide,       true,                  false)                                            \
    /* The space __builtin_srgb is decoded; else it is encoded, although it should be decoded. */                      \
    ROW(bool,     decodes_builtin_srgb,       false,                 true)                                             \
    /* TIFF in a codec that the official libtiff lacks is refused; else its tx file is black. */                       \
    ROW(bool,     refuses_tiff_codecs,        false,                 true)                                             \
                                                                                                                       \
    /* The OpenColorIO of the official build. */                                                                       \
    ROW(txm_text, opencolorio,                "2.5",                 "2.5")                                            \
                                                                                                                       \
    /* ---- lookups, as in the last patch level ---- */                                                                \
    /* Tiles with smaller edges are joined to this one. */                                                             \
    ROW(unsigned, joined_tile_px,             64,                    64)
/* clang-format on */

/* TXM_RELEASE(blender, behaviour): the cell of a release in the row of a behaviour; the oldest release's for a number
 * that is none. */
#define TXM_RELEASE(blender, behaviour)                                                                                \
    (txm_releases.behaviour[txm_release_column((int)(blender)) < 0 ? 0 : txm_release_column((int)(blender))])

#define TXM_NUMBER_OF(number, name) number,
#define TXM_NAME_OF(number, name) name,
static const int txm_release_numbers[] = {TXM_RELEASE_COLUMNS(TXM_NUMBER_OF, TXM_NUMBER_OF, TXM_NUMBER_OF)};
static const char *const txm_release_names[] = {TXM_RELEASE_COLUMNS(TXM_NAME_OF, TXM_NAME_OF, TXM_NAME_OF)};
enum { TXM_RELEASE_COUNT = sizeof txm_release_numbers / sizeof *txm_release_numbers };

/* Lists of the names, for help and messages: "5.2 5.3", and "5.2 or 5.3". */
#define TXM_NAME_ALONE(number, name) name
#define TXM_NAME_AFTER_SPACE(number, name) " " name
#define TXM_NAME_AFTER_COMMA(number, name) ", " name
#define TXM_NAME_AFTER_OR(number, name) " or " name
#define TXM_RELEASES_SPACED TXM_RELEASE_COLUMNS(TXM_NAME_ALONE, TXM_NAME_AFTER_SPACE, TXM_NAME_AFTER_SPACE)
#define TXM_RELEASES_OR TXM_RELEASE_COLUMNS(TXM_NAME_ALONE, TXM_NAME_AFTER_COMMA, TXM_NAME_AFTER_OR)

typedef float txm_rec709[3][3];
typedef const char *txm_text;

static const struct {
#define ROW(type, behaviour, ...) type behaviour[TXM_RELEASE_COUNT];
    TXM_RELEASE_ROWS(ROW)
#undef ROW
} txm_releases = {
#define ROW(type, behaviour, ...) .behaviour = {__VA_ARGS__},
    TXM_RELEASE_ROWS(ROW)
#undef ROW
};
/* C would fill missing cells with zeros. */
#define ROW(type, behaviour, ...)                                                                                      \
    _Static_assert(sizeof((type[]){__VA_ARGS__}) == TXM_RELEASE_COUNT * sizeof(type),                                  \
                   #behaviour " has a cell for each release");
TXM_RELEASE_ROWS(ROW)
#undef ROW

/* The column of a number of txm_blender; 0 stands for the newest release. -1 for any other number. */
static inline int txm_release_column(int number)
{
    int column = TXM_RELEASE_COUNT - 1;
    while (column >= 0 && number && txm_release_numbers[column] != number)
        column--;
    return column;
}
#endif
