// SPDX-License-Identifier: Apache-2.0
// Programs in which the host uses pinned memory while a copy may still use it, and in time.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "sanitizer/corpus.h"
#include "sanitizer/device_program.h"
#include "support/sanitizers.h"

using namespace corpus;

namespace {

constexpr size_t kPages = size_t{4} * kBytes;

// Pages of the program's own, registered.
void* NewRegistered(size_t bytes) {
    void* memory = nullptr;
    void* device = nullptr;
    Must(posix_memalign(&memory, kBytes, bytes));
    std::memset(memory, 0, bytes);
    Must(aclrtHostRegister(memory, bytes, ACL_HOST_REGISTER_MAPPED, &device));
    return memory;
}

// The work of the stream waits for this before it begins.
uint64_t Hold(aclrtStream stream) {
    uint64_t hold = 0;
    Must(advstepHoldStream(stream, &hold));
    return hold;
}

}  // namespace

int ReadByte(const void* memory, size_t at) {
    return static_cast<const volatile unsigned char*>(memory)[at];
}

void WriteByte(void* memory, size_t at) { static_cast<volatile unsigned char*>(memory)[at] = 1; }

// PyTorch: tensor.to("cpu", non_blocking=True) is read before a synchronisation.
BAD_PROGRAM(ReadsAPinnedBufferTooEarly, "race,host",
            {{"race", "host_access", {"aclrtMemcpyAsync", "dst", "ReadByte", "\"read\""}}}) {
    // [ReadsAPinnedBufferTooEarly]
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    (void)ReadByte(tokens, kBytes + 8);  // missing: Synchronize(stream)
    Synchronize(stream);
    // [/ReadsAPinnedBufferTooEarly]
}

// vllm-ascend: the next step's input is written into the buffer that the copy still reads.
BAD_PROGRAM(OverwritesAPinnedBufferTooEarly, "race,host",
            {{"race", "host_access", {"aclrtMemcpyAsync", "src", "WriteByte", "\"write\""}}}) {
    const aclrtStream stream = NewStream();
    void* const input = NewPinned(kPages);
    const uint64_t hold = Hold(stream);
    CopyToDevice(NewMemory(kPages), input, stream, kPages);
    (void)ReadByte(input, 0);  // right
    WriteByte(input, kPages - 1);
    Must(advstepReleaseHold(hold));
    Synchronize(stream);
}

// Registered memory, read by another thread, whose access goes on with the copy's bytes.
BAD_PROGRAM(ReadsRegisteredMemoryTooEarly, "race,host",
            {{"race", "host_access", {"registered", "ReadByte"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewRegistered(kPages);
    void* const device = NewMemory(kPages);
    Must(aclrtMemset(device, kPages, 7, kPages));
    CopyToHost(memory, device, stream, kPages);
    std::thread([&] {
        while (ReadByte(memory, 0) != 7) {
            std::this_thread::yield();
        }
    }).join();
    Synchronize(stream);
    if (ReadByte(memory, kPages - 1) != 7) {
        std::abort();
    }
    Must(aclrtHostUnregister(memory));
}

// The host waits for the wrong stream, and the program ends without another call.
BAD_PROGRAM(WaitsForTheWrongCopy, "race,host", {{"race", "host_access", {"ReadByte"}}}) {
    const aclrtStream copies = NewStream();
    const aclrtStream compute = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), copies, kPages);
    Synchronize(compute);
    (void)ReadByte(tokens, 0);
}

// A wait for the first of two copies into one buffer, as of a token that is fetched again.
BAD_PROGRAM(WaitsForTheFirstOfTwoCopies, "race,host",
            {{"race", "host_access", {"dst", "ReadByte", "\"read\""}}}) {
    const aclrtStream stream = NewStream();
    const aclrtEvent event = NewEvent();
    void* const tokens = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    CopyToHost(tokens, device, stream, kPages);
    Must(aclrtRecordEvent(event, stream));
    CopyToHost(tokens, device, stream, kPages);
    Must(aclrtSynchronizeEvent(event));
    (void)ReadByte(tokens, 0);
    Synchronize(stream);
}

// Two streams send parts of one buffer that overlap, and the host waits for one of them.
BAD_PROGRAM(OverwritesWhatASecondCopyReads, "race,host",
            {{"race", "host_access", {"src", "WriteByte", "\"write\""}}}) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const input = NewPinned(kPages);
    CopyToDevice(NewMemory(kPages), input, first, 3 * kBytes);
    CopyToDevice(NewMemory(kPages), Beyond(input, kBytes), second, 3 * kBytes);
    Synchronize(first);
    WriteByte(input, 0);  // right
    WriteByte(input, 2 * kBytes);
    Synchronize(second);
}

