#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill restore: projects that lost their times, files that are missing or different, and hostile manifests.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
film=$work/film
mkdir film && cp -r "$TXM_TESTDATA/blend/"{linked.blend,lib,textures} film
find film -type f -exec touch -d '2020-02-02 02:02:02' {} +
"$TXMILL" make -q film/linked.blend
"$TXMILL" files -q --manifest film/film.manifest "$film/linked.blend" 2>/dev/null
check manifest test -s film/film.manifest
files=$(($(wc -l <film/film.manifest) - 1))
tx_count=$(grep -c '"role":"tx"' film/film.manifest)

# ---- a copy without times ----------------------------------------------------------------------------------------------
cp -r film copy
find copy -type f -exec touch -d '2024-01-01' {} + && find copy -name '*.tx' -exec touch -d '2024-01-02' {} +
gives copy-outdated 5 -- check copy/linked.blend
gives dry-run 0 prints "$files files: $files would restore" -- restore -n copy/film.manifest
gives dry-run-nothing 5 -- check copy/linked.blend
gives restored 0 prints "$files files: $files restored" -- restore copy/film.manifest
gives copy-fresh 0 -- check copy/linked.blend
check copy-times test "$(cd copy && stat -c '%n %Y' linked.blend lib/library.blend lib/far.blend textures/lib/{far,lib,object,world}.png textures/lib/blender_tx/*.tx)" = \
    "$(cd film && stat -c '%n %Y' linked.blend lib/library.blend lib/far.blend textures/lib/{far,lib,object,world}.png textures/lib/blender_tx/*.tx)"
gives again 0 reports "len(o) == $files and all(x['state'] == 'unchanged' for x in o)" -- restore --json copy/film.manifest
if has_jsonschema; then check schema valid_json restore out; fi
txm restore -q copy/film.manifest
check quiet test ! -s out
mv copy/film.manifest elsewhere.manifest
gives wrong-root 5 says "none of the files is in .; give --root the folder that has them" -- restore elsewhere.manifest
gives root 0 -- restore --root copy elsewhere.manifest
txm restore --root copy - <elsewhere.manifest
check standard-input rc_is 0

# ---- what is not as it was ---------------------------------------------------------------------------------------------
image=$(grep -l . copy/textures/lib/*.png | head -n 1) tx=$(echo copy/textures/lib/blender_tx/"${image##*/}".*.tx)
printf x >>"$image"
touch -d '2021-01-01' "$image" "$tx"
rm copy/lib/far.blend
gives exit 5 -- restore --root copy --json elsewhere.manifest
check different json out '[x["path"] for x in o if x["state"] == "different"] == [sys.argv[3][5:]] and [x["path"] for x in o if x["state"] == "missing"] == ["lib/far.blend"]' "$image"
check different-tx test "$(stat -c %y "$tx" | cut -c1-4)" = 2021
# The same size and time, and other content.
cp -p "film${image#copy}" "$image" && printf Z | dd of="$image" bs=1 seek=40 conv=notrunc 2>/dev/null && touch -r "film${image#copy}" "$image"
gives content 5 prints "${image#copy/}: different: has other content" -- restore --root copy elsewhere.manifest
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 12\n' 0 >"$image"
txm restore --root copy elsewhere.manifest
check pointer prints "${image#copy/}: different: a pointer of Git LFS in place of the file; 'git lfs pull' downloads it"
rm -r copy && cp -r film copy

