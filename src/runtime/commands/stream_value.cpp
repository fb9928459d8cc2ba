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
};

// Checks the address of a word. *foreign: the word is memory of a device other than the current
// context's.
Status CheckWord(const void* address, bool* foreign) {
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
    *foreign =
        allocation.OfDevice() && (context == nullptr || allocation.device != context->device);
    return {};
}

template <typename WordTask>
void ListWordMemory(const Task& task, TouchedMemory* touched) {
    touched->Range(static_cast<const WordTask&>(task).address, sizeof(uint64_t));
}

void ListWord(const void* source, std::vector<Use>* uses) {
    uses->push_back(*static_cast<const Use*>(source));
}

// Queues work with the word, after the check of its address. `make` constructs the record.
template <typename Make>
Status EnqueueOn(const StreamRef& stream, const Use& use, size_t recordBytes, Make&& make) {
    RunningWork::DescribeCrashes();
    const void* const address = use.address;
    Work work(recordBytes);
    work.listUses = &ListWord;
    work.source = &use;
    const uint64_t epoch = TheDeviceMemory().epoch();
    ADVSTEP_RETURN_IF_ERROR(CheckWord(address, &work.foreign));
    const auto again = [&]() -> Status {
        bool foreign = false;
        ADVSTEP_RETURN_IF_ERROR(CheckWord(address, &foreign));
        return RefuseOther(work.foreign, foreign);
    };
    work.memory = CheckedAt(TheDeviceMemory().epochNow(), epoch, &again);
    return stream.Enqueue(work, make);
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

}  // namespace

Status EnqueueValueWrite(const StreamRef& stream, void* address, uint64_t value, uint32_t flag) {
    if (flag != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "flag is {}; expected 0", flag);
    }
    Use use{Use::Kind::kMemory, "devAddr", address, sizeof(uint64_t), Use::Access::kWrites};
    use.signal = Use::Signal::kWrites;
    use.value = value;
    return EnqueueOn(stream, use, sizeof(ValueWriteTask), [&](void* memory) {
        auto* const task = new (memory) ValueWriteTask;
        task->name = "value write";
        task->address = static_cast<uint64_t*>(address);
        task->value = value;
        task->run = [](const Task& base) {
            const auto& write = static_cast<const ValueWriteTask&>(base);
            __atomic_store_n(write.address, write.value, __ATOMIC_RELEASE);
            TheWorkers().Wake();
            return Status();
        };
        static constexpr TaskType kType = {
            nullptr, nullptr, &ListWordMemory<ValueWriteTask>, "aclrtValueWrite", false, true};
        task->type = &kType;
        return task;
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
    return EnqueueOn(stream, use, sizeof(ValueWaitTask), [&](void* memory) {
        auto* const task = new (memory) ValueWaitTask;
        task->name = "value wait";
        task->kind = TaskKind::kPollWait;
        task->recheck = true;  // any thread may write there
        task->address = static_cast<const uint64_t*>(address);
        task->value = value;
        task->flag = flag;
        task->holds = [](PollWaitTask& base) {
            const auto& wait = static_cast<const ValueWaitTask&>(base);
            return ConditionHolds(__atomic_load_n(wait.address, __ATOMIC_ACQUIRE), wait.value,
                                  wait.flag);
        };
        static constexpr TaskType kType = {nullptr, nullptr, &ListWordMemory<ValueWaitTask>,
                                           "aclrtValueWait"};
        task->type = &kType;
        return task;
    });
}

}  // namespace advstep
