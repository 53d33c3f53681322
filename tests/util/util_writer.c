/* SPDX-License-Identifier: Apache-2.0
 * Writes generated images as tx files. */
#include "util_writer.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "mill/encode/tile.h"

/* One sample of smooth content: a slope with a little noise in its low bits. */
static uint32_t sample(made_content content, uint32_t x, uint32_t y, uint32_t c, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t noise = (uint32_t)(*state >> 33);
    if (content == MADE_NOISE)
        return noise;
    if (content == MADE_CONSTANT)
        return 0x40404040u + c * 0x101;
    return (x * (3 + c) + y * 2) * 40 + (noise & 31);
}

static void put(uint8_t *p, txm_type type, uint32_t v)
{
    uint16_t s = (uint16_t)v;
    float f = (float)(v & 0xffff) / 4096.0f;
    if (type == TXM_TYPE_U8) {
        *p = (uint8_t)(v >> 4);
    } else if (type == TXM_TYPE_FLOAT) {
        memcpy(p, &f, sizeof f);
    } else {
        if (type == TXM_TYPE_HALF)
            s &= 0x7bff; /* positive and finite */
        memcpy(p, &s, sizeof s);
    }
}

size_t made_pixel_bytes(const made_image *image)
{
    return image->layout.channels * txm_type_bytes(image->layout.type);
}

made_image make_image(uint32_t width, uint32_t height, uint32_t channels, txm_type type, uint32_t tile_px,
                      txm_compression compression, made_content content)
{
    made_image m = {.layout = {width, height, txm_level_count(width, height), channels, type, tile_px, compression}};
    uint64_t state = width * 31 + height;
    size_t bytes = txm_type_bytes(type);
    for (uint32_t i = 0; i < m.layout.levels; i++) {
        uint32_t w = txm_level_size(width, i), h = txm_level_size(height, i);
        uint8_t *p = m.levels[i] = txm_alloc_pixels((size_t)w * h, channels * bytes);
        if (!p)
            abort();
        for (uint32_t y = 0; y < h; y++)
            for (uint32_t x = 0; x < w; x++)
                for (uint32_t c = 0; c < channels; c++, p += bytes)
                    put(p, type, sample(content, x, y, c, &state));
    }
    return m;
}

void free_image(made_image *image)
{
    for (uint32_t i = 0; i < TXM_MAX_LEVELS; i++)
        free(image->levels[i]);
    memset(image, 0, sizeof *image);
}

txm_tx_metadata made_metadata(void)
{
    static const txm_tx_attribute attributes[] = {{"Copyright", "(c) a painter"},
                                                  {"ImageDescription", "A wall"},
                                                  {"Software", "must not win"},
                                                  {"compression", "must not clash"},
                                                  {"asset", "say \"wall\""}};
    return (txm_tx_metadata){.source = "/src/wall.png",
                             .detected_colorspace = "scene_linear_srgb",
                             .requested_colorspace = "sRGB",
                             .config = "scene_linear_srgb",
                             .releases = "5.3",
                             .releases_if_opaque = "5.2 5.3",
                             .limit_px = 2048,
                             .content = "70000:0123456789abcdef0123456789abcdef",
                             .xyz_to_scene_linear = "3.241_-1.537_-0.4986_0",
                             .alpha = TXM_ALPHA_STRAIGHT,
                             .interop_id = "lin_rec709_scene",
                             .source_mtime = 1700000000,
                             .attributes = attributes,
                             .attribute_count = sizeof attributes / sizeof *attributes};
}

txm_tx_summary made_summary(void)
{
    return (txm_tx_summary){.sha1 = "5B96709E01AC5D5CE9445B4D4E072A644CD115F1",
                            .average = {0.509998f, 0.499984f, 0.422656f, 0.728136f}};
}

txm_status write_image(int fd, const made_image *image, const txm_tx_metadata *metadata, const txm_tx_summary *summary,
                       uint64_t *image_bytes, txm_error *err)
{
    const txm_tx_layout *l = &image->layout;
    const txm_tx_metadata own_metadata = made_metadata();
    const txm_tx_summary own_summary = made_summary();
    txm_tile_format format = {l->type, l->channels, l->tile_px, l->compression};
    txm_tile_encoder *encoder = NULL;
    txm_tx_writer *writer = NULL;
    size_t pixel = made_pixel_bytes(image);
    txm_status status = txm_tile_encoder_new(&format, &encoder, err);
    if (status == TXM_OK)
        status = txm_tx_writer_open(fd, "made.tx", l, metadata ? metadata : &own_metadata, &writer, err);
    for (uint32_t i = 0; status == TXM_OK && i < l->levels; i++) {
        uint32_t w = txm_level_size(l->width, i), h = txm_level_size(l->height, i);
        for (uint32_t y = 0; status == TXM_OK && y < h; y += l->tile_px)
            for (uint32_t x = 0; status == TXM_OK && x < w; x += l->tile_px) {
                const void *encoded = NULL;
                size_t n = 0;
                status = txm_tile_encode(encoder, image->levels[i] + ((size_t)y * w + x) * pixel, w * pixel,
                                         w - x < l->tile_px ? w - x : l->tile_px,
                                         h - y < l->tile_px ? h - y : l->tile_px, &encoded, &n, err);
                if (status == TXM_OK)
                    status = txm_tx_writer_add(writer, encoded, n, err);
            }
    }
    if (status == TXM_OK)
        status = txm_tx_writer_finish(writer, summary ? summary : &own_summary, image_bytes, err);
    txm_tx_writer_close(&writer);
    txm_tile_encoder_free(&encoder);
    return status;
}

const char *write_made(const char *path, const made_image *image)
{
    txm_error err = {0};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_msg(write_image(fd, image, NULL, NULL, NULL, &err) == TXM_OK, "%s", err.message);
    close(fd);
    return path;
}
