/* SPDX-License-Identifier: Apache-2.0
 * The commands of txmill-stream. */
#ifndef STREAM_COMMANDS_H
#define STREAM_COMMANDS_H
#include "cli/options.h"

extern const stm_command stm_cmd_stream, stm_cmd_replay;
#endif
