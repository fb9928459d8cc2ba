// SPDX-License-Identifier: Apache-2.0
// Takes what the runtime tells, and looks for mistakes in the use of memory.

#include "src/runtime/sanitizer/device_sanitizer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <set>
#include <utility>

#include "src/base/never_destroyed.h"
#include "src/base/sanitizer_scope.h"
#include "src/runtime/sanitizer/watched_pages.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

// A use of more runs than this is exact in so many of them, and the rest is taken as a range of
// which some bytes are used.
constexpr uint64_t kMostRuns = 2048;

// The thread works for the sanitizer, under its lock.
struct LockedScope {
    explicit LockedScope(std::mutex* mutex) : lock(*mutex) {}

    const SanitizerScope own;
    const std::lock_guard<std::mutex> lock;
};

bool IsCopy(const Task& task, const std::vector<Use>& uses) {
    return task.category == TaskCategory::kMemory && uses.size() >= 2 && uses.size() % 2 == 0;
}

bool IsWord(const Use& use) {
    return use.signal == Use::Signal::kWrites || use.signal == Use::Signal::kAwaitsWord;
}

std::shared_ptr<QueuedWork> Describe(const Task& task, std::vector<Use> uses) {
    const auto what = std::make_shared<QueuedWork>();
    what->name = task.name;
    what->call = task.type != nullptr ? task.type->call : nullptr;
    what->stack = CallStack::Here();
    what->site = what->stack.Hash();
    what->uses = std::move(uses);
    what->copies = IsCopy(task, what->uses);
    what->ofDevice = task.category != TaskCategory::kMemory;
    const bool named = std::any_of(what->uses.begin(), what->uses.end(), [](const Use& use) {
        return use.kind == Use::Kind::kMemory && !use.leadsAnywhere;
    });
    const bool leads = std::any_of(what->uses.begin(), what->uses.end(),
                                   [](const Use& use) { return use.leadsAnywhere; });
    what->anywhere = leads || (!named && task.category == TaskCategory::kKernel);
    what->copies = what->copies && !what->anywhere;
    return what;
}

uint64_t CountRuns(const Use::Runs& runs) {
    uint64_t count = runs.rows;
    for (const auto& [times, stride] : runs.outer) {
        count *= times;
    }
    return count;
}

uint64_t PlaceOfRun(const Use::Runs& runs, uint64_t run) {
    uint64_t place = run % runs.rows * runs.stride;
    run /= runs.rows;
    for (const auto& [times, stride] : runs.outer) {
        place += run % times * stride;
        run /= times;
    }
    return place;
}

bool IsReduction(const QueuedWork& work) { return std::strcmp(work.name, "aclrtReduceAsync") == 0; }

template <size_t N>
bool HasWord(const QueuedWork& work, const char* const (&words)[N]) {
    return std::any_of(std::begin(words), std::end(words),
                       [&](const char* word) { return strcasestr(work.name, word) != nullptr; });
}

// The operators that may read a part of a tensor, as those that take rows by an index or a length,
// have one of these words in their names. What others than CANN's read is not known.
bool ReadsAll(const QueuedWork& work) {
    static constexpr const char* kPartly[] = {
        "attention", "index", "gather", "scatter", "embedding", "cache",  "take",     "select",
        "slice",     "moe",   "group",  "rout",    "step",      "mask",   "pool",     "conv",
        "col",       "fold",  "diag",   "tri",     "cholesky",  "linalg", "lstm",     "gru",
        "rnn",       "ctc",   "nms",    "roi",     "grid",      "sample", "search",   "rope",
        "rotary",    "seq",   "pad",    "crop",    "sparse",    "where",  "nonzero",  "unique",
        "put",       "copy",  "clone",  "cat",     "stack",     "split",  "backward", "update"};
    return work.copies || IsReduction(work) ||
           (std::strncmp(work.name, "aclnn", 5) == 0 && !HasWord(work, kPartly));
}

