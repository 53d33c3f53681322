/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture lookups on tx files: the functions that a renderer calls for each texture evaluation.
 *
 * A lookup reads a *view*: flat arrays without pointers in them, which can be copied to a device as they are. The owner
 * of the view decides which tiles are in memory: txm_texture_set below keeps all tiles that it has loaded, and the
 * cache of cache.h evicts tiles. The sampler only reads the page table, so a lookup returns RESIDENT, MISSED or FAILED
 * and never waits or allocates.
 *
 * Results are exact and the same on all machines: scalar C is the specification, and AVX2, AVX-512 and NEON give the
 * same bits, for single lookups and for batches, wherever tiles are in memory. They equal those of a sampler that has
 * the whole level in memory and passes each tap through the extension. NaN results are always the quiet NaN 0x7FC00000.
 *
 * Coordinates: (u, v) = (0, 0) is the bottom left corner of the image, (1, 1) the top right one. A texture has its
 * extension along u and along v, which may differ (TXM_EXTENSION_UV). Derivatives are those
 * of u and v by the pixel's x and y, in the same units. Colours are float RGBA; a texture of one channel gives (f, f,
 * f, 1). Integers are scaled to 0..1, half and float are taken as they are.
 *
 * NULL: as in status.h; arrays of txm_lookups that may be NULL say so. Lookups do not check pointers. A lookup
 * state is required; its `requests` may be NULL if its capacity is 0.
 *
 * Thread safety: any number of threads may look up in one view, each with its own txm_lookup_state.
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

/* The rule by which a level is computed from derivatives. `anisotropy` in txm_sampler is the largest ratio of a
 * footprint's axes that is not blurred. */
typedef enum txm_level_rule {
    /* Cycles' rule, from the squared extents of the footprint along u and along v. For a footprint that is oblique to
     * the axes, its long side counts. */
    TXM_LEVEL_RULE_CYCLES = 0,
    /* The level follows from the axes of the footprint's ellipse, so the result does not depend on the rotation of the
     * texture. */
    TXM_LEVEL_RULE_ELLIPSE,
    /* The same with several probes along the long axis of an elongated ellipse: twice the ratio minus one, so 7 for 4:1
     * and 31 for 16:1. A probe at distance d from the centre has the weight (1 - d^2)^2. */
    TXM_LEVEL_RULE_PROBES,
    /* The caller passes the level (tex2DLod) in txm_lookup.dudx; the other derivatives are ignored. The mode is applied
     * to its fraction, and the bias is added. Negative levels and NaN mean level 0, levels beyond the last mean the
     * last. Not for TXM_FILTER_STOCHASTIC_EWA, which needs a footprint. The base texture of a UDIM set (cache.h) is not
     * used. */
    TXM_LEVEL_RULE_GIVEN
} txm_level_rule;

/* The mode decides how the fraction between two levels is used. */
typedef enum txm_level_mode {
    /* One level, as Cycles chooses it: the coarser one with probability clamp(2 fraction - 1/2, 0, 1). A random state
     * of 0 gives the finer one, as in Cycles' shaders without a random state; without random numbers (NULL,
     * TXM_CHANCE_NONE) it is the nearer one. */
    TXM_LEVEL_MODE_STOCHASTIC = 0,
    /* One level: the coarser one with the fraction as its probability. */
    TXM_LEVEL_MODE_STOCHASTIC_FULL,
    TXM_LEVEL_MODE_FLOOR,    /* the finer level */
    TXM_LEVEL_MODE_TRILINEAR /* both, blended */
} txm_level_mode;

/* The filter of a level. */
typedef enum txm_filter {
    TXM_FILTER_CLOSEST = 0,
    TXM_FILTER_LINEAR,
    TXM_FILTER_CUBIC, /* B-spline, 16 taps */
    TXM_FILTER_SMART, /* as in OpenImageIO: cubic on level 0, where pixels are magnified, linear elsewhere */
    /* Stochastic filters take the closest pixel to a random position, which is drawn with the filter's weight as its
       probability (Lanczos and Mitchell draw two, one of them with a negative weight). Their average is the filter over
       square pixels. Widths are in pixels of the level. Without a random state they are CLOSEST. */
    TXM_FILTER_STOCHASTIC_BOX,      /* width 1: linear on average */
    TXM_FILTER_STOCHASTIC_TENT,     /* width 2: the quadratic B-spline on average */
    TXM_FILTER_STOCHASTIC_GAUSSIAN, /* the variance of the tent */
    TXM_FILTER_STOCHASTIC_EWA,      /* Gaussian over the whole elliptic footprint */
    TXM_FILTER_STOCHASTIC_LANCZOS,  /* two lobes, width 4 */
    TXM_FILTER_STOCHASTIC_MITCHELL  /* B = C = 1/3, width 4 */
} txm_filter;

