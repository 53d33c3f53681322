/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and reading a config that the user named: a file, an archive or an `ocio://` name. A config that was named
 * and cannot be used is an error: another one in its place would give other pixels under the same settings.
 */
#include "color/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/mem.h"
#include "core/path.h"

#define ADVICE "name another one with --ocio, or leave out --ocio and $OCIO for the built-in config"

/* Real configs are below 1 MB; their tables are files of their own. */
enum { MAX_CONFIG_BYTES = 16 << 20 };

const char *txm_color_origin(const txm_color_options *options)
{
    const char *env = options && options->ignore_environment ? NULL : getenv("OCIO");
    if (options && options->ocio_path)
        return options->ocio_path;
    return env && *env ? env : NULL;
}

static txm_status read_all(int fd, const char *path, txm_bytes *text, txm_error *err)
{
    char chunk[65536];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return txm_fail(err, TXM_CONFIG, "%s: the OCIO config cannot be read: %s; " ADVICE, path, strerror(errno));
        if (text->size + (size_t)n > MAX_CONFIG_BYTES)
            return txm_fail(err, TXM_CONFIG, "%s: larger than %d MiB, so not an OCIO config; " ADVICE, path,
                            MAX_CONFIG_BYTES >> 20);
        if (!txm_bytes_add(text, chunk, (size_t)n))
            return txm_fail(err, TXM_NO_MEMORY, "%s: out of memory for the OCIO config", path);
    }
    return TXM_OK;
}

static txm_status read_file(const char *path, txm_bytes *text, txm_error *err)
{
    struct stat st;
    /* A pipe nobody writes to must not hang the program. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail(err, TXM_CONFIG, "%s: the OCIO config cannot be opened: %s; " ADVICE, path, strerror(errno));
    txm_status status;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_CONFIG, "%s: not a regular file, so not an OCIO config; " ADVICE, path);
    else
        status = read_all(fd, path, text, err);
    close(fd);
    return status;
}

static bool is_archive(const char *name, const txm_bytes *text)
{
    return txm_path_has_ext(name, "ocioz") || (text->size >= 4 && memcmp(text->data, "PK\3\4", 4) == 0);
}

static txm_status load_from_library(txm_color_config *config, const char *kind, txm_error *err)
{
    unsigned major, minor;
    txm_ocio_newest_profile(&major, &minor);
    if (!txm_ocio_has_archives())
        return txm_fail(err, TXM_CONFIG,
                        "%s: %s need OpenColorIO 2.2 or newer, and this txmill has %u.%u; unpack or export it to a "
                        "config.ocio file, " ADVICE,
                        config->name, kind, major, minor);
    txm_status status = txm_ocio_from_library(config->name, &config->ocio, err);
    return status == TXM_OK ? status : txm_error_prefix(err, "%s: not a usable OCIO config", config->name);
}

static txm_status load_text(txm_color_config *config, const txm_bytes *text, txm_error *err)
{
    char *folder = txm_path_dir(config->name);
    txm_status status;
    if (!folder)
        return txm_fail(err, TXM_NO_MEMORY, "%s: out of memory for the OCIO config", config->name);
    status = txm_ocio_from_text(text->data, text->size, folder, &config->ocio, err);
    free(folder);
    return status == TXM_OK ? status : txm_error_prefix(err, "%s: not a usable OCIO config", config->name);
}

txm_status txm_color_load_origin(txm_color_config *config, const char *origin, txm_error *err)
{
    txm_bytes text = {0};
    config->name = txm_strdup(origin);
    if (!config->name)
        return txm_fail(err, TXM_NO_MEMORY, "%s: out of memory for the OCIO config", origin);
    if (strncmp(origin, "ocio://", 7) == 0)
        return load_from_library(config, "ocio:// names", err);
    txm_status status = read_file(origin, &text, err);
    if (status == TXM_OK && is_archive(origin, &text))
        status = load_from_library(config, "config archives (.ocioz)", err);
    else if (status == TXM_OK)
        status = load_text(config, &text, err);
    txm_bytes_free(&text);
    return status;
}
