/* SPDX-License-Identifier: Apache-2.0
 *
 * From an image to its tx file, for programs that have no colour config.
 *
 * In: an image's path, and the scene's settings for it in Blender's words. Out: the key that follows from these words
 * (name.h), and with it the file's path or its state. Facts that depend on a config (which spaces are data, the matrix
 * of the working space) are known for Blender's own; for other configs the caller provides them.
 */
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/path.h"
#include "tile/name/lookup.h"
#include "tile/name/name.h"
#include "tile/reader/blender_format.h"
#include "txtile/name.h"

void txm_tx_wanted_init_sized(txm_tx_wanted *wanted, size_t struct_size)
{
    const txm_tx_wanted all = {.struct_size = struct_size, .colorspace = "sRGB", .alpha = TXM_ALPHA_STRAIGHT};
    txm_options_open(wanted, struct_size, &all, sizeof all);
}

/* The data space of Blender's config under all its names, which OpenColorIO takes in any case. */
static bool is_blender_data(const char *name)
{
    static const char *const names[] = {"Non-Color", "Generic Data", "Non-Colour Data", "Raw", "Utility - Raw", "data"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcasecmp(name, names[i]))
            return true;
    return false;
}

/* Twelve numbers with an underscore between each two, as printf's %.4g writes them. */
static bool is_matrix_text(const char *text)
{
    unsigned numbers = 0;
    for (;;) {
        size_t digits = strspn(text, "0123456789+-.e");
        if (!digits || digits > 16 || !strpbrk(text, "0123456789"))
            return false;
        numbers++;
        text += digits;
        if (!*text)
            return numbers == 12;
        if (*text++ != '_')
            return false;
    }
}

/* NULL: neither a name nor a matrix. */
static const char *xyz_text_of(const char *working_space)
{
    const txm_blender_space *s;
    if (!working_space || !*working_space)
        return txm_blender_space_at(0)->xyz_text;
    for (unsigned i = 0; (s = txm_blender_space_at(i)); i++)
        if (!strcasecmp(working_space, s->name) || !strcasecmp(working_space, s->interop_id))
            return s->xyz_text;
    return is_matrix_text(working_space) ? working_space : NULL;
}

/* What both public functions begin with. The key's strings belong to `w`, or are constant. */
static txm_status take_wanted(const char *image, const txm_tx_wanted *given, txm_tx_wanted *w, txm_tx_key *key,
                              txm_error *err)
{
    txm_tx_wanted_init(w);
    txm_status status = txm_options_take(w, sizeof *w, given, "txm_tx_wanted", err);
    if (status != TXM_OK)
        return status;
    if (!image || !*image)
        return txm_fail(err, TXM_STATUS_USAGE, "no image given: its path is empty");
    if (!w->colorspace || !*w->colorspace)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: no colour space given; give the one that the scene names, such as \"sRGB\"", image);
    if (w->alpha == TXM_ALPHA_DEFAULT || (unsigned)w->alpha > TXM_ALPHA_AUTO)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no alpha mode given; give the one that the scene names", image);
    *key = (txm_tx_key){.xyz_text = xyz_text_of(w->working_space),
                        .colorspace = w->data || is_blender_data(w->colorspace) ? "data"
                                      : strcmp(w->colorspace, "auto") == 0      ? ""
                                                                                : w->colorspace,
                        .alpha = w->alpha,
                        .equiangular = w->equiangular};
    if (!key->xyz_text)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: '%s' is not one of Blender's working spaces (Linear Rec.709, Linear Rec.2020, ACEScg); "
                        "for another, give the 12 numbers that 'txmill colorspaces' prints",
                        image, w->working_space);
    return TXM_OK;
}

txm_status txm_tx_path_of(const char *image, const txm_tx_wanted *wanted, char **path, txm_error *err)
{
    txm_tx_wanted own;
    txm_tx_key key;
    txm_error_clear(err);
    *path = NULL;
    txm_status status = take_wanted(image, wanted, &own, &key, err);
    if (status == TXM_OK && !(*path = txm_tx_path(image, own.cache_dir, &key)))
        status = txm_path_absolute_failed(image, err);
    return status;
}

txm_status txm_tx_find(const char *image, const txm_tx_wanted *wanted, txm_found *found, txm_error *err)
{
    txm_tx_wanted own;
    txm_tx_key key;
    txm_error_clear(err);
    *found = (txm_found){0};
    txm_status status = take_wanted(image, wanted, &own, &key, err);
    return status == TXM_OK ? txm_tx_lookup(image, own.cache_dir, &key, NULL, found, err) : status;
}
