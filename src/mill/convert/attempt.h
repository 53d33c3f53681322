/* SPDX-License-Identifier: Apache-2.0
 *
 * One attempt at a conversion, from an opened source to a finished, unpublished file. It fails, succeeds, or finds
 * that the image is not grey after all and must be converted again with four channels.
 *
 * This folder implements one conversion, from a path to a published tx file. convert.c decides whether there is
 * anything to do and with which settings; an attempt runs the stages, which pass bands of rows to each other: feeder
 * (reads, conforms) -> hash, pyramid or device -> tiler -> encode queue -> writer. Each stage is a file of its own,
 * runs on the pool's threads, and stops at the first failure of any other (job.h). Memory is that of the bands in
 * flight, whatever the image's height is.
 */
#ifndef TXM_CONVERT_ATTEMPT_H
#define TXM_CONVERT_ATTEMPT_H
#include "mill/convert/feeder.h"
#include "mill/convert/resolve.h"
#include "mill/write/publish.h"
#include "mill/write/writer.h"

typedef struct txm_attempt_request {
    txm_context *context;
    const txm_settings *settings;
    const txm_convert_options *options;
    txm_source *source;
    const txm_resolved *resolved;
    const txm_tx_metadata *metadata;
    const char *target;           /* final path of the file */
    bool may_be_grey, keep_zeros; /* as in txm_feed */
    bool devices; /* the context's devices may be used; if one fails, the attempt returns DEVICE: run again without */
} txm_attempt_request;

typedef struct txm_attempt_result {
    bool not_grey;     /* no file was made: run again without may_be_grey */
    bool lost_zeros;   /* no file was made: run again with keep_zeros */
    bool failed_again; /* no file was made: a device failed, which was said before of another file */
    txm_tx_layout layout;
    txm_tx_summary summary;
    bool grey;
    uint64_t image_bytes, file_bytes;
    char device[16];
    txm_stage_seconds stages;
} txm_attempt_result;

/* Runs an attempt. On success *publish has the finished file, ready to be committed. */
txm_status txm_attempt_run(const txm_attempt_request *request, txm_publish **publish, txm_attempt_result *result,
                           txm_error *err);
#endif
