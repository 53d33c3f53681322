/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime (runtime.h) implemented with OpenCL.
 *
 * A stream is an in-order queue. OpenCL reports the failure of a command only through its event, so a stream keeps the
 * events of its commands until an event of the runtime is recorded. That event is a marker after all of them, and
 * fails if one of them did.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/opencl_impl.h"

const char txm_rt_name[] = "opencl", txm_rt_title[] = "OpenCL";

enum { PENDING = 64 };

typedef struct ocl_stream {
    ocl_device *device;
    cl_command_queue queue;
    cl_event pending[PENDING]; /* events of commands since the last marker */
    cl_uint count;
    cl_event last;            /* the last copy or kernel; NULL: none yet */
    struct ocl_event *newest; /* the last event recorded, if no copy or kernel has followed it yet */
} ocl_stream;

/* Times are those of copies and kernels, because NVIDIA's driver gives markers times that mean nothing. */
typedef struct ocl_event {
    cl_event event;         /* a marker */
    cl_event before, after; /* the copies or kernels next to it; NULL: none */
    ocl_stream *stream;     /* the one of which this is the newest event; NULL: none */
} ocl_event;

/* ---- words ---------------------------------------------------------------------------------------------------------
 */

static pthread_mutex_t say_lock = PTHREAD_MUTEX_INITIALIZER;
static char said[OCL_NOTE - OCL_BROKEN + 1][OCL_TEXT_BYTES];

void ocl_say(int code, const char *text)
{
    pthread_mutex_lock(&say_lock);
    char *to = said[code - OCL_BROKEN];
    if (!*to)
        snprintf(to, OCL_TEXT_BYTES, "%s", text);
    pthread_mutex_unlock(&say_lock);
}

/* Codes that a user may encounter have a text; for others the number is shown. */
const char *txm_rt_text(int code)
{
    static const struct {
        cl_int code;
        const char *text;
    } texts[] = {{CL_SUCCESS, "no error"},
                 {CL_DEVICE_NOT_FOUND, "no device was found"},
                 {CL_DEVICE_NOT_AVAILABLE, "the device is not available"},
                 {CL_COMPILER_NOT_AVAILABLE, "the driver has no compiler"},
                 {CL_MEM_OBJECT_ALLOCATION_FAILURE, "the device's memory is exhausted"},
                 {CL_OUT_OF_RESOURCES, "the device is out of resources"},
                 {CL_OUT_OF_HOST_MEMORY, "out of memory"},
                 {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command failed on the device"},
                 {CL_INVALID_BUFFER_SIZE, "the device has no memory of that size"}};
    static char numbers[128][32];
    if (code >= OCL_BROKEN && code <= OCL_REFUSED)
        return said[code - OCL_BROKEN];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (ocl_code(texts[i].code) == code)
            return texts[i].text;
    char *out = numbers[code > 0 && code < 128 ? code : 0];
    pthread_mutex_lock(&say_lock);
    if (!*out)
        snprintf(out, sizeof numbers[0], "OpenCL error %d", -code);
    pthread_mutex_unlock(&say_lock);
    return out;
}

bool txm_rt_out_of_memory(int code)
{
    return code == ocl_code(CL_MEM_OBJECT_ALLOCATION_FAILURE) || code == ocl_code(CL_OUT_OF_HOST_MEMORY) ||
           code == ocl_code(CL_INVALID_BUFFER_SIZE);
}

const char *txm_rt_note(void)
{
    const char *note = said[OCL_NOTE - OCL_BROKEN];
    pthread_mutex_lock(&say_lock);
    const bool has_one = *note != 0;
    pthread_mutex_unlock(&say_lock);
    return has_one ? note : NULL;
}

/* ---- devices -------------------------------------------------------------------------------------------------------
 */

/* The current device of a thread. This is not _Thread_local, because LeakSanitizer cannot handle thread-local variables
 * of loaded libraries. */
static pthread_key_t current_key;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    pthread_key_create(&current_key, NULL);
}

/* A thread that has not selected a device uses device 0. */
static ocl_device *current(void)
{
    ocl_device *list;
    uint32_t count;
    pthread_once(&current_once, make_key);
    ocl_device *d = pthread_getspecific(current_key);
    return d ? d : ocl_devices(&list, &count) || !count ? NULL : list;
}