// Whether the work is known to read what it writes, before that.
bool ReadsWhatItWrites(const QueuedWork& work, const Use& use) {
    return IsReduction(work) || (std::strncmp(work.name, "aclnnAdvanceStep", 16) == 0 &&
                                 std::strcmp(use.name, "seqLens") == 0);
}

// Whether the operator only moves what it reads, so that unwritten bytes are no mistake.
bool OnlyMoves(const QueuedWork& work) {
    static constexpr const char* kMoves[] = {"copy", "clone", "cat",   "contiguous", "stack",
                                             "pad",  "chunk", "split", "repeat",     "tile"};
    return HasWord(work, kMoves);
}

}  // namespace

std::shared_ptr<const QueuedWork> DescribeWork(const Task& task, const Work& work) {
    const SanitizerScope own;
    std::vector<Use> uses;
    if (work.listUses != nullptr) {
        work.listUses(work.source, &uses);
    }
    if (uses.empty() && task.category != TaskCategory::kKernel) {
        return nullptr;
    }
    return Describe(task, std::move(uses));
}

std::shared_ptr<const CallStack> ReplayCall() {
    const SanitizerScope own;
    return std::make_shared<const CallStack>(CallStack::Here());
}

DeviceSanitizer& TheDeviceSanitizer() {
    static NeverDestroyed<DeviceSanitizer> sanitizer;
    return *sanitizer;
}

DeviceSanitizer::DeviceSanitizer()
    : order_([this](const std::shared_ptr<OrderedWork>& work) { Pass(work); }) {}

void DeviceSanitizer::AskForPeers(HasPeer hasPeer) {
    const LockedScope scope(&mutex_);
    hasPeer_ = hasPeer;
}

// Work as it is queued.

namespace {

OrderStep::Kind StepOf(Use::Signal signal) {
    switch (signal) {
        case Use::Signal::kSets:
            return OrderStep::Kind::kSet;
        case Use::Signal::kTakes:
            return OrderStep::Kind::kTake;
        case Use::Signal::kAwaitsSet:
            return OrderStep::Kind::kAwaitSet;
        case Use::Signal::kUnsets:
            return OrderStep::Kind::kUnset;
        case Use::Signal::kWrites:
            return OrderStep::Kind::kWriteWord;
        case Use::Signal::kAwaitsWord:
            return OrderStep::Kind::kAwaitWord;
        case Use::Signal::kNone:
            break;
    }
    return OrderStep::Kind::kWork;
}

// A wait for a function of the program orders nothing else.
bool IsUnknownWait(const Task& task) {
    return task.kind == TaskKind::kPollWait &&
           !static_cast<const PollWaitTask&>(task).endsTaskBefore && !task.TellsHost() &&
           (task.type == nullptr || !task.type->endedByHost);
}

OrderStep MakeStep(const Task& task, const QueuedWork* what) {
    OrderStep step;
    if (task.kind == TaskKind::kTicketWait) {
        const Ticket& ticket = static_cast<const TicketWaitTask&>(task).ticket;
        step.kind = OrderStep::Kind::kWaitForPlace;
        step.other = ticket.stream;
        step.sequence = ticket.sequence;
        return step;
    }
    for (const Use& use : what != nullptr ? what->uses : std::vector<Use>()) {
        if (use.signal != Use::Signal::kNone) {
            step.kind = StepOf(use.signal);
            step.key = use.address;
            step.value = use.value;
            step.flag = use.flag;
            step.holds = use.holds;
            return step;
        }
    }
    if (IsUnknownWait(task)) {
        step.kind = OrderStep::Kind::kAwaitAnything;
    }
    return step;
}

}  // namespace

void DeviceSanitizer::Queued(const WorkPlace& place, const Task& task,
                             std::shared_ptr<const QueuedWork> what) {
    const LockedScope scope(&mutex_);
    devices_[place.stream] = place.device;
    OrderStep step = MakeStep(task, what.get());
    if (what != nullptr) {
        step.work = PlaceWork(place, what);
    }
    if (Sanitizing(SanitizerCheck::kHost) && step.work != nullptr) {
        WatchPages(place, *step.work);
    }
    if (step.kind == OrderStep::Kind::kWriteWord) {
        NoteWordWrite(step.key, {place.stream, place.sequence});
    }
    if (step.kind == OrderStep::Kind::kWork && step.work == nullptr) {
        order_.Queued(place.stream, place.sequence);
    } else {
        order_.Add(place.stream, place.sequence, std::move(step));
    }
}

