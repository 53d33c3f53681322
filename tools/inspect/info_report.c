/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the information of `txmill info` about one tx file.
 *
 * In: a path. Loading opens the file, parses its description and gets the verdict once; text and JSON are printed from
 * the same struct.
 */
#include "tools/inspect/info_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/path.h"
#include "tile/terms/settings.h"
#include "tools/inspect/tx_files.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"

static const struct {
    const char *word, *remark; /* what follows the path in text */
} sources[] = {
#define ROW(name, id, remark, meaning) [TXM_SOURCE_##name] = {id, remark},
    TXM_SOURCES(ROW)
#undef ROW
};

/* ---- loading ---------------------------------------------------------------------------------------------------- */

/* Times are compared as in Cycles, to the second. */
static txm_status find_source_state(const char *tx_path, const char *source, txm_source_state *out, txm_error *err)
{
    struct stat tx, src;
    *out = TXM_SOURCE_UNKNOWN;
    if (!txm_path_is_absolute(source))
        return TXM_OK;
    if (stat(tx_path, &tx) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", tx_path);
    if (stat(source, &src) == 0)
        *out = tx.st_mtime == src.st_mtime ? TXM_SOURCE_FRESH : TXM_SOURCE_OUTDATED;
    else if (errno == ENOENT || errno == ENOTDIR)
        *out = TXM_SOURCE_MISSING;
    return TXM_OK;
}

/* The verdict comes from the library, so that all commands give the same verdict on a file. */
txm_status txm_info_load(txm_context *context, const txm_rules *limits, const char *path, bool decode, txm_info *out,
                         txm_error *err)
{
    const txm_verify_options how = {
        .struct_size = sizeof(txm_verify_options), .no_decoding = !decode, .limits = limits};
    memset(out, 0, sizeof *out);
    out->path = path;
    out->decoded = decode;
    txm_status status = txm_tx_open(path, &out->tx, err);
    if (status == TXM_OK)
        status = txm_tx_describe(out->tx, &out->description, err);
    if (status == TXM_OK)
        status = txm_judge(context, path, &how, &out->verdict, err);
    /* Opening has read the sizes of the levels too. */
    if (status == TXM_OK && txm_tx_level_of(out->tx, 0))
        status = txm_tx_check(out->tx, err);
    /* The verdict may use another image than the one that the file names: the one beside it in a project that was
     * moved. */
    out->source_state = TXM_SOURCE_FRESH;
    if (status == TXM_OK && out->verdict.use != TXM_USE_LOADED)
        status = find_source_state(path, out->description.source, &out->source_state, err);
    if (status != TXM_OK)
        txm_info_clear(out);
    return status;
}

/* It also frees the result of a load that failed half-way, in which the rest is zero. */
void txm_info_clear(txm_info *info)
{
    if (!info)
        return;
    txm_tile_census_clear(&info->tiles);
    txm_tx_description_free(&info->description);
    txm_tx_close(&info->tx);
    memset(info, 0, sizeof *info);
}

/* ---- what both forms share -------------------------------------------------------------------------------------- */

/* Bytes of a level's pixels in memory, for the compression ratio. */
static uint64_t raw_bytes(const txm_tx_info *i, const txm_tx_level *level)
{
    return (uint64_t)level->width * level->height * i->channels * txm_type_bytes(i->type);
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* Values come from the file, so control characters are shown, not sent to the terminal. */
static void print_field(const char *label, const char *value)
{
    printf("  %-14s", label);
    txm_print_safe(value);
    putchar('\n');
}

/* As many numbers as the file has, which may be fewer than its channels. */
static void print_color(const char *label, const float *color, unsigned count)
{
    printf("  %-14s", label);
    for (unsigned c = 0; c < count; c++)
        printf("%s%.6g", c ? ", " : "", (double)color[c]);
    putchar('\n');
}

/* A changed source is the most common reason why Cycles does not use a file, so it is shown beside the path too. */
static void print_source(const txm_info *info)
{
    const txm_tx_description *d = &info->description;
    if (!*d->source)
        return;
    const char *remark = info->source_state == TXM_SOURCE_UNKNOWN && txm_path_is_absolute(d->source)
                             ? " (cannot be examined)"
                             : sources[info->source_state].remark;
    printf("  %-14s", "source");
    txm_print_path_in(d->source, 16 + (unsigned)strlen(remark));
    printf("%s\n", remark);
    if (*d->date) {
        /* Converts 2026:11:21 05:33:50, as in TIFF, to 2026-11-21 05:33:50. */
        char date[64];
        snprintf(date, sizeof date, "%s", d->date);
        if (strlen(date) > 7 && date[4] == ':' && date[7] == ':')
            date[4] = date[7] = '-';
        print_field("source's date", date);
    }
}

/* Bytes are shown beside the ratio, which is misleading for the last levels: a tile of a few pixels is smaller than
 * its header. */
static void print_levels(const txm_tx *tx)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    char stored[TXM_FORMAT_BYTES], raw[TXM_FORMAT_BYTES], ratio[16];
    printf("  level  size            tiles       stored       pixels   ratio\n");
    for (uint32_t l = 0; l < i->levels; l++) {
        const txm_tx_level *level = txm_tx_level_of(tx, l);
        char size[32], tiles[32];
        uint64_t bytes = raw_bytes(i, level);
        snprintf(size, sizeof size, "%u x %u", level->width, level->height);
        snprintf(tiles, sizeof tiles, "%u x %u", level->tiles_x, level->tiles_y);
        snprintf(ratio, sizeof ratio, "%.2f",
                 level->encoded_bytes ? (double)bytes / (double)level->encoded_bytes : 0.0);
        printf("  %5u  %-14s  %-9s %10s   %10s %7s\n", l, size, tiles, txm_format_bytes(level->encoded_bytes, stored),
               txm_format_bytes(bytes, raw), ratio);
    }
}

/* Every entry in the order of the file, including those printed above in another form. */
static void print_metadata(const txm_tx *tx)
{
    const char *name, *value;
    printf("  metadata\n");
    for (size_t n = 0; txm_tx_metadata_at(tx, n, &name, &value); n++)
        txm_print_format("    %s: %s\n", name, value);
}

/* Neither good nor bad: without its image, the file cannot be checked. */
static txm_style style_of(const txm_verdict *v)
{
    const txm_standing standing = txm_use_words(v->use)->standing;
    return standing == TXM_STANDING_USED ? TXM_GOOD : standing == TXM_STANDING_OPEN ? TXM_DOUBTFUL : TXM_BAD;
}

/* The edge of a tile in memory: the small tiles of other programs are joined. If Cycles cannot join the tiles of a
 * file completely, it loads them as they are. */
static uint32_t joined_tile_px(const txm_tx_info *i)
{
    const bool can_be = i->tile_w == i->tile_h && i->tile_w >= 8 && !(i->tile_w & (i->tile_w - 1));
    return can_be && i->tile_w < 64 ? 64 : i->tile_w;
}

/* txmill's files name Blender as their writer, because readers look for this. Only txmill stores the requested
 * colour space, and borders. */
static bool made_by_txmill(const txm_info *info)
{
    return *info->description.requested || txm_tx_info_of(info->tx)->section_bytes;
}

/* The facts that are always shown come first; tiles and metadata, which may be long, only on request. */
bool txm_info_print_text(const txm_info *info, const txm_info_extent *extent)
{
    const txm_tx_info *i = txm_tx_info_of(info->tx);
    const txm_tx_description *d = &info->description;
    char levels[TXM_FORMAT_COUNT];
    txm_print_path_in(info->path, 0);
    printf("\n  %-14s%u x %u px, %s, tiles of %u x %u\n", "image", i->width, i->height,
           txm_format_count(i->levels, "level", levels), i->tile_w, i->tile_h);
    if (joined_tile_px(i) != i->tile_w)
        printf("  %-14sCycles joins its tiles into %u x %u when it loads them\n", "", joined_tile_px(i),
               joined_tile_px(i));
    printf("  %-14s%s %s\n", "pixels", txm_type_name(i->type), txm_format_channels(i->channels));
    /* An invalid section is shown with the reason, because readers ignore it and are slower. */
    char all[TXM_FORMAT_BYTES], section[TXM_FORMAT_BYTES];
    printf("  %-14s%s, %s compression, %s", "file", txm_container_name(i->container), i->compression,
           txm_format_bytes(i->file_bytes, all));
    if (i->section == TXM_SECTION_STATE_VALID)
        printf(", of which border section %s\n", txm_format_bytes(i->section_bytes, section));
    else if (i->section == TXM_SECTION_STATE_NONE)
        printf(", no border section\n");
    else
        printf(", border section %s: %s\n", txm_section_state_name(i->section), i->section_reason);
    const txm_verdict *v = &info->verdict;
    printf("  %-14s", "Cycles");
    txm_print_styled(style_of(v), v->shows);
    txm_print_format("%s%s\n", *v->reason ? ": " : "", v->reason);
    const bool ours = made_by_txmill(info);
    if (*d->software && ours)
        printf("  %-14s%s", "made by", "txmill, in the format of ");
    if (*d->software && ours)
        txm_print_format("%s\n", d->software);
    else if (*d->software)
        print_field("made by", d->software);
    if (d->releases)
        print_field("for Blender", d->releases);
    print_source(info);
    /* A working space is stored as a matrix, and has a name only if the matrix is a common one. */
    if (*d->requested)
        print_field("colour space", txm_space_shown(d->requested));
    if (*d->detected)
        print_field("detected as", d->detected);
    if (*d->working_space)
        print_field("working space", d->working_space);
    else if (*d->xyz_to_scene_linear)
        print_field("working space", "one without a common name");
    if (d->has_alpha_type)
        print_field("alpha type", txm_alpha_name(d->alpha));
    if (d->envlatl)
        print_field("format", "lat-long environment");
    if (d->limit_px)
        printf("  %-14sto %u px: the image is larger\n", "limited", d->limit_px);
    if (d->average_count)
        print_color("average", d->average, d->average_count);
    if (d->constant_count)
        print_color("constant", d->constant, d->constant_count);
    if (*d->sha1)
        print_field("SHA-1", d->sha1);
    print_levels(info->tx);
    bool ok = !info->counted || txm_tile_census_print(info->tx, &info->tiles, extent->all_tiles);
    if (extent->all_metadata)
        print_metadata(info->tx);
    return ok;
}

/* ---- short ------------------------------------------------------------------------------------------------------- */

/* `txmill view` counts them in a terminal, where each row of text leaves one less for the picture. */
void txm_info_print_short(const txm_info *info, uint32_t level, unsigned columns)
{
    const txm_tx_info *i = txm_tx_info_of(info->tx);
    const txm_tx_level *l = txm_tx_level_of(info->tx, level);
    const txm_tx_description *d = &info->description;
    const txm_verdict *v = &info->verdict;
    char line[1024], size[TXM_FORMAT_BYTES], levels[TXM_FORMAT_COUNT];
    txm_print_fitted(info->path, columns);
    putchar('\n');
    snprintf(line, sizeof line, "%u x %u px, %s %s, %s, %s %s, %s; level %u shown, %u x %u", i->width, i->height,
             txm_type_name(i->type), txm_format_channels(i->channels), txm_format_count(i->levels, "level", levels),
             txm_container_name(i->container), i->compression, txm_format_bytes(i->file_bytes, size), level, l->width,
             l->height);
    txm_print_cut(line, columns);
    putchar('\n');
    snprintf(line, sizeof line, "%s%s%s%s%s", *d->requested ? txm_space_shown(d->requested) : d->detected,
             d->has_alpha_type ? ", alpha " : "", d->has_alpha_type ? txm_alpha_name(d->alpha) : "",
             *d->source ? ", made from " : "", txm_path_base(d->source));
    txm_print_cut(line, columns);
    putchar('\n');
    snprintf(line, sizeof line, "Cycles %s%s%s", v->shows, *v->reason ? ": " : "", v->reason);
    fputs(txm_style_on(style_of(v)), stdout);
    txm_print_cut(line, columns);
    putchar('\n');
    fputs(txm_style_on(TXM_PLAIN), stdout);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static cJSON *new_info_object(const char *path)
{
    cJSON *o = txm_json_new("txmill.info");
    txm_json_text(o, "file", path);
    return o;
}

/* null if Cycles would not look for such a name. */
static void add_name(cJSON *o, const char *path)
{
    size_t source_bytes;
    unsigned version;
    char md5[33], source[256];
    const char *name = txm_path_base(path);
    if (!txm_tx_name_parse(name, &source_bytes, &version, md5)) {
        txm_json_text(o, "name", NULL);
        return;
    }
    cJSON *n = txm_json_object(o, "name");
    snprintf(source, sizeof source, "%.*s", (int)source_bytes, name);
    txm_json_text(n, "source", source);
    txm_json_uint(n, "version", version);
    txm_json_text(n, "md5", md5);
}

/* file_bytes is the whole file, image_bytes the part that readers of TIFF or OpenEXR use; the rest is the section. */
static void add_image_json(cJSON *o, const txm_tx_info *i)
{
    txm_json_text(o, "container", txm_container_word(i->container));
    txm_json_size(o, i->width, i->height);
    txm_json_uint(o, "tile_width", i->tile_w);
    txm_json_uint(o, "tile_height", i->tile_h);
    txm_json_uint(o, "loaded_tile_width", joined_tile_px(i));
    txm_json_uint(o, "channels", i->channels);
    txm_json_text(o, "data_type", txm_type_name(i->type));
    txm_json_text(o, "compression", i->compression);
    txm_json_uint(o, "file_bytes", i->file_bytes);
    txm_json_uint(o, "image_bytes", i->image_bytes);
    cJSON *section = txm_json_object(o, "border_section");
    txm_json_text(section, "state", txm_section_state_name(i->section));
    txm_json_uint(section, "bytes", i->section_bytes);
    txm_json_text_or_null(section, "reason", i->section_reason);
}

static void add_colors(cJSON *o, const char *name, const float *color, unsigned count)
{
    if (!count) {
        txm_json_text(o, name, NULL);
        return;
    }
    cJSON *array = txm_json_array(o, name);
    for (unsigned c = 0; c < count; c++)
        txm_json_append_number(array, (double)color[c], 7);
}

/* A tx file without its image is good: Cycles uses it when it is beside the image. */
bool txm_info_is_good(const txm_verdict *v)
{
    const txm_standing standing = txm_use_words(v->use)->standing;
    return standing == TXM_STANDING_USED || standing == TXM_STANDING_OPEN;
}

/* `use` is the whole verdict, `accepted` a short form for scripts that only need to know whether Cycles accepts the
 * file. */
void txm_info_add_verdict(cJSON *object, const txm_verdict *v)
{
    cJSON *cycles = txm_json_object(object, "cycles");
    txm_json_bool(cycles, "accepted", txm_info_is_good(v));
    txm_json_text_or_null(cycles, "reason", v->reason);
    txm_json_text(cycles, "shows", v->shows);
    txm_json_text(object, "use", txm_use_name(v->use));
}

cJSON *txm_info_json(const txm_info *info, bool all_metadata)
{
    cJSON *o = new_info_object(info->path);
    add_name(o, info->path);
    add_image_json(o, txm_tx_info_of(info->tx));
    txm_info_add_verdict(o, &info->verdict);
    txm_json_bool(o, "decoded", info->decoded);
    const txm_tx_description *d = &info->description;
    cJSON *source = txm_json_object(o, "source");
    txm_json_text_or_null(source, "path", d->source);
    txm_json_text_or_null(source, "date", d->date);
    txm_json_text(source, "state", sources[info->source_state].word);
    cJSON *color = txm_json_object(o, "colorspace");
    txm_json_text_or_null(color, "requested", d->requested);
    txm_json_text_or_null(color, "detected", d->detected);
    txm_json_text_or_null(color, "working_space", d->working_space);
    txm_json_text_or_null(color, "xyz_to_scene_linear", d->xyz_to_scene_linear);
    txm_json_text(o, "alpha", d->has_alpha_type ? txm_alpha_name(d->alpha) : NULL);
    txm_json_text(o, "format", d->envlatl ? "equiangular" : "plain");
    txm_json_text_or_null(o, "software", d->software);
    txm_json_text(o, "made_by", !*d->software ? NULL : made_by_txmill(info) ? "txmill" : "other");
    txm_json_text(o, "made_for", d->releases);
    if (d->limit_px)
        txm_json_uint(o, "limit_px", d->limit_px);
    add_colors(o, "average", d->average, d->average_count);
    add_colors(o, "constant", d->constant, d->constant_count);
    txm_json_text_or_null(o, "sha1", d->sha1);
    /* The index is the number of the level; pixel_bytes is the uncompressed size. */
    const txm_tx_info *i = txm_tx_info_of(info->tx);
    cJSON *levels = txm_json_array(o, "levels");
    for (uint32_t l = 0; l < i->levels; l++) {
        const txm_tx_level *level = txm_tx_level_of(info->tx, l);
        cJSON *e = txm_json_append(levels);
        txm_json_size(e, level->width, level->height);
        txm_json_uint(e, "tiles_x", level->tiles_x);
        txm_json_uint(e, "tiles_y", level->tiles_y);
        txm_json_uint(e, "stored_bytes", level->encoded_bytes);
        txm_json_uint(e, "pixel_bytes", raw_bytes(i, level));
    }
    if (info->counted)
        txm_tile_census_add(o, info->tx, &info->tiles);
    if (all_metadata) {
        /* An array and not an object, because a name may occur twice. */
        const char *name, *value;
        cJSON *list = txm_json_array(o, "metadata");
        for (size_t n = 0; txm_tx_metadata_at(info->tx, n, &name, &value); n++) {
            cJSON *entry = txm_json_append(list);
            txm_json_text(entry, "name", name);
            txm_json_text(entry, "value", value);
        }
    }
    return o;
}

cJSON *txm_info_json_error(const char *path, const txm_error *err)
{
    cJSON *o = new_info_object(path);
    txm_json_error(o, err);
    return o;
}
