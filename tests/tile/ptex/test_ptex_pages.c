/* SPDX-License-Identifier: Apache-2.0
 * Faces of the files of testdata/ptex packed into pages: a bilinear lookup in a page gives the same as the Ptex
 * lookup, over edges and corners, on every level that faces have. Faces do not overlap, little space is unused, and
 * threads agree. */
#include <assert.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>

#include "tile/ptex/ptex_pages.h"
#include "util_check.h"
#include "util_faults.h"

/* Weights are floats. If texels of opposite signs cancel out, rounding errors are in proportion to the texels: for
 * halves near 65504 they remain although the lookup gives 0.03. */
static const float WEIGHT = 5e-7f;
static size_t different; /* lookups, of all that were compared */
static size_t turned_faces, wide_frames, averaged;

static const char *data_path(const char *name)
{
    static char path[512];
    const char *data = getenv("TXM_TESTDATA");
    snprintf(path, sizeof path, "%s/ptex/%s", data ? data : "testdata", name);
    return path;
}

static txm_ptex_pages *pack(const txm_ptex *p, uint32_t page_px, uint32_t padding_px)
{
    const txm_ptex_pages_options o = {sizeof o, page_px, padding_px, 0};
    txm_ptex_pages *pages;
    txm_error err;
    if (txm_ptex_pages_new(p, &o, &pages, &err) != TXM_OK)
        ck_abort_msg("%s", err.message);
    return pages;
}

/* Reads a level of a page as floats. */
static float *read_level(const txm_ptex_pages *pages, uint32_t page, uint32_t level, uint32_t *width, uint32_t *height)
{
    const txm_ptex_pages_info *info = txm_ptex_pages_info_of(pages);
    txm_error err;
    txm_ptex_page_size(pages, page, width, height);
    *width = txm_level_size(*width, level);
    *height = txm_level_size(*height, level);
    const size_t row = (size_t)*width * info->channels * txm_type_bytes(info->type);
    FREED uint8_t *pixels = malloc(row * *height);
    float *floats = malloc((size_t)*width * *height * info->channels * sizeof *floats);
    if (txm_ptex_page_read(pages, page, level, 0, 0, *width, *height, pixels, row, &err) != TXM_OK)
        ck_abort_msg("%s", err.message);
    txm_samples_to_float(info->type, pixels, floats, (size_t)*width * *height * info->channels);
    return floats;
}

static float pixel_of(const float *floats, uint32_t width, uint32_t height, uint32_t channels, int x, int y, uint32_t c)
{
    assert(x >= 0 && y >= 0 && (uint32_t)x < width && (uint32_t)y < height);
    return floats[((size_t)(height - 1 - (uint32_t)y) * width + (uint32_t)x) * channels + c];
}

/* The texel beyond the edge is rounded to the file's type once more than in the lookup. */
static float tolerance(txm_type type)
{
    return type == TXM_TYPE_U8 ? 0.6f / 255 : type == TXM_TYPE_HALF ? 2e-3f : 1e-4f;
}

/* Returns whether the other three faces round the vertex of a corner are whole, or all four are subfaces. */
static bool is_plain(const txm_ptex *p, uint32_t face, unsigned corner)
{
    uint32_t at = face;
    unsigned edge = corner;
    for (int i = 0; i < 4; i++) {
        const txm_ptex_face *f = txm_ptex_face_of(p, at);
        if (f->neighbours[edge] < 0)
            return false;
        if ((f->flags ^ txm_ptex_face_of(p, face)->flags) & TXM_PTEX_SUBFACE)
            return false;
        at = (uint32_t)f->neighbours[edge];
        edge = (txm_ptex_edge(f, edge) + 1) & 3;
    }
    return at == face && edge == corner;
}

/* Returns whether the corner that a lookup reaches into holds exactly one texel of one face. */
static bool corner_is_plain(const txm_ptex *p, uint32_t face, float u, float v, uint32_t ul, uint32_t vl)
{
    const float half_u = ldexpf(0.5f, -(int)ul), half_v = ldexpf(0.5f, -(int)vl);
    const bool left = u<half_u, right = u> 1 - half_u, low = v<half_v, high = v> 1 - half_v;
    if (!(left || right) || !(low || high))
        return true;
    return is_plain(p, face, right ? (high ? 2 : 1) : high ? 3 : 0) && !(left && right) && !(low && high);
}

