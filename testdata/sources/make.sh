#!/bin/bash
# Makes the source images of this folder with programs of their own formats' communities, in the folder given.
# Needs: imagemagick netpbm libtiff-tools libjpeg-turbo-progs openexr openimageio-tools webp python3 (Debian 12).
# Usage: make.sh OUT_DIR. Files are small on purpose (37 x 23 px): every decoder's edge cases are near.
set -eu
out=${1:?a folder to write to}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
cd "$out"
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
im() { convert -seed 7 "$@"; }
oiio() { oiiotool --nosoftwareattrib "$@"; }

# The motifs: colour with soft and hard parts, the same with alpha, grey.
im -size 37x23 plasma:tomato-steelblue -depth 8 "$t/rgb.ppm"
im -size 37x23 plasma:tomato-steelblue -depth 16 "$t/rgb16.ppm"
im -size 37x23 gradient:white-black -depth 8 "$t/mask.pgm"
im "$t/rgb.ppm" "$t/mask.pgm" -alpha off -compose CopyOpacity -composite "$t/rgba.png"
im "$t/rgb16.ppm" "$t/mask.pgm" -alpha off -compose CopyOpacity -composite -depth 16 "$t/rgba16.png"
im "$t/rgb.ppm" -colorspace gray -depth 8 "$t/gray.pgm"

# PNG (netpbm, ImageMagick)
for bits in 1 2 4; do
    pamdepth $(((1 << bits) - 1)) "$t/gray.pgm" 2>/dev/null | pnmtopng -force >"gray$bits.png" 2>/dev/null
    pnmquant $((1 << bits)) "$t/rgb.ppm" 2>/dev/null | pnmtopng >"palette$bits.png" 2>/dev/null
done
pnmquant 200 "$t/rgb.ppm" 2>/dev/null | pnmtopng -interlace >palette8-interlaced.png 2>/dev/null
pnmquant 60 "$t/rgb.ppm" 2>/dev/null | pnmtopng -transparent "$(ppmhist -noheader "$t/rgb.ppm" 2>/dev/null |
    awk 'NR==1{printf "rgb:%02x/%02x/%02x",$1,$2,$3}')" >palette-trns.png 2>/dev/null
im "$t/rgba.png" -colors 40 PNG8:palette-alpha.png
im "$t/rgb.ppm" -interlace PNG PNG24:rgb-interlaced.png
im "$t/rgb.ppm" -transparent "$(convert "$t/rgb.ppm" -format '%[pixel:p{3,3}]' info:)" -define png:color-type=2 rgb-trns.png
im "$t/gray.pgm" -define png:color-type=0 -define png:bit-depth=8 -transparent "gray(128)" gray-trns.png
im "$t/rgba16.png" -interlace PNG -define png:bit-depth=16 PNG64:rgba16-interlaced.png
im "$t/rgba.png" -colorspace gray -define png:color-type=4 graya.png
pnmtopng -gamma 0.4545 -text <(printf 'Title the title\nAuthor an author\nCopyright nobody\nDescription a pattern\n') \
    "$t/rgb.ppm" >text-gamma.png 2>/dev/null
python3 "$here/make.py" cicp text-gamma.png rgb-cicp-pq.png 9 16 0 1

# JPEG (libjpeg-turbo, ImageMagick)
cjpeg -quality 90 "$t/rgb.ppm" >rgb-420.jpg
cjpeg -quality 90 -sample 1x1 -progressive "$t/rgb.ppm" >rgb-progressive.jpg
cjpeg -quality 90 -sample 2x1 -restart 1 "$t/rgb.ppm" >rgb-422-restart.jpg
cjpeg -quality 90 -arithmetic "$t/rgb.ppm" >rgb-arithmetic.jpg
cjpeg -quality 90 "$t/gray.pgm" >gray.jpg
im "$t/rgb.ppm" -colorspace CMYK -quality 90 cmyk.jpg
im "$t/rgb.ppm" -quality 90 -set comment 'a pattern' -orient RightTop rotated.jpg

