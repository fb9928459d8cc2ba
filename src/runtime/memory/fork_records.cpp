// SPDX-License-Identifier: Apache-2.0
// Keeps the list of ranges and descriptors, and walks it in the child of a fork.

#include "src/runtime/memory/fork_records.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"

namespace advstep {

struct ForkRecord {
    std::atomic<bool> used{false};  // set last, cleared first
    std::atomic<void*> address{};   // null: a descriptor
    std::atomic<size_t> bytes{0};
    std::atomic<int> file{-1};
    std::atomic<uint64_t> offset{0};
    std::atomic<bool> inside{false};   // perhaps inside the range of a record without this mark
    ForkRecord* nextEver = nullptr;    // set before the record can be found
    ForkRecord* nextUnused = nullptr;  // the lock of UnusedRecords guards it
};

namespace {

std::atomic<ForkRecord*> allRecords{nullptr};

struct UnusedRecords {
    std::mutex mutex;  // no lock is taken after it
    ForkRecord* first = nullptr;
};

UnusedRecords& TheUnusedRecords() {
    static NeverDestroyed<UnusedRecords> records;
    return *records;
}

// All pages are mapped anew before a descriptor is closed, because that needs the descriptors.
const ForkHook leaveTheParents([](void*) noexcept {
    const NoCancellation noCancellation;
    ForkRecord* const first = allRecords.exchange(nullptr);
    for (const bool inside : {false, true}) {
        for (ForkRecord* record = first; record != nullptr; record = record->nextEver) {
            if (record->used.load() && record->address.load() != nullptr &&
                record->inside.load() == inside) {
                (void)mmap(record->address.load(), record->bytes.load(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_FIXED, record->file.load(),
                           static_cast<off_t>(record->offset.load()));
            }
        }
    }
    for (ForkRecord* record = first; record != nullptr; record = record->nextEver) {
        if (record->used.load() && record->address.load() == nullptr) {
            (void)close(record->file.load());
        }
    }
});

ForkRecord* Enter(void* address, size_t bytes, int file, uint64_t offset, bool inside) {
    UnusedRecords& unused = TheUnusedRecords();
    const std::lock_guard<std::mutex> lock(unused.mutex);
    ForkRecord* record = unused.first;
    if (record != nullptr) {
        unused.first = record->nextUnused;
    } else {
        record = new ForkRecord;
        record->nextEver = allRecords.load();
        allRecords.store(record);
    }
    record->address.store(address);
    record->bytes.store(bytes);
    record->file.store(file);
    record->offset.store(offset);
    record->inside.store(inside);
    record->used.store(!inside);
    return record;
}

}  // namespace

ForkRecord* EnterForkRange(void* address, size_t bytes, int file, uint64_t offset) {
    return Enter(address, bytes, file, offset, false);
}

ForkRecord* EnterUnusedForkRange(void* address, size_t bytes, int file, uint64_t offset) {
    return Enter(address, bytes, file, offset, true);
}

void PutInPlace(ForkRecord* record, ForkRecord* old) noexcept {
    record->used.store(true);
    if (old != nullptr) {
        old->used.store(false);
    }
}

ForkRecord* EnterForkDescriptor(int descriptor) { return Enter(nullptr, 0, descriptor, 0, false); }

void ForgetForkRecord(ForkRecord* record) noexcept {
    if (record == nullptr) {
        return;
    }
    UnusedRecords& unused = TheUnusedRecords();
    const std::lock_guard<std::mutex> lock(unused.mutex);
    record->used.store(false);
    record->nextUnused = unused.first;
    unused.first = record;
}

}  // namespace advstep
