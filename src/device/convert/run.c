/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes grids from arguments: how many threads each of a job's kernels needs.
 */
#include "device/convert/job_impl.h"
#include "device/convert/program.h"

/* `channels` selects the kernel. It is the number of stored channels, or, when rows are counted, of conformed ones. */
static int start_kernel(const txm_gpu_job *j, txm_convert_kind kind, uint32_t channels, const uint32_t threads[3],
                        const void *args, size_t args_bytes, txm_rt_stream stream)
{
    const txm_rt_memory memories[] = {j->memory, j->tables};
    uint32_t instance = 2 * (uint32_t)j->plan.type + (channels == 4);
    return txm_rt_launch(&txm_convert_program, TXM_CONVERT_KINDS * instance + kind, threads, memories, 2, args,
                         args_bytes, stream);
}

int gpu_run_ingest(const txm_gpu_job *job, const txm_gpu_ingest *args, txm_rt_stream stream)
{
    const uint32_t threads[3] = {(args->width + 1) / 2, (args->rows + 1) / 2, 1};
    return start_kernel(job, TXM_CONVERT_INGEST, args->channels, threads, args, sizeof *args, stream);
}

int gpu_run_level(const txm_gpu_job *job, const txm_gpu_level *args, txm_rt_stream stream)
{
    const uint32_t threads[3] = {args->width, args->rows, 1};
    return start_kernel(job, TXM_CONVERT_LEVEL, args->channels, threads, args, sizeof *args, stream);
}

int gpu_run_tiles(const txm_gpu_job *job, const txm_gpu_tiles *args, txm_rt_stream stream)
{
    const uint32_t threads[3] = {txm_gpu_tiles_threads(args), args->tile_px, args->bands};
    return start_kernel(job, TXM_CONVERT_TILES, args->channels, threads, args, sizeof *args, stream);
}

int gpu_run_borders(const txm_gpu_job *job, const txm_gpu_borders *args, txm_rt_stream stream)
{
    const uint32_t across = (args->width + args->tile_px - 1) / args->tile_px;
    const uint32_t threads[3] = {txm_gpu_border_pixels(args->tile_px, args->tile_px), across, args->bands};
    return start_kernel(job, TXM_CONVERT_BORDERS, args->channels, threads, args, sizeof *args, stream);
}

int gpu_run_count(const txm_gpu_job *job, const txm_gpu_count *args, txm_rt_stream stream)
{
    const uint32_t threads[3] = {args->rows * args->conform.channels, 1, 1};
    return start_kernel(job, TXM_CONVERT_COUNT, args->conform.channels, threads, args, sizeof *args, stream);
}

int gpu_run_pack(const txm_gpu_job *job, const txm_gpu_pack *args, txm_rt_stream stream)
{
    const uint32_t threads[3] = {args->workers * TXM_GPU_PACK_LANES, 1, 1};
    return txm_rt_launch(&txm_convert_program, TXM_CONVERT_PACK, threads, &job->memory, 1, args, sizeof *args, stream);
}
