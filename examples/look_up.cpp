// SPDX-License-Identifier: Apache-2.0
// Colours of a texture in C++: one by one, and in a launch that requests what it misses. Both are equal:
//
//     c++ -std=c++17 look_up.cpp $(pkg-config --cflags --libs txtile) -o look_up
//     ./look_up blender_tx/wood.png.*.tx
#include <cstdio>
#include <cstring>
#include <vector>

#include <txtile/cache.hpp>

int main(int argc, char **argv)
{
    enum { ACROSS = 16, REQUESTS = 4096 };
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s FILE.tx\n", argv[0]);
        return 2;
    }
    try {
        txtile::cache cache(txtile::options(16 << 20));
        const uint32_t texture = cache.add(argv[1]);
        txm_sampler how;
        txm_sampler_init(&how);
        how.mode = TXM_LEVEL_MODE_TRILINEAR;
        std::vector<uint32_t> requests(REQUESTS);
        txm_lookup_state state = {};
        state.requests = requests.data();
        state.capacity = REQUESTS;
        txtile::viewer viewer(cache.get());
        float sum = 0;
        for (int y = 0; y < ACROSS; y++)
            for (int x = 0; x < ACROSS; x++) {
                const float step = 1.0f / ACROSS;
                const txm_lookup at = {(float(x) + 0.5f) * step, (float(y) + 0.5f) * step, step, 0, 0, step};
                bool found = false;
                float rgba[4];
                const auto waited = cache.sample(texture, how, at, nullptr, &found);
                if (!found)
                    throw std::runtime_error(std::string(argv[1]) + ": cannot be read");
                for (;;) {
                    const txm_view view = viewer.prepare();
                    if (txm_sample(&view, texture, &how, &at, &state, rgba) != TXM_LOOKUP_MISS)
                        break;
                    viewer.process(state); // waits for the tiles
                }
                if (std::memcmp(rgba, waited.data(), sizeof rgba) != 0)
                    throw std::runtime_error("two colours of one place");
                sum += rgba[0];
            }
        std::printf("%llu lookups, red is %.4f on average\n", static_cast<unsigned long long>(cache.stats().lookups),
                    double(sum) / (ACROSS * ACROSS));
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    return 0;
}