/* The colour of a lookup that misses. */
typedef enum txm_on_miss {
    TXM_ON_MISS_AVERAGE = 0, /* the image's average, as in Cycles */
    TXM_ON_MISS_COARSER,     /* the next coarser level whose tile is resident, else the average */
    TXM_ON_MISS_ONE,         /* the coarsest level if it is resident, else the average */
    TXM_ON_MISS_FAIL         /* magenta; the result is still MISSED */
} txm_on_miss;

/* The meaning of a lookup's random state, which is txm_lookup_state.random or the parameter or member `random`. */
typedef enum txm_chance {
    TXM_CHANCE_STATE = 0, /* the state of Cycles' generator, which lookups advance; 0: none */
    /* A random number of the caller's own, for example of a low-discrepancy sequence: 32 bits, uniform, as a fraction
       of 2^32. It chooses the level, and filters that need more numbers derive them from it. Lookups do not change it.
     */
    TXM_CHANCE_NUMBER,
    /* The random state is ignored: levels are rounded to the nearer one, and stochastic filters take the closest pixel.
     * Lookups with NULL for their random numbers do the same. */
    TXM_CHANCE_NONE
} txm_chance;

/* Flags for operations on the colour after the lookup, as in Cycles' image node. */
enum {
    TXM_AFTER_UNASSOCIATE = 1, /* colour divided by alpha, unless that is 0 or 1 */
    TXM_AFTER_SRGB = 2         /* colour decoded from sRGB */
};

/* The largest txm_sampler.anisotropy. */
enum { TXM_MAX_ANISOTROPY = 16 };

/* The settings of lookups, constant over many of them. It is small, so that it fits into a device's constant memory. */
typedef struct txm_sampler {
    uint8_t rule;       /* txm_level_rule */
    uint8_t mode;       /* txm_level_mode */
    uint8_t filter;     /* txm_filter */
    uint8_t on_miss;    /* txm_on_miss */
    uint8_t anisotropy; /* 1 to TXM_MAX_ANISOTROPY */
    uint8_t after;      /* TXM_AFTER_* */
    uint8_t chance;     /* txm_chance */
    uint8_t reserved;
    float mip_bias; /* added to the level: -log2 of the fraction of the resolution that is wanted */
} txm_sampler;

#ifndef __OPENCL_VERSION__
/* Initialises a sampler with Cycles' choices: its rule, stochastic levels, linear, 16:1, average on a miss. */
TXM_API void txm_sampler_init(txm_sampler *how);

/* Checks that all members are in their range, else USAGE. Lookups do not check them. */
TXM_API txm_status txm_sampler_check(const txm_sampler *how, txm_error *err);

/* "cycles", "ellipse", "probes", "given"; "stochastic", "stochastic-full", "floor", "trilinear"; "closest" to
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

/* The page table. Tiles are numbered across all textures of a view: number `first` + level_first[level] + the tile's
 * index in its level. If the view has `leaves`, the table has two steps, as a processor's has, because most tiles of a
 * large texture are never in memory: leaf number >> TXM_LEAF_SHIFT holds the index in `tiles` of the first of its
 * entries, or a state that all of its tiles share. Without `leaves` the number of a tile is its index in `tiles`.
 *
 * A lookup that requests a tile marks its entry, so that no other lookup of the launch requests it again. Tiles of
 * leaves without entries are marked in the view's `filter`, in which very few tiles may have the same place: then only
 * one of them is requested, and the others by a later launch. Without a filter the leaf is marked, and a launch
 * requests one of its tiles.
 *
 * An entry is a tile's part of the table. `slot` says where its pixels are: slot >> TXM_SLOT_BITS is the slab, and the
 * low bits are the tile's index in it; values from TXM_SLOT_STATES on are states instead. It is written with release
 * order after the pixels, and read with acquire order, both members at once. `mark` is the epoch in which a lookup last
 * touched the tile; lookups write it only if it changes. */