# ---- hostile manifests -------------------------------------------------------------------------------------------------
mkdir outside && echo secret >outside/secret && touch -d '2019-09-09 09:09:09' outside/secret
key=$(python3 -SEc 'import json, sys; print([json.loads(l) for l in open("film/film.manifest")][1]["key"])')
head='{"schema":"txmill.files","version":1,"type":"manifest","files":1}'
line() { printf '{"schema":"txmill.files","type":"file","role":"image","path":"%s","time":%s,"key":"%s"}\n' "$1" "${2:-0}" "${3:-$key}"; }
hostile() { # NAME EXIT SAYS; the manifest is in the file bad
    local sum
    sum=$(find copy outside film -printf '%p %T@ %s\n' | sort | md5sum)
    gives "hostile-$1" "$2" -- restore --root copy bad
    check "hostile-$1-says" grep -qaF -e "$3" err out
    check "hostile-$1-nothing" test "$(find copy outside film -printf '%p %T@ %s\n' | sort | md5sum)" = "$sum"
}
number=0
for path in "$work/outside/secret" ../outside/secret lib/../../outside/secret .. . lib/. lib//far.blend ./linked.blend "" \
    "$(printf 'a/%.0s' {1..3000})a" "$(printf 'a%.0s' {1..300})"; do
    { echo "$head"; line "$path"; } >bad
    hostile "path-$((number += 1))" 3 "one that does not lead to a file below the root"
done
for time in 1e300 -1e300 1.5 '"1"' null 9007199254740993 true; do
    { echo "$head"; line linked.blend "$time"; } >bad
    hostile "time-$((number += 1))" 3 "has no valid time"
done
for k in "" 12 x:y "99999999999999999999:00000000000000000000000000000000" "-1:00000000000000000000000000000000"; do
    printf '%s\n' "$head" "{\"path\":\"linked.blend\",\"time\":0,\"key\":\"$k\"}" >bad
    hostile "key-$((number += 1))" 3 "has no valid key"
done
{ echo "${head/1\}/2\}}"; line linked.blend 0; line linked.blend 1; } >bad
hostile twice 3 "names a file that is there before"
{ echo "$head"; line linked.blend 0; line lib/far.blend 1; } >bad
hostile more 3 "has 2 of 1 files"
head -n 3 film/film.manifest >bad
hostile cut-off 3 "the manifest was cut off"
head -c -20 film/film.manifest >bad
hostile cut-line 3 "is damaged, or the manifest was cut off there"
sed '1s/"files":[0-9]*/"files":1e999/' film/film.manifest >bad
hostile huge-count 3 "does not say how many files follow"
sed '1s/"version":1/"version":2/' film/film.manifest >bad
hostile newer 3 "a newer txmill wrote this manifest"
: >bad
hostile empty 3 "the file is empty, so it is not a manifest"
cp "$golden/rgb8.png" bad
hostile image 3 "is damaged"
"$TXMILL" files --json film/linked.blend >bad 2>/dev/null
hostile list 3 "a list of files with absolute paths"
echo '{"schema":"txmill.make","version":1}' >bad
hostile log 3 "not a manifest"
{ echo "$head"; python3 -SEc 'print("[" * 500000)'; } >bad
hostile deep 3 "line 2 is damaged"
{ echo "$head"; head -c 3000000 /dev/zero | tr '\0' a; } >bad
hostile long-line 3 "line 2 is damaged"
{ echo "$head"; printf '{"path":"a\\u0000/../../outside/secret","time":0,"key":"%s"}\n' "$key"; } >bad
hostile zero-byte 3 "line 2"
{ echo "$head"; printf '{"path":"x","path_encoded":"..%%2Foutside%%2Fsecret","time":0,"key":"%s"}\n' "$key"; } >bad
hostile encoded 3 "one that does not lead to a file below the root"
{ echo "$head"; line 'a\n\u001b[2J'; } >bad
hostile control-characters 5 'a\x0A\x1B[2J: missing'
# Links: out of the folder they are refused; within it they are followed.
ln -s ../outside copy/door && ln -s ../../outside/secret copy/lib/window && ln -s / copy/slash && ln -s loop copy/loop
secret="7:$(printf '%032d' 0)"
for path in door/secret lib/window "slash$work/outside/secret" loop; do
    { echo "$head"; line "$path" 0 "$secret"; } >bad
    hostile "link-$path" 5 "refused: a link on its path"
