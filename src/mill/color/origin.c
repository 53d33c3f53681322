/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds and reads a config that the user named: a file, an archive or an `ocio://` name. A config that was named and
 * cannot be used is an error, since another one in its place would give other pixels with the same settings. Failures
 * that a retry may cure (a share that does not respond) are distinguished from others (a syntax error).
 */
#include "mill/color/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/whole.h"
#include "mill/color/scan.h"

const char *txm_color_variable(void)
{
    return getenv("BLENDER_OCIO") ? "BLENDER_OCIO" : getenv("OCIO") ? "OCIO" : NULL;
}

static void append(txm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends an explanation to a message of the library, which has no advice yet. */
static void append(txm_error *err, const char *format, ...)
{
    if (!err)
        return;
    size_t used = strlen(err->message);
    va_list args;
    va_start(args, format);
    txm_vformat(err->message + used, sizeof err->message - used, format, args);
    va_end(args);
}

/* Failures that a retry may cure keep their status; all others are CONFIG. */
static txm_status unreadable(const char *path, const char *what, txm_error *err)
{
    txm_error why = {0};
    txm_status status = txm_fail_errno(&why, errno, "%s: the OCIO config cannot be %s", path, what);
    return txm_fail_with(err, txm_status_retryable(status) ? status : TXM_STATUS_CONFIG, &why);
}

/* The library resolves names and archives itself. A name that an older library than Blender's does not know may be
 * known to Blender. */
static txm_status load_from_library(txm_color_config *config, const char *kind, bool *broken, txm_error *err)
{
    unsigned major, minor;
    const char *blenders = TXM_RELEASE(config->blender, opencolorio);
    txm_ocio_newest_profile(&major, &minor);
    *broken = strncmp(config->name, "ocio://", 7) != 0 ? access(config->name, R_OK) != 0
                                                       : strncmp(txm_ocio_version(), blenders, strlen(blenders)) == 0;
    if (!txm_ocio_has_archives())
        return txm_fail(err, TXM_STATUS_CONFIG,
                        "%s: %s need OpenColorIO 2.2 or newer, and this txmill has %u.%u; unpack or export it to a "
                        "config.ocio file",
                        config->name, kind, major, minor);
    txm_status status = txm_ocio_from_library(config->name, &config->library->ocio, err);
    if (status != TXM_OK)
        txm_error_prefix(err, "%s: not a usable OCIO config", config->name);
    return status;
}

/* The text is scanned before it is parsed; scan.c says why. Of a newer config, the part that the library supports is
 * loaded. */
static txm_status load_text(txm_color_config *config, const txm_bytes *text, bool *broken, txm_error *err)
{
    txm_config_scan scan;
    unsigned major, minor;
    char *folder = txm_path_dir(config->name);
    if (!folder)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory for the OCIO config", config->name);
    txm_ocio_newest_profile(&major, &minor);
    txm_status status = txm_config_scan_text(text->data, text->size, &scan, err);
    const bool newer = status == TXM_OK && (scan.major > major || (scan.major == major && scan.minor > minor));
    *broken = !newer;
    if (newer && scan.major != major) {
        status = txm_fail(err, TXM_STATUS_CONFIG, "its profile version is %u.%u, and OpenColorIO %u.%u reads up to %u",
                          scan.major, scan.minor, major, minor, major);
    } else if (newer) {
        snprintf(config->version, sizeof config->version, "%u.%u", scan.major, scan.minor);
        status = txm_color_load_reduced(text->data, text->size, folder, &config->library->ocio, &config->missing,
                                        &config->left_out, err);
        if (status == TXM_STATUS_CONFIG)
            append(err, " (the config has profile version %u.%u, newer than OpenColorIO %u.%u)", scan.major, scan.minor,
                   major, minor);
    } else if (status == TXM_OK)
        status = txm_ocio_from_text(text->data, text->size, folder, false, &config->library->ocio, err);
    free(folder);
    /* Another kind of file, which settings from elsewhere may have named, is not quoted. */
    if (status == TXM_STATUS_CONFIG && !strstr(text->data, "ocio_profile_version")) {
        txm_error_clear(err);
        if (txm_is_pointer(text->data, text->size))
            return txm_fail(err, status, TXM_POINTER_MESSAGE, config->name);
        return txm_fail(err, status, "%s: not a usable OCIO config: it has no ocio_profile_version", config->name);
    }
    if (status != TXM_OK)
        txm_error_prefix(err, "%s: not a usable OCIO config", config->name);
    return status;
}

txm_status txm_color_load_origin(txm_color_config *config, const char *origin, bool *broken, txm_error *err)
{
    struct stat st;
    txm_status status;
    *broken = false;
    config->name = txm_strdup(origin);
    if (!config->name)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory for the OCIO config", origin);
    if (strncmp(origin, "ocio://", 7) == 0) {
        status = load_from_library(config, "ocio:// names", broken, err);
    } else if (txm_path_has_ext(origin, "ocioz")) {
        status = stat(origin, &st) == 0 && !S_ISREG(st.st_mode)
                     ? txm_fail(err, TXM_STATUS_CONFIG, "%s: not a regular file, so not an OCIO config", origin)
                     : load_from_library(config, "config archives (.ocioz)", broken, err);
    } else {
        /* The size is bounded, so that /dev/zero does not fill memory; opening a pipe without a writer must not hang.
         * The parser's message for an empty file is unclear, so this is checked here. */
        txm_bytes text = {0};
        char chunk[65536];
        int64_t n = 0;
        const int fd = open(origin, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        *broken = true;
        status = fd < 0                ? unreadable(origin, "opened", err)
                 : fstat(fd, &st) != 0 ? unreadable(origin, "examined", err)
                 : !S_ISREG(st.st_mode)
                     ? txm_fail(err, TXM_STATUS_CONFIG, "%s: not a regular file, so not an OCIO config", origin)
                     : TXM_OK;
        while (status == TXM_OK && (n = txm_read_most(fd, chunk, sizeof chunk)) != 0)
            if (n < 0)
                status = unreadable(origin, "read", err);
            else if (text.size + (size_t)n > TXM_CONFIG_MAX_BYTES)
                status = txm_fail(err, TXM_STATUS_CONFIG, "%s: larger than %d MiB, so not an OCIO config", origin,
                                  TXM_CONFIG_MAX_BYTES >> 20);
            else if (!txm_bytes_add(&text, chunk, (size_t)n))
                status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory for the OCIO config", origin);
        if (fd >= 0)
            close(fd);
        if (status == TXM_OK && text.size == 0)
            status = txm_fail(err, TXM_STATUS_CONFIG, "%s: empty, so not an OCIO config", origin);
        if (status == TXM_OK)
            status = load_text(config, &text, broken, err);
        txm_bytes_free(&text);
    }
    *broken = *broken && status == TXM_STATUS_CONFIG;
    return status;
}

void txm_color_advise(txm_error *err)
{
    txm_error_advise(err, "name another one with --ocio, or leave out --ocio, and unset $BLENDER_OCIO and $OCIO, for "
                          "the built-in config");
}