void DeviceSanitizer::BeginReplay(const WorkPlace& place, const void* model) {
    const LockedScope scope(&mutex_);
    OrderStep step;
    step.kind = OrderStep::Kind::kJoin;
    step.key = model;
    order_.Add(place.stream, place.sequence, step);
}

void DeviceSanitizer::EndReplay(const WorkPlace& place, const void* model) {
    const LockedScope scope(&mutex_);
    OrderStep step;
    step.kind = OrderStep::Kind::kPublish;
    step.key = model;
    order_.Add(place.stream, place.sequence, step);
}

std::shared_ptr<const QueuedWork> DeviceSanitizer::Captured(const Task& task,
                                                            const std::vector<Use>& uses) {
    if (uses.empty() && task.category != TaskCategory::kKernel) {
        return nullptr;
    }
    const SanitizerScope own;
    const std::shared_ptr<QueuedWork> what = Describe(task, uses);
    what->isCaptured = true;
    const LockedScope scope(&mutex_);
    for (const Use& use : uses) {
        const std::shared_ptr<Block> block =
            use.kind == Use::Kind::kMemory ? blocks_.Find(reinterpret_cast<uintptr_t>(use.address))
                                           : nullptr;
        what->blocks.push_back(block != nullptr ? block->number : 0);
    }
    return what;
}

std::shared_ptr<OrderedWork> DeviceSanitizer::PlaceWork(
    const WorkPlace& place, const std::shared_ptr<const QueuedWork>& what) {
    const auto work = std::make_shared<OrderedWork>();
    work->what = what;
    work->replay = what->isCaptured ? place.replay : nullptr;
    work->site = what->site ^ (work->replay != nullptr ? work->replay->Hash() : 0);
    work->handle = place.handle;
    work->device = place.device;
    work->number = ++works_;
    for (size_t use = 0; use < what->uses.size(); ++use) {
        if (what->uses[use].kind == Use::Kind::kMemory && what->uses[use].bytes > 0) {
            PlaceUse(work.get(), use);
        }
    }
    if (work->uses.empty() && !what->anywhere) {
        return nullptr;
    }
    if (Sanitizing(SanitizerCheck::kMemory)) {
        CheckPlaced(*work);
        CheckDevices(*work);
        CheckReplaced(*work);
    }
    return work;
}

void DeviceSanitizer::PlaceUse(OrderedWork* work, size_t use) {
    const Use& used = work->what->uses[use];
    const auto begin = reinterpret_cast<uintptr_t>(used.address);
    const Use::Runs& runs = used.runs;
    const bool exact = !used.inexact && !IsWord(used) && used.access != Use::Access::kUnknown;
    if (runs.rows == 0 || !exact) {
        PlaceRun(work, use, begin, begin + used.bytes, 0, exact);
        return;
    }
    const uint64_t count = CountRuns(runs);
    for (uint64_t run = 0; run < std::min(count, kMostRuns); ++run) {
        const uintptr_t from = begin + PlaceOfRun(runs, run);
        PlaceRun(work, use, from, from + runs.rowBytes, run * runs.rowBytes, true);
    }
    if (count > kMostRuns) {
        PlaceRun(work, use, begin, begin + used.bytes, 0, false);
    }
}

