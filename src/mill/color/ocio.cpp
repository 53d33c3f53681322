/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements ocio.h in C++: every call catches all exceptions and turns them into a status, so that the rest of the
 * program, which is C, sees handles, statuses and messages only. Log messages of the library are collected and become
 * part of the message. If OpenColorIO runs out of memory it may abort the process; a hook then lets the program clean
 * up before.
 */
#include "mill/color/ocio.h"
#include "base/fail.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <OpenColorIO/OpenColorIO.h>
#include <sstream>
#include <streambuf>
#include <string>
#include <strings.h>
#include <vector>

#include "mill/color/references.h"

namespace OCIO = OCIO_NAMESPACE;

struct txm_ocio {
    OCIO::ConstConfigRcPtr config;
    /* They are held so that strings which were returned stay valid. */
    std::vector<OCIO::ConstColorSpaceRcPtr> spaces;
};

struct txm_ocio_processor {
    OCIO::ConstCPUProcessorRcPtr cpu;
};

namespace
{

/* Reads a config's text in place, whereas an istringstream would copy it. */
struct text_buffer : std::streambuf {
    text_buffer(const char *text, size_t size_bytes)
    {
        char *p = const_cast<char *>(text);
        setg(p, p, p + size_bytes);
    }
};

/* The library's messages on this thread while a text is loaded strictly. */
thread_local std::string *warnings = nullptr;

void on_message(const char *message)
{
    if (warnings)
        *warnings += message;
}

/* A library must not print: messages are collected while a call wants them, and dropped otherwise. The logging function
 * is set for the whole process, as the library has no other. */
void silence()
{
    static std::once_flag once;
    std::call_once(once, [] { OCIO::SetLoggingFunction(on_message); });
}

/* Loads with warnings as failures: the library warns of an unknown key and ignores it, which gives another transform
 * than the config defines. */
OCIO::ConstConfigRcPtr load_strictly(std::istream &stream)
{
    struct collector {
        std::string text;
        collector()
        {
            warnings = &text;
        }
        ~collector()
        {
            warnings = nullptr;
        }
    } collected;
    OCIO::ConstConfigRcPtr config = OCIO::Config::CreateFromStream(stream);
    if (!collected.text.empty())
        throw OCIO::Exception(collected.text.c_str());
    return config;
}

/* The library's messages contain line ends; ours are one line. Those about a table quote its lines, but a downloaded
 * config may name any file as one: what is in quotes there is left out. This does not allocate, since memory may be
 * exhausted.
 */
txm_status fail_in_one_line(txm_error *err, txm_status status, const char *message)
{
    char text[TXM_MESSAGE_BYTES];
    size_t n = 0;
    const char *reason = std::strstr(message, " failed with: ");
    const char *from = reason ? std::strchr(reason, '\'') : nullptr, *to = from ? std::strrchr(from, '\'') : nullptr;
    for (; *message && n + 4 < sizeof text; message++) {
        if (message == from && to > from) {
            std::memcpy(text + n, "...", 3);
            n += 3;
            message = to;
            continue;
        }
        text[n++] = *message == '\n' || *message == '\r' ? ' ' : *message;
    }
    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = 0;
    return txm_fail(err, status, "%s", text);
}

txm_status caught(txm_status status, txm_error *err)
{
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory in OpenColorIO");
    } catch (const std::exception &e) {
        /* OpenColorIO catches it itself in places, and passes on only the message. */
        if (std::strstr(e.what(), "std::bad_alloc"))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory in OpenColorIO");
        return fail_in_one_line(err, status, e.what());
    } catch (...) {
        return txm_fail(err, TXM_STATUS_INTERNAL, "OpenColorIO threw an unknown exception");
    }
}

/* A destructor that throws has nothing useful to report. */
template <typename Object> void drop(Object *object)
{
    try {
        delete object;
    } catch (...) {
    }
}

void (*before_abort)(bool lacks_memory);
char abort_reason[TXM_MESSAGE_BYTES];

thread_local unsigned depth;
struct in_ocio {
    in_ocio()
    {
        depth++;
    }
    ~in_ocio()
    {
        depth--;
    }
};

void on_no_memory()
{
    if (depth)
        before_abort(true);
    throw std::bad_alloc();
}

[[noreturn]] void on_terminate()
{
    bool lacks_memory = false;
    try {
        if (std::current_exception())
            std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc &) {
        lacks_memory = true;
    } catch (const std::exception &e) {
        /* It may stand for lack of memory, or for a thread that could not be started: libraries of threads throw these
         * as runtime_error, with the text of the errno. */
        lacks_memory = std::strstr(e.what(), "std::bad_alloc") || std::strstr(e.what(), std::strerror(EAGAIN)) ||
                       std::strstr(e.what(), std::strerror(ENOMEM));
        std::snprintf(abort_reason, sizeof abort_reason, "%s", e.what());
    } catch (...) {
        std::snprintf(abort_reason, sizeof abort_reason, "an exception of an unknown type");
    }
    before_abort(lacks_memory);
    std::abort();
}

