/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the OpenImageIO module share. No exception may pass from it into C.
 */
#ifndef TXM_SOURCE_OIIO_SHARED_H
#define TXM_SOURCE_OIIO_SHARED_H
#include <memory>
#include <new>
#include <OpenImageIO/imageio.h>
#include <string>
#include <system_error>

#include "mill/source/oiio/oiio_module.h"

/* ---- luminance_chroma.cpp ---- */
enum class Chroma {
    NONE,    /* left to OpenImageIO: other channels, all of full size, or not a readable OpenEXR image */
    SERVED,  /* chroma of half the width and height with Y, and optionally A */
    REFUSED, /* other luminance and chroma, for instance in a layer, or other subsampled channels */
};

Chroma chroma_of(const std::string &path);

/* Reads the first part of the file as an RGB or RGBA image of halves. */
std::unique_ptr<OIIO::ImageInput> luminance_chroma_input();

namespace oiio_module
{
extern const txm_reader_ops reader;   /* oiio_read.cpp */
extern const txm_encoder_ops encoder; /* oiio_write.cpp */
std::string one_line(std::string message);
/* Turns the exception that was thrown into a failure: of memory, or `otherwise`. Only to be called in a catch block. */
txm_status caught(const char *subject, const char *doing, txm_status otherwise, txm_error *err);
/* After this call the process ends as soon as memory is exhausted. */
void end_when_memory_does();
void configure_once();
/* Whether the format with OpenImageIO's name `format` has a trait, TXM_FORMAT_... */
struct Traits {
    unsigned traits, ratio; /* columns of format_table.h */
};
Traits traits_of(const std::string &format);
bool has_trait(const std::string &format, unsigned trait);
/* What a file of this name should be ("a HEIF image"), if this OpenImageIO is built without that format, else null. */
const char *lacked(const std::string &path);

/* Runs `work` and turns exceptions into a status, since none may pass into C. */
template <typename Work>
txm_status guarded(const char *subject, const char *doing, txm_status otherwise, txm_error *err, Work work)
{
    end_when_memory_does();
    try {
        return work();
    } catch (...) {
        return caught(subject, doing, otherwise, err);
    }
}

/* A name for an open file. It is in /proc, or where that is not mounted, in a folder of its own in TMPDIR. */
class FileName
{
  public:
    std::string name;
    FileName() = default;
    FileName(const FileName &) = delete;
    FileName &operator=(const FileName &) = delete;
    ~FileName();
    /* A descriptor of the file at `path`, or for NULL of a new one; -1 with errno. */
    int open(const char *path);

  private:
    std::string folder;
};
} // namespace oiio_module
#endif