typedef struct txm_tile_entry {
    uint32_t slot;
    uint32_t mark;
} __attribute__((aligned(8))) txm_tile_entry;

/* A slab holds 1 << TXM_SLOT_BITS tiles, and has TXM_SLAB_SLACK readable bytes beyond its last pixel. */
enum { TXM_SLOT_BITS = 7, TXM_SLAB_SLACK = 16 };
#define TXM_SLOT_STATES 0xFFFC0000u     /* slots are below it */
#define TXM_SLOT_REQUESTED 0xFFFC0000u  /* + launch: not in memory, requested by a lookup of this launch */
#define TXM_SLOT_UNREADABLE 0xFFFD0000u /* + round: reading failed in this round; a later round requests it again */
#define TXM_SLOT_NONE 0xFFFFFFFFu       /* the tile is neither in memory nor requested */
#define TXM_SLOT_LOADING 0xFFFFFFFEu    /* the tile is being read */
#define TXM_SLOT_FAILED 0xFFFFFFFDu     /* reading failed; it is never requested again */
/* The level has no numbers of its own: its texture points at shared ones with this value. A lookup requests number
 * `first` + level of the texture, which represents the whole level. Views of a txm_cache have no such levels. */
#define TXM_SLOT_UNREGISTERED 0xFFFFFFFCu

enum { TXM_LEAF_SHIFT = 7, TXM_LEAF_TILES = 1 << TXM_LEAF_SHIFT, TXM_FILTER_WORDS = 1 << 12 };

/* The tile_shift of a texture that is packed. */
enum { TXM_SHIFT_PACKED = 16 };

/* A texture, or a set of UDIM tiles. Its layout is fixed, because devices read arrays of it: later versions do not add
 * members. A tile in memory consists of rows of (1 << tile_shift) + 4 pixels, channels interleaved, in the storage
 * type. The first two rows and columns are padding, and so are the two after the last pixel of the level in tiles at
 * its edges.
 *
 * A small texture may be packed: all of its levels are in one tile, number `first`, one after the other, row by row
 * without padding. level_first is then the byte of the tile at which a level begins, and row_bytes is 0. A reader maps
 * each pixel's coordinates through the extension.
 *
 * A texture of a txm_cache whose file is not open yet has one level of one pixel, and tile_shift 0: requesting its only
 * tile opens the file.
 *
 * A texture with three channels is opaque: its alpha is 1 everywhere and is not stored. Slabs can be read for
 * TXM_SLAB_SLACK bytes beyond their last pixel, so that a reader may load three channels as four. */
typedef struct txm_view_texture {
    uint32_t width, height; /* size of level 0, px */
    uint16_t levels;        /* number of levels that can be read */
    uint16_t tiled_levels;  /* number of levels that Cycles keeps: down to the first that fits into a tile */
    uint32_t encoding;      /* txm_encoding; SRGB needs TXM_AFTER_SRGB for scene-linear colours */
    uint8_t type;           /* txm_type */
    uint8_t channels;       /* 1, 3 or 4 */
    uint8_t extension;      /* txm_extension; the padding is made for it */
    uint8_t tile_shift;     /* tiles are 1 << tile_shift px square; TXM_SHIFT_PACKED: see above */
    uint32_t pixel_bytes, row_bytes, tile_bytes;
    uint32_t udim_rows; /* > 0: a set of UDIM tiles; `first` is an index of the view's udims, all else is unused */
    uint32_t first;     /* number of its first tile */
    uint32_t level_first[TXM_MAX_LOOKUP_LEVELS]; /* first tile of each level, whose tiles follow row by row: added to
                                             `first` modulo 2^32 */
    float scale;                                 /* factor from stored values to 0..1 */
    float average[4];                            /* RGBA, as looked up */
} txm_view_texture;

/* A number that no texture has. */
#define TXM_NO_TEXTURE 0xFFFFFFFFu

