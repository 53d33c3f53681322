/* SPDX-License-Identifier: Apache-2.0
 *
 * The names and roles of the built-in config. The tables are generated at build time by OpenColorIO itself
 * (generate/known.c), so that lookups need not load the library.
 */
#include "mill/color/known.h"

#include "base/text.h"
#include "color/known.inc"

const char *txm_known_role_space(const txm_known_config *known, const char *role)
{
    for (size_t i = 0; i < known->role_count; i++)
        if (txm_casecmp(known->roles[i].name, role) == 0)
            return known->roles[i].space;
    return NULL;
}

const char *txm_known_canonical(const txm_known_config *known, const char *name)
{
    for (size_t i = 0; i < known->space_count; i++) {
        const txm_known_space *space = &known->spaces[i];
        if (txm_casecmp(space->name, name) == 0)
            return space->name;
        for (const char *const *alias = space->aliases; *alias; alias++)
            if (txm_casecmp(*alias, name) == 0)
                return space->name;
    }
    return txm_known_role_space(known, name);
}