// The pages are of a copy that reads them and of one that writes them when a third one ends.
BAD_PROGRAM(ReadsWhatALaterCopyWrites, "race,host",
            {{"race", "host_access", {"dst", "ReadByte", "\"read\""}}}) {
    const aclrtStream sends = NewStream();
    const aclrtStream swaps = NewStream();
    void* const buffer = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    CopyToDevice(NewMemory(kPages), buffer, sends, kPages);
    Order(sends, swaps);
    CopyToHost(buffer, device, swaps, kPages);
    CopyToDevice(NewMemory(kPages), buffer, swaps, kPages);
    Synchronize(sends);
    (void)ReadByte(buffer, kBytes);
    Synchronize(swaps);
}

// More accesses than pages are watched at a time: the last one is told as well.
BAD_PROGRAM(ReadsEachBufferTooEarly, "race,host",
            {{"race", "host_access", {"ReadByte"}}, {"race", "host_access", {"WriteByte"}}}) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    for (int i = 0; i < 600; ++i) {
        CopyToHost(tokens, device, stream, kPages);
        (void)ReadByte(tokens, 0);
        Synchronize(stream);
    }
    CopyToHost(tokens, device, stream, kPages);
    WriteByte(tokens, 0);
    Synchronize(stream);
}

// Threads that find the pages closed at once: one access is told, and each of them goes on.
BAD_PROGRAM(ReadsAPinnedBufferInManyThreads, "race,host",
            {{"race", "host_access", {"ReadByte", "\"read\""}}}) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 200;
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    std::atomic<int> round{0};
    std::atomic<int> done{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            for (int mine = 1; mine <= kRounds; ++mine) {
                while (round.load() < mine) {
                    std::this_thread::yield();
                }
                (void)ReadByte(tokens, kBytes);
                ++done;
            }
        });
    }
    for (int next = 1; next <= kRounds; ++next) {
        CopyToHost(tokens, device, stream, kPages);
        round.store(next);
        while (done.load() < next * kThreads) {
            std::this_thread::yield();
        }
        Synchronize(stream);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// A call of the library that fills such a buffer is told as a call, and not as an access.
BAD_PROGRAM(FillsAPinnedBufferTooEarly, "race,host", {{"race", "race", {"aclrtMemset", "dst"}}}) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    Must(aclrtMemset(tokens, kPages, 1, kPages));
    Synchronize(stream);
}

// The memory is the program's own again, and the unregistration has waited for the copy.
BAD_PROGRAM(UnregistersBehindADownload, "memory,race,host",
            {{"memory", "unregistered_in_use", {"dst"}}}) {
    const aclrtStream stream = NewStream();
    void* const memory = NewRegistered(kPages);
    CopyToHost(memory, NewMemory(kPages), stream, kPages);
    Must(aclrtHostUnregister(memory));
    WriteByte(memory, kBytes);
    std::free(memory);
}

// The same of a range inside pinned memory.
BAD_PROGRAM(UnregistersInsideAPinnedBuffer, "memory,race,host",
            {{"memory", "unregistered_in_use", {"dst"}}}) {
    const aclrtStream stream = NewStream();
    void* const pinned = NewPinned(kPages);
    void* device = nullptr;
    Must(aclrtHostRegister(pinned, kPages, ACL_HOST_REGISTER_MAPPED, &device));
    CopyToHost(pinned, NewMemory(kPages), stream, kPages);
    Must(aclrtHostUnregister(pinned));
    WriteByte(pinned, kBytes);
}

// A process that ends without the end of the runtime tells what it has seen.
BAD_PROGRAM(EndsAfterAnEarlyRead, "race,host", {{"race", "host_access", {"ReadByte"}}}) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    (void)ReadByte(tokens, 0);
    std::exit(0);
}

RIGHT_PROGRAM(ReadsAPinnedBufferAfterTheStream) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    for (int value = 1; value < 4; ++value) {
        Must(aclrtMemsetAsync(device, kPages, value, kPages, stream));
        CopyToHost(tokens, device, stream, kPages);
        CopyToHost(tokens, device, stream, kPages);
        CopyToDevice(device, tokens, stream, kPages);  // reads what the copy before has written
        Synchronize(stream);
        if (ReadByte(tokens, 0) != value || ReadByte(tokens, kPages - 1) != value) {
            std::abort();
        }
        WriteByte(tokens, 0);
    }
}

// Parts of one buffer, of which the host uses the one that is ready.
RIGHT_PROGRAM(UsesAnotherPartOfAPinnedBuffer) {
    const aclrtStream first = NewStream();
    const aclrtStream second = NewStream();
    void* const buffer = NewPinned(kPages);
    void* const device = NewMemory(kPages);
    CopyToHost(buffer, device, first, kPages / 2);
    CopyToHost(Beyond(buffer, kPages / 2), device, second, kPages / 2);
    Synchronize(first);
    (void)ReadByte(buffer, kPages / 2 - 1);
    WriteByte(buffer, 0);
    Synchronize(second);
    (void)ReadByte(buffer, kPages / 2);
}

