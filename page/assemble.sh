#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# assemble.sh SHELL STYLE SCRIPT > PAGE: the shell with style and script in it, and their digests in its security policy, by
# which the browser runs these alone, whatever the name of a file contains. @DATA@ is left for the programs.
set -euo pipefail
digest() { printf '%b' "$(sha256sum <"$1" | cut -c -64 | sed 's/../\\x&/g')" | base64; }
awk -v style="$2" -v script="$3" -v style_digest="$(digest "$2")" -v script_digest="$(digest "$3")" '
function put(tag, file,    line) { # as it is, from the end of the tag to the beginning of the next
    printf "%s", substr(tag, 1, index(tag, "@") - 1)
    while ((getline line <file) > 0)
        print line
    print substr(tag, match(tag, /<\//))
}
/@STYLE@/ { put($0, style); next }
/@SCRIPT@/ { put($0, script); next }
{ sub(/@STYLE_DIGEST@/, style_digest); sub(/@SCRIPT_DIGEST@/, script_digest); print }' "$1"
