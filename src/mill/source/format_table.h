/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of image formats. A format that is missing here is still read if OpenImageIO reads it, but folders are not
 * searched for it.
 *
 * It is included several times with DIRECT and FORMAT defined differently. DIRECT(reader, ...) is a format with a
 * reader of its own, txm_READER_reader, which may leave a file to OpenImageIO by returning UNSUPPORTED. FORMAT(...) is
 * one that only OpenImageIO reads. Both have these columns:
 *   name        OpenImageIO's name of the format
 *   noun        for messages, with an article
 *   extensions  of sources, separated by blanks; Blender uses the first one for a packed image without a name
 *   also        other extensions under which OpenImageIO writes the format
 *   role        which colour space Blender sets if neither metadata nor a file rule names one
 *   traits      other properties of the format (TXM_FORMAT_...)
 *   ratio       the most bytes of pixels that a byte of a file becomes (bound.h), 0 if its compression has no limit:
 *               1032 for deflate, 256 for runs of palette indices in Targa, 64 for those of IFF, 8 for blocks of DDS,
 *               1 to 8 without compression; rounded up, since OpenImageIO may deliver wider samples than the file has
 *   magic       how a file begins: MAGIC(offset, bytes), up to four, or PNM(digits)
 */
DIRECT(png, "png", "a PNG image", "png", "", TXM_ROLE_BYTE, TXM_FORMAT_UNPACKED, 1100, MAGIC(0, "\x89PNG\r\n\x1a\n"))
DIRECT(jpeg, "jpeg", "a JPEG image", "jpg jpeg jpe", "", TXM_ROLE_BYTE, TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS, 0,
       MAGIC(0, "\xff\xd8\xff"))
DIRECT(exr, "openexr", "an OpenEXR image", "exr sxr mxr", "", TXM_ROLE_FLOAT,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS | TXM_FORMAT_ASSOCIATED | TXM_FORMAT_STORES, 0,
       MAGIC(0, "\x76\x2f\x31\x01"))
DIRECT(tiff, "tiff", "a TIFF image", "tif tiff", "tx env sm shd", TXM_ROLE_BYTE,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS | TXM_FORMAT_STORES, 0,
       MAGIC(0, "II*\0") MAGIC(0, "MM\0*") MAGIC(0, "II+\0") MAGIC(0, "MM\0+"))
FORMAT("hdr", "a Radiance image", "hdr", "rgbe", TXM_ROLE_FLOAT,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS | TXM_FORMAT_ASSOCIATED | TXM_FORMAT_STORES, 0,
       MAGIC(0, "#?RADIANCE") MAGIC(0, "#?RGBE"))
DIRECT(webp, "webp", "a WebP image", "webp", "", TXM_ROLE_BYTE, TXM_FORMAT_UNPACKED | TXM_FORMAT_ALPHA_BESIDE_COLOR, 0,
       MAGIC(8, "WEBP"))
DIRECT(pnm, "pnm", "a PNM image", "pnm ppm pgm", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS, 16, PNM("2356"))
FORMAT("pnm", "a PBM image", "pbm", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS, 16, PNM("14"))
FORMAT("pnm", "a PFM image", "pfm", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS | TXM_FORMAT_STORES, 16, PNM("Ff"))
FORMAT("dpx", "a DPX image", "dpx", "", TXM_ROLE_FLOAT,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS | TXM_FORMAT_ASSOCIATED | TXM_FORMAT_STORES |
           TXM_FORMAT_ALPHA_BESIDE_COLOR,
       128, MAGIC(0, "SDPX") MAGIC(0, "XPDS"))
FORMAT("cineon", "a Cineon image", "cin", "", TXM_ROLE_FLOAT, TXM_FORMAT_BY_ROWS | TXM_FORMAT_ASSOCIATED, 16, )
FORMAT("jpeg2000", "a JPEG 2000 image", "jp2 j2k j2c", "", TXM_ROLE_BYTE,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_ALPHA_BESIDE_COLOR | TXM_FORMAT_SLOW, 0,
       MAGIC(0, "\0\0\0\x0CjP  ") MAGIC(0, "\xFF\x4F\xFF\x51"))
FORMAT("targa", "a Targa image", "tga", "", TXM_ROLE_BYTE, 0, 256, )
FORMAT("sgi", "an SGI image", "sgi rgb bw rgba", "", TXM_ROLE_BYTE, TXM_FORMAT_BY_ROWS, 0, )
FORMAT("heif", "a HEIF image", "heic heif avif", "", TXM_ROLE_BYTE, TXM_FORMAT_ALPHA_BESIDE_COLOR, 0, )
FORMAT("dds", "a DDS image", "dds", "", TXM_ROLE_BY_WIDTH, TXM_FORMAT_UNPACKED | TXM_FORMAT_UNASSOCIATED, 16,
       MAGIC(0, "DDS "))
FORMAT("psd", "a Photoshop image", "psd psb", "", TXM_ROLE_BY_WIDTH, TXM_FORMAT_UNASSOCIATED | TXM_FORMAT_NAMES_SPACE,
       1100, MAGIC(0, "8BPS"))
FORMAT("bmp", "a BMP image", "bmp", "", TXM_ROLE_BYTE,
       TXM_FORMAT_UNPACKED | TXM_FORMAT_BY_ROWS | TXM_FORMAT_ALPHA_BESIDE_COLOR, 1024, MAGIC(0, "BM"))
FORMAT("gif", "a GIF image", "gif", "", TXM_ROLE_BYTE, TXM_FORMAT_ALPHA_BESIDE_COLOR, 0, MAGIC(0, "GIF8"))
FORMAT("iff", "an IFF image", "iff", "", TXM_ROLE_BYTE, TXM_FORMAT_ALPHA_BESIDE_COLOR, 128, )
FORMAT("ico", "an icon", "ico icns", "", TXM_ROLE_BYTE, 0, 1100, )
FORMAT("softimage", "a Softimage picture", "pic", "", TXM_ROLE_BY_FLOATNESS, 0, 0, )
FORMAT("jpegxl", "a JPEG XL image", "jxl", "", TXM_ROLE_BY_FLOATNESS, 0, 0, )
FORMAT("fits", "a FITS image", "", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS, 16, MAGIC(0, "SIMPLE  ="))
FORMAT("rla", "an RLA image", "", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS, 1024, )
FORMAT("zfile", "a Zfile image", "", "", TXM_ROLE_BY_FLOATNESS, TXM_FORMAT_BY_ROWS, 1100, )
