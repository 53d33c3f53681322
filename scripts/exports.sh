#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the version script of a library from its headers: exports.sh LIBRARY VERSION HEADER... Functions that are declared
# TXM_API are exported, and so are those declared TXM_SHARED, under a version of this release (base/shared.h).
library=$(echo "${1#lib}" | tr '[:lower:]' '[:upper:]')
version=$2
shift 2
declared() { # MARK HEADER...
    mark=$1
    shift
    sed -nE "s/^$mark .*[ *](txm_[a-z0-9_]+)\(.*/    \1;/p" "$@" | LC_ALL=C sort -u
}
printf '%s_0 {\nglobal:\n' "$library"
declared TXM_API "$@"
printf 'local:\n    *;\n};\n'
shared=$(declared TXM_SHARED "$@")
[ -z "$shared" ] || printf '%s_PRIVATE_%s {\nglobal:\n%s\n};\n' "$library" "$version" "$shared"