void DeviceSanitizer::PlaceRun(OrderedWork* work, size_t use, uintptr_t begin, uintptr_t end,
                               uint64_t at, bool exact) {
    const Use& used = work->what->uses[use];
    const auto usedFrom = reinterpret_cast<uintptr_t>(used.address);
    std::shared_ptr<Block> before;
    while (begin < end) {
        const std::shared_ptr<Block> block = blocks_.Find(begin);
        if (block == nullptr || (before != nullptr && !before->GoesOnIn(*block))) {
            if (work->what->ofDevice && Sanitizing(SanitizerCheck::kMemory)) {
                const std::shared_ptr<Block> freed = blocks_.FindFreed(begin);
                const std::shared_ptr<Block> around = blocks_.Find(usedFrom);
                if (freed != nullptr && around == nullptr) {
                    ReportUsedAfterFree(*work, use, *freed);
                } else {
                    ReportNoMemory(*work, use, around.get());
                }
            }
            return;
        }
        const uintptr_t to = std::min(end, block->end());
        work->uses.push_back({block, begin - block->begin, to - block->begin, at, use, exact});
        at += to - begin;
        begin = to;
        before = block;
    }
}

void DeviceSanitizer::CheckPlaced(const OrderedWork& work) {
    for (const PlacedUse& placed : work.uses) {
        if (placed.block->poisoned.Meets(placed.begin, placed.end)) {
            ReportPoisoned(work, placed.use, *placed.block);
            return;
        }
    }
}

// A copy may have a side on another device than its stream, as long as the other side has access
// to it.
void DeviceSanitizer::CheckDevices(const OrderedWork& work) {
    if (hasPeer_ == nullptr) {
        return;
    }
    const Device* device = work.what->ofDevice ? work.device : nullptr;
    for (const PlacedUse& placed : work.uses) {
        const Device* const other = placed.block->device;
        if (other == nullptr) {
            continue;
        }
        if (device != nullptr && other != device && !hasPeer_(*device, *other) &&
            !hasPeer_(*other, *device)) {
            ReportOtherDevice(work, placed.use, *placed.block);
            return;
        }
        device = device != nullptr ? device : other;
    }
}

// Other memory at the address of a reservation is what a program wants that maps it again.
void DeviceSanitizer::CheckReplaced(const OrderedWork& work) {
    if (work.what->blocks.empty()) {
        return;
    }
    for (const PlacedUse& placed : work.uses) {
        const uint64_t then = work.what->blocks[placed.use];
        const bool isFirst = placed.block->begin + placed.begin ==
                             reinterpret_cast<uintptr_t>(work.what->uses[placed.use].address);
        if (isFirst && then != 0 && then != placed.block->number &&
            placed.block->kind != Block::Kind::kMapped) {
            ReportReplaced(work, placed.use, *placed.block);
            return;
        }
    }
}

// Work in its order.

void DeviceSanitizer::Pass(const std::shared_ptr<OrderedWork>& work) {
    std::vector<const OrderedWork*> raced;  // each pair of works is told once
    for (const PlacedUse& placed : work->uses) {
        PassAccess(work, placed, &raced);
    }
    if (Sanitizing(SanitizerCheck::kInit)) {
        PassInit(*work);
    }
    work->uses.clear();
    work->uses.shrink_to_fit();
}

void DeviceSanitizer::PassAccess(const std::shared_ptr<OrderedWork>& work, const PlacedUse& placed,
                                 std::vector<const OrderedWork*>* raced) {
    AccessHistory& history = placed.block->history;
    const Use& use = work->what->uses[placed.use];
    if (history.SweepIsDue()) {
        history.Sweep([&](const OrderedWork& earlier) { return order_.IsOld(earlier); });
    }
    const WorkAccess access{work, placed.use, use.Writes()};
    if (!placed.exact) {
        history.AddInexact(placed.begin, placed.end, access);
        return;
    }
    const bool racing = Sanitizing(SanitizerCheck::kRace);
    history.Add(
        placed.begin, placed.end, access,
        [&](const WorkAccess& earlier, uint64_t begin, uint64_t end) {
            const OrderedWork* const other = earlier.work.get();
            if (racing && std::find(raced->begin(), raced->end(), other) == raced->end()) {
                raced->push_back(other);
                ReportRace(*earlier.work, earlier.use, *work, placed.use, *placed.block, begin,
                           end);
            }
        },
        [&](const OrderedWork& earlier) { return order_.IsOld(earlier); });
}

