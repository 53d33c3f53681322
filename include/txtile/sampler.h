/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture lookups on tx files: what a renderer calls for each texture evaluation.
 *
 * A lookup reads a *view*: flat arrays without pointers in them, which can be copied to a device as they are. Somebody
 * else decides which tiles are in memory (txm_texture_set below keeps what it has loaded; a cache may also evict); the
 * sampler only reads the page table, so a lookup answers RESIDENT, MISSED or FAILED and never waits or allocates.
 *
 * Results are exact and the same everywhere: scalar C is the specification, and AVX2, AVX-512 and NEON give the same
 * bits, on one lookup or in batches, wherever tiles happen to lie. They equal those of the whole level in memory with
 * each tap passed through the extension. NaN results are always the quiet NaN 0x7FC00000.
 *
 * Coordinates: (u, v) = (0, 0) is the bottom left corner of the image, (1, 1) the top right one. Derivatives are those
 * of u and v by the pixel's x and y, in the same units. Colours are float RGBA; a texture of one channel gives
 * (f, f, f, 1). Integers are scaled to 0..1, half and float are taken as they are.
 *
 * NULL: as status.h says; arrays of txm_lookups that may be NULL say so. Lookups check no pointer. A lane must be
 * given; its `requests` may be NULL where its capacity is 0.
 *
 * Thread safety: any number of threads may look up in one view; each brings its own txm_lane.
 */
#ifndef TXTILE_SAMPLER_H
#define TXTILE_SAMPLER_H

#include "txtile/pixel.h"
#ifndef __OPENCL_VERSION__
#include "txtile/export.h"
#include "txtile/reader.h"
#include "txtile/status.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how to look up ------------------------------------------------------------------------------------------- */

/* From derivatives to a level. `anisotropy` below is the longest footprint, as a ratio, that is not blurred. */
typedef enum txm_level_rule {
    /* Cycles: the squared extents of the footprint along u and along v. A footprint that lies across the axes counts by
     * its long side. */
    TXM_LEVEL_RULE_CYCLES = 0,
    /* The axes of the footprint's ellipse: the same however the texture is turned. */
    TXM_LEVEL_RULE_ELLIPSE,
    /* The same, with several probes along the long axis where the ellipse is elongated: twice the ratio less one, so 7
     * for 4:1 and 31 for 16:1, weighted by (1 - d^2)^2 of their distance d from the centre. */
    TXM_LEVEL_RULE_PROBES,
    /* The caller gives the level (tex2DLod): txm_lookup.dudx holds it, the other derivatives are not looked at.
     * Fractions are for the mode, the bias is added; below 0 and NaN are level 0, beyond the last is the last. Not for
     * TXM_FILTER_STOCHASTIC_EWA, which needs a footprint. UDIM sets are never served by their base texture. */
    TXM_LEVEL_RULE_GIVEN
} txm_level_rule;

/* What becomes of the fraction of a level. */
typedef enum txm_level_mode {
    /* One level, as Cycles chooses it: the coarser one with probability clamp(2 fraction - 1/2, 0, 1). A random state
     * of 0 is the finer one, as where Cycles' shaders have none; no random number at all (NULL, TXM_CHANCE_NONE) the
     * nearer one. */
    TXM_LEVEL_MODE_STOCHASTIC = 0,
    /* One level: the coarser one with the probability of the fraction. */
    TXM_LEVEL_MODE_STOCHASTIC_FULL,
    TXM_LEVEL_MODE_FLOOR,    /* the finer level */
    TXM_LEVEL_MODE_TRILINEAR /* both, blended */
} txm_level_mode;

/* How a level is read. */
typedef enum txm_filter {
    TXM_FILTER_CLOSEST = 0,
    TXM_FILTER_LINEAR,
    TXM_FILTER_CUBIC, /* B-spline, 16 taps */
    TXM_FILTER_SMART, /* as OpenImageIO: cubic on level 0, where pixels are magnified, linear elsewhere */
    /* The closest pixel of a place that is drawn with the filter's weight as its probability (Lanczos and Mitchell:
     * two, one of them negative). On average that is the filter over square pixels. Sizes are in pixels of the level.
     * Without a random state they are the closest pixel. */
    TXM_FILTER_STOCHASTIC_BOX,      /* width 1: linear on average */
    TXM_FILTER_STOCHASTIC_TENT,     /* width 2: the quadratic B-spline on average */
    TXM_FILTER_STOCHASTIC_GAUSSIAN, /* the variance of the tent */
    TXM_FILTER_STOCHASTIC_EWA,      /* Gaussian over the whole elliptic footprint */
    TXM_FILTER_STOCHASTIC_LANCZOS,  /* two lobes, width 4 */
    TXM_FILTER_STOCHASTIC_MITCHELL  /* B = C = 1/3, width 4 */
} txm_filter;

