/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a finished tx file was made with settings that are not part of its name: compression, tiles, borders, mono.
 */
#ifndef TXM_CONVERT_OTHERWISE_H
#define TXM_CONVERT_OTHERWISE_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/settings.h"

/* Whether the tx file at `path`, made of an image of `channels` channels, differs from the settings in settings->asked;
 * then `text` lists how ("zip, not none; tiles of 64 px, not 128"). false for a file that cannot be read. */
bool txm_made_otherwise(const char *path, const txm_settings *settings, unsigned channels, char *text,
                        size_t text_bytes);
#endif
