/* SPDX-License-Identifier: Apache-2.0
 *
 * Generates the tables that known.c includes: OpenColorIO's answers about the built-in config. It is linked with the
 * library in place of known.c, so that the config is really loaded. Anything that the tables cannot represent fails
 * the build.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mill/color/config.h"
#include "mill/color/known.h"

const txm_known_config txm_builtin_known = {.version = ""};

/* The two functions of known.c that config.c needs. The empty table makes config.c load the config, so they are never
 * called. */
const char *txm_known_canonical(const txm_known_config *known, const char *name)
{
    (void)known, (void)name;
    abort();
}

const char *txm_known_role_space(const txm_known_config *known, const char *role)
{
    (void)known, (void)role;
    abort();
}

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "the built-in OCIO config: %s: %s\n", what, why);
    exit(1);
}

/* Names are ASCII, in which only quotes and backslashes need escaping. */
static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

/* Spaces are in the library's order. Each has an array of aliases of its own, because C has no nested arrays of
 * different lengths; NULL ends it. They come first, since the table of spaces refers to them. A space is built to find
 * its class, as in a conversion. */
static void print_spaces(const txm_color_config *config)
{
    static const char *const classes[] = {"TXM_COLOR_CLASS_DATA", "TXM_COLOR_CLASS_SCENE_LINEAR",
                                          "TXM_COLOR_CLASS_SRGB", "TXM_COLOR_CLASS_OTHER"};
    const txm_ocio *ocio = config->library->ocio;
    txm_ocio_space space;
    for (size_t i = 0; i < txm_ocio_count(ocio); i++) {
        txm_ocio_space_at(ocio, i, &space);
        printf("static const char *const aliases_%zu[] = {", i);
        for (size_t a = 0; a < space.aliases; a++) {
            print_string(txm_ocio_alias_at(ocio, i, a));
            printf(", ");
        }
        printf("NULL};\n");
    }
    printf("static const txm_known_space spaces[] = {\n");
    for (size_t i = 0; i < txm_ocio_count(ocio); i++) {
        const txm_color_space *built = NULL;
        txm_error err = {0};
        txm_ocio_space_at(ocio, i, &space);
        if (txm_color_find(config, space.name, &built, &err))
            fail(space.name, err.message);
        printf("    {");
        print_string(space.name);
        printf(", ");
        print_string(space.family);
        printf(", ");
        print_string(space.description);
        printf(", aliases_%zu, %s, %s},\n", i, space.is_data ? "true" : "false", classes[built->color_class]);
    }
    printf("};\nstatic const txm_known_role roles[] = {\n");
    /* A role is stored with the canonical name of its space, so that aliases need not be resolved again. */
    for (size_t i = 0; i < txm_ocio_role_count(ocio); i++) {
        const char *role = txm_ocio_role_at(ocio, i), *name = txm_ocio_canonical(ocio, txm_ocio_role(ocio, role));
        if (!name)
            fail(role, "a role without a colour space");
        printf("    {");
        print_string(role);
        printf(", ");
        print_string(name);
        printf("},\n");
    }
    printf("};\n");
}

/* Prints C, which module.mk stores where known.c includes it. Environment variables are ignored, since the build must
 * not depend on them. The matrix is printed in hexadecimal, so that the table has exactly its bits. */
int main(void)
{
    const txm_color_options options = {.struct_size = sizeof(txm_color_options),
                                       .ignore_environment = true,
                                       .blender = txm_blender_versions()[TXM_RELEASE_COUNT - 1]};
    txm_color_config *config = NULL;
    txm_error err = {0};
    if (txm_color_load(&options, &config, &err))
        fail("loading", err.message);
    if (txm_color_file_rule(config, "a.png"))
        fail("file rules", "the table holds none");
    printf("/* Made by generate/known.c. */\n");
    print_spaces(config);
    printf("const txm_known_config txm_builtin_known = {\"%s\", spaces, %zu, roles, %zu, {",
           txm_color_config_version(config), txm_ocio_count(config->library->ocio),
           txm_ocio_role_count(config->library->ocio));
    for (int i = 0; i < 12; i++)
        printf("%s%af", i ? ", " : "", (double)config->matrix[i]);
    printf("}};\n");
    txm_color_free(&config);
    return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
