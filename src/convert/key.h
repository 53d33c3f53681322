/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys: two conversions of the same image have the same settings key exactly when they give the same pixels. Farms use
 * it to find work that was done already, where names and times say nothing.
 *
 * It covers the class of the colour space, or what its transform does; what is done about alpha; filtering as an
 * environment; whether grey is stored as one channel; and the version of our own arithmetic. It does not cover how the
 * space is called, tiles, compression, borders, metadata, places: they change no pixel. So sRGB and its alias have one
 * key, and alpha types have one key where the image has no alpha.
 */
#ifndef TXM_CONVERT_KEY_H
#define TXM_CONVERT_KEY_H
#include "convert/conform.h"
#include "core/hash.h"
#include "txmill/convert.h"

/* Raised whenever the same input gives other pixels than before. */
enum { TXM_PIXELS_VERSION = 2 };

void txm_settings_key(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                      const txm_settings *settings, char out[TXM_KEY_HEX]);
#endif