#ifndef __OPENCL_VERSION__
/* The arrays that lookups read. In the view of a device, the pointers are device pointers. */
typedef struct txm_view {
    const txm_view_texture *textures;
    txm_tile_entry *tiles;
    const uint64_t *slabs; /* the address of each slab, aligned to 16 bytes */
    const uint32_t *udims; /* ten textures per row of UDIM tiles, from 1001 on; TXM_NO_TEXTURE: the tile is missing */
    uint32_t texture_count;
    uint32_t epoch; /* lookups mark the tiles that they touch with it; 0: they do not */
    /* Requests carry the number of the launch that made them, and temporary failures that of their round. Entries with
     * another number are void, so that requests on a list that was discarded are made again. */
    uint16_t launch, round;
    uint32_t rejection; /* probability that a request is left out, in units of 2^-32, so that a list too short for all
                           requests is filled from the whole launch and not by its first lookups. 0: none is left out */
    uint32_t *leaves;   /* see txm_tile_entry; NULL: the table has one step */
    uint32_t *filter;   /* TXM_FILTER_WORDS words: a launch number, and a bit for each of 16 places; or NULL */
} txm_view;

/* The entry of a tile; NULL: its leaf has none, and *state (which may be NULL) is that of all tiles of the leaf. */
static inline txm_tile_entry *txm_view_entry(const txm_view *view, uint32_t number, uint32_t *state)
{
    if (!view->leaves)
        return view->tiles + number;
    const uint32_t first = __atomic_load_n(view->leaves + (number >> TXM_LEAF_SHIFT), __ATOMIC_ACQUIRE);
    if (first < TXM_SLOT_STATES)
        return view->tiles + first + (number & (TXM_LEAF_TILES - 1));
    if (state)
        *state = first;
    return 0;
}

/* The slot or state of a tile. */
static inline uint32_t txm_view_slot(const txm_view *view, uint32_t number)
{
    uint32_t state = TXM_SLOT_NONE;
    txm_tile_entry *e = txm_view_entry(view, number, &state);
    return e ? __atomic_load_n(&e->slot, __ATOMIC_ACQUIRE) : state;
}
#endif

/* ---- looking up ------------------------------------------------------------------------------------------------ */

/* A place in a texture, and its derivatives by the pixel's x and y; units as above. With TXM_LEVEL_RULE_GIVEN dudx is
 * the level. */
typedef struct txm_lookup {
    float u, v, dudx, dvdx, dudy, dvdy;
} txm_lookup;

/* The result of a lookup, from best to worst. */
typedef enum txm_lookup_result {
    TXM_LOOKUP_HIT = 0,
    TXM_LOOKUP_MISS,   /* a tile is not in memory: on_miss chose the colour */
    TXM_LOOKUP_FAILURE /* the texture or UDIM tile does not exist, or a tile could not be read: magenta (1, 0, 1, 1) */
} txm_lookup_result;

/* The state of a thread that looks up. Zero is valid: no random state, and requests are not
 * collected. */
typedef struct txm_lookup_state {
    /* See txm_chance. The state of Cycles' generator, x <- 1103515245 x + 12345; 0 means none. A lookup that chooses
     * its level at random takes one step, stochastic filters take more; a lookup that the CLIP extension rejects takes
     * none. To repeat a lookup after a miss, restore the state that it began with. */
    uint32_t random;
    uint32_t capacity, count; /* size of `requests`, and how many it holds */
    uint32_t *requests;       /* numbers of tiles that lookups missed; each is on one list only */
    /* Counts since txm_cache_process took the list: requests that lookups made, requests that were left out (rejection
     * in txm_view), and requests for which the list was full. */
    uint32_t asked, rejected, full;
} txm_lookup_state;

/* ---- on devices ------------------------------------------------------------------------------------------------
 *
 * What device.h and kernels of renderers (kernel.h) share. */

/* Added to the index of a query's sampler: the lookup is as by txm_sample_udim_blend, or as by txm_sample_latlong.
 * Neither has derivatives, so in launches with derivatives they change nothing. */
#define TXM_QUERY_UDIM_BLEND 0x40000000u
#define TXM_QUERY_LATLONG 0x80000000u
#define TXM_QUERY_KINDS (TXM_QUERY_UDIM_BLEND | TXM_QUERY_LATLONG)

/* A lookup: its texture as in the view, the index of its sampler, and its random state or number (txm_chance). */
typedef struct txm_device_query {
    txm_lookup at;
    uint32_t texture, sampler, random;
} txm_device_query;

/* Its colour, its random state afterwards, and its txm_lookup_result. Of a lookup that missed, only the colour (as the
 * sampler's on_miss says) and the result count. */
typedef struct txm_device_answer {
    float color[4];
    uint32_t random, result;
} txm_device_answer;

/* The derivatives of the colour by u and by v. */
typedef struct txm_device_slopes {
    float du[4], dv[4];
} txm_device_slopes;