// Which bytes have been written.

void DeviceSanitizer::WriteEverywhere() {
    blocks_.ForEach([](Block& block) { block.unwritten.Remove(0, block.bytes); });
}

void DeviceSanitizer::PassInit(const OrderedWork& work) {
    const QueuedWork& what = *work.what;
    if (what.anywhere) {
        WriteEverywhere();
        return;
    }
    if (what.copies) {
        for (size_t use = 0; use + 1 < what.uses.size(); use += 2) {
            PassCopy(work, use);
        }
        return;
    }
    for (size_t use = 0; use < what.uses.size(); ++use) {
        const Use& used = what.uses[use];
        const bool reads =
            used.access == Use::Access::kReads ||
            (used.access == Use::Access::kReadsAndWrites && ReadsWhatItWrites(what, used));
        if (reads && !OnlyMoves(what)) {
            CheckWritten(work, use);
        }
    }
    for (const PlacedUse& placed : work.uses) {
        if (what.uses[placed.use].Writes()) {
            placed.block->unwritten.Remove(placed.begin, placed.end);
        }
    }
}

// Bytes that have been told count as written, so that each is told once.
void DeviceSanitizer::CheckWritten(const OrderedWork& work, size_t use) {
    uint64_t all = 0;
    uint64_t unwritten = 0;
    uint64_t first = 0;
    const PlacedUse* where = nullptr;
    for (const PlacedUse& placed : work.uses) {
        if (placed.use != use || (!placed.exact && !IsWord(work.what->uses[use]))) {
            continue;
        }
        all += placed.end - placed.begin;
        placed.block->unwritten.ForEach(placed.begin, placed.end,
                                        [&](uint64_t begin, uint64_t end) {
                                            first = where == nullptr ? begin : first;
                                            where = where == nullptr ? &placed : where;
                                            unwritten += end - begin;
                                        });
    }
    if (where == nullptr || (unwritten < all && !ReadsAll(*work.what))) {
        return;
    }
    ReportUnwritten(work, use, *where->block, first, unwritten);
    for (const PlacedUse& placed : work.uses) {
        if (placed.use == use) {
            placed.block->unwritten.Remove(placed.begin, placed.end);
        }
    }
}

// The destination's bytes are as written as the source's. A copy to memory of the host is a use.
void DeviceSanitizer::PassCopy(const OrderedWork& work, size_t destination) {
    const size_t source = destination + 1;
    const bool watched =
        std::any_of(work.uses.begin(), work.uses.end(), [&](const PlacedUse& placed) {
            return placed.use == destination && placed.block->device != nullptr;
        });
    if (!watched) {
        CheckWritten(work, source);
    }
    IntervalSet unwritten;  // among the bytes of the copy
    for (const PlacedUse& placed : work.uses) {
        if (placed.use == source && placed.exact) {
            placed.block->unwritten.ForEach(
                placed.begin, placed.end, [&](uint64_t begin, uint64_t end) {
                    unwritten.Add(placed.at + begin - placed.begin, placed.at + end - placed.begin);
                });
        }
    }
    for (const PlacedUse& placed : work.uses) {
        if (placed.use != destination) {
            continue;
        }
        IntervalSet& there = placed.block->unwritten;
        there.Remove(placed.begin, placed.end);
        if (placed.exact && placed.block->kind == Block::Kind::kDevice) {
            unwritten.ForEach(placed.at, placed.at + placed.end - placed.begin,
                              [&](uint64_t begin, uint64_t end) {
                                  there.Add(placed.begin + begin - placed.at,
                                            placed.begin + end - placed.at);
                              });
        }
    }
}

// The host.

// Tells the order what the host has seen, and opens the pages that it may use now.
void DeviceSanitizer::HostHasSeen(const void* stream, uint64_t sequence) {
    order_.HostSees(stream, sequence);
    if (Sanitizing(SanitizerCheck::kHost)) {
        TellNotedLocked();
        WatchedPages::OpenSeen([&](const WatchedUse& watched) {
            return order_.HostHasSeen(watched.stream, watched.sequence);
        });
    }
}

