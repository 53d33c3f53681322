/* SPDX-License-Identifier: Apache-2.0
 * OpenImageIO's part of the padded-tile benchmark: it reads the tile and its neighbours in the file's own type, and the
 * window is copied out of them. Each neighbour that the window needs is read once, so at most nine tiles. */
#include "bench_oiio.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <OpenImageIO/imageio.h>
#include <string>
#include <vector>

struct oiio_tiles {
    std::unique_ptr<OIIO::ImageInput> in;
    std::vector<OIIO::ImageSpec> levels;
    std::vector<uint8_t> tile;
    std::string error;
};

oiio_tiles *oiio_tiles_open(const char *path)
{
    OIIO::attribute("threads", 1);
    OIIO::attribute("exr_threads", -1); /* decode in the calling thread */
    auto tiles = std::make_unique<oiio_tiles>();
    tiles->in = OIIO::ImageInput::open(path);
    if (!tiles->in)
        return nullptr;
    for (int level = 0; tiles->in->seek_subimage(0, level); level++)
        tiles->levels.push_back(tiles->in->spec_dimensions(0, level));
    tiles->tile.resize(tiles->levels[0].tile_bytes());
    return tiles.release();
}

void oiio_tiles_close(oiio_tiles *tiles)
{
    delete tiles;
}

const char *oiio_tiles_padded(oiio_tiles *t, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint32_t padding,
                              uint8_t *out, size_t row_bytes)
{
    const OIIO::ImageSpec &s = t->levels[level];
    const int edge = s.tile_width, p = (int)padding, x0 = (int)tile_x * edge, y0 = (int)tile_y * edge;
    const int w = std::min(edge, s.width - x0), h = std::min(edge, s.height - y0);
    const size_t pixel = s.pixel_bytes();
    auto wrap = [](int x, int n) { return ((x % n) + n) % n; };
    for (int y = -p; y < h + p;) {
        const int sy = wrap(y0 + y, s.height), ty = sy / edge;
        /* Rows of the window that come from this row of tiles, then the same with columns. */
        int rows = 1;
        while (y + rows < h + p && wrap(y0 + y + rows, s.height) == sy + rows && (sy + rows) / edge == ty)
            rows++;
        for (int x = -p; x < w + p;) {
            const int sx = wrap(x0 + x, s.width), tx = sx / edge;
            int columns = 1;
            while (x + columns < w + p && wrap(x0 + x + columns, s.width) == sx + columns &&
                   (sx + columns) / edge == tx)
                columns++;
            if (!t->in->read_native_tile(0, (int)level, tx * edge, ty * edge, 0, t->tile.data())) {
                t->error = t->in->geterror();
                return t->error.c_str();
            }
            for (int r = 0; r < rows; r++)
                memcpy(out + (size_t)(y + p + r) * row_bytes + (size_t)(x + p) * pixel,
                       t->tile.data() + ((size_t)(sy % edge + r) * edge + sx % edge) * pixel, columns * pixel);
            x += columns;
        }
        y += rows;
    }
    return nullptr;
}