/* The colour of a lookup that misses. */
typedef enum txm_on_miss {
    TXM_ON_MISS_AVERAGE = 0, /* the image's average, as Cycles */
    TXM_ON_MISS_COARSER,     /* the next coarser level whose tile is resident, else the average */
    TXM_ON_MISS_ONE,         /* the coarsest level if it is resident, else the average */
    TXM_ON_MISS_FAIL         /* magenta, whatever is there: the result is MISSED all the same */
} txm_on_miss;

/* What the random state of a lookup is: txm_lane.random, and `random` wherever else it is asked for. */
typedef enum txm_chance {
    TXM_CHANCE_STATE = 0, /* of Cycles' generator, which is moved on; 0: there is none */
    /* A number of the caller's own, such as of a low-discrepancy sequence: any of 32 bits, all equally likely, as a
     * fraction of 2^32. It chooses the level, and filters that need more numbers make them from it. It is left as it
     * is. */
    TXM_CHANCE_NUMBER,
    /* Not looked at: levels are rounded to the nearer one, stochastic filters are the closest pixel. So is every
     * lookup that is given NULL for its random numbers. */
    TXM_CHANCE_NONE
} txm_chance;

/* What is done to the colour after the lookup, as Cycles' image node does: any of these together. */
enum {
    TXM_AFTER_UNASSOCIATE = 1, /* colour divided by alpha, unless that is 0 or 1 */
    TXM_AFTER_SRGB = 2         /* colour decoded from sRGB */
};

/* The longest footprint, as a ratio, that is not blurred. */
enum { TXM_MAX_ANISOTROPY = 16 };

/* Constant over many lookups. Small integers, so that it may live in constant memory of a device. */
typedef struct txm_sampler {
    uint8_t rule;       /* txm_level_rule */
    uint8_t mode;       /* txm_level_mode */
    uint8_t filter;     /* txm_filter */
    uint8_t on_miss;    /* txm_on_miss */
    uint8_t anisotropy; /* 1 to TXM_MAX_ANISOTROPY */
    uint8_t after;      /* TXM_AFTER_* */
    uint8_t chance;     /* txm_chance */
    uint8_t reserved;
    float mip_bias; /* added to the level: -log2 of the share of the resolution that is wanted */
} txm_sampler;

#ifndef __OPENCL_VERSION__
/* Cycles' choices: its rule, stochastic levels, linear, 16:1, average on a miss. */
TXM_API void txm_sampler_init(txm_sampler *how);

/* USAGE with a message if a member is outside its range. Lookups do not check. */
TXM_API txm_status txm_sampler_check(const txm_sampler *how, txm_error *err);

/* "cycles", "ellipse", "probes", "given"; "stochastic", "stochastic-full", "floor", "trilinear"; "closest" ...
 * "mitchell". NULL outside the range. */
TXM_API const char *txm_level_rule_name(txm_level_rule rule);
TXM_API const char *txm_level_mode_name(txm_level_mode mode);
TXM_API const char *txm_filter_name(txm_filter filter);

/* A few words on what a filter does ("16 pixels, a B-spline"), for help. NULL outside the range. */
TXM_API const char *txm_filter_about(txm_filter filter);

/* Whether a filter draws pixels at random, so that it needs a random state. False outside the range. */
TXM_API bool txm_filter_is_stochastic(txm_filter filter);
#endif

/* ---- the view -------------------------------------------------------------------------------------------------- */

/* A tile in the page table. `slot` says where its pixels are: slot >> TXM_SLOT_BITS is the slab, the rest counts tiles
 * in it; values from TXM_SLOT_STATES on are states instead. Written with release order after the pixels, read with
 * acquire order. `mark` is the epoch in which a lookup last touched the tile: written only where it differs. */
