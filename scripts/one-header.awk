# SPDX-License-Identifier: Apache-2.0
# Makes a public header of a private one: puts the private headers that it includes in their places, each once, and
# leaves the others. Usage: awk -f one-header.awk src/ROOM/HEADER
function put(path,   line, part) {
    if (path in done)
        return
    done[path]
    while ((getline line < path) > 0)
        if (match(line, /^#include "(tile|device)\//)) {
            split(line, part, "\"")
            put("src/" part[2])
        } else {
            print line
        }
    close(path)
}
BEGIN { put(ARGV[1]) }
