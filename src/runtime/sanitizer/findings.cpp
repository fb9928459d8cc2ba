// SPDX-License-Identifier: Apache-2.0
// Words the findings of the checks memory, race and init.

#include "src/runtime/sanitizer/findings.h"

#include <string>

#include "src/base/sanitizer.h"
#include "src/base/status.h"

namespace advstep {
namespace {

constexpr CallStack kNoStack{};

const Use& UseOf(const OrderedWork& work, size_t use) { return work.what->uses[use]; }

std::string NameOf(const QueuedWork& work) {
    if (!work.isCall) {
        return work.name;
    }
    const std::string call = work.stack.EntryCall();
    return call.empty() ? "the call" : call;
}

// Returns "copy (aclrtMemcpyAsync)", or the name alone.
std::string TaskText(const QueuedWork& work) {
    return work.call == nullptr ? NameOf(work) : fmt::format("{} ({})", work.name, work.call);
}

std::string CallOf(const CallStack& stack, const char* otherwise) {
    const std::string call = stack.EntryCall();
    return call.empty() ? otherwise : call;
}

std::string ReplayOf(const OrderedWork& work) {
    return CallOf(*work.replay, "aclmdlRIExecuteAsync");
}

// Returns what tells the work's call from others.
CallStack SiteOf(const OrderedWork& work) {
    return work.replay == nullptr ? work.what->stack : work.what->stack.And(*work.replay);
}

std::string StreamText(const OrderedWork& work) {
    return work.handle == nullptr ? "the host" : fmt::format("stream {}", work.handle);
}

// Returns "copy (aclrtMemcpyAsync) on stream 0x.."; a call of the host is its name alone.
std::string WorkText(const OrderedWork& work) {
    if (work.handle == nullptr) {
        return TaskText(*work.what);
    }
    return work.replay == nullptr ? fmt::format("{} on {}", TaskText(*work.what), StreamText(work))
                                  : fmt::format("{}, replayed by {} on {}", TaskText(*work.what),
                                                ReplayOf(work), StreamText(work));
}

const char* AccessText(const Use& use) {
    return use.access == Use::Access::kReads    ? "read"
           : use.access == Use::Access::kWrites ? "write"
                                                : "read and write";
}

const char* VerbOf(const Use& use) {
    return use.access == Use::Access::kReads    ? "reads"
           : use.access == Use::Access::kWrites ? "writes"
                                                : "reads and writes";
}

std::string UseText(const Use& use) {
    return fmt::format("{} {}: {} bytes at {}", VerbOf(use), use.name, use.bytes, use.address);
}

std::string BlockText(const Block& block) {
    return fmt::format("a block of {} bytes of {} at {:#x}", block.bytes, block.KindText(),
                       block.begin);
}

void AddWork(const OrderedWork& work, size_t index, FindingFields* fields) {
    const Use& use = UseOf(work, index);
    fields->Add("task", NameOf(*work.what));
    if (work.what->call != nullptr) {
        fields->Add("call", work.what->call);
    }
    if (work.replay != nullptr) {
        fields->Add("replay", ReplayOf(work));
    }
    fields->Add("stream",
                work.handle == nullptr ? std::string("host") : fmt::format("{}", work.handle));
    fields->Add("access", AccessText(use));
    fields->Add("argument", use.name);
    fields->AddAddress("address", use.address);
    fields->Add("bytes", use.bytes);
}

void AddBlock(const Block& block, FindingFields* fields) {
    FindingFields described;
    described.Add("kind", block.KindText());
    described.AddAddress("address", reinterpret_cast<const void*>(block.begin));
    described.Add("bytes", block.bytes);
    fields->Add("block", described);
}

// Adds the stacks of the work; that of its replay is left out if `other` is of the same one.
void AddStacks(const OrderedWork& work, const char* name, Finding* finding,
               const OrderedWork* other = nullptr) {
    const char* const verb = work.what->isCaptured ? "captured" : "queued";
    finding->Stack(name,
                   work.handle == nullptr ? std::string("called by")
                                          : fmt::format("{} {} by", work.what->name, verb),
                   work.what->stack);
    if (work.replay != nullptr && (other == nullptr || other->replay != work.replay)) {
        finding->Stack("", "replayed by", *work.replay);
    }
}

struct EndWords {
    const char* kind;
    const char* verb;     // of the headline
    const char* heading;  // of its stack
};

EndWords WordsOf(EndOfUse how) {
    switch (how) {
        case EndOfUse::kFree:
            return {"freed_in_use", "freed", "freed by"};
        case EndOfUse::kUnmap:
            return {"unmapped_in_use", "unmapped", "unmapped by"};
        case EndOfUse::kUnregister:
            return {"unregistered_in_use", "unregistered", "unregistered by"};
        case EndOfUse::kPoison:
            return {"freed_in_use", "poisoned", "poisoned by"};
    }
    return {"freed_in_use", "freed", "freed by"};
}

}  // namespace

void ReportInUse(const OrderedWork& work, size_t use, const Block& block, EndOfUse how,
                 size_t others) {
    const EndWords words = WordsOf(how);
    const CallStack here = CallStack::Here();
    if (CountIfReported(SanitizerCheck::kMemory, words.kind, SiteOf(work), here)) {
        return;
    }
    Finding finding(SanitizerCheck::kMemory, words.kind,
                    fmt::format("memory is {} that {} may still use", words.verb, WorkText(work)));
    finding.Line(fmt::format("the task {}, in {}", UseText(UseOf(work, use)), BlockText(block)));
    if (others > 0) {
        finding.Line(
            fmt::format("{} more task{} the block", others, others == 1 ? " uses" : "s use"));
    }
    finding.Line(
        fmt::format("missing: a synchronisation with {} before, or an event after the "
                    "task that the host waits for",
                    StreamText(work)));
    AddStacks(work, "work", &finding);
    const std::string call = here.EntryCall();
    finding.Stack(
        "free", call.empty() ? words.heading : fmt::format("{} {}, called by", words.heading, call),
        here);
    finding.Stack("allocation", "allocated by", block.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(block, &finding.fields());
    finding.fields().Add("others", static_cast<uint64_t>(others));
    finding.fields().Add("ended_by", call);
    finding.Sites(SiteOf(work), here);
    Report(finding);
}

void ReportUsedAfterFree(const OrderedWork& work, size_t use, const Block& freed) {
    constexpr char kKind[] = "used_after_free";
    if (CountIfReported(SanitizerCheck::kMemory, kKind, SiteOf(work), freed.freed)) {
        return;
    }
    Finding finding(SanitizerCheck::kMemory, kKind,
                    fmt::format("{} uses memory that was freed before", WorkText(work)));
    finding.Line(
        fmt::format("the task {}, in what was {}", UseText(UseOf(work, use)), BlockText(freed)));
    AddStacks(work, "work", &finding);
    finding.Stack("free", "freed by", freed.freed);
    finding.Stack("allocation", "allocated by", freed.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(freed, &finding.fields());
    finding.Sites(SiteOf(work), freed.freed);
    Report(finding);
}

void ReportNoMemory(const OrderedWork& work, size_t use, const Block* around) {
    const char* const kind = around == nullptr ? "no_live_memory" : "out_of_view";
    const CallStack& second = around == nullptr ? kNoStack : around->allocated;
    if (CountIfReported(SanitizerCheck::kMemory, kind, SiteOf(work), second)) {
        return;
    }
    const Use& used = UseOf(work, use);
    Finding finding(SanitizerCheck::kMemory, kind,
                    around == nullptr
                        ? fmt::format("{} uses memory that nothing has allocated", WorkText(work))
                        : fmt::format("{} goes beyond the end of its memory", WorkText(work)));
    finding.Line(fmt::format("the task {}", UseText(used)));
    AddStacks(work, "work", &finding);
    AddWork(work, use, &finding.fields());
    if (around != nullptr) {
        const uint64_t left = around->end() - reinterpret_cast<uintptr_t>(used.address);
        finding.Line(fmt::format("{} bytes are left there, in {}", left, BlockText(*around)));
        finding.Stack("allocation", "allocated by", around->allocated);
        finding.fields().Add("left", left);
        AddBlock(*around, &finding.fields());
    }
    finding.Sites(SiteOf(work), second);
    Report(finding);
}

void ReportReplaced(const OrderedWork& work, size_t use, const Block& block) {
    constexpr char kKind[] = "replaced_memory";
    if (CountIfReported(SanitizerCheck::kMemory, kKind, SiteOf(work), block.allocated)) {
        return;
    }
    Finding finding(SanitizerCheck::kMemory, kKind,
                    fmt::format("{} uses memory that is another allocation than at the capture",
                                WorkText(work)));
    finding.Line(
        fmt::format("the task {}, now in {}", UseText(UseOf(work, use)), BlockText(block)));
    AddStacks(work, "work", &finding);
    finding.Stack("allocation", "allocated after the capture by", block.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(block, &finding.fields());
    finding.Sites(SiteOf(work), block.allocated);
    Report(finding);
}

void ReportOtherDevice(const OrderedWork& work, size_t use, const Block& block) {
    constexpr char kKind[] = "other_device";
    if (CountIfReported(SanitizerCheck::kMemory, kKind, SiteOf(work), block.allocated)) {
        return;
    }
    Finding finding(
        SanitizerCheck::kMemory, kKind,
        fmt::format("{} uses memory of another device without access to it", WorkText(work)));
    finding.Line(fmt::format("the task {}, in {}", UseText(UseOf(work, use)), BlockText(block)));
    finding.Line("missing: aclrtDeviceEnablePeerAccess");
    AddStacks(work, "work", &finding);
    finding.Stack("allocation", "allocated by", block.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(block, &finding.fields());
    finding.Sites(SiteOf(work), block.allocated);
    Report(finding);
}

void ReportPoisoned(const OrderedWork& work, size_t use, const Block& block) {
    constexpr char kKind[] = "poisoned";
    if (CountIfReported(SanitizerCheck::kMemory, kKind, SiteOf(work), block.allocated)) {
        return;
    }
    Finding finding(SanitizerCheck::kMemory, kKind,
                    fmt::format("{} uses memory that is poisoned", WorkText(work)));
    finding.Line(fmt::format("the task {}, in {}", UseText(UseOf(work, use)), BlockText(block)));
    AddStacks(work, "work", &finding);
    finding.Stack("allocation", "the block allocated by", block.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(block, &finding.fields());
    finding.Sites(SiteOf(work), block.allocated);
    Report(finding);
}

namespace {

// Returns what is wrong with the address, as "is freed, which was freed before".
std::string BadFreeText(uintptr_t address, bool ofDevice, const Block* live, const Block* freed) {
    if (freed != nullptr) {
        return freed->begin == address
                   ? fmt::format("is freed again: it was {}", BlockText(*freed))
                   : fmt::format("is freed, which was inside {}", BlockText(*freed));
    }
    if (live == nullptr) {
        return "is freed, and nothing has allocated it";
    }
    return live->begin == address ? fmt::format("is freed as {} memory, and is {}",
                                                ofDevice ? "device" : "host", BlockText(*live))
                                  : fmt::format("is freed, which is inside {}", BlockText(*live));
}

}  // namespace

void ReportBadFree(const void* address, bool ofDevice, const Block* live, const Block* freed) {
    constexpr char kKind[] = "bad_free";
    const CallStack here = CallStack::Here();
    const Block* const block = live != nullptr ? live : freed;
    const CallStack& allocated = block != nullptr ? block->allocated : kNoStack;
    if (CountIfReported(SanitizerCheck::kMemory, kKind, here, allocated)) {
        return;
    }
    Finding finding(
        SanitizerCheck::kMemory, kKind,
        fmt::format("{} {}", address,
                    BadFreeText(reinterpret_cast<uintptr_t>(address), ofDevice, live, freed)));
    finding.Line(fmt::format("expected the address of a live block of {}",
                             ofDevice ? "aclrtMalloc" : "aclrtMallocHost"));
    finding.Stack("free", fmt::format("{}, called by", CallOf(here, "the free")), here);
    if (freed != nullptr) {
        finding.Stack("freed", "freed before by", freed->freed);
    }
    if (block != nullptr) {
        finding.Stack("allocation", "allocated by", allocated);
        AddBlock(*block, &finding.fields());
    }
    finding.fields().AddAddress("address", address);
    finding.Sites(here, allocated);
    Report(finding);
}

namespace {

// Returns what would put the two works in order, which were queued in this order.
std::string MissingOrder(const OrderedWork& first, const OrderedWork& second) {
    if (second.handle == nullptr) {
        return fmt::format("a synchronisation of the host with {} before {}", StreamText(first),
                           TaskText(*second.what));
    }
    if (first.handle == nullptr) {
        return fmt::format("an order of the host's {} and {}", TaskText(*first.what),
                           WorkText(second));
    }
    return fmt::format("an event recorded on {} after {}, and waited for on {} before {}",
                       StreamText(first), first.what->name, StreamText(second), second.what->name);
}

FindingFields FieldsOfWork(const OrderedWork& work, size_t use) {
    constexpr size_t kMostShown = 8;
    FindingFields fields;
    AddWork(work, use, &fields);
    fields.Add("stack", work.what->stack.AllLines(kMostShown));
    if (work.replay != nullptr) {
        fields.Add("replay_stack", work.replay->AllLines(kMostShown));
    }
    return fields;
}

}  // namespace

void ReportRace(const OrderedWork& one, size_t useOfOne, const OrderedWork& other,
                size_t useOfOther, const Block& block, uint64_t begin, uint64_t end) {
    constexpr char kKind[] = "race";
    const bool inOrder = one.number < other.number;
    const OrderedWork& first = inOrder ? one : other;
    const OrderedWork& second = inOrder ? other : one;
    const size_t useOfFirst = inOrder ? useOfOne : useOfOther;
    const size_t useOfSecond = inOrder ? useOfOther : useOfOne;
    if (CountIfReported(SanitizerCheck::kRace, kKind, SiteOf(first), SiteOf(second))) {
        return;
    }
    const std::string missing = MissingOrder(first, second);
    Finding finding(SanitizerCheck::kRace, kKind,
                    fmt::format("{} and {} use the same bytes without an order", WorkText(first),
                                WorkText(second)));
    finding.Line(fmt::format("{} {}", NameOf(*first.what), UseText(UseOf(first, useOfFirst))));
    finding.Line(fmt::format("{} {}", NameOf(*second.what), UseText(UseOf(second, useOfSecond))));
    finding.Line(fmt::format("both: {} bytes at {:#x}, in {}", end - begin, block.begin + begin,
                             BlockText(block)));
    finding.Line("missing: " + missing);
    AddStacks(first, "first", &finding);
    AddStacks(second, "second", &finding, &first);
    finding.fields().Add("first", FieldsOfWork(first, useOfFirst));
    finding.fields().Add("second", FieldsOfWork(second, useOfSecond));
    finding.fields().AddAddress("address", reinterpret_cast<const void*>(block.begin + begin));
    finding.fields().Add("bytes", end - begin);
    AddBlock(block, &finding.fields());
    finding.fields().Add("missing", missing);
    finding.Sites(SiteOf(first), SiteOf(second));
    Report(finding);
}

void ReportHostAccess(const HostAccess& access) {
    constexpr char kKind[] = "host_access";
    OrderedWork work;
    work.what = access.watched.work;
    work.handle = access.watched.handle;
    const size_t use = access.watched.use;
    if (CountIfReported(SanitizerCheck::kRace, kKind, SiteOf(work), access.stack)) {
        return;
    }
    const Use& used = UseOf(work, use);
    const char* const verb = access.writes ? "writes" : "reads";
    const uint64_t place = access.address - reinterpret_cast<uintptr_t>(used.address);
    Finding finding(SanitizerCheck::kRace, kKind,
                    fmt::format("the host {} memory that {} may still {}", verb, WorkText(work),
                                AccessText(used)));
    finding.Line(
        fmt::format("the task {}, in {}", UseText(used), BlockText(*access.watched.block)));
    finding.Line(fmt::format("the host {} byte {} of {} in thread {}", verb, place, used.name,
                             access.thread));
    finding.Line(fmt::format("missing: a synchronisation of the host with {} before the access",
                             StreamText(work)));
    AddStacks(work, "work", &finding);
    finding.Stack("access", access.writes ? "written by" : "read by", access.stack);
    AddWork(work, use, &finding.fields());
    AddBlock(*access.watched.block, &finding.fields());
    FindingFields host;
    host.Add("access", access.writes ? "write" : "read");
    host.Add("thread", static_cast<uint64_t>(access.thread));
    host.AddAddress("address", reinterpret_cast<const void*>(access.address));
    finding.fields().Add("host", host);
    finding.Sites(SiteOf(work), access.stack);
    Report(finding);
}

void ReportUnwritten(const OrderedWork& work, size_t use, const Block& block, uint64_t first,
                     uint64_t bytes) {
    constexpr char kKind[] = "unwritten";
    if (CountIfReported(SanitizerCheck::kInit, kKind, SiteOf(work), block.allocated)) {
        return;
    }
    const Use& used = UseOf(work, use);
    const uint64_t place = block.begin + first - reinterpret_cast<uintptr_t>(used.address);
    Finding finding(SanitizerCheck::kInit, kKind,
                    fmt::format("{} reads memory that nothing has written", WorkText(work)));
    finding.Line(fmt::format("the task {}, in {}", UseText(used), BlockText(block)));
    finding.Line(
        fmt::format("{} bytes are unwritten, the first at byte {} of {}", bytes, place, used.name));
    AddStacks(work, "work", &finding);
    finding.Stack("allocation", "allocated by", block.allocated);
    AddWork(work, use, &finding.fields());
    AddBlock(block, &finding.fields());
    finding.fields().Add("first", place);
    finding.fields().Add("unwritten", bytes);
    finding.Sites(SiteOf(work), block.allocated);
    Report(finding);
}

}  // namespace advstep
