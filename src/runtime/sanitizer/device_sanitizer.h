// SPDX-License-Identifier: Apache-2.0
// What the runtime tells the checks memory, race and init, and what they do with it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "src/runtime/sanitizer/block_table.h"
#include "src/runtime/sanitizer/findings.h"
#include "src/runtime/sanitizer/inside_host_function.h"
#include "src/runtime/sanitizer/ordered_work.h"
#include "src/runtime/sanitizer/sanitizing_work.h"
#include "src/runtime/sanitizer/work_order.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The place of a task: the stream object, its handle, and its device.
struct WorkPlace {
    Stream* stream = nullptr;
    uint64_t sequence = 0;
    const void* handle = nullptr;
    const Device* device = nullptr;
    std::shared_ptr<const CallStack> replay = nullptr;  // of the call that replays captured work
};

/// Describes work of the call that the thread is in.
std::shared_ptr<const QueuedWork> DescribeWork(const Task& task, const Work& work);

/// Returns the calls that the thread is in, for works of a replay.
std::shared_ptr<const CallStack> ReplayCall();

/// The analysis. mutex_ guards everything. It is taken under any lock of the runtime, and only the
/// lock of the findings under it.
class DeviceSanitizer {
 public:
    using HasPeer = bool (*)(const Device& device, const Device& peer);

    DeviceSanitizer();

    /// Sets the question whether a device may use the memory of another one.
    void AskForPeers(HasPeer hasPeer);

    // Work. The stream's lock is held, so that the order is that of the stream.

    /// `what`: null if the task touches no memory that is known.
    void Queued(const WorkPlace& place, const Task& task, std::shared_ptr<const QueuedWork> what);
    /// A batch of tasks begins or ends that is a replay of a model, which any address names. The
    /// replays of one model come one after another.
    void BeginReplay(const WorkPlace& place, const void* model);
    void EndReplay(const WorkPlace& place, const void* model);

    /// Returns the description of captured work, with the blocks that it uses now.
    std::shared_ptr<const QueuedWork> Captured(const Task& task, const std::vector<Use>& uses);

    // The host.

    void HostSees(const void* stream, uint64_t sequence);
    /// The host has waited for all streams of a device; null: of all devices.
    void HostSeesDevice(const Device* device);
    /// A synchronous copy or fill. `name` is static text.
    void HostUses(const char* name, bool copies, std::vector<Use> uses);
    /// The host has copied memory of the device, and may know from words there how far the streams
    /// are that write them.
    void HostHasRead(const void* address, uint64_t bytes);
    void Unset(const void* signal);

    /// Reports the accesses of the host that WatchedPages has noted. They are reported by the next
    /// call of the library otherwise.
    void TellNoted();

    // Memory.

    /// A block begins. Returns how many bytes of it the caller fills with the pattern 0xA5.
    uint64_t Allocated(Block::Kind kind, uintptr_t begin, uint64_t bytes, const Device* device);
    /// Another process may write to the block.
    void Shared(uintptr_t begin);
    /// The block that begins there ends.
    void Ended(uintptr_t begin);
    /// The same for blocks that end with their device, whose work has ended.
    void EndedWithDevice(uintptr_t begin);
    /// A call frees an address at which no block begins that it could free. `ofDevice`: it frees
    /// device memory.
    void FreedWrongly(const void* address, bool ofDevice);
    /// A registration inside a block ends.
    void RangeEnds(uintptr_t begin, uint64_t bytes);
    /// A call refuses memory of an argument. It has a message of its own, but not who freed the
    /// memory, nor who made the block around it.
    void Refused(const char* argument, const void* address, uint64_t bytes, const Device* device);
    /// The same for captured work in a replay.
    void RefusedReplay(const QueuedWork& captured, const Device* device);

    /// Mark bytes that nothing may use, and take the marks away. Bytes outside of blocks are left
    /// out.
    void Poison(const void* address, uint64_t bytes);
    void Unpoison(const void* address, uint64_t bytes);

 private:
    struct Users;

    template <typename Visit>
    void ForEachPart(const void* address, uint64_t bytes, Visit&& visit);
    std::shared_ptr<OrderedWork> PlaceWork(const WorkPlace& place,
                                           const std::shared_ptr<const QueuedWork>& what);
    void PlaceUse(OrderedWork* work, size_t use);
    void PlaceRun(OrderedWork* work, size_t use, uintptr_t begin, uintptr_t end, uint64_t at,
                  bool exact);
    void CheckPlaced(const OrderedWork& work);
    void CheckDevices(const OrderedWork& work);
    void CheckReplaced(const OrderedWork& work);
    void Pass(const std::shared_ptr<OrderedWork>& work);
    void PassAccess(const std::shared_ptr<OrderedWork>& work, const PlacedUse& placed,
                    std::vector<const OrderedWork*>* raced);
    void PassInit(const OrderedWork& work);
    void PassCopy(const OrderedWork& work, size_t destination);
    void CheckWritten(const OrderedWork& work, size_t use);
    void WriteEverywhere();
    void WatchPages(const WorkPlace& place, const OrderedWork& work);
    void HostHasSeen(const void* stream, uint64_t sequence);
    void TellNotedLocked();
    void NoteWordWrite(const void* word, const Ticket& place);
    void ForgetBlock(const Block& block);
    Users FindUsers(const Block& block, uint64_t begin, uint64_t end) const;
    void CheckUnused(const Block& block, uint64_t begin, uint64_t end, EndOfUse how);

    mutable std::mutex mutex_;
    BlockTable blocks_;
    WorkOrder order_;
    std::unordered_map<Stream*, const Device*> devices_;  // of the streams with work
    std::map<uintptr_t, std::deque<Ticket>> words_;       // their last writes, by address
    bool tellsAtExit_ = false;                            // what WatchedPages has noted
    uint64_t works_ = 0;
    uint64_t patterned_ = 0;  // bytes of live blocks that were filled with the pattern
    HasPeer hasPeer_ = nullptr;
};

DeviceSanitizer& TheDeviceSanitizer();

/// DeviceSanitizer::Refused, if a check is on.
void TellRefused(const char* argument, const void* address, uint64_t bytes,
                 const Device* device) noexcept;

}  // namespace advstep
