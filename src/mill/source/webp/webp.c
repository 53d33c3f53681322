/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of WebP, decoded by libwebp: the first picture of a lossy, lossless or animated file, on its
 * canvas, as 8-bit RGB or RGBA. It exists in addition to OpenImageIO because only its versions from 2.5 on leave alpha
 * unassociated, as it is in the file; older ones, such as that of Debian 12, lose colours where alpha is small. The
 * file is read when it is opened, and the picture is decoded when its first row is requested, so that reading headers
 * is cheap; both are checked against the memory bound before. Rewinding afterwards needs no work.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

typedef struct webp_source {
    const char *path;
    uint8_t *file; /* NULL once it was decoded */
    size_t file_bytes;
    WebPDemuxer *demuxer; /* demuxer of the file in memory */
    uint32_t width, height, channels;
    uint8_t *pixels; /* all pixels, once the first row was requested */
} webp_source;

static void forget_file(webp_source *s)
{
    WebPDemuxDelete(s->demuxer);
    free(s->file);
    s->demuxer = NULL;
    s->file = NULL;
}

static void close_webp(void *self)
{
    webp_source *s = self;
    if (!s)
        return;
    forget_file(s);
    free(s->pixels);
    free(s);
}

/* The size of the image is that of the canvas, not of the first frame. A flag of the file says whether there is alpha,
 * so an opaque picture may have four channels. */
