// SPDX-License-Identifier: Apache-2.0
// Implements writes of, and waits for, 64-bit words in stream order.

#include "src/runtime/commands/stream_value.h"

#include <new>

#include "acl/acl_rt.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

struct ValueWriteTask : Task {
    uint64_t* address;
    uint64_t value;
};

struct ValueWaitTask : PollWaitTask {
    const uint64_t* address;
    uint64_t value;
    uint32_t flag;
    bool ofOthers;  // another process may write the word
};

// What is known of the memory of a word.
struct WordMemory {
    bool foreign = false;   // of a device other than the current context's
    bool ofOthers = false;  // another process may write there
    bool onHost = false;    // the program may read it by itself
};

// Checks the address of a word.
Status CheckWord(const void* address, WordMemory* memory) {
    if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "devAddr is {}; expected a multiple of {}",
                     address, sizeof(uint64_t));
    }
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) ||
        allocation.BytesFrom(address) < sizeof(uint64_t)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devAddr is {}, where no allocation has {} bytes; expected device or pinned "
                     "host memory",
                     address, sizeof(uint64_t));
    }
    if (allocation.origin == MemoryOrigin::kRegistered && !allocation.mapped) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devAddr is {}, in host memory that is registered without a device address; "
                     "expected ACL_HOST_REG_MAPPED in its registration",
                     address);
    }
    const ContextRef* const context = LiveContext();
    memory->foreign =
        allocation.OfDevice() && (context == nullptr || allocation.device != context->device);
    memory->onHost = !allocation.OfDevice();
    memory->ofOthers = allocation.shareName != 0 || allocation.origin == MemoryOrigin::kRegistered;
    return {};
}

template <typename WordTask>
void ListWordMemory(const Task& task, TouchedMemory* touched) {
    touched->Range(static_cast<const WordTask&>(task).address, sizeof(uint64_t));
}

void ListWord(const void* source, std::vector<Use>* uses) {
    uses->push_back(*static_cast<const Use*>(source));
}

// Queues work with the word, after the check of its address. `make(memory, of the word)` constructs
// the record.
template <typename Make>
Status EnqueueOn(const StreamRef& stream, const Use& use, size_t recordBytes, Make&& make) {
    RunningWork::DescribeCrashes();
    const void* const address = use.address;
    Work work(recordBytes);
    work.listUses = &ListWord;
    work.source = &use;
    const uint64_t epoch = TheDeviceMemory().epoch();
    WordMemory word;
    ADVSTEP_RETURN_IF_ERROR(CheckWord(address, &word));
    work.foreign = word.foreign;
    const auto again = [&]() -> Status {
        WordMemory now;
        ADVSTEP_RETURN_IF_ERROR(CheckWord(address, &now));
        return RefuseOther(work.foreign, now.foreign);
    };
    work.memory = CheckedAt(TheDeviceMemory().epochNow(), epoch, &again);
    return stream.Enqueue(work, [&](void* memory) { return make(memory, word); });
}

bool ConditionHolds(uint64_t found, uint64_t value, uint32_t flag) {
    switch (flag) {
        case ACL_STREAM_WAIT_VALUE_GEQ:
            return static_cast<int64_t>(found - value) >= 0;  // also after the counter has wrapped
        case ACL_STREAM_WAIT_VALUE_EQ:
            return found == value;
        case ACL_STREAM_WAIT_VALUE_AND:
            return (found & value) != 0;
        default:
            return ~(found | value) != 0;
    }
}

WaitFacts ExplainValueWait(const PollWaitTask& base) {
    constexpr const char* kConditions[] = {"to be at least", "to be", "to have a bit of",
                                           "to have a 0 where there is one in"};
    const auto& wait = static_cast<const ValueWaitTask&>(base);
    const uint64_t found = __atomic_load_n(wait.address, __ATOMIC_ACQUIRE);
    WaitFacts facts;
    facts.giver = wait.ofOthers ? WaitGiver::kUnknown : WaitGiver::kProcess;
    facts.holds = ConditionHolds(found, wait.value, wait.flag);
    facts.text =
        fmt::format("the word at {}, which is {}, {} {}", static_cast<const void*>(wait.address),
                    found, kConditions[wait.flag], wait.value);
    return facts;
}

// A program may poll a word of the host by itself.
Task* MakeWrite(void* memory, const WordMemory& word, uint64_t* address, uint64_t value) {
    auto* const task = new (memory) ValueWriteTask;
    task->name = "value write";
    task->address = address;
    task->value = value;
    task->run = [](const Task& base) {
        const auto& write = static_cast<const ValueWriteTask&>(base);
        __atomic_store_n(write.address, write.value, __ATOMIC_RELEASE);
        TheWorkers().Wake();
        return Status();
    };
    static constexpr TaskType kType = {nullptr, nullptr, &ListWordMemory<ValueWriteTask>,
                                       "aclrtValueWrite"};
    static constexpr TaskType kTypeOnHost = {
        nullptr, nullptr, &ListWordMemory<ValueWriteTask>, "aclrtValueWrite", false, nullptr, true};
    task->type = word.onHost ? &kTypeOnHost : &kType;
    return task;
}

}  // namespace

Status EnqueueValueWrite(const StreamRef& stream, void* address, uint64_t value, uint32_t flag) {
    if (flag != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "flag is {}; expected 0", flag);
    }
    Use use{Use::Kind::kMemory, "devAddr", address, sizeof(uint64_t), Use::Access::kWrites};
    use.signal = Use::Signal::kWrites;
    use.value = value;
    return EnqueueOn(stream, use, sizeof(ValueWriteTask),
                     [&](void* memory, const WordMemory& word) {
                         return MakeWrite(memory, word, static_cast<uint64_t*>(address), value);
                     });
}

Status EnqueueValueWait(const StreamRef& stream, void* address, uint64_t value, uint32_t flag) {
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {}; expected ACL_STREAM_WAIT_VALUE_GEQ 0, EQ 1, AND 2 or NOR 3",
                     flag);
    }
    Use use{Use::Kind::kMemory, "devAddr", address, sizeof(uint64_t), Use::Access::kReads};
    use.signal = Use::Signal::kAwaitsWord;
    use.value = value;
    use.flag = flag;
    use.holds = &ConditionHolds;
    return EnqueueOn(stream, use, sizeof(ValueWaitTask), [&](void* memory, const WordMemory& word) {
        auto* const task = new (memory) ValueWaitTask;
        task->name = "value wait";
        task->kind = TaskKind::kPollWait;
        task->recheck = true;  // any thread may write there
        task->address = static_cast<const uint64_t*>(address);
        task->value = value;
        task->flag = flag;
        task->ofOthers = word.ofOthers;
        task->holds = [](PollWaitTask& base) {
            const auto& wait = static_cast<const ValueWaitTask&>(base);
            return ConditionHolds(__atomic_load_n(wait.address, __ATOMIC_ACQUIRE), wait.value,
                                  wait.flag);
        };
        static constexpr TaskType kType = {
            nullptr,          nullptr, &ListWordMemory<ValueWaitTask>,
            "aclrtValueWait", false,   &ExplainValueWait};
        task->type = &kType;
        return task;
    });
}

}  // namespace advstep