void DeviceSanitizer::HostSees(const void* stream, uint64_t sequence) {
    const LockedScope scope(&mutex_);
    HostHasSeen(stream, sequence);
}

// Work that other threads have queued meanwhile may not have ended.
void DeviceSanitizer::HostSeesDevice(const Device* device) {
    const LockedScope scope(&mutex_);
    for (const auto& [stream, itsDevice] : devices_) {
        const uint64_t queued = order_.QueuedOf(stream);
        if ((device == nullptr || itsDevice == device) && Reached({stream, queued})) {
            HostHasSeen(stream, queued);
        }
    }
}

void DeviceSanitizer::HostUses(const char* name, bool copies, std::vector<Use> uses) {
    const SanitizerScope own;
    const auto what = std::make_shared<QueuedWork>();
    what->name = name;
    what->stack = CallStack::Here();
    what->site = what->stack.Hash();
    what->uses = std::move(uses);
    what->copies = copies;
    what->ofDevice = false;
    const LockedScope scope(&mutex_);
    const std::shared_ptr<OrderedWork> work = PlaceWork({}, what);
    if (work == nullptr) {
        return;
    }
    for (const PlacedUse& placed : work->uses) {
        if (placed.block->device ==
            nullptr) {  // the call itself uses the pages, which is told here
            WatchedPages::OpenRange(placed.block->begin + placed.begin,
                                    placed.block->begin + placed.end);
        }
    }
    const auto* const inside = InsideHostFunction::Innermost();
    if (inside != nullptr && inside->blocks()) {
        order_.ActsInside(inside->stream(), inside->sequence(), work);
    } else {
        order_.HostActs(work);
    }
}

// Accesses of the host.

// Only copies are known to use all of the bytes, and to use them by WatchedPages::Move.
void DeviceSanitizer::WatchPages(const WorkPlace& place, const OrderedWork& work) {
    WatchedPages::Start();
    if (!tellsAtExit_) {
        tellsAtExit_ = std::atexit([] { TheDeviceSanitizer().TellNoted(); }) == 0;
    }
    if (!work.what->copies || IsReduction(*work.what)) {
        return;
    }
    for (const PlacedUse& placed : work.uses) {
        const Block& block = *placed.block;
        if (placed.exact &&
            (block.kind == Block::Kind::kPinned || block.kind == Block::Kind::kRegistered)) {
            WatchedPages::Watch(
                block.begin + placed.begin, block.begin + placed.end,
                work.what->uses[placed.use].Writes(),
                {work.what, placed.use, place.handle, place.stream, place.sequence, placed.block});
        }
    }
}

void DeviceSanitizer::TellNotedLocked() {
    if (!WatchedPages::HasNoted()) {
        return;
    }
    for (const HostAccess& access : WatchedPages::TakeNoted()) {
        ReportHostAccess(access);
    }
}

void DeviceSanitizer::TellNoted() {
    const LockedScope scope(&mutex_);
    TellNotedLocked();
}

void DeviceSanitizer::NoteWordWrite(const void* word, const Ticket& place) {
    constexpr size_t kMostWrites = 64;
    std::deque<Ticket>& writes = words_[reinterpret_cast<uintptr_t>(word)];
    if (writes.size() == kMostWrites) {
        writes.pop_front();
    }
    writes.push_back(place);
}

void DeviceSanitizer::ForgetBlock(const Block& block) {
    patterned_ -= block.patterned;
    words_.erase(words_.lower_bound(block.begin), words_.lower_bound(block.end()));
}

void DeviceSanitizer::HostHasRead(const void* address, uint64_t bytes) {
    const LockedScope scope(&mutex_);
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const auto end = words_.lower_bound(begin + bytes);
    for (auto word = words_.lower_bound(begin); word != end; ++word) {
        for (const Ticket& write : word->second) {
            if (Reached(write)) {
                HostHasSeen(write.stream, write.sequence);
            }
        }
    }
}

