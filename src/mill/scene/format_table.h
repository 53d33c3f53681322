/* SPDX-License-Identifier: Apache-2.0
 *
 * The scene formats: a row for each, and a file that reads it. All other places take what they need from here.
 *
 * SCENE_FORMAT(id, noun, extensions, mark, begins, normal, data, read)
 *   id          the word of JSON
 *   noun        what messages call it
 *   extensions  separated by blanks, in lower case; they decide the format, as in the programs that write these files
 *   mark        text near the beginning of a scene, for extensions that other programs use too; else NULL
 *   begins      first bytes that no other format has; else NULL
 *   normal      what its normal maps are connected to
 *   data        the colour space in which it names data
 *   read        reads it into a txm_scene
 */
// clang-format off
SCENE_FORMAT("blend", "Blender", "blend", NULL, "BLENDER", "Normal Map node", "Non-Color", txm_scene_read_blend)
SCENE_FORMAT("cycles-xml", "XML of Cycles", "xml", "<cycles", NULL, "Normal Map node", "Non-Color", txm_scene_read_xml)
SCENE_FORMAT("usd", "USD", "usd usda usdc usdz mtlx", NULL, NULL, "normal input", "raw", txm_scene_read_usd)
// clang-format on
