// SPDX-License-Identifier: Apache-2.0
// The mean of every level of a tx file, from plain tiles, with C++ objects that own what the library returns:
//
//     c++ -std=c++17 read_tiles.cpp $(pkg-config --cflags --libs txtile) -o read_tiles
//     ./read_tiles blender_tx/wood.png.*.tx
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <txtile/reader.h>

namespace
{

struct Close {
    void operator()(txm_tx *tx) const
    {
        txm_tx_close(&tx);
    }
};
using Texture = std::unique_ptr<txm_tx, Close>;

Texture open(const std::string &path)
{
    txm_error err;
    txm_tx *tx = nullptr;
    if (txm_tx_open(path.c_str(), &tx, &err) != TXM_OK)
        throw std::runtime_error(err.message);
    return Texture(tx);
}

// One tile as float, tightly packed.
std::vector<float> read(txm_tx *tx, uint32_t level, uint32_t x, uint32_t y)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const size_t pixel = info->channels * txm_type_bytes(info->type);
    std::vector<unsigned char> raw(size_t{info->tile_w} * info->tile_h * pixel);
    uint32_t width = 0, height = 0;
    txm_tx_request request;
    txm_tx_request_init(&request);
    request.level = level;
    request.tile_x = x;
    request.tile_y = y;
    request.pixels = raw.data();
    request.width = &width;
    request.height = &height;
    txm_error err;
    if (txm_tx_read_tile(tx, &request, &err) != TXM_OK)
        throw std::runtime_error(err.message);
    std::vector<float> samples(size_t{width} * height * info->channels);
    for (uint32_t row = 0; row < height; row++)
        txm_samples_to_float(info->type, raw.data() + row * info->tile_w * pixel,
                             samples.data() + size_t{row} * width * info->channels, size_t{width} * info->channels);
    return samples;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE.tx\n", argv[0]);
        return 2;
    }
    try {
        const Texture tx = open(argv[1]);
        for (uint32_t level = 0; const txm_tx_level *l = txm_tx_level_of(tx.get(), level); level++) {
            double sum = 0;
            size_t count = 0;
            for (uint32_t y = 0; y < l->tiles_y; y++)
                for (uint32_t x = 0; x < l->tiles_x; x++)
                    for (const float v : read(tx.get(), level, x, y)) {
                        sum += v;
                        count++;
                    }
            std::printf("level %u: %u x %u px, mean %.4f\n", level, l->width, l->height, sum / double(count));
        }
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    return 0;
}