void DeviceSanitizer::Unset(const void* signal) {
    const LockedScope scope(&mutex_);
    order_.Unset(signal);
}

// Memory.

uint64_t DeviceSanitizer::Allocated(Block::Kind kind, uintptr_t begin, uint64_t bytes,
                                    const Device* device) {
    // The pattern takes memory of the machine, which a device may have less of than it tells.
    constexpr uint64_t kMostOfBlock = uint64_t{64} << 20;
    constexpr uint64_t kMostPatterned = uint64_t{1} << 30;
    const LockedScope scope(&mutex_);
    const std::shared_ptr<Block> block = blocks_.Enter(kind, begin, bytes, device);
    if (kind == Block::Kind::kDevice && Sanitizing(SanitizerCheck::kInit)) {
        block->unwritten.Add(0, bytes);
        block->patterned =
            std::min({bytes, kMostOfBlock, kMostPatterned - std::min(kMostPatterned, patterned_)});
        patterned_ += block->patterned;
    }
    return block->patterned;
}

void DeviceSanitizer::Shared(uintptr_t begin) {
    const LockedScope scope(&mutex_);
    if (const std::shared_ptr<Block> block = blocks_.Find(begin); block != nullptr) {
        block->unwritten.Remove(0, block->bytes);
    }
}

// The works that use a range and that the host has not seen.
struct DeviceSanitizer::Users {
    std::shared_ptr<const OrderedWork> latest;
    size_t use = 0;  // of the latest one
    std::set<const OrderedWork*> all;
};

DeviceSanitizer::Users DeviceSanitizer::FindUsers(const Block& block, uint64_t begin,
                                                  uint64_t end) const {
    Users users;
    const auto add = [&](const std::shared_ptr<const OrderedWork>& work, size_t use) {
        users.all.insert(work.get());
        if (users.latest == nullptr || work->number > users.latest->number) {
            users.latest = work;
            users.use = use;
        }
    };
    block.history.ForEach(begin, end, [&](const WorkAccess& access) {
        if (!order_.HostHasSeen(*access.work)) {
            add(access.work, access.use);
        }
    });
    order_.ForEachHeld([&](const std::shared_ptr<OrderedWork>& work) {
        for (const PlacedUse& placed : work->uses) {
            if (placed.block.get() == &block && placed.begin < end && begin < placed.end) {
                add(work, placed.use);
            }
        }
    });
    return users;
}

void DeviceSanitizer::CheckUnused(const Block& block, uint64_t begin, uint64_t end, EndOfUse how) {
    if (!Sanitizing(SanitizerCheck::kMemory)) {
        return;
    }
    const Users users = FindUsers(block, begin, end);
    if (users.latest != nullptr) {
        ReportInUse(*users.latest, users.use, block, how, users.all.size() - 1);
    }
}

void DeviceSanitizer::Ended(uintptr_t begin) {
    const LockedScope scope(&mutex_);
    const std::shared_ptr<Block> block = blocks_.Find(begin);
    if (block == nullptr || block->begin != begin) {
        return;
    }
    WatchedPages::OpenRange(begin, block->end());
    CheckUnused(*block, 0, block->bytes,
                block->kind == Block::Kind::kMapped       ? EndOfUse::kUnmap
                : block->kind == Block::Kind::kRegistered ? EndOfUse::kUnregister
                                                          : EndOfUse::kFree);
    (void)blocks_.Leave(begin);
    ForgetBlock(*block);
    if (!order_.Holds()) {
        block->history = AccessHistory();  // no work will be compared with it
    }
}

void DeviceSanitizer::EndedWithDevice(uintptr_t begin) {
    const LockedScope scope(&mutex_);
    if (const std::shared_ptr<Block> block = blocks_.Leave(begin); block != nullptr) {
        WatchedPages::OpenRange(begin, block->end());
        ForgetBlock(*block);
        block->endedWithDevice = true;
        block->history = AccessHistory();
    }
}