# TIFF (ImageMagick, libtiff-tools)
im "$t/rgb.ppm" -compress none -define tiff:rows-per-strip=5 strip-none.tif
tiffcp -c lzw:2 -r 7 strip-none.tif strip-lzw.tif
tiffcp -c zip:2 -r 7 strip-none.tif strip-zip.tif
tiffcp -c packbits -r 7 strip-none.tif strip-packbits.tif
tiffcp -c zstd -r 7 strip-none.tif strip-zstd.tif
tiffcp -c jpeg -r 16 strip-none.tif strip-jpeg-ycbcr.tif
tiffcp -c jpeg:r -r 16 strip-none.tif strip-jpeg-rgb.tif
tiffcp -B -c none strip-none.tif big-endian.tif
tiffcp -8 -c zip strip-none.tif bigtiff.tif
tiffcp -t -w 16 -l 16 -c lzw strip-none.tif tiled-lzw.tif
tiffcp -t -w 32 -l 16 -c none -B strip-none.tif tiled-big-endian.tif
tiffcp -p separate -c zip strip-none.tif planar.tif
tiffcp -p separate -t -w 16 -l 16 strip-none.tif planar-tiled.tif
im "$t/gray.pgm" -compress zip gray.tif
tiffcp strip-none.tif gray.tif multi-page.tif
im "$t/rgb16.ppm" -depth 16 -compress zip rgb16.tif
tiffcp -B -c lzw:2 rgb16.tif rgb16-big-endian-lzw.tif
im "$t/rgba16.png" -depth 16 -compress lzw rgba16.tif
im "$t/rgba.png" -compress zip -define tiff:alpha=associated rgba-associated.tif
im "$t/rgba.png" -compress zip -define tiff:alpha=unassociated -set exif:Artist x rgba-straight.tif
tiffset -s 315 "an artist" rgba-straight.tif; tiffset -s 33432 "a notice" rgba-straight.tif
tiffset -s 270 "a pattern" rgba-straight.tif; tiffset -s 305 "tiffset" rgba-straight.tif
im "$t/rgba.png" -compress zip -colorspace gray -type GrayscaleAlpha graya.tif
im "$t/rgb16.ppm" -depth 32 -define quantum:format=floating-point -compress zip float.tif
tiffcp -c zip:3 float.tif float-predictor.tif
tiffcp -B -c none float.tif float-big-endian.tif
im "$t/rgb16.ppm" -depth 16 -define quantum:format=floating-point -compress zip half.tif
im "$t/rgb16.ppm" -depth 64 -define quantum:format=floating-point -compress zip double.tif
im "$t/rgb16.ppm" -depth 32 -compress zip uint32.tif
im "$t/rgb.ppm" -type Palette -colors 30 -compress lzw palette.tif
im "$t/rgb.ppm" -colorspace CMYK -compress zip cmyk.tif
im "$t/gray.pgm" -threshold 50% -monochrome -compress Group4 bilevel-g4.tif
im "$t/gray.pgm" -depth 4 -compress lzw gray4.tif
im "$t/gray.pgm" -compress none -define quantum:polarity=min-is-white min-is-white.tif
cp strip-none.tif oriented.tif && tiffset -s 274 6 oriented.tif
oiio strip-none.tif --attrib Exif:ColorSpace 1 --attrib Exif:LensModel "a lens" -o exif.tif
cat >"$t/xmp" <<'XMP'
<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="a tool">
<dc:creator><rdf:Seq><rdf:li>a creator</rdf:li></rdf:Seq></dc:creator>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">what XMP says</rdf:li></rdf:Alt></dc:description>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">some rights</rdf:li></rdf:Alt></dc:rights>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>
XMP
im strip-none.tif -profile "xmp:$t/xmp" -set tiff:artist "by tag" -compress lzw xmp.tif
python3 "$here/make.py" iptc strip-none.tif iptc.tif
ppm2tiff -c none -R 9 "$t/rgb.ppm" ppm2tiff.tif

