/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of findings: FINDING(name, id, severity, meaning). It is included several times with FINDING defined
 * differently: for the numbers, and for the kinds with their texts; the manual page is made from it too. Scripts match
 * ids, so ids may be added, but never changed or reused.
 */
FINDING(UNREADABLE, "TXM-101", ERROR, "The file cannot be read as a tx file: damaged, cut short, or something else")
FINDING(TILE, "TXM-102", ERROR, "A tile cannot be decoded")
FINDING(LEVEL_SIZE, "TXM-103", ERROR, "A level does not have half the size of the one below it")
FINDING(LEVELS_MISSING, "TXM-104", WARNING, "Levels are missing at the end: they do not go down to 1x1")
FINDING(PIXEL_KIND, "TXM-105", NOTE, "Cycles converts such pixels while loading: channels or type are not native")
FINDING(REFUSED, "TXM-106", WARNING, "Cycles does not accept the file as a native tx file, or cannot decode it")
FINDING(SHA1, "TXM-201", ERROR, "The pixels of level 0 do not have the SHA-1 that the file states")
FINDING(AVERAGE, "TXM-202", ERROR, "The average colour is not the one that the file states")
FINDING(CONSTANT, "TXM-203", ERROR, "The file states a constant colour that its pixels do not have")
FINDING(LEVEL, "TXM-204", ERROR, "A level is not what filtering level 0 gives")
FINDING(NOT_RECOMPUTED, "TXM-205", NOTE, "Levels, average and SHA-1 were not recomputed")
FINDING(SHA1_ABSENT, "TXM-206", WARNING, "The file states no SHA-1")
FINDING(NAME_MISFIT, "TXM-301", WARNING, "The name does not match the settings inside: Cycles looks for another one")
FINDING(NAME_OTHER, "TXM-302", NOTE, "Cycles never looks for a file of this name")
FINDING(SETTINGS_ABSENT, "TXM-303", WARNING, "The file does not say with what settings it was made")
FINDING(NAME_UNKNOWN, "TXM-304", NOTE, "It is unknown whether the name matches the settings inside")
FINDING(FORMAT, "TXM-305", NOTE, "The file is for versions of Cycles that look for equiangular tx files")
FINDING(NAME_RULES, "TXM-306", WARNING, "The file was made with other settings than the rules specify for its image")
FINDING(NAME_IMAGE, "TXM-307", NOTE, "The file was made from an image of another name, as copies from a store may be")
FINDING(CONFIG, "TXM-308", WARNING, "The file was made with another OCIO config: its colours are not those of this one")
FINDING(NAME_UNUSUAL, "TXM-309", NOTE,
        "The file is for scenes that use its image in another way than is usual for its name")
FINDING(RELEASE, "TXM-310", WARNING, "The file has the pixels of another release of Blender")
FINDING(RELEASE_UNKNOWN, "TXM-311", NOTE, "It is unknown which release of Blender's pixels the file has")
FINDING(LIMIT, "TXM-312", WARNING, "The file was made with another size limit than the settings set for its image")
FINDING(SOURCE_STALE, "TXM-401", WARNING, "The source has another time: Cycles does not use the file")
FINDING(SOURCE_MISSING, "TXM-402", NOTE, "The source was not found or cannot be examined, so its time was not compared")
FINDING(CONTENT, "TXM-403", WARNING,
        "The source has other content than when the file was made, which Cycles cannot tell")
FINDING(SECTION_DAMAGED, "TXM-501", WARNING, "The border section is damaged or cut off")
FINDING(SECTION_STALE, "TXM-502", WARNING, "The border section was made for another image part")
FINDING(SECTION_NEWER, "TXM-503", NOTE, "The border section is of a newer version than this program reads")
FINDING(SECTION_NONE, "TXM-504", NOTE, "The file has no border section")
FINDING(BORDER, "TXM-505", ERROR, "A tile's border in the border section is damaged or shows other pixels")
FINDING(DEEP_PIXELS, "TXM-601", ERROR, "A level is not what converting the source gives")
FINDING(DEEP_HEADER, "TXM-602", ERROR, "Sizes, type or metadata are not what converting the source gives")
FINDING(DEEP_FAILED, "TXM-603", WARNING, "The source could not be converted for comparison")