int txm_rt_count(uint32_t *count)
{
    ocl_device *list;
    return ocl_devices(&list, count);
}

int ocl_open(ocl_device *d)
{
    cl_int code = 0;
    pthread_mutex_lock(&d->lock);
    if (!d->context) {
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)d->platform, 0};
        cl_context context = clCreateContext(properties, 1, &d->id, NULL, NULL, &code);
        d->queue = context ? clCreateCommandQueue(context, d->id, CL_QUEUE_PROFILING_ENABLE, &code) : NULL;
        if (d->queue)
            d->context = context;
        else if (context)
            clReleaseContext(context);
    }
    pthread_mutex_unlock(&d->lock);
    return d->context ? 0 : ocl_code(code);
}

int txm_rt_use(uint32_t device)
{
    ocl_device *list;
    uint32_t count;
    int code = ocl_devices(&list, &count);
    if (code)
        return code;
    if (device >= count)
        return ocl_code(CL_DEVICE_NOT_FOUND);
    if (*list[device].reason) {
        ocl_say(OCL_REFUSED, list[device].reason);
        return OCL_REFUSED;
    }
    pthread_once(&current_once, make_key);
    pthread_setspecific(current_key, &list[device]);
    return ocl_open(&list[device]);
}

/* ---- memory --------------------------------------------------------------------------------------------------------
 */

/* Machine memory mapped for a device, which is found again by its address. */
typedef struct pinned {
    struct pinned *next;
    cl_mem buffer;
    void *address;
    ocl_device *device;
} pinned;

static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER;
static pinned *all_pinned;

/* Drivers report a lack of memory with several codes. */
static int allocate(cl_mem_flags flags, size_t bytes, cl_mem *out)
{
    cl_int code = 0;
    ocl_device *d = current();
    *out = d && d->context ? clCreateBuffer(d->context, flags, bytes, NULL, &code) : NULL;
    if (!d || !d->context)
        return ocl_code(CL_DEVICE_NOT_FOUND);
    return ocl_code(code == CL_OUT_OF_RESOURCES ? CL_MEM_OBJECT_ALLOCATION_FAILURE : code);
}

int txm_rt_alloc(txm_rt_memory *memory, size_t bytes)
{
    return allocate(CL_MEM_READ_WRITE, bytes, (cl_mem *)memory);
}

int txm_rt_alloc_host(txm_rt_memory *memory, size_t bytes)
{
    return allocate(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, (cl_mem *)memory);
}

void txm_rt_free(txm_rt_memory memory)
{
    if (memory)
        clReleaseMemObject(memory);
}

int txm_rt_alloc_pinned(void **memory, size_t bytes)
{
    ocl_device *d = current();
    pinned *p = calloc(1, sizeof *p);
    cl_int failed = p ? 0 : CL_OUT_OF_HOST_MEMORY;
    int code = p ? allocate(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, &p->buffer) : ocl_code(failed);
    if (!code)
        p->address = clEnqueueMapBuffer(d->queue, p->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL,
                                        NULL, &failed);
    if (code || failed) {
        if (p && p->buffer)
            clReleaseMemObject(p->buffer);
        free(p);
        return code ? code : ocl_code(failed == CL_MAP_FAILURE ? CL_OUT_OF_HOST_MEMORY : failed);
    }
    p->device = d;
    pthread_mutex_lock(&pinned_lock);
    p->next = all_pinned;
    all_pinned = p;
    pthread_mutex_unlock(&pinned_lock);
    *memory = p->address;
    return 0;
}

void txm_rt_free_pinned(void *memory)
{
    pthread_mutex_lock(&pinned_lock);
    pinned **at = &all_pinned, *p;
    while (memory && (p = *at) && p->address != memory)
        at = &p->next;
    p = memory ? *at : NULL;
    if (p)
        *at = p->next;
    pthread_mutex_unlock(&pinned_lock);
    if (!p)
        return;
    clEnqueueUnmapMemObject(p->device->queue, p->buffer, p->address, 0, NULL, NULL);
    clFinish(p->device->queue);
    clReleaseMemObject(p->buffer);
    free(p);
}

