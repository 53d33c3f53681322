/* SPDX-License-Identifier: Apache-2.0
 *
 * What the built-in config needs and the syntax of OpenColorIO 2.1 cannot express: tables that are computed, as objects
 * of the library, and transforms that only newer versions support.
 */
#include "mill/color/references.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace OCIO = OCIO_NAMESPACE;

namespace
{
/* A half as a number. NaN counts as 0 and infinity as the largest half, as in the library's own tables. */
double half_value(unsigned bits)
{
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude =
        exponent ? std::ldexp(1024.0 + fraction, static_cast<int>(exponent) - 25) : std::ldexp(fraction, -24);
    if (exponent == 31)
        magnitude = fraction ? 0.0 : 65504.0;
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* Apple's published curve: a parabola below a logarithm, constant below the black point. */
float apple_log_to_linear(double v)
{
    const double lowest = -0.05641088, bend = 0.01, scale = 47.28711236;
    if (v >= scale * (bend - lowest) * (bend - lowest))
        return static_cast<float>(std::pow(2.0, (v - 0.69336945) / 0.08550479) - 0.00964052);
    return static_cast<float>(v >= 0 ? std::sqrt(v / scale) + lowest : lowest);
}

/* OpenColorIO 2.4 and later have the curve as a table with an entry for each half, and interpolate between them. That
 * differs from the curve itself near black, where it is steep. */
OCIO::TransformRcPtr apple_log()
{
    OCIO::Lut1DTransformRcPtr table = OCIO::Lut1DTransform::Create(65536, true);
    table->setInterpolation(OCIO::INTERP_LINEAR);
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float v = apple_log_to_linear(half_value(bits));
        table->setValue(bits, v, v, v);
    }
    return table;
}

/* Returns null if this version of the library lacks the transform. */
OCIO::TransformRcPtr aces_2()
{
#if OCIO_VERSION_HEX >= 0x02040000
    OCIO::BuiltinTransformRcPtr view = OCIO::BuiltinTransform::Create();
    view->setStyle("ACES-OUTPUT - ACES2065-1_to_CIE-XYZ-D65 - SDR-100nit-REC709_2.0");
    return view;
#else
    return nullptr;
#endif
}

OCIO::TransformRcPtr filled(const std::string &name)
{
    if (name == "txmill apple log")
        return apple_log();
    if (name == "txmill aces 2")
        return aces_2();
    throw OCIO::Exception(("unknown table \"" + name + "\"").c_str());
}

/* Copies the transform with its tables. Returns false if one of them does not exist. */
bool fill(const OCIO::ConstTransformRcPtr &from, OCIO::TransformRcPtr &to)
{
    const auto *file = dynamic_cast<const OCIO::FileTransform *>(from.get());
    const auto *group = dynamic_cast<const OCIO::GroupTransform *>(from.get());
    if (file && std::strncmp(file->getSrc(), "txmill", 6) == 0) {
        to = filled(file->getSrc());
        if (to)
            to->setDirection(file->getDirection());
        return to != nullptr;
    }
    if (!group) {
        to = from->createEditableCopy();
        return true;
    }
    OCIO::GroupTransformRcPtr copy = OCIO::GroupTransform::Create();
    copy->setDirection(group->getDirection());
    for (int i = 0; i < group->getNumTransforms(); i++) {
        OCIO::TransformRcPtr child;
        if (!fill(group->getTransform(i), child))
            return false;
        copy->appendTransform(child);
    }
    to = copy;
    return true;
}
} // namespace

OCIO::ConstConfigRcPtr txm_fill_tables(const OCIO::ConstConfigRcPtr &config)
{
    const OCIO::ColorSpaceDirection directions[] = {OCIO::COLORSPACE_DIR_TO_REFERENCE,
                                                    OCIO::COLORSPACE_DIR_FROM_REFERENCE};
    OCIO::ConfigRcPtr out = config->createEditableCopy();
    const int count = config->getNumColorSpaces(OCIO::SEARCH_REFERENCE_SPACE_ALL, OCIO::COLORSPACE_ALL);
    for (int i = 0; i < count; i++) {
        const char *name = config->getColorSpaceNameByIndex(OCIO::SEARCH_REFERENCE_SPACE_ALL, OCIO::COLORSPACE_ALL, i);
        OCIO::ColorSpaceRcPtr space = config->getColorSpace(name)->createEditableCopy();
        bool possible = true;
        for (const OCIO::ColorSpaceDirection direction : directions) {
            OCIO::TransformRcPtr transform;
            const OCIO::ConstTransformRcPtr given = space->getTransform(direction);
            if (!given)
                continue;
            possible = possible && fill(given, transform);
            if (possible)
                space->setTransform(transform, direction);
        }
        if (possible)
            out->addColorSpace(space);
        else
            out->removeColorSpace(name);
    }
    return out;
}