RIGHT_PROGRAM(ReadsAPinnedBufferInAHostFunction) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    Must(aclrtLaunchHostFunc(
        stream, [](void* memory) { (void)ReadByte(memory, kBytes); }, tokens));
    Synchronize(stream);
}

RIGHT_PROGRAM(FreesAPinnedBufferAfterTheEvent) {
    const aclrtStream stream = NewStream();
    void* const device = NewMemory(kPages);
    for (int i = 0; i < 20; ++i) {
        void* const buffer = NewPinned(kPages);
        const aclrtEvent event = NewEvent();
        CopyToHost(buffer, device, stream, kPages);
        Must(aclrtRecordEvent(event, stream));
        Must(aclrtSynchronizeEvent(event));
        WriteByte(buffer, kBytes);
        Must(aclrtFreeHost(buffer));
        Must(aclrtDestroyEvent(event));
    }
}

// The child has a copy of the pages, into which no work writes.
RIGHT_PROGRAM(ReadsAPinnedBufferInAChild) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    if (support::kAddressSanitizer) {
        Synchronize(stream);
        return;  // the worker may have its allocator's lock at the fork, and the child waits for it
    }
    const pid_t child = fork();
    if (child == 0) {
        WriteByte(tokens, kBytes);
        _exit(ReadByte(tokens, kBytes) == 1 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Must(status);
    Synchronize(stream);
}

// More copies than are watched at a time.
RIGHT_PROGRAM(CopiesIntoManyPinnedBuffers) {
    constexpr size_t kCopies = 700;
    const aclrtStream stream = NewStream();
    void* const buffer = NewPinned(kCopies * kBytes);
    void* const device = NewMemory();
    for (size_t i = 0; i < kCopies; ++i) {
        CopyToHost(Beyond(buffer, i * kBytes), device, stream);
    }
    Synchronize(stream);
    for (size_t i = 0; i < kCopies; ++i) {
        WriteByte(buffer, i * kBytes);
    }
}

// More than the library moves at a time, both ways, while the pages are closed.
RIGHT_PROGRAM(CopiesALargePinnedBuffer) {
    constexpr size_t kLarge = size_t{11} * kBytes + 100;
    const aclrtStream stream = NewStream();
    auto* const from = static_cast<unsigned char*>(NewPinned(kLarge));
    auto* const to = static_cast<unsigned char*>(NewPinned(kLarge));
    void* const device = NewMemory(kLarge);
    for (size_t i = 0; i < kLarge; ++i) {
        from[i] = static_cast<unsigned char>(i % 251);
    }
    const uint64_t hold = Hold(stream);
    CopyToDevice(device, from, stream, kLarge);
    CopyToHost(to, device, stream, kLarge);
    Must(advstepReleaseHold(hold));
    Synchronize(stream);
    for (size_t i = 0; i < kLarge; ++i) {
        if (to[i] != i % 251) {
            std::abort();
        }
    }
}

// The bytes before and behind a copy are the host's, on the same pages.
RIGHT_PROGRAM(UsesBytesBesideACopy) {
    const aclrtStream stream = NewStream();
    void* const buffer = NewPinned(kPages);
    const uint64_t hold = Hold(stream);
    CopyToHost(Beyond(buffer, 64), NewMemory(kPages), stream, kPages - 128);
    WriteByte(buffer, 0);
    WriteByte(buffer, kPages - 1);
    Must(advstepReleaseHold(hold));
    Synchronize(stream);
    (void)ReadByte(buffer, 64);
}

// A program that has its own handler from its second copy on is not watched any more.
RIGHT_PROGRAM(HasItsOwnHandler) {
    const aclrtStream stream = NewStream();
    void* const tokens = NewPinned(kPages);
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    Synchronize(stream);
    (void)signal(SIGSEGV, [](int) { _exit(3); });
    CopyToHost(tokens, NewMemory(kPages), stream, kPages);
    (void)ReadByte(tokens, 0);
    Synchronize(stream);
}

// An operator reads what a copy before it has written, in a thread of the library.
RIGHT_PROGRAM(ComputesOnRegisteredMemory) {
    const aclrtStream stream = NewStream();
    void* const memory = NewRegistered(kPages);
    CopyToHost(memory, NewMemory(kPages), stream, kPages);
    LaunchMove(memory, NewMemory(kPages), stream, kPages);
    CopyToHost(memory, NewMemory(kPages), stream, kPages);
    Synchronize(stream);
    (void)ReadByte(memory, 0);
}
