/* SPDX-License-Identifier: Apache-2.0
 *
 * The structs of libtxtile's headers, and their sizes.
 */
#include "txtile/abi.h"

#include "txtile/cache.h"
#include "txtile/describe.h"
#include "txtile/device.h"
#include "txtile/name.h"
#include "txtile/ptex.h"
#include "txtile/ptex_pages.h"
#include "txtile/ray.h"
#include "txtile/reader.h"
#include "txtile/sampler.h"
#include "txtile/settings.h"
#include "txtile/status.h"
#include "txtile/trace.h"

#include "tile/abi/structs.h"

// clang-format off
#define STRUCTS(FIXED, SIZED, RETURNED) \
    FIXED(txm_cache_allocator, 24) \
    FIXED(txm_cache_area, 20) \
    FIXED(txm_cache_channels, 24) \
    FIXED(txm_cache_extent, 20) \
    FIXED(txm_cache_level_stats, 32) \
    SIZED(txm_cache_options) \
    FIXED(txm_cache_part, 24) \
    RETURNED(txm_cache_policy_words) \
    FIXED(txm_cache_stats, 368) \
    FIXED(txm_cache_texture_stats, 928) \
    FIXED(txm_cache_udim, 40) \
    SIZED(txm_called_texture) \
    FIXED(txm_compact, 8) \
    FIXED(txm_compression, 8) \
    FIXED(txm_cone, 8) \
    FIXED(txm_device_answer, 24) \
    FIXED(txm_device_args, 96) \
    SIZED(txm_device_arrays) \
    FIXED(txm_device_batch, 104) \
    FIXED(txm_device_handles, 24) \
    SIZED(txm_device_options) \
    FIXED(txm_device_query, 36) \
    FIXED(txm_device_scope, 128) \
    FIXED(txm_device_slopes, 32) \
    FIXED(txm_device_stats, 216) \
    FIXED(txm_error, 2056) \
    FIXED(txm_explanation, 55584) \
    FIXED(txm_found, 72) \
    FIXED(txm_full, 48) \
    FIXED(txm_lookup_slopes, 64) \
    FIXED(txm_lookup_state, 40) \
    FIXED(txm_lookup, 24) \
    FIXED(txm_lookups, 112) \
    RETURNED(txm_ptex_face) \
    RETURNED(txm_ptex_info) \
    RETURNED(txm_ptex_meta) \
    FIXED(txm_ptex_pages_info, 48) \
    SIZED(txm_ptex_pages_options) \
    FIXED(txm_ptex_place, 20) \
    SIZED(txm_ptex_request) \
    FIXED(txm_replay_counts, 136) \
    SIZED(txm_replay_options) \
    FIXED(txm_sampler, 12) \
    SIZED(txm_settings) \
    FIXED(txm_tangents, 24) \
    FIXED(txm_tap, 56) \
    FIXED(txm_texel_miss, 28) \
    FIXED(txm_texel_place, 32) \
    FIXED(txm_texels, 112) \
    FIXED(txm_tile_entry, 8) \
    FIXED(txm_tile_name, 16) \
    SIZED(txm_tile_shape) \
    SIZED(txm_tile_source) \
    FIXED(txm_trace_event, 104) \
    RETURNED(txm_trace_info) \
    RETURNED(txm_trace_texture) \
    FIXED(txm_tx_description, 776) \
    RETURNED(txm_tx_info) \
    RETURNED(txm_tx_level) \
    SIZED(txm_tx_request) \
    SIZED(txm_tx_wanted) \
    FIXED(txm_uv, 8) \
    FIXED(txm_uv_differential, 16) \
    FIXED(txm_vec3, 12) \
    FIXED(txm_verdict, 712) \
    FIXED(txm_view, 64) \
    FIXED(txm_view_texture, 128)
// clang-format on

STRUCTS(TXM_ASSERT_FIXED, TXM_ASSERT_SIZED, TXM_ASSERT_RETURNED)

static const txm_struct structs[] = {STRUCTS(TXM_ROW_FIXED, TXM_ROW_SIZED, TXM_ROW_RETURNED)};

size_t txm_sizeof(const char *name)
{
    return txm_struct_bytes(structs, sizeof structs / sizeof structs[0], name);
}
