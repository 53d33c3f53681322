/* SPDX-License-Identifier: Apache-2.0
 *
 * Colorimetry in double, from published chromaticities, with which tests compare colour spaces.
 */
#ifndef TESTS_UTIL_GAMUT_H
#define TESTS_UTIL_GAMUT_H

typedef struct matrix {
    double m[3][3];
} matrix;

typedef struct xy {
    double x, y;
} xy;

typedef struct gamut {
    xy r, g, b, white;
} gamut;

void matrix_apply(const matrix *a, const double in[3], double out[3]); /* in and out may be the same */
matrix matrix_multiply(const matrix *a, const matrix *b);
matrix matrix_inverse(const matrix *a);

/* SMPTE RP 177: the matrix whose columns are the primaries, scaled so that they add up to the white. */
matrix gamut_to_xyz(const gamut *g);

/* Von Kries adaptation of XYZ from one white to another in a cone space. */
matrix gamut_adaptation(const matrix *cone, xy from, xy to);
extern const matrix cone_bradford, cone_cat02;

/* The relative error of OpenColorIO's powers: it computes them four at a time, including that of alpha, exact to 15
 * bits. */
#define OCIO_POWER_ERROR 3e-5
#endif
