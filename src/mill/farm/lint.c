/* SPDX-License-Identifier: Apache-2.0
 *
 * Suspicions come from the name, the header and the settings. Those about pixels (opaque alpha, grey, widened 8 bits)
 * are refuted by the first row that contradicts them, so that most images are not read to their end.
 */
#include "mill/farm/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/rules/kind.h"
#include "mill/source/defaults.h"
#include "mill/source/source.h"
#include "tile/terms/settings.h"
#include "txmill/inspect.h"

/* Rows that are read at a time, and the edge beyond which an image is large for a texture. */
enum { ROWS = 64, TOLD_ROWS = 8 * ROWS, LARGE_PX = 16384 };

static const struct {
    txm_lint bit;
    const char *id, *text;
} findings_table[] = {
    {TXM_LINT_DATA_AS_COLOR, "data-as-color",
     "named like a map without colours (normal, roughness ...), but set to a colour space; Non-Color is usual"},
    {TXM_LINT_COLOR_AS_DATA, "color-as-data", "named like a colour map, but set to Non-Color"},
    {TXM_LINT_WIDE, "wide-8-bit", "16 bits per sample, but its content has 8: it takes twice the memory for no gain"},
    {TXM_LINT_OPAQUE, "opaque-alpha", "its alpha is 1 everywhere"},
    {TXM_LINT_GREY, "grey-rgb", "its three colour channels are the same everywhere"},
    {TXM_LINT_LARGE, "large", "wider or higher than 16384 pixels"},
};

static const char *word_of(txm_lint finding, bool text)
{
    for (size_t i = 0; i < sizeof findings_table / sizeof *findings_table; i++)
        if (findings_table[i].bit == finding)
            return text ? findings_table[i].text : findings_table[i].id;
    return "";
}

const char *txm_lint_name(txm_lint finding)
{
    return word_of(finding, false);
}

const char *txm_lint_text(txm_lint finding)
{
    return word_of(finding, true);
}

unsigned txm_lint_settings(const char *path, const char *detected, uint32_t width, uint32_t height)
{
    txm_map_kind kind = txm_map_kind_of(path);
    bool data = strcmp(detected, "data") == 0, linear = strcmp(detected, "scene_linear") == 0;
    unsigned findings = 0;
    /* A linear space does not change values either: maps in float formats have one by default. */
    if (kind > TXM_MAP_COLOR && !data && !linear)
        findings |= TXM_LINT_DATA_AS_COLOR;
    if (kind == TXM_MAP_COLOR && data)
        findings |= TXM_LINT_COLOR_AS_DATA;
    if (width > LARGE_PX || height > LARGE_PX)
        findings |= TXM_LINT_LARGE;
    return findings;
}

/* Compares bytes, not values: equal samples have equal bytes, except zeros with different signs. */
static bool rows_are_grey(const uint8_t *p, size_t pixels, unsigned channels, size_t sample)
{
    for (size_t i = 0; i < pixels; i++, p += channels * sample)
        if (memcmp(p, p + sample, sample) != 0 || memcmp(p, p + 2 * sample, sample) != 0)
            return false;
    return true;
}

/* Alpha must equal the largest value exactly. */
static bool rows_are_opaque(const uint8_t *p, size_t pixels, unsigned channels, txm_type type)
{
    static const uint16_t one_u16 = 65535, one_half = 0x3C00;
    static const uint8_t one_u8 = 255;
    static const float one_float = 1.0f;
    const void *const ones[] = {&one_u8, &one_u16, &one_half, &one_float};
    size_t sample = txm_type_bytes(type);
    p += (channels - 1) * sample;
    for (size_t i = 0; i < pixels; i++, p += channels * sample)
        if (memcmp(p, ones[type], sample) != 0)
            return false;
    return true;
}