/* What a launch passes to kernels by value. The members are not for callers: they may change with each release. */
typedef struct txm_device_args {
    uint32_t count, texture_count;
    /* The table holds textures, then these, counted in words of 32 bits. */
    uint32_t udims_at, leaves_at, slots_at;
    uint32_t queries_at, answers_at, slopes_at; /* words of their memories */
    uint32_t lists_at;                          /* words of the notes */
    uint32_t with_slopes;
    uint32_t again;    /* 1: only lookups whose answer is a miss */
    uint32_t capacity; /* size of the list of requests */
    uint32_t near_units;
    uint32_t launch, round, rejection;
    uint32_t stand_ins; /* 1: a coarser tile that would stand in for a missing one is requested as well */
    uint32_t bins;      /* bits of the bins that lookups of the launch may be in, the rest included */
    uint32_t sorted;    /* 1: each bin has a list; 0: only the rest has, because there is at most one other bin */
    uint32_t kinds;     /* 1: queries may have TXM_QUERY_* */
    uint32_t reserved[4];
} txm_device_args;

/* ---- functions of the processor ---- */

#ifndef __OPENCL_VERSION__
/* One lookup. `how` must pass txm_sampler_check. */
TXM_API txm_lookup_result txm_sample(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *at, txm_lookup_state *state, float out[4]);

/* The same with the derivatives of the colour by u and by v. They are those of the interpolation, so they are 0 for
 * closest and stochastic filters, and where the extension clamps the coordinate. */
TXM_API txm_lookup_result txm_sample_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *state, float out[4], float du[4],
                                       float dv[4]);

/* Many lookups in one texture, as arrays of `count` elements each. */
typedef struct txm_lookups {
    size_t count;
    const float *u, *v, *dudx, *dvdx, *dudy, *dvdy;
    uint32_t *random;    /* random state or number of each lookup (txm_chance); NULL: none */
    const uint8_t *mask; /* 0: skip this lookup and leave its outputs unchanged; NULL: do all */
    float *out[4];       /* r, g, b, a */
    uint8_t *result;     /* txm_lookup_result of each; may be NULL */
} txm_lookups;

/* Does all lookups of a batch and returns the worst of their results. `state` collects requests; its random state is
 * not used. */
TXM_API txm_lookup_result txm_sample_n(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookups *batch, txm_lookup_state *state);

/* Where a batch with derivatives of the colour by u and by v stores them, like `out` of txm_lookups. */
typedef struct txm_lookup_slopes {
    float *du[4], *dv[4];
} txm_lookup_slopes;

/* txm_sample_d for each lookup of a batch. */
TXM_API txm_lookup_result txm_sample_n_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *batch, const txm_lookup_slopes *slopes,
                                         txm_lookup_state *state);

/* txm_sample, but with TXM_FILTER_LINEAR no seam is seen between the tiles of a UDIM set: within half a pixel of an
 * edge the pixels on both sides blend as neighbours in one image do, and at corners those of four tiles. Where there is
 * no neighbour, the tile extends, whatever its extension. All else, and other filters, are as txm_sample does them. */
TXM_API txm_lookup_result txm_sample_udim_blend(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                                const txm_lookup *at, txm_lookup_state *state, float out[4]);

/* txm_sample for a latlong environment, at a place from txm_latlong_uv and txm_latlong_differential (ray.h): with
 * TXM_FILTER_LINEAR the colour fades to one colour at each pole, the mean of up to 16 pixels of the row that surrounds
 * it, within one pixel of the level. Such textures repeat along u and extend along v. */
TXM_API txm_lookup_result txm_sample_latlong(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                             const txm_lookup *at, txm_lookup_state *state, float out[4]);

/* The level of a lookup, with the bias and after the random choice of `mode`, but before it is clamped or rounded.
 * `random` NULL: no random state. */
TXM_API float txm_level_of(uint32_t width, uint32_t height, const txm_sampler *how, const txm_lookup *at,
                           uint32_t *random);

/* The number of the UDIM tile (1001 + 10 row + column) at (u, v), or 0 if none can be there; *u and *v become relative
 * to it. -1 < u < 0 is column 0, because Cycles truncates. */
TXM_API uint32_t txm_udim_of(float *u, float *v);

/* ---- tile keys --------------------------------------------------------------------------------------------------- */

/* One tile of any number of files in 64 bits: texture (23 bits), a valid flag, UDIM slot (15), level (5), tile (20, in
 * rows of the level's grid). */
