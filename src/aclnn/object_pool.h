// SPDX-License-Identifier: Apache-2.0
// A pool of objects that are reused and never freed, with a cache for each thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/base/never_destroyed.h"

namespace advstep {

/// A pool of objects that are never freed. A released object can still be read, so the library can
/// detect and report the use of a destroyed object. T is default-constructed once and has a public
/// member `T* nextFree`, which belongs to the pool. There is one pool for each type.
///
/// Each thread caches some free objects. The others are in the pool's own list, which mutex_
/// guards. A call that needs only the cache looks at nothing else. Objects are made in chunks. The
/// list of chunks only grows, each time by one exchange, so Owns reads it without a lock.
template <typename T>
class ObjectPool {
 public:
    static T* Acquire() {
        Cache& cache = ThreadCache();
        if (cache.first == nullptr) {
            ThePool().Refill(&cache);
        }
        return Take(&cache.first);
    }

    /// Takes one of the first kLooks objects in the thread's cache, where those that it released
    /// last come first: the first one for which fits(const T&) is true. Null: there is none.
    template <size_t kLooks, typename Fits>
    static T* AcquireFitting(Fits&& fits) {
        T** link = &ThreadCache().first;
        for (size_t look = 0; look < kLooks && *link != nullptr; ++look) {
            if (fits(**link)) {
                return Take(link);
            }
            link = &(*link)->nextFree;
        }
        return nullptr;
    }

    /// As AcquireFitting, but takes the last one of the kLooks objects if none fits. So a thread
    /// that uses some objects in turn gets each of them with the contents that it had before.
    template <size_t kLooks, typename Fits>
    static T* AcquireLike(Fits&& fits) {
        Cache& cache = ThreadCache();
        if (cache.count < kLooks) {
            ThePool().Refill(&cache);
            if (cache.count < kLooks) {
                return Acquire();  // the cache is closed
            }
        }
        T** link = &cache.first;
        for (size_t look = 1; look < kLooks && !fits(**link); ++look) {
            link = &(*link)->nextFree;
        }
        return Take(link);
    }

    /// Returns whether the object is one of this pool, free or not. It reads nothing of the object,
    /// so it may be any address. A thread finds an object in the chunk of its last one at once.
    static bool Owns(const T* object) noexcept {
        // Before its first success a thread looks at an address that no program has.
        [[gnu::tls_model("initial-exec")]] static thread_local uintptr_t last = uintptr_t{1} << 63;
        if (__builtin_expect(HasChunkAt(last, object), 1)) {
            return true;
        }
        const Chunk* chunk = chunks_.load(std::memory_order_acquire);
        while (chunk != nullptr && !HasChunkAt(chunk->begin(), object)) {
            chunk = chunk->next;
        }
        if (chunk == nullptr) {
            return false;
        }
        last = chunk->begin();
        return true;
    }

    static void Release(T* object) noexcept {
        Cache& cache = ThreadCache();
        Push(&cache.first, object);
        if (__builtin_expect(++cache.count > cache.most, 0)) {
            ThePool().TakeBack(&cache);
        }
    }

 private:
    static constexpr uint32_t kBatch = 32;

    struct Chunk {
        T objects[kBatch];
        Chunk* next = nullptr;  // made before; set before the chunk is in the list

        uintptr_t begin() const { return reinterpret_cast<uintptr_t>(objects); }
    };

    static bool HasChunkAt(uintptr_t begin, const T* object) {
        const uintptr_t offset = reinterpret_cast<uintptr_t>(object) - begin;
        return offset < sizeof(Chunk::objects) && offset % sizeof(T) == 0;
    }

    // The cache is plain data, because global destructors may use the pool after the thread's
    // objects have been destroyed. It is closed then, and stays empty.
    struct Cache {
        T* first;
        uint32_t count;
        uint32_t most;  // 0 before the thread has a CacheCloser, and in a closed cache
        bool closed;
    };

    struct CacheCloser {
        CacheCloser() = default;
        CacheCloser(const CacheCloser&) = delete;
        CacheCloser& operator=(const CacheCloser&) = delete;
        ~CacheCloser() {
            Cache& cache = ThreadCache();
            cache.most = 0;
            cache.closed = true;
            ThePool().Return(&cache, cache.count);
        }
    };

    // The pool lives longer than every thread's cache. A member, because it is private to the
    // class.
    static ObjectPool& ThePool() {
        static NeverDestroyed<ObjectPool> pool;
        return *pool;
    }

    static Cache& ThreadCache() {
        // initial-exec saves a function call on every access, at the price of some static TLS.
        [[gnu::tls_model("initial-exec")]] static thread_local Cache cache{};
        return cache;
    }

    // Takes an object from the place in the thread's cache that points to it.
    static T* Take(T** link) {
        T* const object = *link;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the callers have looked
        *link = object->nextFree;
        --ThreadCache().count;
        return object;
    }

    // Lets the cache keep objects, and return them when the thread ends.
    static void Open(Cache* cache) {
        thread_local const CacheCloser closer;
        (void)closer;
        cache->most = 2 * kBatch;
    }

    // Adds objects behind those in the cache, up to a batch.
    [[gnu::noinline]] void Refill(Cache* cache) {
        if (cache->most == 0 && !cache->closed) {
            Open(cache);
        }
        const uint32_t most = cache->closed ? 1 : kBatch;
        const std::lock_guard<std::mutex> lock(mutex_);
        if (free_ == nullptr) {
            Chunk* const chunk = AddChunk();
            for (T& object : chunk->objects) {
                Push(&free_, &object);
            }
        }
        T** end = &cache->first;
        while (*end != nullptr) {
            end = &(*end)->nextFree;
        }
        for (; free_ != nullptr && cache->count < most; ++cache->count) {
            *end = free_;
            end = &free_->nextFree;
            free_ = free_->nextFree;
        }
        *end = nullptr;
    }

    // Takes objects from a cache that holds more than its most.
    [[gnu::noinline]] void TakeBack(Cache* cache) noexcept {
        if (cache->most == 0 && !cache->closed) {
            Open(cache);
            return;
        }
        Return(cache, cache->closed ? cache->count : kBatch);
    }

    // Returns the last objects in the cache.
    void Return(Cache* cache, uint32_t count) noexcept {
        T** link = &cache->first;
        for (uint32_t kept = cache->count - count; kept > 0; --kept) {
            link = &(*link)->nextFree;
        }
        T* object = *link;
        *link = nullptr;
        cache->count -= count;
        const std::lock_guard<std::mutex> lock(mutex_);
        while (object != nullptr) {
            T* const next = object->nextFree;
            Push(&free_, object);
            object = next;
        }
    }

    static Chunk* AddChunk() {
        auto* const chunk = new Chunk;
        chunk->next = chunks_.load(std::memory_order_relaxed);
        while (!chunks_.compare_exchange_weak(chunk->next, chunk, std::memory_order_acq_rel)) {
        }
        return chunk;
    }

    static void Push(T** list, T* object) {
        object->nextFree = *list;
        *list = object;
    }

    // Not a member of the pool, which is another one in the child of a fork: the child's threads go
    // on with the parent's objects.
    static inline std::atomic<Chunk*> chunks_{nullptr};

    std::mutex mutex_;
    T* free_ = nullptr;
};

}  // namespace advstep
