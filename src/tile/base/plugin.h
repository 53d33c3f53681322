/* SPDX-License-Identifier: Apache-2.0
 * Where the parts lie that are loaded or started when they are needed. */
#ifndef TXM_BASE_PLUGIN_H
#define TXM_BASE_PLUGIN_H
#include "tile/base/shared.h"

/* The path of `file`: in the folder that $TXMILL_PLUGINS names, beside the library or the running program (a build
 * folder, an installation that was moved), or where it was installed. NULL when it is in none of them or memory is
 * exhausted; *looked_in (if not NULL; free it) then names them. */
TXM_SHARED char *txm_plugin_path(const char *file, char **looked_in);
#endif
