/* SPDX-License-Identifier: Apache-2.0
 *
 * The feeder reads the source band by band, conforms it, and decides what kind of file it becomes from what it has
 * read so far: one constant colour, one channel of grey, or the kind of the source.
 *
 * The guess is optimistic. No other stage starts while the image is constant; a grey image starts as grey, and the
 * first coloured pixel ends the attempt (`not_grey`): the conversion starts again with four channels. Rows of one
 * colour are not kept, because they can be made again; but 0 and -0 are equal, so if another colour follows both, the
 * conversion starts again and keeps them (`lost_zeros`).
 */
#ifndef TXM_CONVERT_FEEDER_H
#define TXM_CONVERT_FEEDER_H
#include "mill/convert/band.h"
#include "mill/convert/conform.h"
#include "mill/convert/gpu_stage.h"
#include "mill/convert/job.h"

/* The facts about the image that are known when the output has to start. */
typedef struct txm_feed_start {
    uint32_t width, height, channels; /* shape of level 0 as it will be stored */
    txm_type type;
    bool constant;
} txm_feed_start;

/* The receiver of bands. `start` is called once, before the first band, and sets `device` and `raw` below if a device
 * is to be fed; `band` takes ownership of its reference. Failures are recorded in the job. */
typedef struct txm_feed_sink {
    void *context;
    bool (*start)(void *context, const txm_feed_start *start);
    void (*band)(void *context, txm_band *band);
} txm_feed_sink;

typedef struct txm_feed {
    txm_job *job;
    txm_source *source;
    const txm_conform *conform;
    uint32_t band_rows;
    uint32_t level;   /* the level of the image that becomes level 0, because of a limit of its sides; else 0 */
    bool equiangular; /* how it is halved: as in txm_pyramid_spec */
    bool may_be_grey; /* store one channel if the image allows it */
    bool keep_zeros;  /* the image is known not to be constant: every row is passed on as it is */
    txm_feed_sink sink;
    unsigned bands_in_flight; /* the most bands of level 0 alive at once */
    atomic_uint alive;        /* number of living bands; the feed must outlive them */
    void (*progress)(void *user, uint32_t rows_done, uint32_t rows);
    void *progress_user;
    txm_gpu_stage *device; /* does the work of the CPU on the image, and is waited for at the end; NULL: none */
    bool raw;              /* it gets rows as the source delivers them, and adds to the statistics */
    /* results */
    txm_stats stats; /* statistics of level 0 as conformed: one channel or four */
    bool not_grey;   /* the attempt was wrong: start again with may_be_grey = false */
    bool lost_zeros; /* the attempt was wrong: start again with keep_zeros = true */
    bool grey;       /* stored as one channel */
    bool constant;
} txm_feed;

/* Reads the source from its first row to its last and returns the job's status. If not_grey or lost_zeros is set, the
 * other results are meaningless. */
txm_status txm_feed_run(txm_feed *feed, txm_error *err);
#endif
