/* SPDX-License-Identifier: Apache-2.0
 * Whose settings files are obeyed. */
#ifndef TXM_TOOLS_TRUST_H
#define TXM_TOOLS_TRUST_H
#include <stdbool.h>

#include "txtile/status.h"

/* Whether the settings file at `path`, which a search came across, may decide what a run does. *trusted is false, with
 * a warning once a file, where somebody else put it into a folder that everybody may write, such as /tmp. Fails where
 * that cannot be found out: NO_MEMORY, or as stat(2) does. */
txm_status txm_settings_trust(const char *path, bool *trusted, txm_error *err);
#endif
