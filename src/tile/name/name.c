/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of tx files, as Cycles computes them.
 *
 * In: a source's path, its settings, and the matrix of the working space. Out: the text whose MD5 names the file,
 * exactly as Cycles composes it, since one different byte gives another name. Parsing goes the other way: it splits a
 * name into source, version and digest.
 */
#include "tile/name/name.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/md5.h"
#include "base/mem.h"
#include "base/path.h"
#include "tile/reader/blender_format.h"

enum { MD5_DIGITS = 32 };

/* Cycles treats an empty folder as its default. */
static bool is_default_dir(const char *cache_dir)
{
    return !cache_dir || !*cache_dir;
}

/* The digest is over everything that distinguishes tx files of one source: matrix, colour space, alpha, format, and for
 * an absolute cache folder the place of the source. NULL if memory is exhausted, or the current folder is unknown. */
char *txm_tx_path(const char *source_path, const char *cache_dir, const txm_tx_key *key)
{
    char hex[TXM_MD5_HEX];
    txm_bytes text = {0};
    bool absolute = !is_default_dir(cache_dir) && txm_path_is_absolute(cache_dir);
    char *source = absolute ? txm_path_absolute(source_path) : NULL;
    char *relative = source ? txm_path_relative(source, cache_dir) : NULL;
    bool ok =
        (!absolute || relative) &&
        txm_bytes_printf(&text, "xyz_to_scene_linear:%scolorspace:%salpha:%sformat:%s", key->xyz_text, key->colorspace,
                         txm_alpha_stored_name(key->alpha), key->equiangular ? "equiangular" : "plain") &&
        (!absolute || txm_bytes_printf(&text, "filepath:%s", relative));
    if (ok)
        txm_md5_hex(text.data, text.size, hex);
    free(source);
    free(relative);
    txm_bytes_free(&text);
    if (!ok)
        return NULL;
    char *name = txm_asprintf("%s.%u-%s.tx", txm_path_base(source_path), txm_blender_format_now()->version, hex);
    /* Files in the current folder have no "./" in front. */
    char *source_dir = strchr(source_path, '/') ? txm_path_dir(source_path) : txm_strdup("");
    char *dir = source_dir ? txm_path_join(source_dir, is_default_dir(cache_dir) ? "blender_tx" : cache_dir) : NULL;
    char *path = dir && name ? txm_path_join(dir, name) : NULL;
    free(dir);
    free(source_dir);
    free(name);
    return path;
}

/* Searches from the end, because the source's name may hold anything. */
bool txm_tx_name_parse(const char *tx_name, size_t *source_name_bytes, unsigned *version, char md5_hex[33])
{
    static const char extension[] = ".tx";
    size_t n = strlen(tx_name), tail = MD5_DIGITS + sizeof extension - 1;
    /* The name has at least "s.0-", then the digits and the extension. */
    if (n < tail + 4 || strcmp(tx_name + n - (sizeof extension - 1), extension) != 0)
        return false;
    const char *hex = tx_name + n - tail;
    if (hex[-1] != '-' || strspn(hex, "0123456789ABCDEF") != MD5_DIGITS)
        return false;
    /* The version's digits are before the dash and follow a dot. */
    const char *digits = hex - 1;
    while (digits > tx_name && digits[-1] >= '0' && digits[-1] <= '9' && hex - 1 - digits < 6)
        digits--;
    if (digits == hex - 1 || digits - tx_name < 2 || digits[-1] != '.')
        return false;
    const unsigned found = (unsigned)strtoul(digits, NULL, 10);
    const char *dot = digits - 1;
    *source_name_bytes = (size_t)(dot - tx_name);
    if (version)
        *version = found;
    if (md5_hex) {
        memcpy(md5_hex, hex, MD5_DIGITS);
        md5_hex[MD5_DIGITS] = 0;
    }
    return found == txm_blender_format_now()->version;
}

const char *txm_requested_word(const txm_tx_description *d)
{
    if (!strcmp(d->requested, "auto") || !strcmp(d->requested, "="))
        return "";
    if (!strncmp(d->requested, "==", 2))
        return d->requested + 2;
    return !strcmp(d->detected, "data") ? "data" : d->requested;
}

/* It is called only for files that state all of their settings, which ours do. */
bool txm_own_name_fits(const char *tx_path, const txm_tx_description *description, const char *source, const char *dir,
                       bool *exhausted)
{
    const txm_tx_description *d = description;
    const txm_tx_key key = {d->xyz_to_scene_linear, txm_requested_word(d), d->alpha, d->envlatl};
    if (!*d->requested || !*d->xyz_to_scene_linear || !d->has_alpha_type)
        return false;
    char *path = txm_tx_path(source, dir, &key);
    bool fits = path && !strcmp(txm_path_base(path), txm_path_base(tx_path));
    *exhausted = !path;
    free(path);
    return fits;
}
