#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal no command prints lines wider than it, however long the names are; a pipe gets whole lines.
# Plain builds only: it measures lines of text
# Slow: 200 terminals
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
if ! has_terminal; then
    skip columns "no pseudo-terminal here"
    finish
fi
export TERM=xterm-256color
folder="a folder with a long name and spaces for all the textures of a show"
mkdir -p "$folder/sub" && cp "$golden/rgb8.png" "$folder/a_long_name_of_a_texture_of_a_wooden_floor_color_4k_v012.png"
cp "$golden/gray8.png" "$folder/sub/木の床のテクスチャ_normal.png" && cp "$golden/gray8.png" "$folder/sub/old.png"
head -c 900 "$golden/rgb8.png" >"$folder/sub/a_texture_that_was_cut_short_when_the_disk_was_full_on_friday.png"
"$TXMILL" make -q "$folder" 2>/dev/null
touch -d '2026-01-02 03:04:05' "$folder/sub/old.png"
tx=$(echo "$folder"/blender_tx/*.tx)
cp "$TXM_TESTDATA/blend/materials.blend" "$folder/a_scene_with_a_long_name_sequence_010_shot_0200_lighting_v034.blend"
scene=$(echo "$folder"/*.blend)
"$TXMILL" make --json --force "$folder"/*.png >run.jsonl

fits() { # NAME ARGUMENT...
    local name=$1 columns widest
    shift
    for columns in ${sizes:-40 80 200}; do
        on_terminal --screen "${columns}x24" "$TXMILL" "$@"
        widest=$(sed -n 's/^widest //p' out | tail -n 1)
        check "$name-$columns" test "${widest:-999}" -le "$columns" -a "$(grep -c . out)" -gt 3
        check "$name-$columns-no-progress-left" test "$(grep -cE '^(examining|reading) [0-9]' out)" -eq 0
    done
}
fits info info "$folder"
fits info-all info --all "$tx"
fits info-tiles info --tiles "$tx"
fits verify verify -v "$folder"
fits verify-source verify --deep "$tx"
fits resolve resolve "$folder"
fits resolve-other resolve -c Non-Color "$folder"/*.png
fits check check -v "$folder"
fits check-lint check --lint "$folder"
fits list list --lint "$scene"
fits borders borders --check "$folder"
fits gc gc --missing-folders "$folder"
sizes=80 fits budget budget "$folder"/*.png
fits plan plan -N 2 --files "$folder"
fits make make -v --force "$folder"
fits make-plan make --plan --force "$folder"
fits make-key make --key "$folder"
fits make-scene make -n "$scene"
fits diff diff "$tx" "$tx"
fits diff-folders diff "$folder" "$folder"
fits sample sample --explain --dudx 0.01 "$tx"
fits tile tile -l 7 "$folder"
fits extract extract "$folder" --overwrite -o pictures/
fits view view "$folder"
fits report report run.jsonl
fits settings settings "$folder"
fits doctor doctor
fits devices devices
"$TXMILL" stream render plane "$tx" --size 64x36 --trace "$folder/a_shot_with_a_long_name_sequence_010_shot_0200.trace" -q
fits replay replay "$folder"/*.trace
fits colorspaces colorspaces
fits commands --help
fits mistake-image info "$folder"/*.png
fits mistake-option make --colourspace x "$folder"
fits mistake-space make -c "no such colour space at all" "$folder"/*.png
fits mistake-output view --html "$tx" "$tx"
for c in $("$TXMILL" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do sizes="40 80" fits "help-$c" "$c" --help --all; done
sizes="40 80" fits help-usual make --help
sizes="40 80" fits help-verb stream play --help

fits mistake-watch watch "$folder" nowhere
fits mistake-settings settings "$folder" "$folder/nowhere" @nowhere
sizes="80 120"
fits stream-render stream render room -s 64x36 --samples 8 "$folder/a_long_name"*.png -o "a picture of a room with a long name.png"
fits stream-budget stream budget grid -s 64x36 "$folder" --exclude '*cut*' --exclude old.png
fits mistake-stream-scene stream budget "$folder"
fits mistake-stream-word stream budget rom
wide=$folder/木の床のテクスチャ木の床のテクスチャ木の床のテクスチャ
cp "$golden/gray8.png" "$wide.png"
fits stream-wide stream render room -s 64x36 --samples 2 "$wide.png" -o "$wide"
fits stream-budget-wide stream budget room -s 64x36 "$wide.png"
rm "$wide.png"
fits mistake-stream-tx stream budget room "$folder" --include '*cut*'
unset sizes
# The progress line appears and disappears; if part of it were left over, it would show on every later line.
for columns in 80 120; do
    on_terminal "${columns}x24" "$TXMILL" stream render room -s 320x180 --samples 4 "$folder/a_long_name"*.png
    check "stream-progress-$columns" test "$(grep -c '% .* million samples, .* left' out)" -ge 1
    on_terminal --screen "${columns}x24" "$TXMILL" stream render room -s 320x180 --samples 4 "$folder/a_long_name"*.png
    check "stream-nothing-left-$columns" test "$(head -n 1 out | tr -d '\r') $(grep -c 'left\|million samples' out)" = "room: 320 x 180 px, 4 samples, 3 bounces, wave 0"
    on_terminal "${columns}x24" "$TXMILL" stream render room -q -s 64x36 --samples 8 "$folder/a_long_name"*.png
    check "stream-quiet-$columns" test ! -s out
done

touch -d '2026-01-03 03:04:05' "$folder/sub/old.png"
# If a line is shortened, its important part stays.
on_terminal --screen 80x24 "$TXMILL" verify "$tx"
check name-shown grep -q '^\.\..*_4k_v012\.png\.0-......\.\.\.tx: good' out
on_terminal --screen 80x24 "$TXMILL" info "$tx"
check info-leads grep -q '^\.\..*_4k_v012\.png\.0-......\.\.\.tx' out
on_terminal --screen 80x24 "$TXMILL" check "$folder"
check reason-below grep -q '^  the image is ' out
txm info "$tx"
check pipe-whole grep -qxF "$tx" out
txm verify "$tx"
check pipe-line grep -qxF "$tx: good" out

# The status line is removed before a line is printed, and leaves nothing behind.
mkdir many && for i in $(seq 30); do cp "$golden/rgb8.png" "many/texture_number_$i.png"; done
# A terminal folds the line when it becomes narrower: all its rows are cleared.
mkdir large
for i in 1 2 3; do { printf 'P5\n5000 5000\n255\n' && head -c 25000000 /dev/zero; } >large/texture_of_some_length_$i.pgm; done
on_terminal --shrink 30 120x24 "$TXMILL" make -j 1 --force large
check shrunk-rows-go grep -q $'\r\033\\[[12]A\033\\[J' out
on_terminal 120x24 "$TXMILL" make -j 1 --force large
check as-wide-nothing-goes test "$(grep -c $'\033\\[[0-9]*A' out)" -eq 0
rm -r large
for columns in 80 120; do
    on_terminal --screen "${columns}x24" "$TXMILL" make --force many
    check "make-lines-$columns" test "$(grep -c '^many/texture_number_[0-9]*\.png: created, ' out)" -eq 30
    check "make-nothing-else-$columns" test "$(grep -vc '^many/texture_number_[0-9]*\.png: created, \|^txmill: 30 created \|^txmill: [0-9.]* MB of textures; \|^  *\|^widest\|^lines\|^exit' out)" -eq 0
    rm -rf many/blender_tx many/texture_number_31.png
    # shellcheck disable=SC2016
    on_terminal --screen "${columns}x24" bash -c '"$0" watch --settle 0 many & sleep 1; n=0
        until [ "$(ls many/blender_tx 2>/dev/null | grep -c "tx$")" -eq 30 ] || [ $((n += 1)) -gt 200 ]; do sleep 0.1; done
        cp many/texture_number_1.png many/texture_number_31.png; n=0
        until [ "$(ls many/blender_tx | grep -c "tx$")" -eq 31 ] || [ $((n += 1)) -gt 200 ]; do sleep 0.1; done
        sleep 0.5; kill -INT $!; wait $!' "$TXMILL"
    rm many/texture_number_31.png
    check "watch-lines-$columns" test "$(grep -c '^many/texture_number_[0-9]*\.png: created, ' out)" -eq 31
    check "watch-nothing-else-$columns" test "$(grep -vc '^many/texture_number_[0-9]*\.png: created, \|^txmill: \|^  *\|^widest\|^lines\|^exit\|^TXMILL-ERROR' out)" -eq 0
    check "watch-fits-$columns" test "$(sed -n 's/^widest //p' out)" -le "$columns"
done

# The smallest terminals show a picture together with its caption.
on_terminal --screen 80x24 "$TXMILL" view "$tx"
check view-fits test "$(sed -n 's/^lines //p' out)" -le 24
check view-says grep -q '^Cycles uses it' out
finish
