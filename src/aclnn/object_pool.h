// SPDX-License-Identifier: Apache-2.0
// A pool of objects that are reused and never freed, with a cache for each thread.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/never_destroyed.h"

namespace advstep {

/// A pool of objects that are never freed. A released object can still be read, so the library can
/// detect and report the use of a destroyed object. T is default-constructed once and has a public
/// member `T* nextFree`, which belongs to the pool.
///
/// Each thread caches some free objects. The others are in the pool's own list, which mutex_
/// guards. There is one pool for each type.
template <typename T>
class ObjectPool {
 public:
    static ObjectPool& Instance() {
        static NeverDestroyed<ObjectPool> pool;  // lives longer than every thread's cache
        return *pool;
    }

    T* Acquire() {
        Cache& cache = ThreadCache();
        if (cache.first == nullptr) {
            Refill(&cache, cache.closed ? 1 : kBatch);
        }
        T* const object = cache.first;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): Refill has added one
        cache.first = object->nextFree;
        --cache.count;
        return object;
    }

    /// Returns one of the last kLooks objects that this thread released: the first for which
    /// fits(const T&) is true, or else the oldest of them. So a thread that uses some objects in
    /// turn gets each of them with the contents that it had before.
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

    // The cache is plain data, because global destructors may use the pool after the thread's
    // objects have been destroyed. It is closed then, and stays empty.
    struct Cache {
        T* first;
        size_t count;
        bool watched;  // the thread has a CacheCloser
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
        // initial-exec saves a function call on every access, at the price of some static TLS.
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
