/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows the references of transforms depth first, as OpenColorIO will. The direction of a transform does not matter:
 * when it searches for variables, the library follows both transforms of a space wherever it is used. A transform may
 * refer to spaces, looks and files, and those to others; a cycle would overflow the stack inside the library. Here it
 * is a failure that names the references in the cycle.
 */
#include "mill/color/references.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace OCIO = OCIO_NAMESPACE;

namespace
{
/* Far above those of real configs: nested references, all references of a conversion, bytes of a table. */
constexpr size_t MAX_DEPTH = 64;
constexpr uint64_t MAX_STEPS = 10000, MAX_FILE_BYTES = 256u << 20;

class Walk
{
  public:
    explicit Walk(const OCIO::ConstConfigRcPtr &c) : config(c), context(c->getCurrentContext())
    {
    }

    /* The number of steps of a conversion between two spaces, named transforms, aliases or roles. */
    uint64_t between(const char *from, const char *to)
    {
        return name(from) + name(to) + between_references(from, to);
    }

  private:
    OCIO::ConstConfigRcPtr config;
    OCIO::ConstContextRcPtr context;
    std::map<std::string, uint64_t> known; /* steps of what was followed to its end */
    std::vector<std::string> path;         /* keys of what is being followed */

    enum Kind : char { SPACE = 's', VIEW = 'v', LOOK = 'l' };

    /* A key's first byte is its kind. */
    template <typename Follow> uint64_t once(Kind kind, const std::string &what, Follow follow)
    {
        const std::string key = static_cast<char>(kind) + what;
        const auto found = known.find(key);
        if (found != known.end())
            return found->second;
        const auto before = std::find(path.begin(), path.end(), key);
        if (before != path.end())
            throw OCIO::Exception(circle(before).c_str());
        if (path.size() == MAX_DEPTH)
            throw OCIO::Exception(("more than 64 references nested, the last one to \"" + what + "\"").c_str());
        path.push_back(key);
        const uint64_t steps = 1 + follow();
        path.pop_back();
        if (steps > MAX_STEPS)
            throw OCIO::Exception(("\"" + what + "\" takes more than 10000 transforms").c_str());
        return known[key] = steps;
    }

    std::string circle(std::vector<std::string>::const_iterator from) const
    {
        const std::string name = from->substr(1);
        std::ostringstream text;
        text << '"' << name << "\" refers to itself";
        if (path.end() - from > 1) {
            text << ": ";
            for (auto i = from; i != path.end(); ++i)
                text << i->substr(1) << " -> ";
            text << name;
        }
        return text.str();
    }

    OCIO::ConstColorSpaceRcPtr space_of(const char *given) const
    {
        return config->getColorSpace(context->resolveStringVar(given ? given : ""));
    }

    uint64_t name(const char *given)
    {
        if (OCIO::ConstColorSpaceRcPtr space = space_of(given))
            return once(SPACE, space->getName(), [&] {
                return transform(space->getTransform(OCIO::COLORSPACE_DIR_TO_REFERENCE)) +
                       transform(space->getTransform(OCIO::COLORSPACE_DIR_FROM_REFERENCE));
            });
        if (OCIO::ConstNamedTransformRcPtr named =
                config->getNamedTransform(context->resolveStringVar(given ? given : "")))
            return once(SPACE, named->getName(), [&] {
                return transform(named->getTransform(OCIO::TRANSFORM_DIR_FORWARD)) +
                       transform(named->getTransform(OCIO::TRANSFORM_DIR_INVERSE));
            });
        return 0;
    }

    /* The default view transform connects scenes and displays. */
    uint64_t between_references(const char *from, const char *to)
    {
        const OCIO::ConstColorSpaceRcPtr a = space_of(from), b = space_of(to);
        const OCIO::ConstViewTransformRcPtr view = config->getDefaultSceneToDisplayViewTransform();
        return a && b && view && a->getReferenceSpaceType() != b->getReferenceSpaceType() ? of_view(*view) : 0;
    }