static size_t compare_face(const txm_ptex *p, txm_ptex_filter *filter, const txm_ptex_pages *pages, uint32_t face,
                           uint32_t level, const float *floats, uint32_t width, uint32_t height)
{
    const txm_ptex_info *file = txm_ptex_info_of(p);
    const uint32_t channels = txm_ptex_pages_info_of(pages)->channels;
    const txm_ptex_face *f = txm_ptex_face_of(p, face);
    txm_ptex_place at;
    txm_error err;
    size_t compared = 0;
    ck_assert_int_eq(txm_ptex_place_of(pages, face, &at, &err), TXM_OK);
    double corner[3][2]; /* where (0, 0), (1, 0) and (0, 1) are, from the page's lower left corner */
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(txm_ptex_place_uv(pages, face, k == 1, k == 2, corner[k], &err), TXM_OK);
    const bool turned = fabs(corner[1][1] - corner[0][1]) > 1e-9;
    if (at.width != 1u << (turned ? f->v_log2 : f->u_log2) || at.height != 1u << (turned ? f->u_log2 : f->v_log2) ||
        f->u_log2 < level || f->v_log2 < level)
        return 0;
    turned_faces += turned;
    for (int k = 2; k >= 0; k--)
        for (int i = 0; i < 2; i++)
            corner[k][i] = (corner[k][i] - (k ? corner[0][i] : i ? at.page / 10 : at.page % 10)) * (i ? height : width);
    const uint32_t ul = f->u_log2 - level, vl = f->v_log2 - level;
    for (int i = 0; i < 121; i++) {
        const float u = 0.001f + (float)(i % 11) * 0.0998f, v = 0.001f + (float)(i / 11) * 0.0998f;
        float wanted[4] = {0}, is[4];
        txm_ptex_request r;
        if (!corner_is_plain(p, face, u, v, ul, vl) || f->flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD)
            continue;
        txm_ptex_request_init(&r);
        r.kind = TXM_PTEX_BILINEAR;
        r.face = face;
        r.u = u;
        r.v = v;
        r.u_width1 = ldexpf(1, -(int)ul);
        r.v_width1 = ldexpf(1, -(int)vl);
        r.channels = file->channels < 3 ? file->channels : 3;
        r.result = wanted;
        ck_assert_int_eq(txm_ptex_look_up(filter, &r, &err), TXM_OK);
        const double x = corner[0][0] + (double)u * corner[1][0] + (double)v * corner[2][0] - 0.5;
        const double y = corner[0][1] + (double)u * corner[1][1] + (double)v * corner[2][1] - 0.5;
        const int left = (int)floor(x), low = (int)floor(y);
        const float s = (float)(x - left), t = (float)(y - low);
        for (uint32_t c = 0; c < (file->channels == 1 ? 1 : file->channels == 2 ? 1 : 3); c++) {
            float texels[4], largest = 0;
            for (int k = 0; k < 4; k++) {
                texels[k] = pixel_of(floats, width, height, channels, left + k % 2, low + k / 2, c);
                largest = fmaxf(largest, fabsf(texels[k]));
            }
            is[c] = (1 - t) * ((1 - s) * texels[0] + s * texels[1]) + t * ((1 - s) * texels[2] + s * texels[3]);
            if (fabsf(is[c] - wanted[c]) > tolerance(file->type) * fmaxf(1, fabsf(wanted[c])) + WEIGHT * largest)
                different++ < 5
                    ? printf("face %u (%u x %u log2), level %u, at %g, %g: channel %u is %g, not %g\n", face, f->u_log2,
                             f->v_log2, level, (double)u, (double)v, c, (double)is[c], (double)wanted[c])
                    : 0;
        }
        compared++;
    }
    return compared;
}

/* The blocks in which a place of a page lies. */
static const ptex_grid *grid_at(const txm_ptex_pages *pages, uint32_t page, uint32_t x, uint32_t y)
{
    for (size_t i = 0; i < pages->grid_count; i++) {
        const ptex_grid *g = &pages->grids[i];
        if (g->page == page && x - g->x < g->columns * txm_ptex_block_px(g->width_log2, g->frame_log2) &&
            y - g->y < g->rows * txm_ptex_block_px(g->height_log2, g->frame_log2))
            return g;
    }
    return NULL;
}