typedef struct txm_tile_entry {
    uint32_t slot;
    uint32_t mark;
} txm_tile_entry;

/* A slab holds 1 << TXM_SLOT_BITS tiles. */
enum { TXM_SLOT_BITS = 7, TXM_SLAB_SLACK = 16 };
#define TXM_SLOT_STATES 0xFFFC0000u     /* slots are below it */
#define TXM_SLOT_REQUESTED 0xFFFC0000u  /* + launch: not in memory, on the list of a lane of this launch */
#define TXM_SLOT_UNREADABLE 0xFFFD0000u /* + round: could not be read for now; asked for again in another round */
#define TXM_SLOT_NONE 0xFFFFFFFFu       /* not in memory, nobody asked */
#define TXM_SLOT_LOADING 0xFFFFFFFEu    /* not in memory, being read */
#define TXM_SLOT_FAILED 0xFFFFFFFDu     /* could not be read, never asked for again */
/* The level has no entries of its own yet: textures share some that say so. What is asked for is entry `first` + level
 * of the texture, which stands for the level as a whole. */
#define TXM_SLOT_UNREGISTERED 0xFFFFFFFCu

/* The tile_shift of a texture that is packed. */
enum { TXM_SHIFT_PACKED = 16 };

/* A texture, or a set of UDIM tiles. Its layout is fixed, because devices read arrays of it: a later version does not
 * add to it. The pixels of a tile in memory: rows of (1 << tile_shift) + 4 pixels, channels interleaved, in the storage
 * type; the first two rows and columns are padding, and so are the two that follow the last pixel of the level in tiles
 * at its edges.
 *
 * A small texture may be packed: all of its levels are one tile, entry `first`, one level after the other, each of its
 * own pixels alone, row by row; level_first says at which byte of the tile a level begins, and row_bytes is 0. Whoever
 * reads it takes each pixel through the extension.
 *
 * Three channels are those of an opaque texture: its alpha is 1 everywhere, and is not stored. Slabs can be read for
 * TXM_SLAB_SLACK bytes beyond their last pixel, so that three channels may be loaded as four. */
typedef struct txm_view_texture {
    uint32_t width, height; /* of level 0, px */
    uint16_t levels;        /* that can be read */
    uint16_t tiled_levels;  /* those that Cycles keeps: down to the first that fits a tile */
    uint32_t encoding;      /* txm_encoding: SRGB is looked up with TXM_AFTER_SRGB for scene-linear colours */
    uint8_t type;           /* txm_type */
    uint8_t channels;       /* 1, 3 or 4 */
    uint8_t extension;      /* txm_extension; the padding is made for it */
    uint8_t tile_shift;     /* tiles are 1 << tile_shift px square; TXM_SHIFT_PACKED: see above */
    uint32_t pixel_bytes, row_bytes, tile_bytes;
    uint32_t udim_rows;                   /* > 0: UDIM tiles, `first` counts in the view's udims, all else is unused */
    uint32_t first;                       /* in the view's tiles */
    uint32_t level_first[TXM_MAX_LEVELS]; /* the first entry of each level, added to `first` modulo 2^32; row by row */
    float scale;                          /* from codes to 0..1 */
    float average[4];                     /* RGBA, as looked up */
} txm_view_texture;

/* The number of no texture. */
#define TXM_NO_TEXTURE 0xFFFFFFFFu

#ifndef __OPENCL_VERSION__
/* The arrays of one device; the pointers are those of that device. */
typedef struct txm_view {
    const txm_view_texture *textures;
    txm_tile_entry *tiles;
    const uint64_t *slabs; /* the address of each slab; slabs begin on 16 bytes */
    const uint32_t *udims; /* ten textures per row of UDIM tiles from 1001 on; TXM_NO_TEXTURE: hole */
    uint32_t texture_count;
    uint32_t epoch; /* tiles that are touched are marked with it; 0: not marked */
    /* Requests carry the number of the launch that made them, passing failures that of their round: those with another
     * number are void. So a list that its owner drops loses nothing. */
    uint16_t launch, round;
    uint32_t rejection; /* chance that a request is left out, in units of 2^-32: lists that are too short for all are
                           filled from the whole launch, not by the lookups that come first. 0: all are made */
} txm_view;
#endif

