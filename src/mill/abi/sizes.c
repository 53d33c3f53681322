/* SPDX-License-Identifier: Apache-2.0
 *
 * The structs of libtxmill's headers, and their sizes.
 */
#include "txmill/abi.h"

#include "txmill/batch.h"
#include "txmill/borders.h"
#include "txmill/color.h"
#include "txmill/convert.h"
#include "txmill/devices.h"
#include "txmill/garbage.h"
#include "txmill/guard.h"
#include "txmill/inspect.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"
#include "txmill/rules.h"
#include "txmill/scene.h"
#include "txmill/unwrap.h"
#include "txmill/watch.h"

#include "tile/abi/structs.h"

// clang-format off
#define STRUCTS(FIXED, SIZED, RETURNED) \
    SIZED(txm_batch_events) \
    RETURNED(txm_batch_file) \
    SIZED(txm_batch_options) \
    RETURNED(txm_batch_totals) \
    FIXED(txm_scene_colors, 24) \
    FIXED(txm_frame_range, 12) \
    FIXED(txm_scene_entry, 40) \
    RETURNED(txm_scene_finding) \
    RETURNED(txm_scene_image) \
    FIXED(txm_scene_image_file, 24) \
    RETURNED(txm_scene_info) \
    RETURNED(txm_scene_library) \
    RETURNED(txm_scene_format) \
    SIZED(txm_scene_options) \
    FIXED(txm_scene_packed_file, 24) \
    FIXED(txm_scene_user, 48) \
    FIXED(txm_borders_result, 2120) \
    FIXED(txm_color_entry, 56) \
    SIZED(txm_color_options) \
    SIZED(txm_context_options) \
    SIZED(txm_convert_options) \
    FIXED(txm_cost, 24) \
    FIXED(txm_cpu_info, 112) \
    FIXED(txm_device_info, 688) \
    FIXED(txm_device_rate, 40) \
    FIXED(txm_difference, 1264) \
    SIZED(txm_extract_options) \
    FIXED(txm_extracted, 56) \
    FIXED(txm_finding, 504) \
    RETURNED(txm_finding_kind) \
    FIXED(txm_findings, 48) \
    RETURNED(txm_garbage_file) \
    SIZED(txm_garbage_options) \
    FIXED(txm_garbage_result, 512) \
    FIXED(txm_garbage_sum, 16) \
    RETURNED(txm_input) \
    SIZED(txm_inputs_options) \
    FIXED(txm_level_error, 72) \
    FIXED(txm_level_picture, 40) \
    FIXED(txm_name_match, 424) \
    FIXED(txm_other_name, 328) \
    FIXED(txm_output, 24) \
    FIXED(txm_path_map, 16) \
    FIXED(txm_picture, 40) \
    FIXED(txm_resolution, 5512) \
    SIZED(txm_resolve_options) \
    FIXED(txm_result, 824) \
    FIXED(txm_rule, 32) \
    FIXED(txm_stage_seconds, 64) \
    FIXED(txm_swept, 32) \
    SIZED(txm_trim_options) \
    FIXED(txm_trim_result, 40) \
    SIZED(txm_unwrap_options) \
    FIXED(txm_unwrapped, 136) \
    SIZED(txm_verify_options) \
    FIXED(txm_version_answer, 24) \
    SIZED(txm_watch_options)
// clang-format on

STRUCTS(TXM_ASSERT_FIXED, TXM_ASSERT_SIZED, TXM_ASSERT_RETURNED)

static const txm_struct structs[] = {STRUCTS(TXM_ROW_FIXED, TXM_ROW_SIZED, TXM_ROW_RETURNED)};

size_t txm_mill_sizeof(const char *name)
{
    const size_t bytes = txm_struct_bytes(structs, sizeof structs / sizeof structs[0], name);
    return bytes ? bytes : txm_sizeof(name);
}
