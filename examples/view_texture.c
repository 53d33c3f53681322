/* SPDX-License-Identifier: Apache-2.0
 * A texture viewer that needs no window: prints the level of a tx file that fits the terminal, two pixels per
 * character, or writes any level as a PPM file:
 *
 *     cc view_texture.c $(pkg-config --cflags --libs txtile) -o view_texture
 *     ./view_texture blender_tx/wood.png.*.tx [0 wood.ppm] */
#include <stdio.h>
#include <stdlib.h>
#include <txtile/reader.h>

/* The 8-bit value for display: floats are scene-linear, and shown through the square root, which is close to a
 * display's curve; integers are shown as they are stored. */
static unsigned char shown(float v, txm_type type)
{
    float value = v > 0 ? v < 1 ? v : 1 : 0, root = 1;
    for (int i = 0; txm_type_is_float(type) && i < 12; i++) /* Newton's method */
        root = 0.5f * (root + value / root);
    return (unsigned char)((txm_type_is_float(type) ? root : value) * 255 + 0.5f);
}

/* Copies one tile into the picture, as RGB. `raw` and `row` have room for a tile, and for a row of it as float. */
static txm_status put_tile(txm_tx *tx, txm_tx_request *request, unsigned char *raw, float *row, unsigned char *picture,
                           txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    uint32_t width, height, c = info->channels, line = txm_tx_level_of(tx, request->level)->width;
    request->pixels = raw;
    request->width = &width;
    request->height = &height;
    txm_status status = txm_tx_read_tile(tx, request, err);
    for (uint32_t y = 0; status == TXM_OK && y < height; y++) {
        size_t at = (size_t)(request->tile_y * info->tile_h + y) * line + request->tile_x * info->tile_w;
        txm_samples_to_float(info->type, raw + (size_t)y * info->tile_w * c * txm_type_bytes(info->type), row,
                             (size_t)width * c);
        for (uint32_t k = 0; k < 3 * width; k++)
            picture[at * 3 + k] = shown(row[k / 3 * c + (c >= 3 ? k % 3 : 0)], info->type);
    }
    return status;
}

/* Reads a whole level; NULL with a message on failure. */
static unsigned char *read_level(txm_tx *tx, uint32_t level, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    unsigned char *raw = malloc((size_t)info->tile_w * info->tile_h * info->channels * txm_type_bytes(info->type));
    float *row = malloc((size_t)info->tile_w * info->channels * sizeof *row);
    unsigned char *picture = malloc((size_t)l->width * l->height * 3);
    txm_status status = raw && row && picture ? TXM_OK : TXM_STATUS_NO_MEMORY;
    txm_tx_request request;
    txm_tx_request_init(&request);
    request.level = level;
    if (status != TXM_OK)
        snprintf(err->message, sizeof err->message, "out of memory");
    for (; status == TXM_OK && request.tile_y < l->tiles_y; request.tile_y++)
        for (request.tile_x = 0; status == TXM_OK && request.tile_x < l->tiles_x; request.tile_x++)
            status = put_tile(tx, &request, raw, row, picture, err);
    free(raw);
    free(row);
    if (status != TXM_OK)
        free(picture);
    return status == TXM_OK ? picture : NULL;
}

/* Prints upper half blocks: the foreground is the upper pixel, the background the lower one. */
static void print_terminal(const unsigned char *p, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y += 2) {
        for (uint32_t x = 0; x < width; x++) {
            const unsigned char *a = p + ((size_t)y * width + x) * 3, *b = y + 1 < height ? a + (size_t)width * 3 : a;
            printf("\033[38;2;%d;%d;%dm\033[48;2;%d;%d;%dm\xE2\x96\x80", a[0], a[1], a[2], b[0], b[1], b[2]);
        }
        puts("\033[0m");
    }
}

int main(int argc, char **argv)
{
    txm_error err;
    txm_tx *tx;
    if (argc != 2 && argc != 4)
        return fprintf(stderr, "usage: %s FILE.tx [LEVEL FILE.ppm]\n", argv[0]), 2;
    if (txm_tx_open(argv[1], &tx, &err) != TXM_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    uint32_t level = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, last = txm_tx_info_of(tx)->levels - 1;
    for (; argc == 2 && level < last && txm_tx_level_of(tx, level)->width > 80; level++)
        ;
    const txm_tx_level *l = txm_tx_level_of(tx, level < last ? level : last);
    unsigned char *picture = read_level(tx, level < last ? level : last, &err);
    FILE *out = argc == 4 && picture ? fopen(argv[3], "wb") : NULL;
    if (out)
        fprintf(out, "P6\n%u %u\n255\n", l->width, l->height), fwrite(picture, 3, (size_t)l->width * l->height, out);
    else if (argc == 2 && picture)
        print_terminal(picture, l->width, l->height);
    int failed = !picture || (argc == 4 && (!out || fclose(out)));
    if (failed)
        fprintf(stderr, "%s\n", picture ? "the picture cannot be written" : err.message);
    free(picture);
    txm_tx_close(&tx);
    return failed;
}