/* ---- looking up ------------------------------------------------------------------------------------------------ */

/* A place in a texture, and its derivatives by the pixel's x and y; units as above. With TXM_LEVEL_RULE_GIVEN dudx is
 * the level. */
typedef struct txm_lookup {
    float u, v, dudx, dvdx, dudy, dvdy;
} txm_lookup;

/* How a lookup went. The order is from best to worst. */
typedef enum txm_look {
    TXM_LOOK_RESIDENT = 0,
    TXM_LOOK_MISSED, /* a tile is not in memory: the colour is a stand-in (on_miss) */
    TXM_LOOK_FAILED  /* no such texture or UDIM tile, or a tile that could not be read: magenta (1, 0, 1, 1) */
} txm_look;

/* What a thread, or a lane of a device, brings along. Zero is valid: no random state, requests are not collected. */
typedef struct txm_lane {
    /* See txm_chance. State of Cycles' generator, x <- 1103515245 x + 12345; 0 means none. One step a lookup that
     * chooses its level at random, more for stochastic filters; none where the CLIP extension rejects. A lookup that
     * is repeated after a miss must begin with the same state: keep a copy. */
    uint32_t random;
    uint32_t capacity, count; /* of `requests` */
    uint32_t *requests;       /* entries of the view's tiles that were missed, each on one list only */
    /* Counts since txm_cache_process took the list: requests that lookups made, those that were rejected (txm_view),
     * and those for which the list was full. */
    uint32_t asked, rejected, full;
} txm_lane;

#ifndef __OPENCL_VERSION__
/* One lookup. `how` has passed txm_sampler_check. */
TXM_API txm_look txm_sample(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                            txm_lane *lane, float out[4]);

/* The same, and the derivatives of the colour by u and by v: of the interpolation itself, so they are 0 for closest and
 * stochastic filters, and where the extension holds the coordinate. */
TXM_API txm_look txm_sample_d(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                              txm_lane *lane, float out[4], float du[4], float dv[4]);

/* Many lookups in one texture, as structure of arrays of `count` elements each. */
typedef struct txm_lookups {
    size_t count;
    const float *u, *v, *dudx, *dvdx, *dudy, *dvdy;
    uint32_t *random;    /* state of each lookup, or its number (txm_chance); NULL: none */
    const uint8_t *mask; /* 0: leave this one out, its outputs stay as they are; NULL: all */
    float *out[4];       /* r, g, b, a */
    uint8_t *look;       /* txm_look of each; may be NULL */
} txm_lookups;

/* All lookups of a batch; the worst of their results. `lane` collects requests; its random state is not used. */
TXM_API txm_look txm_sample_n(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *batch,
                              txm_lane *lane);

/* The level before it is clamped or rounded, and after what `mode` does to it at random (mip bias included). `random`
 * NULL: no random state. */
TXM_API float txm_level_of(uint32_t width, uint32_t height, const txm_sampler *how, const txm_lookup *at,
                           uint32_t *random);

/* The number of a UDIM tile (1001 + 10 row + column) at (u, v), 0 where there can be none; *u and *v become relative to
 * it. As Cycles truncates, -1 < u < 0 is column 0. */
TXM_API uint32_t txm_udim_of(float *u, float *v);

/* ---- tile keys --------------------------------------------------------------------------------------------------- */

/* One tile of any number of files in 64 bits: texture (23 bits), a valid flag, UDIM slot (15), level (5), tile (20, in
 * rows of the level's grid). */
typedef uint64_t txm_tile_key;

/* What a tile key is made of. */
typedef struct txm_tile_name {
    uint32_t texture, udim, level, tile;
} txm_tile_name;

/* 0, which is no key, if a member does not fit. */
static inline txm_tile_key txm_tile_key_pack(txm_tile_name n)
{
    if (n.texture >> 23 || n.udim >> 15 || n.level >> 5 || n.tile >> 20)
        return 0;
    return n.texture | (uint64_t)1 << 23 | (uint64_t)n.udim << 24 | (uint64_t)n.level << 39 | (uint64_t)n.tile << 44;
}

/* The tile of a key that txm_tile_key_pack made. */
static inline txm_tile_name txm_tile_key_unpack(txm_tile_key key)
{
    txm_tile_name n = {(uint32_t)key & 0x7FFFFF, (uint32_t)(key >> 24) & 0x7FFF, (uint32_t)(key >> 39) & 31,
                       (uint32_t)(key >> 44)};
    return n;
}

