/* SPDX-License-Identifier: Apache-2.0
 * Whether a finished tx file was made with the settings that its name does not tell: compression, tiles, borders, mono.
 */
#ifndef TXM_CONVERT_OTHERWISE_H
#define TXM_CONVERT_OTHERWISE_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/settings.h"

/* Whether the tx file at `path`, of an image of `channels` channels, differs from settings->asked; then `text` lists
 * how
 * ("zip, not none; tiles of 64 px, not 128"). A file that cannot be read does not. */
bool txm_made_otherwise(const char *path, const txm_settings *settings, unsigned channels, char *text,
                        size_t text_bytes);
#endif