/* Values were widened from 8 bits by multiplying with 257, which is correct, or with 256. */
static bool rows_are_widened(const uint8_t *p, size_t samples)
{
    bool doubled = true, shifted = true;
    for (size_t i = 0; i < samples && (doubled || shifted); i++) {
        doubled &= p[2 * i] == p[2 * i + 1];
        shifted &= p[2 * i] == 0;
    }
    return doubled || shifted;
}

txm_status txm_lint_pixels(const txm_context *context, const char *path, const volatile int *cancel, bool whole,
                           unsigned *findings, txm_error *err)
{
    const txm_source_options options = {.max_memory_bytes = context ? context->max_memory_bytes : 0};
    txm_source *source = NULL;
    uint8_t *rows = NULL;
    txm_status status = txm_source_open(path, &options, &source, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *info = txm_source_info_of(source);
    const size_t sample = txm_type_bytes(info->type);
    /* The suspicions that the header does not rule out; rows can only refute them. */
    unsigned left = (info->type == TXM_TYPE_U16 ? TXM_LINT_WIDE : 0u) |
                    (info->file_channels == 2 || info->file_channels == 4 ? TXM_LINT_OPAQUE : 0u) |
                    (info->channels >= 3 ? TXM_LINT_GREY : 0u);
    size_t stride = (size_t)info->width * info->channels * sample;
    if ((left || whole) && !(rows = txm_alloc_pixels(ROWS, stride)))
        status = txm_no_memory(err, path);
    for (uint32_t y = 0; status == TXM_OK && (left || whole) && y < info->height; y += ROWS) {
        uint32_t count = info->height - y < ROWS ? info->height - y : ROWS;
        size_t pixels = (size_t)info->width * count;
        status = txm_is_cancelled(cancel) ? txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", path)
                                          : txm_source_read(source, y, count, rows, stride, err);
        if (status == TXM_OK && left & TXM_LINT_WIDE && !rows_are_widened(rows, pixels * info->channels))
            left &= ~(unsigned)TXM_LINT_WIDE;
        if (status == TXM_OK && left & TXM_LINT_OPAQUE && !rows_are_opaque(rows, pixels, info->channels, info->type))
            left &= ~(unsigned)TXM_LINT_OPAQUE;
        if (status == TXM_OK && left & TXM_LINT_GREY && !rows_are_grey(rows, pixels, info->channels, sample))
            left &= ~(unsigned)TXM_LINT_GREY;
        if (context && context->part && y % TOLD_ROWS == 0)
            context->part(context->part_user, y, info->height);
    }
    if (status == TXM_OK)
        *findings |= left;
    free(rows);
    txm_source_close(&source);
    return status;
}

txm_status txm_lint_image(const txm_color_config *config, const char *path, const char *colorspace,
                          const volatile int *cancel, unsigned *findings, txm_error *err)
{
    txm_error_clear(err);
    const txm_color_space *space = NULL;
    txm_source *source = NULL;
    *findings = 0;
    txm_status status = TXM_OK;
    const char *name;
    const txm_space_choice choice = txm_space_chosen(colorspace, &name);
    if (choice == TXM_SPACE_DEFAULT)
        status = txm_image_defaults(config, path, &name, NULL, err);
    if (status == TXM_OK)
        status = txm_source_open(path, NULL, &source, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *info = txm_source_info_of(source);
    if (choice == TXM_SPACE_UNSET)
        name = "scene_linear";
    if (choice == TXM_SPACE_AUTO && !(name = txm_source_auto_space(info, config)))
        status = txm_fail(err, TXM_STATUS_COLORSPACE, "%s: the OCIO config %s has no role for colour space auto", path,
                          txm_color_config_name(config));
    if (status == TXM_OK)
        status = txm_color_find(config, name, &space, err);
    if (status != TXM_OK) {
        txm_source_close(&source);
        return status;
    }
    *findings = txm_lint_settings(path, txm_color_space_detected(space), info->width, info->height);
    txm_source_close(&source);
    return txm_lint_pixels(NULL, path, cancel, false, findings, err);
}