done
ln copy/linked.blend hardlink
{ echo "$head"; line linked.blend 0; } >bad
hostile hard-link 5 "linked.blend: refused: has other names, hard links"
rm hardlink
mkfifo copy/pipe
{ echo "$head"; line pipe 0; } >bad
hostile pipe 5 "pipe: refused: not a file, but a folder or a device"
{ echo "$head"; line lib 0; } >bad
hostile folder 5 "lib: refused: not a file, but a folder or a device"
mv copy/lib copy/inner && ln -s inner copy/lib
grep '"path":"lib/library' film/film.manifest | (echo "$head"; cat) >bad
gives inner-link 0 -- restore --root copy bad
check inner-link-time test "$(stat -c %Y copy/inner/library.blend)" -eq "$(stat -c %Y film/lib/library.blend)"
# Times that a file system may not keep, and names of any bytes.
cp film/linked.blend copy/$'e\xe9 \x01.blend'
{ echo "$head"; printf '{"path":"x","path_encoded":"e%%E9%%20%%01.blend","time":-86400,"key":"%s"}\n' "$key"; } >bad
gives odd-name 0 -- restore --root copy bad
check before-1970 test "$(stat -c %Y copy/$'e\xe9 \x01.blend')" -eq -86400
gives none 2 -- restore
gives two 2 -- restore bad bad
gives no-such 3 says "no-such: cannot be opened" -- restore no-such

# ---- disks that round times ---------------------------------------------------------------------------------------------
if [ -n "${SANITIZED:-}" ]; then
    skip rounds "a sanitizer comes first"
    finish
fi
run ${CC:-cc} -O1 -Wall -Wextra -Werror -fPIC -shared "$repo/tests/tools/times_preload.c" -o times.so
check preload-compiles rc_is 0
# Without openat2 no link is followed.
run env OLD_KERNEL=1 LD_PRELOAD="$work/times.so" "$TXMILL" restore --root film film/film.manifest
check old-kernel rc_is 0
for path in door/secret lib/window "slash$work/outside/secret" loop lib/library.blend; do
    { echo "$head"; line "$path" 0 "$secret"; } >bad
    run env OLD_KERNEL=1 LD_PRELOAD="$work/times.so" "$TXMILL" restore --root copy bad
    check "old-kernel-$path" eval 'rc_is 5 && prints "refused: a link on its path cannot be followed safely"'
done
check old-kernel-nothing test "$(stat -c %Y outside/secret)" -eq "$(date -d '2019-09-09 09:09:09' +%s)"
on_fat() { run env ROUND="$1" LD_PRELOAD="$work/times.so" "${@:2}"; }
for when in '2020-02-02 02:02:03' '1975-05-05 05:05:05' '2150-01-01 00:00:01'; do
    year=${when%%-*}
    rm -rf copy film/film.manifest
    find film -type f -exec touch -d "$when" {} +
    "$TXMILL" files -q --manifest film/film.manifest "$film/linked.blend" 2>/dev/null
    cp -r film copy
    on_fat copy "$TXMILL" restore copy/film.manifest
    check "fat-$year" rc_is 0
    check "fat-$year-says" says "its file system keeps the time as"
    gives "fat-$year-fresh" 0 -- check copy/linked.blend
    on_fat copy "$TXMILL" restore copy/film.manifest
    check "fat-$year-again" rc_is 0
done
# Where only tx files are on such a disk, images get their times; refresh and make, which leave images alone, say it.
rm -rf copy && cp -r film copy
on_fat blender_tx "$TXMILL" restore copy/film.manifest
check fat-tx rc_is 0
gives fat-tx-fresh 0 -- check copy/linked.blend
touch -d '2020-02-02 02:02:03' copy/textures/lib/*.png
on_fat blender_tx "$TXMILL" refresh copy/textures/lib
check fat-refresh rc_is 3
check fat-refresh-says says "its file system keeps the time 2020-02-02 02:02:03 as 2020-02-02 02:02:02, and Cycles would not use the file"
rm copy/textures/lib/blender_tx/*.tx
on_fat blender_tx "$TXMILL" make copy/textures/lib
check fat-make rc_is 3
check fat-make-nothing nothing_in copy/textures/lib
check tx-files test "$tx_count" -gt 0
finish
