/* SPDX-License-Identifier: Apache-2.0
 * Colorimetry in double. */
#include "util_gamut.h"

#include <string.h>

void matrix_apply(const matrix *a, const double in[3], double out[3])
{
    double t[3];
    for (int i = 0; i < 3; i++)
        t[i] = a->m[i][0] * in[0] + a->m[i][1] * in[1] + a->m[i][2] * in[2];
    memcpy(out, t, sizeof t);
}

matrix matrix_multiply(const matrix *a, const matrix *b)
{
    matrix out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return out;
}

static double cofactor(const matrix *a, int r, int c)
{
    int r0 = (r + 1) % 3, r1 = (r + 2) % 3, c0 = (c + 1) % 3, c1 = (c + 2) % 3;
    return a->m[r0][c0] * a->m[r1][c1] - a->m[r0][c1] * a->m[r1][c0];
}

matrix matrix_inverse(const matrix *a)
{
    matrix out;
    double det = a->m[0][0] * cofactor(a, 0, 0) + a->m[0][1] * cofactor(a, 0, 1) + a->m[0][2] * cofactor(a, 0, 2);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = cofactor(a, j, i) / det;
    return out;
}

static void white_xyz(xy p, double out[3])
{
    out[0] = p.x / p.y;
    out[1] = 1;
    out[2] = (1 - p.x - p.y) / p.y;
}

matrix gamut_to_xyz(const gamut *g)
{
    const xy primaries[3] = {g->r, g->g, g->b};
    matrix m, inv;
    double white[3], scale[3];
    for (int c = 0; c < 3; c++) {
        double xyz[3];
        white_xyz(primaries[c], xyz);
        for (int r = 0; r < 3; r++)
            m.m[r][c] = xyz[r];
    }
    inv = matrix_inverse(&m);
    white_xyz(g->white, white);
    matrix_apply(&inv, white, scale);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m.m[r][c] *= scale[c];
    return m;
}

const matrix cone_bradford = {{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}};
const matrix cone_cat02 = {{{0.7328, 0.4296, -0.1624}, {-0.7036, 1.6975, 0.0061}, {0.0030, 0.0136, 0.9834}}};

matrix gamut_adaptation(const matrix *cone, xy from, xy to)
{
    matrix scaled = *cone, back = matrix_inverse(cone);
    double a[3], b[3];
    white_xyz(from, a);
    white_xyz(to, b);
    matrix_apply(cone, a, a);
    matrix_apply(cone, b, b);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            scaled.m[i][j] *= b[i] / a[i];
    return matrix_multiply(&back, &scaled);
}