/* ---- streams and events --------------------------------------------------------------------------------------------
 */

int txm_rt_stream_new(txm_rt_stream *stream)
{
    ocl_device *d = current();
    cl_int code = 0;
    ocl_stream *s = d && d->context ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return ocl_code(d && d->context ? CL_OUT_OF_HOST_MEMORY : CL_DEVICE_NOT_FOUND);
    s->device = d;
    s->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (!s->queue) {
        free(s);
        return ocl_code(code);
    }
    *stream = s;
    return 0;
}

/* Stores an event in place of another; both may be NULL. */
static void keep(cl_event *kept, cl_event event)
{
    if (event)
        clRetainEvent(event);
    if (*kept)
        clReleaseEvent(*kept);
    *kept = event;
}

/* From now on, another event or none is the newest of its stream. */
static void set_newest(ocl_stream *s, ocl_event *e)
{
    if (s->newest)
        s->newest->stream = NULL;
    s->newest = e;
    if (e)
        e->stream = s;
}

static void forget(ocl_stream *s)
{
    for (cl_uint i = 0; i < s->count; i++)
        clReleaseEvent(s->pending[i]);
    s->count = 0;
}

void txm_rt_stream_free(txm_rt_stream stream)
{
    ocl_stream *s = stream;
    if (!s)
        return;
    clFinish(s->queue);
    forget(s);
    keep(&s->last, NULL);
    set_newest(s, NULL);
    clReleaseCommandQueue(s->queue);
    free(s);
}

void txm_rt_handles(txm_rt_stream stream, void *handles[3])
{
    ocl_stream *s = stream;
    handles[0] = s->device->context;
    handles[1] = s->device->id;
    handles[2] = s->queue;
}

/* Adds a marker after all pending commands. */
static int mark(ocl_stream *s, cl_event *out)
{
    cl_int code = clEnqueueMarkerWithWaitList(s->queue, s->count, s->count ? s->pending : NULL, out);
    if (!code)
        forget(s);
    return ocl_code(code);
}

/* Makes room for one more event, which is stored at pending[count]. */
static int make_room(ocl_stream *s)
{
    cl_event all = NULL;
    if (s->count < PENDING)
        return 0;
    int code = mark(s, &all);
    if (!code)
        s->pending[s->count++] = all;
    return code;
}

/* Counts a copy or kernel that was enqueued with the event pending[count]. */
static int queued(ocl_stream *s, cl_int code)
{
    if (!code) {
        keep(&s->last, s->pending[s->count++]);
        if (s->newest)
            keep(&s->newest->after, s->last);
        set_newest(s, NULL);
    }
    return ocl_code(code);
}

int txm_rt_event_new(txm_rt_event *event)
{
    return (*event = calloc(1, sizeof(ocl_event))) ? 0 : ocl_code(CL_OUT_OF_HOST_MEMORY);
}

void txm_rt_event_free(txm_rt_event event)
{
    ocl_event *e = event;
    if (!e)
        return;
    if (e->stream)
        set_newest(e->stream, NULL);
    keep(&e->before, NULL);
    keep(&e->after, NULL);
    if (e->event)
        clReleaseEvent(e->event);
    free(e);
}

int txm_rt_record(txm_rt_event event, txm_rt_stream stream)
{
    ocl_event *e = event;
    ocl_stream *s = stream;
    cl_event now = NULL;
    int code = mark(s, &now);
    if (code)
        return code;
    if (e->event)
        clReleaseEvent(e->event);
    e->event = now;
    if (e->stream)
        set_newest(e->stream, NULL);
    keep(&e->before, s->last);
    keep(&e->after, NULL);
    set_newest(s, e);
    return ocl_code(clFlush(s->queue));
}

int txm_rt_follow(txm_rt_stream stream, txm_rt_event event)
{
    ocl_event *e = event;
    ocl_stream *s = stream;
    int code = e->event ? make_room(s) : 0;
    if (code || !e->event)
        return code;
    const cl_int failed = clEnqueueBarrierWithWaitList(s->queue, 1, &e->event, &s->pending[s->count]);
    s->count += failed == CL_SUCCESS;
    return ocl_code(failed);
}

