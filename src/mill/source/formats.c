/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks formats up in the table of format_table.h.
 */
#include "mill/source/formats.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "mill/source/readers.h"

#define MAGIC(at, text) {.bytes = text, .offset = at, .size = sizeof text - 1},
#define PNM(kinds) {.digits = kinds},
#define DIRECT(own, oiio_name, a_noun, sources, others, its_role, its_traits, its_ratio, its_magics)                   \
    {oiio_name, a_noun, sources, others, its_role, its_traits, its_ratio, &txm_##own##_reader, {its_magics}},
#define FORMAT(oiio_name, a_noun, sources, others, its_role, its_traits, its_ratio, its_magics)                        \
    {oiio_name, a_noun, sources, others, its_role, its_traits, its_ratio, NULL, {its_magics}},
static const txm_image_format formats[] = {
#include "mill/source/format_table.h"
};
enum { FORMATS = sizeof formats / sizeof *formats };

const txm_image_format *txm_format_named(const char *name)
{
    static const txm_image_format unknown = {
        .name = "", .noun = "", .extensions = "", .also = "", .role = TXM_ROLE_BY_FLOATNESS};
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return &unknown;
}

static bool begins_with(const txm_format_magic *m, const char *head, size_t bytes)
{
    if (m->digits) /* the digit must be followed by text, since "P5" alone begins many files */
        return bytes > 2 && head[0] == 'P' && head[1] && strchr(m->digits, head[1]) && head[2] &&
               strchr(" \t\n\v\f\r#", head[2]);
    return m->bytes && bytes >= (size_t)m->offset + m->size && memcmp(head + m->offset, m->bytes, m->size) == 0;
}

const txm_image_format *txm_format_of_head(const void *head, size_t bytes)
{
    for (size_t i = 0; i < FORMATS; i++)
        for (size_t m = 0; m < TXM_FORMAT_MAGICS; m++)
            if (begins_with(&formats[i].magics[m], head, bytes))
                return &formats[i];
    return NULL;
}

/* Whether `ext`, without a dot and in any case, is among the words of a list, or the first of them. */
static bool lists_extension(const char *list, const char *ext, bool first)
{
    size_t bytes = strlen(ext);
    while (*list) {
        size_t n = strcspn(list, " ");
        if (n == bytes && txm_ncasecmp(list, ext, n) == 0)
            return true;
        list += n + (list[n] == ' ');
        if (first)
            break;
    }
    return false;
}

const txm_image_format *txm_format_of_source(const char *path, bool first)
{
    const char *ext = txm_path_ext(path);
    for (size_t i = 0; *ext && i < FORMATS; i++)
        if (lists_extension(formats[i].extensions, ext + 1, first))
            return &formats[i];
    return NULL;
}

const txm_image_format *txm_format_of_picture(const char *path)
{
    const txm_image_format *format = txm_format_of_source(path, false);
    const char *ext = txm_path_ext(path);
    for (size_t i = 0; !format && *ext && i < FORMATS; i++)
        if (lists_extension(formats[i].also, ext + 1, false))
            format = &formats[i];
    return format;
}

size_t txm_format_extension_bytes(const txm_image_format *format)
{
    return strcspn(format->extensions, " ");
}

/* Decides by extension alone, because opening every file of a project would take minutes. */
bool txm_is_image_name(const char *path)
{
    return path && txm_format_of_source(path, false);
}

const char *txm_image_extensions(size_t index)
{
    return index < FORMATS ? formats[index].extensions : NULL;
}

const char *txm_image_noun(const void *head, size_t bytes)
{
    const txm_image_format *format = head ? txm_format_of_head(head, bytes) : NULL;
    return format ? format->noun : NULL;
}

bool txm_picture_is_for_viewing(const char *name)
{
    const txm_image_format *format = name ? txm_format_of_picture(name) : NULL;
    return !format || !(format->traits & TXM_FORMAT_STORES);
}
