#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The version script of a library from its public headers: exports.sh LIBRARY HEADER... Every function declared TXM_API is
# shown, nothing else.
library=$1
shift
printf '%s_0 {\nglobal:\n' "$(echo "${library#lib}" | tr '[:lower:]' '[:upper:]')"
sed -nE 's/^TXM_API .*[ *](txm_[a-z0-9_]+)\(.*/    \1;/p' "$@" | LC_ALL=C sort -u
printf 'local:\n    *;\n};\n'