    uint64_t of_view(const OCIO::ViewTransform &view)
    {
        return once(VIEW, view.getName(), [&] {
            return transform(view.getTransform(OCIO::VIEWTRANSFORM_DIR_TO_REFERENCE)) +
                   transform(view.getTransform(OCIO::VIEWTRANSFORM_DIR_FROM_REFERENCE));
        });
    }

    /* "first, +second, -third | other": all alternatives are followed, since the library may try any. */
    uint64_t looks(const char *list)
    {
        uint64_t steps = 0;
        std::string text = context->resolveStringVar(list ? list : ""), one;
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == ':' || c == '|'; }, ',');
        for (std::istringstream stream(text); std::getline(stream, one, ',');) {
            const size_t begin = one.find_first_not_of(" +-"), end = one.find_last_not_of(' ');
            if (begin == std::string::npos)
                continue;
            if (OCIO::ConstLookRcPtr look = config->getLook(one.substr(begin, end - begin + 1).c_str()))
                steps += once(LOOK, look->getName(), [&] {
                    return name(look->getProcessSpace()) + transform(look->getTransform()) +
                           transform(look->getInverseTransform());
                });
        }
        return steps;
    }

    uint64_t display(const OCIO::DisplayViewTransform &t)
    {
        const std::string device = context->resolveStringVar(t.getDisplay()),
                          view = context->resolveStringVar(t.getView());
        const std::string space = config->getDisplayViewColorSpaceName(device.c_str(), view.c_str());
        uint64_t steps = name(t.getSrc()) +
                         name(space == OCIO::OCIO_VIEW_USE_DISPLAY_NAME ? device.c_str() : space.c_str()) +
                         looks(config->getDisplayViewLooks(device.c_str(), view.c_str()));
        const char *through = config->getDisplayViewTransformName(device.c_str(), view.c_str());
        if (OCIO::ConstViewTransformRcPtr v = config->getViewTransform(through ? through : ""))
            steps += of_view(*v);
        return steps;
    }

    uint64_t file(const OCIO::FileTransform &t)
    {
        std::string found;
        try {
            found = context->resolveFileLocation(t.getSrc());
        } catch (const OCIO::Exception &) {
            return 0;
        }
        struct stat st;
        if (stat(found.c_str(), &st) != 0)
            return 0;
        if (!S_ISREG(st.st_mode))
            throw OCIO::Exception((found + ": not a regular file, as that of a file transform must be").c_str());
        if (static_cast<uint64_t>(st.st_size) > MAX_FILE_BYTES)
            throw OCIO::Exception((found + ": larger than the 256 MiB that the file of a transform may have").c_str());
        return 1;
    }

    uint64_t transform(const OCIO::ConstTransformRcPtr &t)
    {
        uint64_t steps = 1;
        if (!t)
            return 0;
        if (const auto *group = dynamic_cast<const OCIO::GroupTransform *>(t.get())) {
            for (int i = 0; i < group->getNumTransforms(); i++)
                steps += transform(group->getTransform(i));
        } else if (const auto *convert = dynamic_cast<const OCIO::ColorSpaceTransform *>(t.get())) {
            steps += between(convert->getSrc(), convert->getDst());
        } else if (const auto *look = dynamic_cast<const OCIO::LookTransform *>(t.get())) {
            steps += name(look->getSrc()) + name(look->getDst()) + looks(look->getLooks()) +
                     between_references(look->getSrc(), look->getDst());
        } else if (const auto *view = dynamic_cast<const OCIO::DisplayViewTransform *>(t.get())) {
            steps += display(*view);
        } else if (const auto *table = dynamic_cast<const OCIO::FileTransform *>(t.get())) {
            steps += file(*table);
        }
        return std::min(steps, MAX_STEPS + 1);
    }
};
} // namespace

void txm_check_references(const OCIO::ConstConfigRcPtr &config, const char *from, const char *to)
{
    Walk(config).between(from, to);
}