/* Spaces are fetched once, because the library looks them up by name each time. */
txm_ocio *wrap(const OCIO::ConstConfigRcPtr &config)
{
    auto ocio = std::make_unique<txm_ocio>();
    const int n = config->getNumColorSpaces(OCIO::SEARCH_REFERENCE_SPACE_ALL, OCIO::COLORSPACE_ALL);
    ocio->config = config;
    ocio->spaces.reserve(n);
    for (int i = 0; i < n; i++) {
        const char *name = config->getColorSpaceNameByIndex(OCIO::SEARCH_REFERENCE_SPACE_ALL, OCIO::COLORSPACE_ALL, i);
        if (OCIO::ConstColorSpaceRcPtr space = config->getColorSpace(name))
            ocio->spaces.push_back(space);
    }
    return ocio.release();
}

} // namespace

void txm_ocio_newest_profile(unsigned *major, unsigned *minor)
{
    *major = OCIO_VERSION_MAJOR;
    *minor = OCIO_VERSION_MINOR;
}

const char *txm_ocio_version(void)
{
    return OCIO::GetVersion();
}

bool txm_ocio_has_archives(void)
{
    return OCIO_VERSION_HEX >= 0x02020000;
}

/* The library ends the process if memory runs out in the wrong place. */
void txm_ocio_before_abort(void (*end)(bool lacks_memory))
{
    before_abort = end;
    std::set_new_handler(on_no_memory);
    std::set_terminate(on_terminate);
}

const char *txm_ocio_abort_reason(void)
{
    return abort_reason;
}

txm_status txm_ocio_from_text(const char *text, size_t size_bytes, const char *folder, bool strict, txm_ocio **out,
                              txm_error *err)
try {
    const in_ocio call;
    silence();
    text_buffer buffer(text, size_bytes);
    std::istream stream(&buffer);
    OCIO::ConstConfigRcPtr config = strict ? load_strictly(stream) : OCIO::Config::CreateFromStream(stream);
    if (folder) {
        OCIO::ConfigRcPtr edited = config->createEditableCopy();
        edited->setWorkingDir(folder);
        config = edited;
    }
    *out = wrap(config);
    return TXM_OK;
} catch (...) {
    return caught(TXM_STATUS_CONFIG, err);
}

txm_status txm_ocio_from_builtin(const char *text, size_t size_bytes, txm_ocio **out, txm_error *err)
try {
    const in_ocio call;
    silence();
    text_buffer buffer(text, size_bytes);
    std::istream stream(&buffer);
    *out = wrap(txm_fill_tables(load_strictly(stream)));
    return TXM_OK;
} catch (...) {
    return caught(TXM_STATUS_CONFIG, err);
}

txm_status txm_ocio_from_library(const char *name, txm_ocio **out, txm_error *err)
try {
    const in_ocio call;
    silence();
    *out = wrap(OCIO::Config::CreateFromFile(name));
    return TXM_OK;
} catch (...) {
    return caught(TXM_STATUS_CONFIG, err);
}

void txm_ocio_free(txm_ocio **ocio)
{
    if (ocio) {
        drop(*ocio);
        *ocio = nullptr;
    }
}

void txm_ocio_profile(const txm_ocio *ocio, unsigned *major, unsigned *minor)
try {
    *major = ocio->config->getMajorVersion();
    *minor = ocio->config->getMinorVersion();
} catch (...) {
    *major = *minor = 0;
}

txm_status txm_ocio_set_role(txm_ocio *ocio, const char *role, const char *space, txm_error *err)
try {
    const in_ocio call;
    OCIO::ConfigRcPtr edited = ocio->config->createEditableCopy();
    edited->setRole(role, space);
    ocio->config = edited;
    return TXM_OK;
} catch (...) {
    return caught(TXM_STATUS_CONFIG, err);
}

size_t txm_ocio_count(const txm_ocio *ocio)
{
    return ocio->spaces.size();
}

void txm_ocio_space_at(const txm_ocio *ocio, size_t index, txm_ocio_space *out)
try {
    const auto &space = ocio->spaces[index];
    out->name = space->getName();
    out->family = space->getFamily();
    out->description = space->getDescription();
    out->aliases = space->getNumAliases();
    out->is_data = space->isData();
} catch (...) {
    *out = {"", "", "", 0, false};
}

