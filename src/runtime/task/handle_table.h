// SPDX-License-Identifier: Apache-2.0
// Handles as numbers of generation, index and kind, and the table of their objects.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace advstep {

/// An aclrt handle as a number: generation, index and kind. It is never an address, so a handle
/// that is destroyed, foreign or of the wrong kind is recognised without touching memory. 0 is no
/// handle.
using Handle = uint64_t;
static_assert(sizeof(void*) == sizeof(Handle), "handles need 64-bit pointers");

enum class HandleKind : uint8_t {
    kContext = 0xC5,
    kStream = 0x57,
    kEvent = 0xE3,
    kNotify = 0x4F,
    kModel = 0x69,
    kTaskGroup = 0x76,
    kCondition = 0xC7,
    kBranchStream = 0x58,  // a stream of a model; no caller gets one
    kPhysicalMemory = 0x9B,
    kBinaryData = 0xB1,
    kBinary = 0xB5,
    kFunction = 0xF5,
    kKernelArgs = 0xA5,
    kKernelParameter = 0xA9,
    kAllocatorDescription = 0xAD,
};

/// Returns a number that no other live handle of its kind has.
inline uint32_t IndexOf(Handle handle) { return static_cast<uint32_t>((handle >> 8) & 0xFFFFFF); }

inline void* ToPointer(Handle handle) { return reinterpret_cast<void*>(handle); }
inline Handle ToHandle(const void* pointer) { return reinterpret_cast<Handle>(pointer); }

/// The objects of the handles of one kind. Objects are reused and never freed, so a pointer from
/// Find stays valid for ever: its holder only has to compare handles under the object's own lock.
///
/// T has public members `uint32_t tableIndex` and `uint32_t generation`, which belong to the table.
/// An object that has had all generations is not used again, so no handle comes a second time. Find
/// takes no lock. Acquire and Release take the table's lock.
template <typename T>
class HandleTable {
 public:
    explicit HandleTable(HandleKind kind) : kind_(kind) {}

    struct Entry {
        T* object;
        Handle handle;
    };

    /// Returns an unused object and the handle of its new life. The caller stores the handle in the
    /// object.
    Entry Acquire() {
        const std::lock_guard<std::mutex> lock(mutex_);
        T* object = nullptr;
        if (free_.empty()) {
            object = Append();
        } else {
            object = free_.back();
            free_.pop_back();
        }
        ++object->generation;
        SetAlive(object->tableIndex, true);
        const Handle handle = (Handle{object->generation} << 32) |
                              (Handle{object->tableIndex} << 8) | static_cast<uint8_t>(kind_);
        return {object, handle};
    }

    /// Ends the object's life. The caller clears the object's handle before.
    void Release(T* object) {
        const std::lock_guard<std::mutex> lock(mutex_);
        SetAlive(object->tableIndex, false);
        if (object->generation != std::numeric_limits<uint32_t>::max()) {
            free_.push_back(object);
        }
    }

    /// Returns how many more objects can be acquired now.
    uint32_t Available() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return kChunk * kMostChunks - count_.load(std::memory_order_relaxed) +
               static_cast<uint32_t>(free_.size());
    }

    /// Returns the object that a handle of this kind belongs to, alive or not. Null: the handle is
    /// of another kind, or the table has no object with its index.
    T* Find(Handle handle) const {
        const uint32_t index = IndexOf(handle);
        if (static_cast<uint8_t>(handle) != static_cast<uint8_t>(kind_) ||
            index >= count_.load(std::memory_order_acquire)) {
            return nullptr;
        }
        return At(index);
    }

    /// Returns the object of an index. The index has had an object before.
    T* At(uint32_t index) const { return &(*chunks_[index / kChunk])[index % kChunk]; }

    /// Calls visit(T&) for every object between its Acquire and its Release. An object that is
    /// acquired or released meanwhile may be visited or not. Takes no lock and no memory. The cost
    /// grows with the live objects: 4096 objects of which none is alive cost one load.
    template <typename Visit>
    void ForEach(Visit&& visit) const {
        const uint32_t count = count_.load(std::memory_order_acquire);
        for (uint32_t group = 0; group * kChunk * kChunk < count; ++group) {
            uint64_t chunks = aliveChunks_[group].load();
            for (; chunks != 0; chunks &= chunks - 1) {
                const uint32_t chunk = group * kChunk + LowestBit(chunks);
                uint64_t objects = alive_[chunk].load();
                for (; objects != 0; objects &= objects - 1) {
                    visit((*chunks_[chunk])[LowestBit(objects)]);
                }
            }
        }
    }

    /// Returns whether no object is alive. Takes no lock.
    bool Empty() const {
        const uint32_t count = count_.load(std::memory_order_acquire);
        for (uint32_t group = 0; group * kChunk * kChunk < count; ++group) {
            if (aliveChunks_[group].load() != 0) {
                return false;
            }
        }
        return true;
    }

 private:
    static constexpr uint32_t kChunk = 64;          // objects; as many as a word of alive_ has bits
    static constexpr uint32_t kMostChunks = 16384;  // 2^20 objects alive at a time
    using Chunk = std::array<T, kChunk>;

    static uint32_t LowestBit(uint64_t word) {
        return static_cast<uint32_t>(__builtin_ctzll(word));
    }

    // Under mutex_. A chunk's bit is set while one of its objects is alive.
    void SetAlive(uint32_t index, bool alive) {
        const uint32_t chunk = index / kChunk;
        Assign(&alive_[chunk], index % kChunk, alive);
        Assign(&aliveChunks_[chunk / kChunk], chunk % kChunk,
               alive_[chunk].load(std::memory_order_relaxed) != 0);
    }
    static void Assign(std::atomic<uint64_t>* word, uint32_t bit, bool value) {
        const uint64_t mask = uint64_t{1} << bit;
        const uint64_t now = word->load(std::memory_order_relaxed);
        word->store(value ? now | mask : now & ~mask);
    }

    T* Append() {
        const uint32_t index = count_.load(std::memory_order_relaxed);
        if (index == kChunk * kMostChunks) {
            throw std::bad_alloc();
        }
        if (index % kChunk == 0) {
            chunks_[index / kChunk] = std::make_unique<Chunk>();
        }
        T* const object = &(*chunks_[index / kChunk])[index % kChunk];
        object->tableIndex = index;
        free_.reserve(index + 1);  // so that Release cannot fail
        count_.store(index + 1, std::memory_order_release);
        return object;
    }

    const HandleKind kind_;
    mutable std::mutex mutex_;  // guards free_, the generations and growth
    std::vector<T*> free_;
    std::atomic<uint32_t> count_{0};  // published after the chunk it needs
    std::array<std::unique_ptr<Chunk>, kMostChunks> chunks_;
    // They change under mutex_. They are sequentially consistent, as WorkerControl::watch_ is: the
    // last look of a worker before it sleeps finds every stream that was acquired before the worker
    // stored kAsleep.
    std::array<std::atomic<uint64_t>, kMostChunks> alive_{};
    std::array<std::atomic<uint64_t>, kMostChunks / kChunk> aliveChunks_{};
};

}  // namespace advstep
