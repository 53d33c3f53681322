/* SPDX-License-Identifier: Apache-2.0
 *
 * Globs. fnmatch(3) compares components (it works on bytes, since the program stays in the C locale); `**` and the
 * rule for where a glob may begin are implemented here. Both the glob and the path are split at their slashes. After
 * each component of the glob it is known which components of the path were reached, so that `**` costs no more than
 * any other component and nothing is tried twice.
 */
#include "mill/rules/glob.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "base/path.h"

/* The longest component: file systems allow 255 bytes, globs may be longer. Paths end at 4096 bytes. */
enum { COMPONENT_BYTES = 1024, MAX_COMPONENTS = 2048 };

/* Copies the component at `p`; false if it is longer than any that could match. */
static bool take_component(const char *p, size_t n, char out[COMPONENT_BYTES])
{
    if (n >= COMPONENT_BYTES)
        return false;
    memcpy(out, p, n);
    out[n] = 0;
    return true;
}

/* Case is ignored, since textures come from systems on which wood.PNG and wood.png are the same file. */
static bool component_matches(const char *glob, size_t glob_bytes, const char *name, size_t name_bytes)
{
    char g[COMPONENT_BYTES], n[COMPONENT_BYTES];
    return take_component(glob, glob_bytes, g) && take_component(name, name_bytes, n) &&
           fnmatch(g, n, FNM_CASEFOLD) == 0;
}

/* The start of the component after the one that ends at `end`. */
static const char *skip_component(const char *p, size_t n)
{
    p += n;
    return p + strspn(p, "/");
}

/* reach[i]: the components of the glob so far match the path's first i. There is one pass per component of the glob, so
 * that the time is at most the product of both lengths, however many `**` there are. */
bool txm_glob_match(const char *glob, const char *path)
{
    if (!strchr(glob, '/')) {
        const char *base = txm_path_base(path);
        return component_matches(glob, strlen(glob), base, strlen(base));
    }
    const char *parts[MAX_COMPONENTS];
    size_t bytes[MAX_COMPONENTS], count = 0;
    for (const char *p = path + strspn(path, "/"); *p && count < MAX_COMPONENTS; count++) {
        parts[count] = p;
        bytes[count] = strcspn(p, "/");
        p = skip_component(p, bytes[count]);
    }
    bool reach[MAX_COMPONENTS + 1] = {true};
    /* Anchored globs begin at the root, others at any component. */
    for (size_t i = 1; i <= count && glob[0] != '/'; i++)
        reach[i] = true;
    for (const char *g = glob + strspn(glob, "/"); *g;) {
        size_t n = strcspn(g, "/");
        if (n == 2 && memcmp(g, "**", 2) == 0) {
            for (size_t i = 1; i <= count; i++)
                reach[i] = reach[i] || reach[i - 1];
        } else {
            for (size_t i = count; i > 0; i--)
                reach[i] = reach[i - 1] && component_matches(g, n, parts[i - 1], bytes[i - 1]);
            reach[0] = false;
        }
        g = skip_component(g, n);
    }
    return reach[count];
}