# OpenEXR (openexr tools on files of oiiotool)
oiio "$t/rgba16.png" -d half --compression zip -o "$t/rgba.exr"
oiio rgb16.tif -d float --compression zip -o "$t/rgb.exr"
for c in none rle zips zip piz pxr24 b44 b44a dwaa dwab; do
    oiio "$t/rgba.exr" --compression $c -o "half-$c.exr"
done
for c in none zip piz pxr24 b44 dwab; do oiio "$t/rgb.exr" --compression $c -o "float-$c.exr"; done
exrmaketiled -o -t 16 16 -z zip "$t/rgba.exr" tiled.exr
exrmaketiled -m -t 8 8 -z piz "$t/rgba.exr" mipmap.exr
exrmaketiled -r -t 8 8 -z rle "$t/rgb.exr" ripmap.exr
exrmaketiled -o -t 64 64 -z none "$t/rgb.exr" tile-larger-than-image.exr
exrmultipart -combine -i "$t/rgba.exr" "$t/rgb.exr" -o multi-part.exr -override 1 >/dev/null
oiio "$t/rgba.exr" "$t/rgba.exr" --chnames diffuse.R,diffuse.G,diffuse.B,diffuse.A --chappend -d half -o multi-layer.exr
oiio "$t/rgba.exr" --chnames ViewLayer.Combined.R,ViewLayer.Combined.G,ViewLayer.Combined.B,ViewLayer.Combined.A \
    -d half -o layer-only.exr
oiio "$t/rgba.exr" --ch R,A --chnames Y,A -d half -o luminance-alpha.exr
oiio "$t/rgb.exr" --ch R --chnames depth -d float -o depth.exr
oiio "$t/rgba.exr" --chnames zeta,B,Alpha,green -d half -o odd-names.exr
oiio "$t/rgba.exr" "$t/rgb.exr" --ch R --chnames Z --chappend -d R=half,G=half,B=half,A=half,Z=float -o mixed-types.exr
oiio "$t/rgba.exr" --origin +11-7 --fullsize 64x64-3-9 -d half -o data-window.exr
oiio "$t/rgb.exr" --mulc 4000000000 -d uint32 -o uint.exr
exrstdattr -owner "nobody" -comments "a pattern" "$t/rgba.exr" "$t/attr.exr"
oiio "$t/attr.exr" --attrib colorInteropID lin_ap1_scene --attrib Software oiiotool -o attributes.exr
oiio "$t/rgba.exr" --attrib:type=int acesImageContainerFlag 1 -o aces-container.exr
cat >"$t/yc.cpp" <<'CPP'
#include <ImfArray.h>
#include <ImfRgbaFile.h>
int main(int, char **v)
{
    Imf::RgbaInputFile in(v[1]);
    Imath::Box2i w = in.dataWindow();
    int width = w.max.x + 1, height = w.max.y + 1;
    Imf::Array2D<Imf::Rgba> p(height, width);
    in.setFrameBuffer(&p[0][0], 1, width);
    in.readPixels(0, height - 1);
    Imf::RgbaOutputFile out(v[2], width, height, Imf::WRITE_YC);
    out.setFrameBuffer(&p[0][0], 1, width);
    out.writePixels(height);
    Imf::RgbaOutputFile down(v[3], width, height, Imf::WRITE_RGB, 1, Imath::V2f(0, 0), 1, Imf::DECREASING_Y);
    down.setFrameBuffer(&p[0][0], 1, width);
    down.writePixels(height);
}
CPP
g++ -std=c++17 -I/usr/include/OpenEXR -I/usr/include/Imath "$t/yc.cpp" -lOpenEXR-3_1 -lIex-3_1 -lImath-3_1 -o "$t/yc"
oiio "$t/rgba.exr" --crop 36x22+0+0 --fullpixels -o "$t/even.exr" # chroma is subsampled by two
"$t/yc" "$t/even.exr" luminance-chroma.exr decreasing-y.exr
PYTHONPATH=$here/../../tests/differential python3 - <<'PY'
import numpy, writers
half = numpy.full((4, 6), 0.25), 2
writers.exr("unsupported-chroma-layer.exr", {"L.Y": (numpy.full((8, 12), 0.5), 1), "L.RY": half, "L.BY": half}, 12, 8)
PY

