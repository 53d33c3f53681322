/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the files that scenes need.
 *
 * In: reports of scenes. Out: a list of files without repetitions. Which frames of a sequence a render shows follows
 * from the frames that it computes and from the settings of each node; a sequence whose node is animated is listed
 * whole.
 */
#include "tools/files/needed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/whole.h"
#include "tools/output/words.h"
#include "txmill/format.h"

const char *const txm_needed_role_names[TXM_NEEDED_ROLES] = {"scene", "library", "image", "movie", "tx"};

/* A scene may claim any number of frames and nodes: beyond these, sequences are listed whole. */
enum { MOST_TEXT_BYTES = 64 << 10, MOST_SHOWN = 8 << 20, MOST_STEPS = 8 << 20, MOST_ABSENT = 1 << 16 };

/* ---- frames ----------------------------------------------------------------------------------------------------- */

/* Blender writes 1..10, OpenJD and others 1-10:2, some 1-10x2. */
txm_status txm_frame_list_parse(const char *text, void *list, txm_error *err)
{
    txm_frame_list *out = list, ignored;
    out = out ? out : &ignored;
    out->count = 0;
    for (const char *at = text;; at++) {
        long part[3] = {0, 0, 1};
        char *end = (char *)at;
        for (int i = 0; i < 3; i++) {
            if (i > 0 && (i == 1 ? *end != '-' && strncmp(end, "..", 2) != 0 : !*end || !strchr(":x", *end))) {
                part[1] = i == 1 ? part[0] : part[1];
                break;
            }
            at = end + (i > 0) + (i == 1 && *end == '.');
            if (strspn(at, "-0123456789") == 0)
                goto wrong;
            part[i] = strtol(at, &end, 10);
            if (end == at || part[i] < -TXM_LAST_FRAME || part[i] > TXM_LAST_FRAME)
                goto wrong;
        }
        if (part[2] < 1 || part[1] < part[0] || (*end && *end != ',') || out->count == TXM_MOST_RANGES)
            goto wrong;
        out->ranges[out->count++] = (txm_frame_range){(int32_t)part[0], (int32_t)part[1], (int32_t)part[2]};
        at = end;
        if (!*at)
            return TXM_OK;
    }
wrong:
    return txm_fail(err, TXM_STATUS_USAGE,
                    "must be frames such as 1-100, 1-100:5 for every fifth, or 7,9,20-30, from %d to %d, in at most %d "
                    "parts",
                    -TXM_LAST_FRAME, TXM_LAST_FRAME, TXM_MOST_RANGES);
}

/* A frame of the render, and what it shows: a number of a sequence, or the index of a file. */
typedef struct txm_frame_use {
    uint32_t what;
    int32_t frame;
} txm_frame_use;

typedef struct txm_image_frames {
    const txm_scene_image *image;
    bool all;            /* any file of the sequence may be shown */
    txm_frame_use *uses; /* by number, then by frame */
    size_t count, capacity;
} txm_image_frames;

static int compare_uses(const void *a, const void *b)
{
    const txm_frame_use *left = a, *right = b;
    if (left->what != right->what)
        return left->what < right->what ? -1 : 1;
    return left->frame < right->frame ? -1 : left->frame > right->frame;
}

/* Sorts them, drops repetitions, and returns how many are left. */
static size_t sort_uses(txm_frame_use *uses, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(uses, count, sizeof *uses, compare_uses);
    for (size_t i = 0; i < count; i++)
        if (!kept || compare_uses(&uses[kept - 1], &uses[i]))
            uses[kept++] = uses[i];
    return kept;
}

/* Which files of a sequence a render shows, and when. */
static const txm_image_frames *frames_of(txm_needed *needed, const txm_scene *scene, const txm_scene_image *image)
{
    txm_image_frames *f = needed->current ? needed->current : (needed->current = txm_calloc(1, sizeof *f));
    if (!f || f->image == image)
        return f;
    size_t ranges = needed->frames ? needed->frames->count : 0;
    const txm_frame_range *range = ranges ? needed->frames->ranges : txm_scene_frames(scene, &ranges);
    f->image = image;
    f->count = 0;
    char *like = image->source == TXM_SCENE_SOURCE_SEQUENCE ? txm_scene_numbered_path(image, 0) : NULL;
    f->all = !ranges || !like;
    free(like);
    for (size_t u = 0; !f->all && u < image->user_count; u++)
        for (size_t r = 0; !f->all && r < ranges; r++) {
            const int32_t step = range[r].step > 0 ? range[r].step : 1;
            const int32_t last = range[r].last < TXM_LAST_FRAME ? range[r].last : TXM_LAST_FRAME;
            int32_t frame = range[r].first > -TXM_LAST_FRAME ? range[r].first : -TXM_LAST_FRAME;
            for (; !f->all && frame <= last; frame += step < TXM_LAST_FRAME ? step : TXM_LAST_FRAME) {
                uint32_t number;
                f->all = !txm_scene_frame_number(scene, &image->users[u], frame, &number) ||
                         needed->steps == MOST_STEPS || !TXM_GROW(f->uses, f->capacity, f->count);
                if (f->all)
                    break;
                f->uses[f->count++] = (txm_frame_use){number, frame};
                needed->steps++;
            }
        }
    f->all |= !f->count; /* the ranges are empty */
    f->count = sort_uses(f->uses, f->count);
    return f;
}