/* Pixels that are not made from faces of their size are means of the level before. */
static void compare_means(const txm_ptex_pages *pages, uint32_t page, uint32_t level)
{
    const uint32_t channels = txm_ptex_pages_info_of(pages)->channels;
    uint32_t all_width, all_height, width, height;
    FREED float *all = read_level(pages, page, level - 1, &all_width, &all_height);
    FREED float *floats = read_level(pages, page, level, &width, &height);
    for (uint32_t i = 0; all_width % 2 == 0 && all_height % 2 == 0 && i < width * height * channels; i++) {
        const uint32_t x = i / channels % width, y = i / channels / width, c = i % channels;
        float sum = 0, most = 0;
        for (uint32_t k = 0; k < 4; k++) {
            const float value = all[((2 * y + k / 2) * all_width + 2 * x + k % 2) * channels + c];
            sum += value / 4;
            most = fmaxf(most, fabsf(value));
        }
        const ptex_grid *g = grid_at(pages, page, x << level, (height - 1 - y) << level);
        if (g && g->frame_log2 >= level)
            continue;
        ck_assert_msg(fabsf(sum - floats[i]) <= 1e-6f * most, "level %u, %u, %u, channel %u is %g, not %g", level, x, y,
                      c, (double)floats[i], (double)sum);
        averaged++;
    }
}

static size_t compare_file(const char *path, uint32_t padding_px)
{
    txm_ptex *p;
    txm_ptex_filter *filter;
    txm_error err;
    size_t compared = 0;
    if (txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &p, &err) != TXM_OK)
        return 0;
    const txm_ptex_info *file = txm_ptex_info_of(p);
    if (file->faces > 5000 || file->mesh != TXM_PTEX_QUADS || file->alpha_channel >= 0 ||
        file->edge_mode == TXM_PTEX_EDGE_TANGENT) {
        txm_ptex_close(&p);
        return 0;
    }
    ck_assert_int_eq(txm_ptex_filter_new(p, 1 << 20, &filter, &err), TXM_OK);
    txm_ptex_pages *pages = pack(p, 0, padding_px);
    const txm_ptex_pages_info *info = txm_ptex_pages_info_of(pages);
    for (uint32_t page = 0; page < info->pages; page++)
        for (uint32_t level = 0, width, height; level <= PTEX_WIDEST_LOG2; level++) {
            txm_ptex_page_size(pages, page, &width, &height);
            if (!(width >> level) || !(height >> level))
                break;
            FREED float *floats = read_level(pages, page, level, &width, &height);
            uint32_t smallest = UINT32_MAX; /* smaller faces have the file's colour on this level */
            for (uint32_t face = 0; face < file->faces; face++) {
                txm_ptex_place at;
                ck_assert_int_eq(txm_ptex_place_of(pages, face, &at, &err), TXM_OK);
                const uint32_t frame = grid_at(pages, at.page, at.x, at.y)->frame_log2;
                if (at.page == page && level <= frame)
                    compared += compare_face(p, filter, pages, face, level, floats, width, height);
                for (uint32_t side = at.width < at.height ? at.height : at.width; side < smallest;)
                    smallest = side;
                wide_frames += frame > pages->padding_log2;
            }
            for (uint32_t smaller = 1; !level && smallest >> smaller > 1 && file->type == TXM_TYPE_FLOAT; smaller++)
                compare_means(pages, page, smaller);
        }
    txm_ptex_filter_free(&filter);
    txm_ptex_pages_free(&pages);
    txm_ptex_close(&p);
    return compared;
}

/* Compares every file of a folder: all edges, and the corners where exactly one face lies opposite. */
static size_t compare_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t compared = 0;
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[1024];
        const size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".ptx") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        for (uint32_t padding = 0; padding <= 8; padding = padding ? 2 * padding : 1) {
            const size_t more = compare_file(path, padding);
            if (getenv("TXM_TEST_VERBOSE"))
                printf("%s, padding %u: %zu, %zu different\n", e->d_name, padding, more, different), different = 0;
            compared += more;
        }
    }
    closedir(dir);
    return compared;
}

TEST(look_ups_in_pages_equal_those_in_files)
{
    const char *other = getenv("TXM_TEST_PTEX"); /* a folder of Ptex files from elsewhere */
    ck_assert_uint_gt(compare_folder(other ? other : data_path("")), other ? 0 : 20000);
    ck_assert_uint_eq(different, 0);
    ck_assert_uint_gt(turned_faces, other ? 0 : 50);
    ck_assert_uint_gt(wide_frames, other ? 0 : 50);
    ck_assert_uint_gt(averaged, other ? 0 : 1000);
}
