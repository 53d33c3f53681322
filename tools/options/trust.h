/* SPDX-License-Identifier: Apache-2.0 Decides which users' settings files are used. */
#ifndef TXM_TOOLS_TRUST_H
#define TXM_TOOLS_TRUST_H
#include <stdbool.h>

#include "txtile/status.h"

/* Whether the settings file at `path`, found by a search, is used. *trusted is false, with one warning per file, if
 * another user put it into a folder that everybody may write to, such as /tmp. Fails if this cannot be determined:
 * NO_MEMORY, or as stat(2) does. */
txm_status txm_settings_trust(const char *path, bool *trusted, txm_error *err);
#endif