/* The first use of a file. */
static size_t first_use(const txm_image_frames *f, uint32_t number)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->uses[middle].what < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool txm_needed_wants(void *p, const txm_list_report *report, const txm_scene_image *image,
                      const txm_scene_image_file *file)
{
    txm_needed *needed = p;
    if (needed->without[TXM_NEEDED_TX])
        return false;
    const txm_image_frames *f = frames_of(needed, report->opened, image);
    const size_t at = f && !f->all ? first_use(f, file->number) : 0;
    return !f || f->all || (at < f->count && f->uses[at].what == file->number);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* A scene may name anything as an image, such as a private file, which must not be sent elsewhere. */
static bool is_image(const char *path)
{
    struct stat st;
    char head[16];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int64_t n = fd < 0 ? 0 : txm_read_most(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (txm_is_image_name(path) || (n > 0 && txm_image_noun(head, (size_t)n)));
}

/* The file at a path, which is added if it is not there; NULL if memory is exhausted or the role is left out. */
static txm_needed_file *add_file(txm_needed *needed, const char *path, txm_needed_role role, bool there, const char *of,
                                 txm_error *err)
{
    if (needed->without[role])
        return NULL;
    txm_name *name = txm_names_entry(&needed->names, path);
    if (name && name->value)
        return &needed->files[name->value - 1];
    const char *kept_of = of ? txm_names_copy(&needed->names, of) : NULL;
    name = name ? txm_names_entry(&needed->names, path) : NULL;
    if (!name || (of && !kept_of) || !TXM_GROW(needed->files, needed->capacity, needed->count)) {
        txm_no_memory(err, path);
        return NULL;
    }
    name->value = needed->count + 1;
    needed->files[needed->count] = (txm_needed_file){.path = name->text, .role = role, .there = there, .of = kept_of};
    return &needed->files[needed->count++];
}

/* Records in which frames a file is needed. */
static void add_frames(txm_needed *needed, txm_needed_file *file, const txm_image_frames *f, uint32_t number)
{
    if (!file)
        return;
    file->always |= f->all;
    for (size_t i = first_use(f, number); !f->all && i < f->count && f->uses[i].what == number; i++) {
        needed->shown_dropped |=
            needed->shown_count == MOST_SHOWN || !TXM_GROW(needed->shown, needed->shown_capacity, needed->shown_count);
        if (needed->shown_dropped)
            return;
        needed->shown[needed->shown_count++] = (txm_frame_use){(uint32_t)(file - needed->files), f->uses[i].frame};
    }
}

static void add_one(txm_needed *needed, const txm_image_frames *f, const char *path, uint32_t number, bool exists,
                    const txm_found *tx, txm_error *err)
{
    const bool good = exists && is_image(path);
    txm_needed_file *file = add_file(needed, path, TXM_NEEDED_IMAGE, good, NULL, err);
    if (file) {
        file->number = number;
        file->foreign = exists && !good;
    }
    add_frames(needed, file, f, number);
    if (!tx || !tx->path || err->status)
        return;
    file = add_file(needed, tx->path, TXM_NEEDED_TX, txm_state_words(tx->state)->ready, path, err);
    if (file) {
        file->number = number;
        file->state = tx->state;
    }
    add_frames(needed, file, f, number);
}

/* A frame or tile that does not exist. */
static txm_status add_absent(txm_needed *needed, const txm_image_frames *f, const txm_scene_image *image,
                             uint32_t number, txm_error *err)
{
    if (needed->absent++ >= MOST_ABSENT)
        return TXM_OK;
    char *path = txm_scene_numbered_path(image, number);
    if (path)
        add_one(needed, f, path, number, false, NULL, err);
    else
        txm_no_memory(err, image->path);
    free(path);
    return err->status;
}

static txm_status add_image(txm_needed *needed, const txm_list_report *report, const txm_scene_image *image,
                            const txm_found *lookups, txm_error *err)
{
    const txm_image_frames *f = frames_of(needed, report->opened, image);
    if (!f)
        return txm_no_memory(err, report->scene);
    if (image->source == TXM_SCENE_SOURCE_MOVIE && *image->path) {
        static const char *const extensions[] = {"avi", "mov", "mp4", "m4v", "mkv", "mpg",  "mpeg", "webm", "ogv",
                                                 "flv", "wmv", "mxf", "ts",  "dv",  "m2ts", "vob",  "3gp",  "gif"};
        struct stat st;
        bool is_movie = false;
        for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
            is_movie |= txm_path_has_ext(image->path, extensions[i]);
        const bool there = stat(image->path, &st) == 0, good = is_movie && there && S_ISREG(st.st_mode);
        txm_needed_file *file = add_file(needed, image->path, TXM_NEEDED_MOVIE, good, NULL, err);
        if (file) {
            file->always = true;
            file->foreign = !good && there;
        }
        return err->status;
    }
    for (size_t i = 0; f->all && err->status == TXM_OK && i < image->file_count; i++)
        add_one(needed, f, image->files[i].path, image->files[i].number, image->files[i].exists, &lookups[i], err);
    const bool set = image->source == TXM_SCENE_SOURCE_TILED && strchr(image->path, '<');
    for (size_t i = 0; set && i < image->tile_count; i++) {
        size_t at = 0;
        while (at < image->file_count && image->files[at].number != image->tiles[i])
            at++;
        if (at == image->file_count && add_absent(needed, f, image, image->tiles[i], err) != TXM_OK)
            return err->status;
    }
    /* Both lists are in the order of the numbers. */
    for (size_t i = 0, at = 0; !f->all && at < f->count && err->status == TXM_OK;) {
        const uint32_t number = f->uses[at].what;
        while (i < image->file_count && image->files[i].number < number)
            i++;
        if (i < image->file_count && image->files[i].number == number)
            add_one(needed, f, image->files[i].path, number, true, &lookups[i], err);
        else
            add_absent(needed, f, image, number, err);
        at = first_use(f, number + 1);
    }
    if (image->state == TXM_SCENE_STATE_MISSING && !image->file_count && !image->tile_count && f->all)
        add_one(needed, f, image->path, 0, false, NULL, err);
    return err->status;
}

txm_status txm_needed_add(txm_needed *needed, const txm_list_report *report, txm_error *err)
{
    const txm_scene *scene = report->opened;
    txm_needed_file *file = add_file(needed, txm_scene_info_of(scene)->path, TXM_NEEDED_SCENE, true, NULL, err);
    if (file)
        file->always = true;
    for (size_t i = 0; err->status == TXM_OK && i < txm_scene_library_count(scene); i++) {
        const txm_scene_library *l = txm_scene_library_at(scene, i);
        if (l->state == TXM_SCENE_LIBRARY_STATE_PACKED)
            continue;
        file =
            add_file(needed, l->path, TXM_NEEDED_LIBRARY, l->state != TXM_SCENE_LIBRARY_STATE_MISSING, l->parent, err);
        if (file)
            file->always = true;
    }
    if (needed->current)
        needed->current->image = NULL; /* images of different scenes may have one address */
    const txm_found *lookups = report->lookups;
    for (size_t i = 0; err->status == TXM_OK && i < txm_scene_image_count(scene); i++) {
        const txm_scene_image *image = txm_scene_image_at(scene, i);
        if (image->state != TXM_SCENE_STATE_PACKED)
            add_image(needed, report, image, lookups, err);
        lookups += image->file_count;
    }
    if (needed->current)
        needed->current->image = NULL;
    return err->status;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* Writes sorted frames as ranges with steps; "" if that would be too long for a line. */
static bool write_frames(const txm_frame_use *shown, size_t count, txm_bytes *out)
{
    char text[64];
    out->size = 0;
    for (size_t i = 0; i < count;) {
        size_t n = 1;
        const int32_t first = shown[i].frame, step = i + 1 < count ? shown[i + 1].frame - first : 1;
        while (i + n < count && shown[i + n].frame - shown[i + n - 1].frame == step)
            n++;
        n = n == 2 && step > 1 ? 1 : n;
        int length = snprintf(text, sizeof text, "%s%d", out->size ? "," : "", first);
        if (n > 1)
            length += snprintf(text + length, sizeof text - (size_t)length, "-%d", shown[i + n - 1].frame);
        if (n > 1 && step > 1)
            length += snprintf(text + length, sizeof text - (size_t)length, ":%d", step);
        if (!txm_bytes_add(out, text, (size_t)length))
            return false;
        if (out->size > MOST_TEXT_BYTES) {
            out->size = 0;
            break;
        }
        i += n;
    }
    return txm_bytes_add(out, "", 1);
}

txm_status txm_needed_finish(txm_needed *needed, txm_error *err)
{
    txm_bytes text = {0};
    const size_t kept = sort_uses(needed->shown, needed->shown_count);
    for (size_t i = 0, n; !needed->shown_dropped && i < kept; i += n) {
        txm_needed_file *file = &needed->files[needed->shown[i].what];
        for (n = 1; i + n < kept && needed->shown[i + n].what == needed->shown[i].what;)
            n++;
        const bool good = file->always || write_frames(&needed->shown[i], n, &text);
        const bool kept_text = good && !file->always && *(const char *)text.data;
        if (!good || (kept_text && !(file->frames = txm_names_put(&needed->names, (const char *)text.data)))) {
            txm_no_memory(err, file->path);
            break;
        }
    }
    txm_bytes_free(&text);
    return err->status;
}

void txm_needed_free(txm_needed *needed)
{
    if (needed->current)
        free(needed->current->uses);
    free(needed->current);
    free(needed->shown);
    free(needed->files);
    txm_names_free(&needed->names);
}
