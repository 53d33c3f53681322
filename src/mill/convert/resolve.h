/* SPDX-License-Identifier: Apache-2.0
 *
 * From what was asked for to what is done: defaults filled in, the colour space found, the name of the tx file made.
 *
 * The one place where a tx file's name is decided. Conversion, `resolve`, `list`, gc and the library's public
 * functions all come here, with what the caller asked for and what the source says, so that none of them can
 * look for a file under another name than it was made.
 */
#ifndef TXM_CONVERT_RESOLVE_H
#define TXM_CONVERT_RESOLVE_H
#include "mill/base/hash.h"
#include "mill/convert/conform.h"
#include "mill/convert/context.h"
#include "mill/source/source.h"
#include "tile/name/lookup.h"
#include "tile/name/name.h"
#include "txmill/convert.h"
#include "txtile/describe.h"

typedef struct txm_resolved {
    const char *requested;        /* the colour space as it counts for the name: a name, "auto" or "=" */
    const txm_color_space *space; /* what the pixels are in */
    const char *named;            /* the same as it was asked for, or what "auto" and "=" stand for */
    txm_alpha alpha;              /* not DEFAULT */
    txm_tx_key key;
} txm_resolved;

/* Strings live as long as the context, the source and the settings. COLORSPACE for unknown spaces, unless settings are
 * strict: then it counts as scene-linear, and with `warn` that is logged. */
txm_status txm_resolve(const txm_context *context, const txm_settings *settings, const char *path,
                       const txm_source_info *info, bool warn, txm_resolved *out, txm_error *err);

/* The word that goes into the name of a tx file: "" for auto and for the empty name (name NULL), one word for all data
 * spaces, else the name as it was asked for. */
const char *txm_key_word(const txm_color_config *config, const char *name);

/* The tx file of an image that cannot be read, for `why`. Cycles asks for its name and time alone, and uses it; so this
 * is true where the settings leave nothing to be looked up in the image and the file is fresh: `out` then says so, and
 * `resolved` has all but the space. */
bool txm_serves_unread(const txm_context *context, const txm_settings *settings, const char *path, const txm_error *why,
                       txm_resolved *resolved, txm_found *out);

/* Whether a tx file of this space was made with a config that does the same with it; if not, `why` says so. Files that
 * record no config are taken for such. */
bool txm_resolved_config(const txm_color_space *space, const txm_tx_description *description, char *why,
                         size_t why_bytes);

/* An image with its settings, for txm_resolved_fits. */
typedef struct txm_resolved_image {
    const txm_context *context;
    const txm_source_info *info;
    const txm_resolved *resolved;
} txm_resolved_image;

/* Whether the tx file that says this of itself has the pixels that these settings give of the image; if not, `why` says
 * what it was made with. What a file does not say is not held against it. The shape of txm_tx_wish. */
bool txm_resolved_fits(const void *image, const txm_tx_description *description, char *why, size_t why_bytes);

/* Raised whenever the same input gives other pixels than before. */
enum { TXM_PIXELS_VERSION = 2 };

/* Two conversions of the same image have the same settings key exactly when they give the same pixels. Farms use it to
 * find work that was done already, where names and times say nothing.
 *
 * It covers the class of the colour space, or what its transform does; what is done about alpha; filtering as an
 * environment; whether grey is stored as one channel; and the versions of Blender's format and of
 * our own arithmetic. It does not cover how the
 * space is called, tiles, compression, borders, metadata, places: they change no pixel. So sRGB and its alias have one
 * key, and alpha types have one key where the image has no alpha. */
void txm_settings_key(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                      const txm_settings *settings, char out[TXM_KEY_HEX]);
#endif