int txm_rt_reach(txm_rt_event event, bool wait, bool *reached)
{
    ocl_event *e = event;
    cl_int state = CL_COMPLETE;
    *reached = !e->event;
    if (!e->event)
        return 0;
    cl_int code = wait ? clWaitForEvents(1, &e->event) : CL_SUCCESS;
    if (!code || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        cl_int own = clGetEventInfo(e->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
        code = own ? own : state < 0 ? state : code;
    }
    *reached = !code && state == CL_COMPLETE;
    return ocl_code(code);
}

/* From the start of the first copy or kernel after `begin` to the end of the last one before `end`; 0 if there is none
 * between them. */
int txm_rt_elapsed(txm_rt_event begin, txm_rt_event end, double *seconds)
{
    const cl_event first = ((ocl_event *)begin)->after, last = ((ocl_event *)end)->before;
    cl_ulong from = 0, to = 0;
    *seconds = 0;
    if (!first || !last)
        return 0;
    cl_int code = clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL);
    if (!code)
        code = clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL);
    if (!code && to > from)
        *seconds = (double)(to - from) * 1e-9;
    return ocl_code(code);
}

/* ---- copies and kernels --------------------------------------------------------------------------------------------
 */

int txm_rt_upload(txm_rt_memory to, uint64_t at, const void *from, size_t bytes, txm_rt_stream stream)
{
    ocl_stream *s = stream;
    int code = make_room(s);
    return code ? code
                : queued(s,
                         clEnqueueWriteBuffer(s->queue, to, CL_FALSE, at, bytes, from, 0, NULL, &s->pending[s->count]));
}

int txm_rt_download(void *to, txm_rt_memory from, uint64_t at, size_t bytes, txm_rt_stream stream)
{
    ocl_stream *s = stream;
    int code = make_room(s);
    return code ? code
                : queued(s,
                         clEnqueueReadBuffer(s->queue, from, CL_FALSE, at, bytes, to, 0, NULL, &s->pending[s->count]));
}

int txm_rt_copy(txm_rt_memory to, uint64_t to_at, txm_rt_memory from, uint64_t from_at, size_t bytes,
                txm_rt_stream stream)
{
    ocl_stream *s = stream;
    int code = make_room(s);
    return code ? code
                : queued(s, clEnqueueCopyBuffer(s->queue, from, to, from_at, to_at, bytes, 0, NULL,
                                                &s->pending[s->count]));
}

/* Sets NULL for memories that a launch does not have. The lock must be held, because arguments are part of the kernel
 * object. */
static cl_int set_arguments(cl_kernel kernel, const txm_rt_memory *memories, uint32_t count, const void *args,
                            size_t args_bytes)
{
    cl_int code = 0;
    for (cl_uint i = 0; !code && i < TXM_RT_MEMORIES; i++) {
        cl_mem m = i < count ? memories[i] : NULL;
        code = clSetKernelArg(kernel, i, sizeof m, m ? &m : NULL);
    }
    return code ? code : clSetKernelArg(kernel, TXM_RT_MEMORIES, args_bytes, args);
}

int txm_rt_launch(const txm_rt_program *program, uint32_t kernel, const uint32_t threads[3],
                  const txm_rt_memory *memories, uint32_t memory_count, const void *args, size_t args_bytes,
                  txm_rt_stream stream)
{
    ocl_stream *s = stream;
    const cl_kernel *kernels;
    const size_t block = program->kernels[kernel].block, local[3] = {block, 1, 1};
    const size_t global[3] = {(threads[0] + block - 1) / block * block, threads[1], threads[2]};
    int code = make_room(s);
    if (code)
        return code;
    pthread_mutex_lock(&s->device->lock);
    if (!(code = ocl_kernels(s->device, program, &kernels))) {
        cl_int failed = set_arguments(kernels[kernel], memories, memory_count, args, args_bytes);
        if (!failed)
            failed = clEnqueueNDRangeKernel(s->queue, kernels[kernel], 3, NULL, global, local, 0, NULL,
                                            &s->pending[s->count]);
        code = queued(s, failed);
    }
    pthread_mutex_unlock(&s->device->lock);
    return code;
}