typedef uint64_t txm_tile_key;

/* The parts of a tile key. */
typedef struct txm_tile_name {
    uint32_t texture, udim, level, tile;
} txm_tile_name;

/* The key of a tile; 0, which is not a valid key, if a member does not fit. */
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
    int64_t x, y;   /* position in the level before the extension: -1 is the first pixel beyond the left edge */
    float weight;   /* its weight in the colour, before `after` is applied */
    float value[4]; /* RGBA, scaled */
} txm_tap;

/* 31 probes, two levels, 16 taps. */
enum { TXM_MAX_TAPS = 31 * 2 * 16 };

/* The computation of a lookup's colour; the first tap_count taps are valid. It has about 55 KB, too much for a small
 * stack. */
typedef struct txm_explanation {
    uint32_t texture;   /* the texture that was read: in a UDIM set, that of the tile */
    uint32_t udim;      /* number of the UDIM tile; 0 if the texture is not a UDIM set */
    bool rejected;      /* the CLIP extension rejects the place: there are no taps */
    float level;        /* the level before it is clamped */
    uint32_t level_low; /* the finer one of the levels that were read */
    float blend;        /* weight of the next coarser level */
    uint32_t probes;
    uint32_t tap_count;
    txm_tap taps[TXM_MAX_TAPS];
} txm_explanation;

/* Looks up as txm_sample does and lists the pixels that it reads. */
TXM_API txm_lookup_result txm_sample_explain(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                             const txm_lookup *at, txm_lookup_state *state, float out[4],
                                             txm_explanation *explanation);

/* ---- single texels ---------------------------------------------------------------------------------------------- */

/* For renderers whose frames use what is in memory instead of waiting for it: they choose a level and a pixel
 * themselves, look into the view whether the pixel's tile is there, and take its colour. */

/* The pixel of a level that is shown at pixel `x` of the plane, along an edge of size_px; -1: none (CLIP). This
 * function and the next take the mode of one axis (TXM_EXTENSION_U). */
TXM_API int32_t txm_extension_pixel(txm_extension extension, int32_t x, int32_t size_px);
/* Maps a coordinate to 0..1, both included; false if the extension shows nothing there (CLIP). *u is finite. */
TXM_API bool txm_extension_wrap(txm_extension extension, float *u);

/* A pixel of a texture in a view: its place in the level, its tile's number, and the slot of that tile's entry,
 * which holds a tile. */
typedef struct txm_texel_place {
    const txm_view_texture *texture;
    uint32_t level, x, y, number, slot;
} txm_texel_place;

/* The scene-linear values of sRGB codes of 8 bits. */
TXM_API void txm_texel_decode(float decoded[256]);
/* The colour that a lookup with TXM_FILTER_CLOSEST gives for the pixel, whose tile it marks as that lookup does.
 * `after` is the sampler's; `decoded` has the values of txm_texel_decode. */
TXM_API void txm_texel_color(const txm_view *view, const txm_texel_place *at, int after, const float decoded[256],
                             float rgba[4]);

/* The colour that a lookup gives for a texture none of whose tiles is in memory: its average, after the same
 * operations. */
TXM_API void txm_texel_average(const txm_view_texture *texture, int after, float rgba[4]);

/* Point samples of what is in memory, each in a texture of its own, as arrays of `count` elements. A sample takes the
 * texel at its place in the level that its sampler chooses; with TXM_LEVEL_MODE_TRILINEAR it takes one in each of two
 * levels, which are blended after both are decoded. Unless the filter is CLOSEST, the place is moved at random by up to
 * half a texel along each axis, so that the mean over many samples is the linear filter. All other filters count as
 * LINEAR. One by one such samples wait for memory most of the time; a batch of some hundreds hardly does. */
typedef struct txm_texels {
    size_t count;
    const txm_sampler *samplers;
    const uint32_t *how, *texture; /* index of the sampler of each sample; its texture */
    const float *u, *v, *dudx, *dvdx, *dudy, *dvdy;
    const float *decoded; /* the values of txm_texel_decode */
    /* The state of Cycles' generator. After the level has been chosen, as in other lookups, a sample that is moved
     * takes one step for u and one for v: the upper 24 bits of the state as a fraction, less 1/2, in texels, downwards
     * in v. */
    uint32_t *random;
    float (*out)[4]; /* RGBA */
    /* txm_lookup_result of each. MISS: a tile is not in memory, and nothing was requested. FAILURE: there is no such
     * texture. The random state and the colour are then unchanged. A place that CLIP rejects is a HIT, clear, and
     * leaves the random state unchanged, too. */
    uint8_t *result;
} txm_texels;

