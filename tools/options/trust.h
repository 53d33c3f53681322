/* SPDX-License-Identifier: Apache-2.0
 * Whose settings files are obeyed. */
#ifndef TXM_TOOLS_TRUST_H
#define TXM_TOOLS_TRUST_H
#include <stdbool.h>

/* Whether the settings file at `path`, which a search came across, may decide what a run does. False, with a warning
 * once a file, where somebody else put it into a folder that everybody may write, such as /tmp. */
bool txm_settings_trusted(const char *path);
#endif
