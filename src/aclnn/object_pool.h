#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/never_destroyed.h"

namespace advstep {

/// Objects that are handed out and taken back, never freed: a pointer to a taken-back one can still
/// be looked at, so use after destruction is told, not suffered. T has a public member
/// `T* nextFree`, which belongs to the pool, and is default-constructed once.
///
/// A thread keeps some free objects to itself; the pool's list, under mutex_, serves the others.
/// One pool per type.
template <typename T>
class ObjectPool {
 public:
    static ObjectPool& Instance() {
        static NeverDestroyed<ObjectPool> pool;  // outlives every thread's cache
        return *pool;
    }

    T* Acquire() {
        Cache& cache = ThreadCache();
        if (cache.first == nullptr) {
            Refill(&cache, cache.closed ? 1 : kBatch);
        }
        T* const object = cache.first;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): Refill has brought one
        cache.first = object->nextFree;
        --cache.count;
        return object;
    }

    /// One of the few that were given back last of which fits(const T&) holds, if there is one. If
    /// not, none of the very last, so that objects used in turn for different things keep to them.
    template <size_t kLooks, typename Fits>
    T* AcquireLike(Fits&& fits) {
        Cache& cache = ThreadCache();
        if (cache.count < kLooks) {
            return Acquire();
        }
        T** link = &cache.first;
        for (size_t look = 1; look < kLooks && !fits(**link); ++look) {
            link = &(*link)->nextFree;
        }
        T* const object = *link;
        *link = object->nextFree;
        --cache.count;
        return object;
    }

    void Release(T* object) noexcept {
        Cache& cache = ThreadCache();
        object->nextFree = cache.first;
        cache.first = object;
        if (++cache.count > 2 * kBatch || cache.closed) {
            Return(&cache, cache.closed ? cache.count : kBatch);
        }
    }

 private:
    static constexpr size_t kBatch = 32;

    // Plain data, so that global destructors, which run after the thread's objects are gone, may
    // still use the pool; then it keeps nothing.
    struct Cache {
        T* first;
        size_t count;
        bool watched;  // there is a CacheCloser
        bool closed;
    };

    struct CacheCloser {
        Cache* cache;
        ~CacheCloser() {
            Instance().Return(cache, cache->count);
            cache->closed = true;
        }
    };

    static Cache& ThreadCache() {
        // initial-exec spares every call a function call, at the price of some static TLS.
        [[gnu::tls_model("initial-exec")]] static thread_local Cache cache{};
        if (!cache.watched) {
            WatchThread(&cache);
        }
        return cache;
    }

    static void WatchThread(Cache* cache) {
        thread_local const CacheCloser closer{cache};
        (void)closer;
        cache->watched = true;
    }

    void Refill(Cache* cache, size_t most) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (free_ == nullptr) {
            chunks_.push_back(std::make_unique<T[]>(kBatch));
            for (size_t index = 0; index < kBatch; ++index) {
                Push(&free_, &chunks_.back()[index]);
            }
        }
        while (free_ != nullptr && cache->count < most) {
            T* const object = free_;
            free_ = object->nextFree;
            Push(&cache->first, object);
            ++cache->count;
        }
    }

    void Return(Cache* cache, size_t count) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (; count > 0; --count, --cache->count) {
            T* const object = cache->first;
            cache->first = object->nextFree;
            Push(&free_, object);
        }
    }

    static void Push(T** list, T* object) {
        object->nextFree = *list;
        *list = object;
    }

    std::mutex mutex_;
    T* free_ = nullptr;
    std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace advstep
