/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves settings: fills in defaults, finds the colour space, and computes the name of the tx file. This is the only
 * place where that name is decided. Conversion, `resolve`, `list`, gc and the library's public functions all use it,
 * so that none of them can look for a file under another name than it was made with.
 */
#ifndef TXM_CONVERT_RESOLVE_H
#define TXM_CONVERT_RESOLVE_H
#include "base/hash.h"
#include "mill/convert/conform.h"
#include "mill/convert/context.h"
#include "mill/source/source.h"
#include "tile/name/lookup.h"
#include "tile/name/name.h"
#include "txmill/convert.h"
#include "txtile/describe.h"

typedef struct txm_resolved {
    const char *requested;        /* the colour space in the name: a name, "auto" or "=" */
    const txm_color_space *space; /* the space of the pixels */
    const char *named;            /* its requested name, or the one that "auto" and "=" mean */
    txm_alpha alpha;              /* never DEFAULT */
    uint32_t limit_px;            /* 0: none */
    txm_tx_key key;
} txm_resolved;

/* Strings are valid as long as the context, the source and the settings. COLORSPACE for unknown spaces, unless settings
 * are strict: then the space counts as scene-linear, which is logged if `warn`. */
txm_status txm_resolve(const txm_context *context, const txm_settings *settings, const char *path,
                       const txm_source_info *info, bool warn, txm_resolved *out, txm_error *err);

/* The word in the name of a tx file: "" for auto and for the empty name (name NULL), one word for all data spaces, else
 * the requested name. */
const char *txm_key_word(const txm_color_config *config, const char *name);

/* Whether opening an image failed because of its content, or of what reads it. A tx file made of it before is as good
 * as ever, and nothing can replace it. */
bool txm_image_is_unreadable(txm_status status);

/* For an image that cannot be read because of `why`: whether Cycles uses its tx file, for which Cycles needs only its
 * name and time. True if nothing in the settings depends on the image and the file is fresh; then `out` describes it,
 * and `resolved` has all but the space. */
bool txm_serves_unread(const txm_context *context, const txm_settings *settings, const char *path, const txm_error *why,
                       txm_resolved *resolved, txm_found *out);

/* For an image that need not be opened: whether its tx file is up to date, by its name and time and by the settings
 * that it states. False if that cannot be decided without the image. On true, `description` and `info` are of the tx
 * file; free the former. */
bool txm_serves_unopened(const txm_context *context, const txm_settings *settings, const char *path,
                         txm_resolved *resolved, txm_found *out, txm_tx_description *description, txm_tx_info *info);

/* Whether a tx file of this space was made with a config that defines the space in the same way; if not, `why` says so.
 * True for files that do not record their config. */
bool txm_resolved_config(const txm_color_space *space, const txm_tx_description *description, char *why,
                         size_t why_bytes);

/* An image with its settings, for txm_resolved_fits. */
typedef struct txm_resolved_image {
    const txm_context *context;
    const txm_source_info *info;
    const txm_resolved *resolved;
    txm_blender blender; /* TXM_BLENDER_NEWEST: the context's */
} txm_resolved_image;

/* An image as a release of Blender makes it. */
typedef struct txm_release_image {
    const txm_source_info *info;
    txm_color_class class;
    txm_alpha alpha; /* resolved */
    txm_blender blender;
} txm_release_image;

txm_release_image txm_release_image_of(const txm_resolved_image *image);

/* Whether releases of Blender make different pixels of the image; `names` receives those that make the same as its own
 * one, separated by blanks. */
bool txm_releases_of(const txm_release_image *image, char *names, size_t names_bytes);

/* A release for which a tx file was made, of those whose pixels differ for its image; false if that is unknown. */
bool txm_release_made_for(const txm_tx_description *description, txm_blender *out);

typedef enum txm_fitting { TXM_FITTING_YES, TXM_FITTING_UNKNOWN, TXM_FITTING_NO } txm_fitting;

/* Whether a tx file of the image has the pixels of its release; if not, or if that is unknown, `why` is a sentence. */
txm_fitting txm_release_fits(const txm_release_image *image, const txm_tx_description *description, char *why,
                             size_t why_bytes);

/* Whether a tx file whose sides were limited to `made_px` (0: not) has the size that a limit of `limit_px` gives; if
 * not, `why` says so. `constant`: all of its pixels are equal. */
bool txm_limit_fits(const txm_source_info *info, uint32_t made_px, bool constant, uint32_t limit_px, char *why,
                    size_t why_bytes);

/* Whether a tx file with this description has the pixels that these settings give for the image; if not, `why` says how
 * it was made. Facts that the file does not state are ignored, except that `why` may say what is uncertain. Its type is
 * txm_tx_match. */
txm_fit txm_resolved_fits(const void *image, const txm_tx_description *description, char *why, size_t why_bytes);

/* Fails, and clears *found, if the file could not be examined: it is neither fresh nor unusable then. */
txm_status txm_found_settled(txm_found *found, txm_error *err);

/* This number must be increased whenever the same input gives other pixels than before. */
enum { TXM_PIXELS_VERSION = 2 };

/* Two conversions of the same image have the same settings key exactly if they give the same pixels. Farms use it to
 * find work that was already done, which names and times do not show. It covers the class of the colour space or its
 * transform, the handling of alpha, filtering as an environment, whether grey is stored as one channel, and the
 * versions of Blender's format and of txmill's arithmetic. It does not cover the name of the space, tiles, compression,
 * borders, metadata and paths, because they change no pixel. So sRGB and its alias have the same key, and so have all
 * alpha types if the image has no alpha. */
void txm_settings_key(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha, txm_blender blender,
                      const txm_settings *settings, char out[TXM_KEY_HEX]);
#endif
