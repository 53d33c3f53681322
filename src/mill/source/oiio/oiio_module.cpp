/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenImageIO module: its table, and what reading and writing share: messages, lack of memory, OpenImageIO's
 * settings.
 */
#include "mill/source/oiio/oiio_shared.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <OpenImageIO/imageio.h>
#include <stdexcept>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/files.h"
#include "base/os/pages.h"
#include "base/os/signals.h"
#include "mill/source/formats.h"
#include "mill/source/oiio/worker.h"

namespace oiio_module
{
std::string one_line(std::string message)
{
    while (!message.empty() && (message.back() == '\n' || message.back() == ' '))
        message.pop_back();
    for (char &c : message)
        if (static_cast<unsigned char>(c) < ' ')
            c = ' ';
    if (message.size() > 600)
        message = message.substr(0, 600) + " ...";
    return message.empty() ? "OpenImageIO gives no reason" : message;
}

static bool lacks_thread(const std::system_error &e)
{
    return e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory;
}

/* If a little memory is there, a large piece was refused: the bound of the image may be the reason. */
[[noreturn]] static void end_without_memory()
{
    enum { LITTLE_BYTES = 1 << 20 };
    txm_exit_at_once(TXM_WORKER_LEFT + (std::malloc(LITTLE_BYTES) ? TXM_WORKER_LARGE : ENOMEM));
}

/* An exception in a place where none is allowed, in a destructor or while a thread starts, usually means lack of
 * memory. */
[[noreturn]] static void on_terminate()
{
    try {
        if (std::current_exception())
            std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc &) {
        end_without_memory();
    } catch (const std::system_error &e) {
        if (lacks_thread(e))
            end_without_memory();
    } catch (...) {
    }
    std::abort();
}

/* OpenImageIO silently drops attributes for which it has no memory, reports images as damaged for whose rows it has no
 * memory, and std::regex, with which it matches names, crashes. Its threads live on between calls, so this is never
 * undone. */
void end_when_memory_does()
{
    static const bool once =
        (std::set_new_handler([] { end_without_memory(); }), std::set_terminate(on_terminate), true);
    (void)once;
}

txm_status caught(const char *subject, const char *doing, txm_status otherwise, txm_error *err)
{
    try {
        throw;
    } catch (const std::bad_alloc &) {
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to %s", subject, doing);
    } catch (const std::system_error &e) {
        return txm_fail(err, lacks_thread(e) ? TXM_STATUS_NO_MEMORY : otherwise, "%s: %s", subject,
                        one_line(e.what()).c_str());
    } catch (const std::length_error &) {
        return txm_fail(err, otherwise, "%s: the sizes in its header are larger than its decoder can handle", subject);
    } catch (const std::exception &e) {
        return txm_fail(err, otherwise, "%s: %s", subject, one_line(e.what()).c_str());
    } catch (...) {
        return txm_fail(err, otherwise, "%s: it failed without a reason", subject);
    }
}

/* OpenImageIO keeps its error message in a thread-local variable, and glibc aborts the process if it lacks the memory
 * to register that variable's destructor. Reading the message here makes that happen while the module is loaded, when
 * an abort can only mean lack of memory; later it would look like a fault of an image. */
const bool noted = (OIIO::geterror(), true);

/* The conversion has threads of its own: those of OpenImageIO and OpenEXR would only oversubscribe the CPUs. */
void configure_once()
{
    static std::once_flag once;
    std::call_once(once, [] {
        OIIO::attribute("threads", 1);
        OIIO::attribute("exr_threads", 1); /* 1 means: in the calling thread */
        OIIO::attribute("try_all_readers", 1);
        OIIO::attribute("dds:bc5normal", 1); /* computes the blue of two-channel normal maps, as Blender does */
        OIIO::attribute("limits:channels", 1024);
        OIIO::attribute("limits:imagesize_MB", 65536); /* txmill's own limits are checked here */
    });
}

static const struct {
    const char *name, *noun, *extensions;
    Traits traits;
} formats_of_table[] = {
#define DIRECT(reader, name, noun, extensions, also, role, traits, ratio, magic)                                       \
    {name, noun, extensions, {traits, ratio}},
#define FORMAT(name, noun, extensions, also, role, traits, ratio, magic) {name, noun, extensions, {traits, ratio}},
#include "mill/source/format_table.h"
};

/* Images of formats that OpenImageIO does not decode by rows are in memory as a whole once they are opened or the first
 * row is read, which counts against the memory bound. */
Traits traits_of(const std::string &format)
{
    for (const auto &f : formats_of_table)
        if (format == f.name)
            return f.traits;
    return {0, 0};
}

bool has_trait(const std::string &format, unsigned trait)
{
    return (traits_of(format).traits & trait) != 0;
}

const char *formats()
{
    static const std::string names = OIIO::get_string_attribute("input_format_list");
    return names.c_str();
}

static bool holds(const std::string &list, char separator, const std::string &word)
{
    return (separator + list + separator).find(separator + word + separator) != std::string::npos;
}

const char *lacked(const std::string &path)
{
    std::string extension = path.substr(path.rfind('.') + 1);
    for (char &c : extension)
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const auto &f : formats_of_table)
        if (holds(f.extensions, ' ', extension))
            return holds(formats(), ',', f.name) ? nullptr : f.noun;
    return nullptr;
}

int FileName::open(const char *path)
{
    int fd = path ? ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : txm_memory_file("picture");
    name = "/proc/self/fd/" + std::to_string(fd);
    if (fd < 0 || access(name.c_str(), F_OK) == 0)
        return fd;
    close(fd);
    const char *place = std::getenv("TMPDIR");
    std::string made = std::string(place && *place ? place : "/tmp") + "/txmill-XXXXXX";
    if (!txm_folder_temporary(&made[0]))
        return -1;
    folder = made;
    name = folder + "/file";
    if (!path)
        return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    char *real = realpath(path, nullptr);
    fd = real && txm_file_symlink(real, name.c_str()) == 0 ? ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                                                           : -1;
    std::free(real);
    return fd;
}

FileName::~FileName()
{
    if (folder.empty())
        return;
    unlink(name.c_str());
    rmdir(folder.c_str());
}
} // namespace oiio_module

extern "C" {
extern const txm_oiio_module txm_oiio_module_table;
const txm_oiio_module txm_oiio_module_table = {
    TXM_OIIO_MODULE_VERSION, oiio_module::reader, oiio_module::encoder, OIIO::openimageio_version, oiio_module::formats,
};
}
