/* SPDX-License-Identifier: Apache-2.0
 *
 * The back-ends for devices. Each is a plug-in, txmill-NAME.so; they are tried in this order.
 */
#ifndef TXM_TERMS_BACKENDS_H
#define TXM_TERMS_BACKENDS_H

/* Columns: the name in labels of devices, options and files; the name that users read. */
#define TXM_BACKENDS(X)                                                                                                \
    X("cuda", "CUDA")                                                                                                  \
    X("opencl", "OpenCL")

/* The words for a device, for messages. */
#define TXM_BACKEND_WORDS(name, title) ", " name ", " name ":N"
#define TXM_DEVICE_WORDS "auto, cpu" TXM_BACKENDS(TXM_BACKEND_WORDS)
#endif