// What ended with its device, or in another process, is often freed late by right programs.
void DeviceSanitizer::FreedWrongly(const void* address, bool ofDevice) {
    if (address == nullptr || !Sanitizing(SanitizerCheck::kMemory)) {
        return;
    }
    const SanitizerScope own;
    const LockedScope scope(&mutex_);
    const auto place = reinterpret_cast<uintptr_t>(address);
    const std::shared_ptr<Block> live = blocks_.Find(place);
    const std::shared_ptr<Block> freed = live == nullptr ? blocks_.FindFreed(place) : nullptr;
    if (freed == nullptr || !freed->endedWithDevice) {
        ReportBadFree(address, ofDevice, live.get(), freed.get());
    }
}

void DeviceSanitizer::RangeEnds(uintptr_t begin, uint64_t bytes) {
    const LockedScope scope(&mutex_);
    WatchedPages::OpenRange(begin, begin + bytes);
    if (const std::shared_ptr<Block> block = blocks_.Find(begin); block != nullptr) {
        CheckUnused(*block, begin - block->begin, begin - block->begin + bytes,
                    EndOfUse::kUnregister);
    }
}

void DeviceSanitizer::Refused(const char* argument, const void* address, uint64_t bytes,
                              const Device* device) {
    if (!Sanitizing(SanitizerCheck::kMemory)) {
        return;
    }
    const SanitizerScope own;
    const auto what = std::make_shared<QueuedWork>();
    what->isCall = true;
    what->name = "the call";
    // A task refuses memory on any thread: it is its caller's mistake.
    const CallStack* const queued =
        InsideHostFunction::Innermost() == nullptr ? RunningWork::QueuedBy() : nullptr;
    what->stack = queued != nullptr ? *queued : CallStack::Here();
    what->uses.push_back(
        {Use::Kind::kMemory, argument, address, bytes, Use::Access::kReadsAndWrites});
    const LockedScope scope(&mutex_);
    WorkPlace place;
    place.device = device;
    (void)PlaceWork(place, what);
}

void DeviceSanitizer::RefusedReplay(const QueuedWork& captured, const Device* device) {
    if (!Sanitizing(SanitizerCheck::kMemory)) {
        return;
    }
    const SanitizerScope own;
    const auto what = std::make_shared<QueuedWork>(captured);
    what->ofDevice = true;
    what->blocks.clear();
    const LockedScope scope(&mutex_);
    WorkPlace place;
    place.device = device;
    (void)PlaceWork(place, what);
}

void TellRefused(const char* argument, const void* address, uint64_t bytes,
                 const Device* device) noexcept {
    if (SanitizingWork()) {
        try {
            TheDeviceSanitizer().Refused(argument, address, bytes, device);
        } catch (const std::bad_alloc&) {
        }
    }
}

// Poisoned memory of pools.

// Calls visit(Block&, begin, end) for the parts of a range that lie in blocks.
template <typename Visit>
void DeviceSanitizer::ForEachPart(const void* address, uint64_t bytes, Visit&& visit) {
    auto begin = reinterpret_cast<uintptr_t>(address);
    const uintptr_t end = begin + bytes;
    while (begin < end) {
        const std::shared_ptr<Block> block = blocks_.Find(begin);
        if (block == nullptr) {
            return;
        }
        const uintptr_t to = std::min(end, block->end());
        visit(*block, begin - block->begin, to - block->begin);
        begin = to;
    }
}

void DeviceSanitizer::Poison(const void* address, uint64_t bytes) {
    const LockedScope scope(&mutex_);
    ForEachPart(address, bytes, [&](Block& block, uint64_t begin, uint64_t end) {
        CheckUnused(block, begin, end, EndOfUse::kPoison);
        block.history.Erase(begin, end);
        block.poisoned.Add(begin, end);
    });
}

void DeviceSanitizer::Unpoison(const void* address, uint64_t bytes) {
    const LockedScope scope(&mutex_);
    ForEachPart(address, bytes, [](Block& block, uint64_t begin, uint64_t end) {
        block.poisoned.Remove(begin, end);
    });
}

}  // namespace advstep