const char *txm_ocio_alias_at(const txm_ocio *ocio, size_t index, size_t alias)
try {
    return ocio->spaces[index]->getAlias(alias);
} catch (...) {
    return "";
}

const char *txm_ocio_canonical(const txm_ocio *ocio, const char *name)
try {
    const in_ocio call;
    /* Resolves names, aliases and roles. The spaces that are held own the returned string. */
    if (OCIO::ConstColorSpaceRcPtr space = ocio->config->getColorSpace(name)) {
        const std::string canonical = space->getName();
        for (const auto &held : ocio->spaces)
            if (canonical == held->getName())
                return held->getName();
    }
#if OCIO_VERSION_HEX >= 0x02050000
    for (const auto &held : ocio->spaces)
        if (*name && strcasecmp(held->getInteropID(), name) == 0)
            return held->getName();
#endif
    return nullptr;
} catch (...) {
    return nullptr;
}

const char *txm_ocio_role(const txm_ocio *ocio, const char *role)
try {
    const in_ocio call;
    for (int i = 0; i < ocio->config->getNumRoles(); i++)
        if (strcasecmp(ocio->config->getRoleName(i), role) == 0)
            return ocio->config->getRoleColorSpace(i);
    return nullptr;
} catch (...) {
    return nullptr;
}

size_t txm_ocio_role_count(const txm_ocio *ocio)
try {
    return (size_t)ocio->config->getNumRoles();
} catch (...) {
    return 0;
}

const char *txm_ocio_role_at(const txm_ocio *ocio, size_t index)
try {
    return ocio->config->getRoleName((int)index);
} catch (...) {
    return "";
}

const char *txm_ocio_file_rule(const txm_ocio *ocio, const char *path)
try {
    const in_ocio call;
    if (ocio->config->filepathOnlyMatchesDefaultRule(path))
        return nullptr;
    return ocio->config->getColorSpaceFromFilepath(path);
} catch (...) {
    return nullptr;
}

txm_status txm_ocio_processor_new(const txm_ocio *ocio, const char *from, const char *to, txm_ocio_processor **out,
                                  txm_error *err)
try {
    const in_ocio call;
    auto processor = std::make_unique<txm_ocio_processor>();
    txm_check_references(ocio->config, from, to);
    processor->cpu = ocio->config->getProcessor(from, to)->getDefaultCPUProcessor();
    *out = processor.release();
    return TXM_OK;
} catch (...) {
    return caught(TXM_STATUS_COLORSPACE, err);
}

void txm_ocio_processor_free(txm_ocio_processor **processor)
{
    if (processor) {
        drop(*processor);
        *processor = nullptr;
    }
}

const char *txm_ocio_processor_id(const txm_ocio_processor *processor)
{
    try {
        const in_ocio call;
        const char *id = processor->cpu->getCacheID();
        return id ? id : "";
    } catch (...) {
        return "";
    }
}

/* Converting one pixel needs no memory, and nothing else can fail; if a version of the library fails nevertheless, the
 * colour becomes NaN, so that it equals no other. */
void txm_ocio_apply_rgb(const txm_ocio_processor *processor, float rgb[3])
try {
    processor->cpu->applyRGB(rgb);
} catch (...) {
    rgb[0] = rgb[1] = rgb[2] = std::numeric_limits<float>::quiet_NaN();
}

static void apply_each(const txm_ocio_processor *processor, float *rgba, size_t count)
{
    size_t done = 0;
    try {
        for (; done < count; done++)
            processor->cpu->applyRGBA(rgba + 4 * done);
    } catch (...) {
        std::fill(rgba + 4 * done, rgba + 4 * count, std::numeric_limits<float>::quiet_NaN());
    }
}

static void apply(const txm_ocio_processor *processor, float *rgba, size_t count)
{
    try {
        OCIO::PackedImageDesc pixels(rgba, static_cast<long>(count), 1, 4);
        processor->cpu->apply(pixels);
    } catch (...) {
        /* It can only fail for lack of memory for its row buffers, before any pixel is changed. */
        apply_each(processor, rgba, count);
    }
}

/* Since version 2.5 the library applies the tables of some curves to four pixels at once, and to the rest of a run with
 * other arithmetic. The last pixels are padded to four, so that a pixel's result does not depend on its place in the
 * run. */
void txm_ocio_apply_rgba(const txm_ocio_processor *processor, float *rgba, size_t count)
{
    const size_t left = count % 4, whole = count - left;
    if (whole)
        apply(processor, rgba, whole);
    if (left) {
        float four[4 * 4] = {};
        memcpy(four, rgba + 4 * whole, left * 4 * sizeof *rgba);
        apply(processor, four, 4);
        memcpy(rgba + 4 * whole, four, left * 4 * sizeof *rgba);
    }
}