/* ---- explaining -------------------------------------------------------------------------------------------------- */

/* One pixel that a lookup reads. */
typedef struct txm_tap {
    uint32_t probe, level, tile_x, tile_y;
    int64_t x, y;   /* in the level, before the extension: -1 is the first one beyond the left edge */
    float weight;   /* in the colour before `after` */
    float value[4]; /* scaled, as in a colour */
} txm_tap;

/* 31 probes, two levels, 16 taps. */
enum { TXM_MAX_TAPS = 31 * 2 * 16 };

/* How a lookup came to its colour: tap_count of the taps count. Some 55 KB: too large for a small stack. */
typedef struct txm_explanation {
    uint32_t texture;   /* of a UDIM set: the tile's */
    uint32_t udim;      /* number of the UDIM tile, 0 if the texture is none */
    bool rejected;      /* by the CLIP extension: no taps */
    float level;        /* before it is clamped */
    uint32_t level_low; /* the finer one of those that are read */
    float blend;        /* weight of the next coarser one */
    uint32_t probes;
    uint32_t tap_count;
    txm_tap taps[TXM_MAX_TAPS];
} txm_explanation;

/* Looks up as txm_sample does and lists what that reads. */
TXM_API txm_look txm_sample_explain(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                    const txm_lookup *at, txm_lane *lane, float out[4], txm_explanation *explanation);

/* ---- textures in memory ------------------------------------------------------------------------------------------ */

/* Tx files whose tiles stay in memory once they are loaded: for tools, tests and small scenes. Adding and loading must
 * not run at the same time as lookups. */
typedef struct txm_texture_set txm_texture_set;

/* An empty set. NO_MEMORY. */
TXM_API txm_status txm_texture_set_new(txm_texture_set **out, txm_error *err);
TXM_API void txm_texture_set_free(txm_texture_set **set); /* NULL-safe; sets *set to NULL */

/* Opens a tx file and enters its tiles, none of which is loaded yet. Files of two and three channels are widened to
 * four. UNSUPPORTED where tiles are not square or not a power of two; else what txm_tx_open returns. */
TXM_API txm_status txm_texture_set_add(txm_texture_set *set, const char *path, txm_extension extension,
                                       uint32_t *texture, txm_error *err);

/* A texture of pixels that are in no tx file: its shape, and a function that reads a rectangle which lies in a level,
 * channels interleaved, in that type, from the top down. It is called by txm_texture_set_load and _load_all. */
typedef struct txm_called_texture {
    size_t struct_size;     /* sizeof(txm_called_texture) */
    uint32_t width, height; /* of level 0, px: 1 to 65536; every level down to 1x1 can be read */
    uint32_t channels;      /* 1 or 4 */
    uint32_t type;          /* txm_type */
    uint32_t encoding;      /* txm_encoding */
    void *user;
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
} txm_called_texture;

/* Adds one, with tiles of 64 px. USAGE for a shape out of bounds, NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_texture_set_add_called(txm_texture_set *set, const txm_called_texture *called,
                                              txm_extension extension, uint32_t *texture, txm_error *err);

/* Puts textures that were added into one UDIM set: `numbers` are 1001 to 9999, those that are not named are holes. */
TXM_API txm_status txm_texture_set_add_udim(txm_texture_set *set, const uint32_t *numbers, const uint32_t *textures,
                                            size_t count, uint32_t *texture, txm_error *err);

/* Loads what a lane has missed and empties its list; all tiles of a texture. A tile that cannot be read is FAILED from
 * now on; the message is that of the first. */
TXM_API txm_status txm_texture_set_load(txm_texture_set *set, txm_lane *lane, txm_error *err);
TXM_API txm_status txm_texture_set_load_all(txm_texture_set *set, uint32_t texture, txm_error *err);

/* Valid until something is added or loaded. */
TXM_API const txm_view *txm_texture_set_view(const txm_texture_set *set);

/* The file of a texture, NULL for UDIM sets and beyond the last. */
TXM_API txm_tx *txm_texture_set_tx(const txm_texture_set *set, uint32_t texture);
#endif

#ifdef __cplusplus
}
#endif
#endif
