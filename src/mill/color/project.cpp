/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a project with toml++, as official Blender 5.3.0 does: a file that lacks the integer schema_version, at most 1,
 * or a name does not count. The library bounds how deeply values are nested, but not how many parts a key has, each of
 * which is a table in the one before; these and the size are bounded here.
 */
#include "txmill/color.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/fail.h"

static const char folder_name[] = "/.blender_project/project.toml";
enum { MAX_BYTES = 1 << 20, MAX_DOTS = 10000, NEWEST_SCHEMA = 1 };

bool txm_color_is_project(const char *path)
{
    const size_t n = path ? strlen(path) : 0, m = sizeof folder_name - 1;
    return (n >= m && strcmp(path + n - m, folder_name) == 0) || (n == m - 1 && strcmp(path, folder_name + 1) == 0);
}

/* Opening a pipe without a writer must not hang. */
static txm_status read_text(const char *path, std::string &text, txm_error *err)
{
    struct stat st;
    char chunk[16384];
    ssize_t n = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail(err, TXM_STATUS_CONFIG, "%s: the Blender project cannot be opened: %s", path, strerror(errno));
    const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    try {
        while (regular && text.size() <= MAX_BYTES &&
               ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
            if (n > 0)
                text.append(chunk, static_cast<size_t>(n));
    } catch (...) {
        close(fd);
        throw;
    }
    close(fd);
    if (!regular || n < 0 || text.size() > MAX_BYTES)
        return txm_fail(err, TXM_STATUS_CONFIG, "%s: the Blender project %s", path,
                        !regular ? "is not a regular file"
                        : n < 0  ? "cannot be read"
                                 : "is larger than 1 MiB");
    return TXM_OK;
}

/* The folder that contains .blender_project, without a slash at its end. */
static std::string root_of(const std::string &path)
{
    const std::string folder = path.substr(0, path.size() - strlen("project.toml"));
    const size_t end = folder.size() - strlen(".blender_project/");
    return end > 1 ? folder.substr(0, end - 1) : end == 1 ? "" : ".";
}

static std::string with_root(std::string config, const std::string &root)
{
    static const std::string variable = "{project_root}";
    for (size_t at = 0; (at = config.find(variable, at)) != std::string::npos; at += root.size())
        config.replace(at, variable.size(), root);
    return config;
}

txm_status txm_color_project_config(const char *path, char **config, txm_error *err)
try {
    std::string text;
    txm_error_clear(err);
    *config = nullptr;
    const txm_status status = read_text(path, text, err);
    if (status != TXM_OK)
        return status;
    if (std::count(text.begin(), text.end(), '.') > MAX_DOTS)
        return txm_fail(err, TXM_STATUS_CONFIG,
                        "%s: the Blender project has more than %d dots, so its keys may be too long", path, MAX_DOTS);
    const toml::table project = toml::parse(text);
    const toml::value<int64_t> *schema = project["schema_version"].as_integer();
    const toml::value<std::string> *name = project["name"].as_string();
    const toml::node_view<const toml::node> named = project["ocio_config"];
    if (!schema || schema->get() > NEWEST_SCHEMA || !name || name->get().empty())
        return txm_fail(err, TXM_STATUS_CONFIG,
                        "%s: not a project for Blender, which needs a schema_version of at most %d and a name", path,
                        NEWEST_SCHEMA);
    if (named && !named.is_string())
        return txm_fail(err, TXM_STATUS_CONFIG, "%s: ocio_config is not a text in quotation marks", path);
    /* Blender ignores what follows a null character. */
    const std::string written = named.value_or(std::string()).c_str();
    if (written.empty())
        return TXM_OK;
    const std::string full = with_root(written, root_of(path));
    if (full[0] != '/' && full.compare(0, 7, "ocio://") != 0 && written[0] != '{')
        return txm_fail(err, TXM_STATUS_CONFIG, "%s: ocio_config is neither absolute nor below {project_root}", path);
    *config = strdup(full.c_str());
    return *config ? TXM_OK : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
} catch (const std::bad_alloc &) {
    return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory for the Blender project", path);
} catch (const toml::parse_error &e) {
    /* The description quotes the file, which may be a link to another. */
    return txm_fail(err, TXM_STATUS_CONFIG, "%s:%u: not TOML", path, static_cast<unsigned>(e.source().begin.line));
} catch (...) {
    return txm_fail(err, TXM_STATUS_CONFIG, "%s: the Blender project cannot be read", path);
}
