// SPDX-License-Identifier: Apache-2.0
//
// The texture cache for C++17: objects that free what cache.h makes, and exceptions in place of statuses.
//
//     txtile::cache cache;                                   // 1 GiB, or txtile::cache(options)
//     const uint32_t wood = cache.add("wood.tx");            // "wood.<UDIM>.tx": a set
//     const std::array<float, 4> rgba = cache.sample(wood, how, at);
//
// Every function of cache.h may be called with cache.get(). A cache may be used from any thread; sample() uses the
// txm_cache_thread of the thread that calls it. Objects of a cache must be gone before the cache is.
#ifndef TXTILE_CACHE_HPP
#define TXTILE_CACHE_HPP

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "txtile/cache.h"

namespace txtile
{

// A failure: its message, and the status that the function returned.
class error : public std::runtime_error
{
  public:
    error(txm_status status, const txm_error &said) : std::runtime_error(said.message), status_(status)
    {
    }
    txm_status status() const noexcept
    {
        return status_;
    }

  private:
    txm_status status_;
};

// Throws if a status is one of failure.
inline void check(txm_status status, const txm_error &said)
{
    if (status != TXM_OK)
        throw error(status, said);
}

// Calls a function whose last argument is a txm_error *, and throws if it fails.
template <typename Function, typename... Arguments> void call(Function *function, Arguments... arguments)
{
    txm_error said = {};
    check(function(arguments..., &said), said);
}

// Options with the defaults of txm_cache_options_init.
inline txm_cache_options options(uint64_t max_bytes = uint64_t{1} << 30)
{
    txm_cache_options made;
    txm_cache_options_init(&made);
    made.max_bytes = max_bytes;
    return made;
}

// Frees an object with a function that takes the address of its pointer.
template <auto Free> struct freed_by {
    template <typename Object> void operator()(Object *object) const noexcept
    {
        Free(&object);
    }
};
using ticket = std::unique_ptr<txm_ticket, freed_by<txm_ticket_wait>>; // its end waits for the batch

// A view of launches: see txm_cache_viewer_new.
class viewer
{
  public:
    explicit viewer(txm_cache *cache)
    {
        txm_cache_viewer *made = nullptr;
        call(txm_cache_viewer_new, cache, &made);
        object_.reset(made);
    }
    txm_view prepare()
    {
        txm_view view;
        call(txm_cache_viewer_prepare, get(), &view, static_cast<txm_cache_extent *>(nullptr));
        return view;
    }
    ticket process(txm_lookup_state &lane)
    {
        txm_ticket *made = nullptr;
        txm_lookup_state *const lanes[] = {&lane};
        call(txm_cache_viewer_process, get(), lanes, size_t{1}, &made);
        return ticket(made);
    }
    txm_cache_viewer *get() const noexcept
    {
        return object_.get();
    }

  private:
    std::unique_ptr<txm_cache_viewer, freed_by<txm_cache_viewer_free>> object_;
};

// The cache. Moving it keeps the numbers of its textures.
class cache
{
  public:
    explicit cache(const txm_cache_options &how = options())
    {
        txm_cache *made = nullptr;
        call(txm_cache_new, &how, &made);
        object_.reset(made);
    }
    uint32_t add(const std::string &path, txm_extension extension = TXM_EXTENSION_REPEAT)
    {
        uint32_t texture = TXM_NO_TEXTURE;
        call(txm_cache_add, get(), path.c_str(), extension, &texture);
        return texture;
    }
    txm_view_texture open(uint32_t texture)
    {
        txm_view_texture shape;
        call(txm_cache_open, get(), texture, &shape);
        return shape;
    }
    // Waits for the tiles that are missing. What cannot be read is magenta; *found, if it is not null, says so.
    std::array<float, 4> sample(uint32_t texture, const txm_sampler &how, const txm_lookup &at,
                                uint32_t *random = nullptr, bool *found = nullptr)
    {
        txm_cache_thread *thread = nullptr;
        std::array<float, 4> rgba;
        call(txm_cache_thread_current, get(), &thread);
        const txm_lookup_result result = txm_cache_sample(thread, texture, &how, &at, random, rgba.data());
        if (found)
            *found = result == TXM_LOOKUP_HIT;
        return rgba;
    }
    txm_cache_stats stats() const
    {
        txm_cache_stats now;
        txm_cache_stats_of(get(), &now);
        return now;
    }
    txm_cache *get() const noexcept
    {
        return object_.get();
    }

  private:
    std::unique_ptr<txm_cache, freed_by<txm_cache_free>> object_;
};

} // namespace txtile
#endif