/* Takes the samples and marks the tiles of those that hit. Returns the number of texels that these read. */
TXM_API uint64_t txm_texels_n(const txm_view *view, const txm_texels *batch);

/* A texel of a sample whose tile is not in memory, and what is shown instead. */
typedef struct txm_texel_miss {
    uint32_t sample;               /* index in the batch */
    uint32_t texture, level, tile; /* tile: in its level, row by row */
    uint32_t state;                /* of the tile's entry; of the level's if the level has no entries */
    uint32_t shown;                /* level of the texel that is shown; the number of levels: it is the average */
    uint32_t failed;               /* 1: the tile cannot be read, and magenta is shown */
} txm_texel_miss;

/* The same, but no sample misses: a texel whose tile is not in memory is replaced by the one at the same place of the
 * next coarser level that is, or else by the average of the texture. `misses` has room for two per sample; *count of
 * them are written, in the order of samples. Results are HIT, or FAILURE where there is no such texture: magenta.
 * Returns the number of texels that were in memory. */
TXM_API uint64_t txm_texels_coarser_n(const txm_view *view, const txm_texels *batch, txm_texel_miss *misses,
                                      size_t *count);

/* ---- textures in memory ------------------------------------------------------------------------------------------ */

/* Tx files whose tiles stay in memory once they are loaded, for tools, tests and small scenes. Nothing may be added or
 * loaded while lookups run. */
typedef struct txm_texture_set txm_texture_set;

/* Makes an empty set. NO_MEMORY. */
TXM_API txm_status txm_texture_set_new(txm_texture_set **out, txm_error *err);
TXM_API void txm_texture_set_free(txm_texture_set **set); /* NULL-safe; sets *set to NULL */

/* Opens a tx file and adds it as a texture, with no tile loaded. Files with two or three channels are widened to four.
 * UNSUPPORTED if tiles are not square or not a power of two, and the failures of txm_tx_open. */
TXM_API txm_status txm_texture_set_add(txm_texture_set *set, const char *path, txm_extension extension,
                                       uint32_t *texture, txm_error *err);

/* A texture whose pixels a function computes: its shape, and the function, which fills in a rectangle of a level,
 * channels interleaved, in that type, rows from the top. txm_texture_set_load and _load_all call it. */
typedef struct txm_called_texture {
    size_t struct_size;     /* sizeof(txm_called_texture) */
    uint32_t width, height; /* size of level 0, px: 1 to 131071; all levels down to 1x1 exist */
    uint32_t channels;      /* 1 or 4 */
    uint32_t type;          /* txm_type */
    uint32_t encoding;      /* txm_encoding */
    void *user;
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
} txm_called_texture;

/* Adds such a texture with tiles of 64 px. USAGE for a shape out of bounds, NO_MEMORY, TOO_LARGE. */
TXM_API txm_status txm_texture_set_add_called(txm_texture_set *set, const txm_called_texture *called,
                                              txm_extension extension, uint32_t *texture, txm_error *err);

/* Makes a UDIM set of textures that were added before. `numbers` are 1001 to 9999; tiles with other numbers are
 * missing. */
TXM_API txm_status txm_texture_set_add_udim(txm_texture_set *set, const uint32_t *numbers, const uint32_t *textures,
                                            size_t count, uint32_t *texture, txm_error *err);

/* Loads the tiles that lookups requested and empties their list; or loads all tiles of a texture. A tile that cannot be
 * read is FAILED from then on, and the call returns the first such failure. */
TXM_API txm_status txm_texture_set_load(txm_texture_set *set, txm_lookup_state *state, txm_error *err);
TXM_API txm_status txm_texture_set_load_all(txm_texture_set *set, uint32_t texture, txm_error *err);

/* The view for lookups. It is valid until a texture is added or tiles are loaded. */
TXM_API const txm_view *txm_texture_set_view(const txm_texture_set *set);

/* The tx file of a texture; NULL for UDIM sets, textures without a file, and beyond the last. */
TXM_API txm_tx *txm_texture_set_tx(const txm_texture_set *set, uint32_t texture);
#endif

#ifdef __cplusplus
}
#endif
#endif
