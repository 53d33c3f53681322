/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the report as JSON, described by list.schema.json.
 *
 * In: a report. Out: one object per scene, image, library and finding, so that a script can process the lines as they
 * come, and a scene of ten thousand images does not need a large document.
 */
#include "tools/list/list_report.h"
#include "tools/options/project.h"
#include "tools/output/json.h"

/* Every object has the path of its scene, because objects of several scenes are in one stream and are filtered one
 * by one. */
static cJSON *record(const char *type, const char *scene)
{
    cJSON *o = txm_json_of_type("txmill.list", type);
    txm_json_text(o, "scene", scene);
    return o;
}

/* Numbers that are 0 if there is none. */
static void optional_number(cJSON *object, const char *name, uint64_t value)
{
    if (value)
        txm_json_uint(object, name, value);
    else
        txm_json_text(object, name, NULL);
}

/* `lost` counts data-blocks that the scene links and the library does not have. */
static bool print_library(const txm_list_report *report, const txm_scene_library *library)
{
    cJSON *o = record("library", report->scene);
    txm_json_text(o, "path", library->path);
    txm_json_text(o, "parent", library->parent);
    txm_json_text(o, "state", txm_scene_library_state_name(library->state));
    txm_json_text(o, "status", txm_status_name(library->status));
    txm_json_text_or_null(o, "message", library->message);
    txm_json_uint(o, "lost", library->lost);
    return txm_json_print(o);
}

/* A missing file has no tx file, whatever is in the cache under its name. */
static void add_file_json(cJSON *files, const txm_scene_image_file *file, const txm_found *lookup)
{
    cJSON *f = txm_json_append(files);
    txm_json_text(f, "path", file->path);
    optional_number(f, "number", file->number);
    txm_json_bool(f, "exists", file->exists);
    txm_json_uint(f, "bytes", file->bytes);
    if (!file->exists) {
        txm_json_text(f, "tx", NULL);
        return;
    }
    cJSON *tx = txm_json_object(f, "tx");
    txm_json_text(tx, "state", txm_tx_state_name(lookup->state));
    txm_json_text(tx, "path", lookup->path);
    txm_json_text_or_null(tx, "reason", lookup->reason);
    txm_json_text_or_null(tx, "shows", lookup->shows);
}

static bool print_image(const txm_list_report *report, const txm_scene_image *image, const txm_found *lookups)
{
    cJSON *o = record("image", report->scene);
    txm_json_text(o, "name", image->name);
    txm_json_text_or_null(o, "library", image->library);
    txm_json_text_or_null(o, "path", image->path);
    txm_json_text(o, "stored_path", image->stored_path);
    txm_json_text(o, "source", txm_scene_source_name(image->source));
    txm_json_text(o, "state", txm_scene_state_name(image->state));
    /* `stored` is the name in the scene, `name` the config's own name for it, `lookup` the value of -c that leads to
     * the same tx file. */
    cJSON *space = txm_json_object(o, "colorspace");
    txm_json_text_or_null(space, "stored", image->colorspace_stored);
    txm_json_text(space, "name", image->colorspace_name);
    txm_json_text(space, "lookup", image->colorspace);
    txm_json_bool(space, "known", image->colorspace_known);
    txm_json_bool(space, "data", image->data);
    txm_json_text(o, "alpha", txm_alpha_name(image->alpha));
    cJSON *tiles = txm_json_array(o, "tiles");
    for (size_t k = 0; k < image->tile_count; k++)
        txm_json_append_number(tiles, image->tiles[k], 4);
    cJSON *files = txm_json_array(o, "files");
    for (size_t i = 0; i < image->file_count; i++)
        add_file_json(files, &image->files[i], &lookups[i]);
    cJSON *packed = txm_json_array(o, "packed");
    for (size_t i = 0; i < image->packed_count; i++) {
        cJSON *p = txm_json_append(packed);
        txm_json_text(p, "name", image->packed[i].name);
        optional_number(p, "number", image->packed[i].number);
        txm_json_uint(p, "bytes", image->packed[i].bytes);
    }
    cJSON *users = txm_json_array(o, "users");
    for (size_t i = 0; i < image->user_count; i++) {
        const txm_scene_user *user = &image->users[i];
        cJSON *u = txm_json_append(users);
        txm_json_text(u, "node", user->node);
        txm_json_text(u, "owner", user->owner);
        txm_json_text(u, "owner_type", user->owner_type);
        txm_json_text_or_null(u, "library", user->library);
        txm_json_bool(u, "environment", user->environment);
        txm_json_text(u, "extension", txm_extension_name(user->extension));
        txm_json_text(u, "interpolation", user->interpolation);
    }
    return txm_json_print(o);
}

/* The lookups are one table over the files of all images, in their order, so a running index finds those of an
 * image. */
bool txm_list_print_json(const txm_list_report *report)
{
    size_t lookup = 0;
    /* It is printed first, so that a reader knows how many objects follow. */
    const txm_scene_info *info = txm_scene_info_of(report->opened);
    cJSON *o = record("scene", report->scene);
    txm_json_text(o, "path", info->path);
    txm_json_text(o, "format", info->format);
    txm_json_uint(o, "file_version", (uint64_t)info->version);
    txm_json_uint(o, "file_subversion", info->subversion > 0 ? (uint64_t)info->subversion : 0);
    txm_json_text(o, "compression", info->compression);
    txm_json_uint(o, "pointer_bytes", info->pointer_bytes);
    txm_json_bool(o, "big_endian", info->big_endian);
    txm_json_text(o, "working_space", info->working_space);
    txm_json_uint(o, "images", txm_scene_image_count(report->opened));
    txm_json_uint(o, "libraries", txm_scene_library_count(report->opened));
    txm_json_uint(o, "findings", report->finding_count);
    txm_project_json(o);
    bool ok = txm_json_print(o);
    for (size_t i = 0; ok && i < txm_scene_image_count(report->opened); i++) {
        const txm_scene_image *image = txm_scene_image_at(report->opened, i);
        ok = print_image(report, image, report->lookups + lookup);
        lookup += image->file_count;
    }
    for (size_t i = 0; ok && i < txm_scene_library_count(report->opened); i++)
        ok = print_library(report, txm_scene_library_at(report->opened, i));
    for (size_t i = 0; ok && i < report->finding_count; i++) {
        const txm_list_finding *finding = &report->findings[i];
        cJSON *line = record("finding", report->scene);
        txm_json_text(line, "id", finding->id);
        txm_json_text(line, "message", finding->message);
        txm_json_text(line, "image", finding->image);
        txm_json_text_or_null(line, "library", finding->library);
        ok = txm_json_print(line);
    }
    return ok;
}