static txm_status describe_webp(webp_source *s, const txm_source_options *options, txm_source_info *info,
                                txm_error *err)
{
    const WebPData data = {s->file, s->file_bytes};
    errno = 0; /* libwebp does not report lack of memory here */
    if (!(s->demuxer = WebPDemux(&data)))
        return errno == ENOMEM
                   ? txm_no_memory(err, s->path)
                   : txm_fail(err, TXM_STATUS_CORRUPT, "%s: not a whole WebP file: truncated or damaged", s->path);
    s->width = WebPDemuxGetI(s->demuxer, WEBP_FF_CANVAS_WIDTH);
    s->height = WebPDemuxGetI(s->demuxer, WEBP_FF_CANVAS_HEIGHT);
    s->channels = WebPDemuxGetI(s->demuxer, WEBP_FF_FORMAT_FLAGS) & ALPHA_FLAG ? 4 : 3;
    if (s->width < 1 || s->height < 1)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the header says %u x %u px", s->path, s->width, s->height);
    const txm_status fits = txm_source_check_size(s->path, s->width, s->height, err);
    if (fits != TXM_OK)
        return fits;
    /* The file, the picture, and libwebp's memory for it. The whole picture is decoded at once, since libwebp cannot
     * decode rows of a picture on a canvas. */
    double need = (double)s->file_bytes + (double)s->width * s->height * (s->channels + 4);
    const txm_status afforded = txm_source_afford(s->path, "the picture", need, s->file_bytes, options, err);
    if (afforded != TXM_OK)
        return afforded;
    info->width = s->width;
    info->height = s->height;
    info->memory_bytes = (uint64_t)need;
    info->channels = info->file_channels = s->channels;
    info->type = TXM_TYPE_U8;
    info->file_alpha = s->channels == 4 ? TXM_FILE_ALPHA_UNASSOCIATED : TXM_FILE_ALPHA_SILENT;
    snprintf(info->colorspace_hint, sizeof info->colorspace_hint, TXM_INTEROP_SRGB);
    /* Exif may have the prefix that it has in JPEG. XMP and colour profiles are ignored. */
    static const uint8_t prefix[6] = "Exif\0";
    txm_raster_meta meta = {0};
    WebPChunkIterator chunk;
    bool ok = true;
    if (WebPDemuxGetChunk(s->demuxer, "EXIF", 1, &chunk)) {
        size_t skip = chunk.chunk.size >= sizeof prefix && memcmp(chunk.chunk.bytes, prefix, sizeof prefix) == 0
                          ? sizeof prefix
                          : 0;
        ok = txm_raster_meta_add_exif(&meta, chunk.chunk.bytes + skip, chunk.chunk.size - skip) &&
             txm_raster_meta_store(&meta, info);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    txm_raster_meta_clear(&meta);
    return ok ? TXM_OK : txm_no_memory(err, s->path);
}

/* Reads the whole file, since the demuxer needs it. Its size is checked first, and a file that shrinks meanwhile is
 * reported as changed, not as damaged. */
static txm_status open_webp(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                            txm_error *err)
{
    webp_source *s = txm_calloc(1, sizeof *s);
    txm_source_file f;
    if (!s)
        return txm_no_memory(err, path);
    s->path = path;
    txm_status status = txm_source_file_open(&f, path, false, err);
    if (status == TXM_OK) {
        s->file_bytes = (size_t)f.bytes;
        if (options->max_memory_bytes)
            status = txm_source_afford(path, "the file itself", (double)f.bytes, 0, options, err);
        if (status == TXM_OK && !(s->file = txm_alloc_pixels(s->file_bytes, 1)))
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a file of %zu bytes", path, s->file_bytes);
        const int64_t got = status == TXM_OK ? txm_source_file_read(&f, s->file, s->file_bytes, 0) : 0;
        if (got < 0)
            status = txm_source_file_status(&f, path, err);
        else if (status == TXM_OK && (size_t)got < s->file_bytes)
            status = txm_fail(err, TXM_STATUS_CHANGED, "%s: the file became shorter while it was read", path);
        txm_source_file_close(&f);
    }
    if (status == TXM_OK)
        status = describe_webp(s, options, info, err);
    if (status == TXM_OK)
        *self = s;
    else
        close_webp(s);
    return status;
}

/* An animation's first picture may be smaller than the canvas, which is transparent or black around it. It is decoded
 * directly to its place on the canvas, which is checked first, because the file states it. After a failure this may be
 * called again, since the file is still in memory. libwebp reports a lack of memory in some places as damage, so errno
 * is checked too. */
static txm_status decode_webp(webp_source *s, txm_error *err)
{
    const size_t stride = (size_t)s->width * s->channels;
    WebPIterator frame;
    WebPDecoderConfig config;
    VP8StatusCode code = VP8_STATUS_BITSTREAM_ERROR;
    s->pixels = txm_calloc((size_t)s->width * s->height, s->channels);
    if (!s->pixels)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to decode %u x %u px", s->path, s->width, s->height);
    errno = 0;
    if (WebPDemuxGetFrame(s->demuxer, 1, &frame)) {
        const int64_t right = (int64_t)frame.x_offset + frame.width, bottom = (int64_t)frame.y_offset + frame.height;
        if (frame.x_offset >= 0 && frame.y_offset >= 0 && right <= s->width && bottom <= s->height &&
            WebPInitDecoderConfig(&config)) {
            const size_t offset = (size_t)frame.y_offset * stride + (size_t)frame.x_offset * s->channels;
            config.output.colorspace = s->channels == 4 ? MODE_RGBA : MODE_RGB;
            config.output.is_external_memory = 1;
            config.output.u.RGBA = (WebPRGBABuffer){
                .rgba = s->pixels + offset, .stride = (int)stride, .size = stride * s->height - offset};
            code = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
            WebPFreeDecBuffer(&config.output);
        }
        WebPDemuxReleaseIterator(&frame);
    }
    if (code == VP8_STATUS_OK) {
        forget_file(s);
        return TXM_OK;
    }
    bool exhausted = code == VP8_STATUS_OUT_OF_MEMORY || errno == ENOMEM;
    free(s->pixels);
    s->pixels = NULL;
    if (exhausted)
        return txm_no_memory(err, s->path);
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: libwebp cannot decode it: the file is damaged", s->path);
}

static txm_status read_webp(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    webp_source *s = self;
    size_t row = (size_t)s->width * s->channels;
    txm_status status = s->pixels ? TXM_OK : decode_webp(s, err);
    for (uint32_t r = 0; r < rows && status == TXM_OK; r++)
        memcpy((uint8_t *)dst + r * stride_bytes, s->pixels + (y + r) * row, row);
    return status;
}

const txm_reader_ops txm_webp_reader = {"webp", open_webp, read_webp, NULL, close_webp, NULL, NULL};