# Radiance HDR (ImageMagick writes run lengths; none are written by hand)
im "$t/rgb16.ppm" new-rle.hdr
python3 "$here/make.py" hdr flat.hdr

# Targa (netpbm, ImageMagick, and headers by hand for the alpha types)
ppmtotga -name=motif -rgb -norle "$t/rgb.ppm" >rgb.tga 2>/dev/null
ppmtotga -name=motif -rgb "$t/rgb.ppm" >rgb-rle.tga 2>/dev/null
pnmquant 100 "$t/rgb.ppm" 2>/dev/null | ppmtotga -name=motif -cmap >palette.tga 2>/dev/null
ppmtotga -name=motif -mono "$t/gray.pgm" >gray.tga 2>/dev/null
im "$t/rgba.png" -compress RLE rgba-rle.tga
for type in 0 1 2 3 4; do python3 "$here/make.py" tga "alpha-type-$type.tga" $type; done
python3 "$here/make.py" tga16 rgb555.tga

# Other formats (ImageMagick, netpbm, cwebp)
im "$t/rgb.ppm" BMP3:rgb.bmp
im "$t/rgba.png" rgba.bmp
python3 "$here/make.py" bmp palette-rle.bmp
ppmtobmp -windows -bpp=4 <(pnmquant 15 "$t/rgb.ppm" 2>/dev/null) >palette4.bmp 2>/dev/null
cwebp -quiet -lossless "$t/rgba.png" -o rgba-lossless.webp
cwebp -quiet -q 80 "$t/rgba.png" -o rgba-lossy.webp
im "$t/rgb16.ppm" -depth 10 rgb10.dpx
im "$t/rgb16.ppm" -depth 16 rgb16.dpx
im "$t/rgb16.ppm" -depth 10 rgb10.cin
im "$t/rgba.png" -compress RLE rgba.psd
im "$t/rgb16.ppm" -depth 16 -compress none rgb16.psd
im "$t/rgb.ppm" -quality 100 rgb.jp2
im "$t/rgb16.ppm" -depth 16 -quality 100 rgb16.jp2
im "$t/rgb.ppm" -quality 100 rgb.j2k
im "$t/rgb.ppm" "$t/rgba.png" -colors 30 animated.gif
im "$t/rgb.ppm" -interlace GIF interlaced.gif
cp "$t/rgb.ppm" binary.ppm
cp "$t/rgb16.ppm" binary16.ppm
pamdepth 255 "$t/gray.pgm" | pnmtoplainpnm >plain.pgm
pamthreshold -simple "$t/gray.pgm" 2>/dev/null | pamtopnm >bitmap.pbm
pamtopfm "$t/rgb.ppm" >rgb.pfm 2>/dev/null
pamtofits "$t/gray.pgm" >gray.fits 2>/dev/null
im "$t/gray.pgm" -depth 16 gray16.fits
im "$t/rgba.png" -define dds:compression=dxt5 -define dds:mipmaps=0 rgba-dxt5.dds
im "$t/rgb.ppm" -define dds:compression=dxt1 -define dds:mipmaps=2 rgb-dxt1.dds
im "$t/rgba.png" -define dds:compression=none -define dds:mipmaps=0 rgba-none.dds
python3 "$here/make.py" dds unsupported-volume.dds
python3 "$here/make.py" dds-la la.dds
pnmtosgi -rle "$t/rgb.ppm" >rgb-rle.sgi 2>/dev/null
im "$t/rgba16.png" -depth 16 rgba16.sgi
im "$t/rgba.png" -resize 32x20 rgba.ico
ls | wc -l
