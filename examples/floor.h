/* SPDX-License-Identifier: Apache-2.0
 * The scene of renderer.c and wavefront.c: a textured floor that extends to the horizon. */
#ifndef FLOOR_H
#define FLOOR_H
#include <stdio.h>
#include <txtile/ray.h>
#include <txtile/sampler.h>

enum { WIDTH = 640, HEIGHT = 360 };

/* Where the pixel's ray hits the floor, and how far u and v move from there to the next pixel. Returns 0 if it hits the
 * sky. */
static int floor_at(int x, int y, txm_lookup *at)
{
    const float pixel =
        2.0f / WIDTH; /* on a screen one unit in front of the camera, which is one unit above the floor */
    const txm_vec3 up = txm_vec_make(0, 1, 0), across = txm_vec_make(1, 0, 0), along = txm_vec_make(0, 0, -1);
    txm_vec3 to_pixel = txm_vec_make(((float)x - WIDTH / 2) * pixel, ((float)HEIGHT / 5 - (float)y) * pixel, -1);
    float length = txm_vec_length(to_pixel);
    if (to_pixel.y >= 0)
        return 0;
    txm_vec3 direction = txm_vec_scale(to_pixel, 1 / length);
    float t = -1 / direction.y;
    /* The derivatives of a unit vector are at right angles to it. */
    txm_full ray = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    txm_vec3 by_x = txm_vec_scale(across, pixel / length), by_y = txm_vec_scale(up, -pixel / length);
    ray.dDdx = txm_vec_add(by_x, -txm_vec_dot(by_x, direction), direction);
    ray.dDdy = txm_vec_add(by_y, -txm_vec_dot(by_y, direction), direction);
    txm_uv_differential d = txm_full_uv(txm_full_transfer(ray, direction, t, up), up, across, along);
    at->u = t * direction.x;
    at->v = -t * direction.z;
    at->dudx = d.dudx, at->dvdx = d.dvdx, at->dudy = d.dudy, at->dvdy = d.dvdy;
    return 1;
}

/* Trilinear needs no random numbers; the default chooses one of two levels at random, as Cycles does. */
static txm_sampler floor_sampler(void)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_TRILINEAR;
    return how;
}

/* Writes colours as they are stored, since those of sRGB images are encoded. Returns 0 on success. */
static int write_ppm(const char *path, float (*pixels)[4])
{
    FILE *out = fopen(path, "wb");
    if (!out)
        return perror(path), 1;
    fprintf(out, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        for (int c = 0; c < 3; c++)
            putc((int)((pixels[i][c] > 0 ? pixels[i][c] < 1 ? pixels[i][c] : 1 : 0) * 255 + 0.5f), out);
    int failed = ferror(out);
    failed |= fclose(out);
    if (failed)
        perror(path);
    return failed != 0;
}
#endif
