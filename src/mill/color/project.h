/* SPDX-License-Identifier: Apache-2.0
 *
 * Projects of Blender 5.3: .blender_project/project.toml in a folder above a scene may name an OpenColorIO config.
 */
#ifndef TXM_COLOR_PROJECT_H
#define TXM_COLOR_PROJECT_H
#include "txmill/color.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *config: what the project at this path names, a path or an ocio:// name, owned by the caller; NULL if it names none,
 * or if Blender takes no notice of the project. CONFIG with the reason if it cannot be used; NO_MEMORY. */
txm_status txm_blender_project_config(const char *path, char **config, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
