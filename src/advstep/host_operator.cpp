// SPDX-License-Identifier: Apache-2.0
// Queues host operators, and releases their arguments.

#include "advance_step/host_operator.h"

#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "src/base/boundary.h"
#include "src/base/float_environment.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"

using namespace advstep;

namespace {

// A host operator, which releases the arguments when its last owner drops it. A queued operator
// belongs to its task record, a captured one to its model, and replays only read it. The launching
// call owns it, too, so that a capture that fails under its locks does not release the arguments.
class HostOperator {
 public:
    explicit HostOperator(const AdvStepHostOperator& operation) : operation_(operation) {}
    HostOperator(const HostOperator&) = delete;
    HostOperator& operator=(const HostOperator&) = delete;

    void Own() { owners_.fetch_add(1, std::memory_order_relaxed); }
    void Drop() {
        if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    Status Run() const {
        const NoCancellation noCancellation;  // the function must not be unwound by pthread_cancel
        const DefaultFloatEnvironment environment;
        char message[1024] = "";
        const int32_t code = operation_.run(operation_.args, message, sizeof message);
        message[sizeof message - 1] = '\0';
        return code == 0 ? Status() : Error(code, "{}: {}", operation_.name, message);
    }

    void ListRanges(std::vector<Use>* uses) const {
        for (uint64_t index = 0; index < operation_.rangeCount; ++index) {
            const AdvStepMemoryRange& range = operation_.ranges[index];
            uses->push_back({Use::Kind::kMemory, operation_.name, range.address, range.bytes});
        }
    }

    bool recorded = false;  // in a capture; written before the record can run

 private:
    ~HostOperator() {
        if (operation_.release == nullptr) {
            return;
        }
        const NoCancellation noCancellation;
        try {
            operation_.release(operation_.args);
        } catch (...) {
            Log(LogLevel::kError, "the release of a host operator threw an exception: {}",
                TextOfCaught("it must not throw"));
        }
    }

    const AdvStepHostOperator operation_;
    std::atomic<int> owners_{1};
};

struct DropHostOperator {
    void operator()(HostOperator* host) const { host->Drop(); }
};

struct HostOperatorTask : Task {
    HostOperator* host;
};

// Tasks of kind kAlways are called even if they are to be skipped. So a skipped operator releases
// its arguments here.
Status RunHostOperator(const Task& base) {
    const auto& task = static_cast<const HostOperatorTask&>(base);
    const std::unique_ptr<HostOperator, DropHostOperator> owned(task.host->recorded ? nullptr
                                                                                    : task.host);
    return task.skip == TaskSkip::kNot ? task.host->Run() : Status();
}

Status Check(const AdvStepHostOperator& operation) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(operation.name, "operation->name"));
    if (operation.run == nullptr) {
        return Error(ACL_ERROR_INVALID_PARAM, "operation->run is null; expected a function");
    }
    if (operation.rangeCount != 0) {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(operation.ranges, "operation->ranges"));
    }
    return {};
}

// Owns the operator during the launch, unless a task record has taken it over. Only the launching
// thread uses this object.
struct Launching {
    HostOperator* host;
    bool captured = false;
    bool taken = false;

    explicit Launching(const AdvStepHostOperator& operation) : host(new HostOperator(operation)) {}
    Launching(const Launching&) = delete;
    Launching& operator=(const Launching&) = delete;
    ~Launching() {
        if (!taken) {
            host->Drop();
        }
    }
};

void ListRanges(const void* source, std::vector<Use>* uses) {
    static_cast<const Launching*>(source)->host->ListRanges(uses);
}

std::shared_ptr<void> TakeOwner(void* source) {
    auto* const launching = static_cast<Launching*>(source);
    launching->captured = true;
    launching->host->recorded = true;
    launching->host->Own();
    return {launching->host, DropHostOperator()};
}

Status Enqueue(aclrtStream stream, Launching* launching, const char* name, TaskLength length) {
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    Work work(sizeof(HostOperatorTask));
    work.source = launching;
    work.listUses = &ListRanges;
    work.takeOwner = &TakeOwner;
    work.ownerSource = launching;
    ADVSTEP_RETURN_IF_ERROR(found.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) HostOperatorTask;
        task->name = name;
        task->run = &RunHostOperator;
        task->kind = TaskKind::kAlways;
        task->length = length;
        task->category = TaskCategory::kKernel;
        task->host = launching->host;
        return task;
    }));
    launching->taken = !launching->captured;
    return {};
}

Status Launch(aclrtStream stream, const AdvStepHostOperator* operation, TaskLength length) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(operation, "operation"));
    std::optional<Launching> launching;
    try {
        launching.emplace(*operation);
    } catch (const std::bad_alloc&) {
        if (operation->release != nullptr) {
            operation->release(operation->args);
        }
        throw;
    }
    ADVSTEP_RETURN_IF_ERROR(Check(*operation));
    return Enqueue(stream, &*launching, operation->name, length);
}

}  // namespace

aclError advstepLaunchHostOperator(aclrtStream stream, const AdvStepHostOperator* operation) {
    return AclBoundary("advstepLaunchHostOperator",
                       [&] { return Launch(stream, operation, TaskLength::kHeavy); });
}

aclError advstepLaunchShortHostOperator(aclrtStream stream, const AdvStepHostOperator* operation) {
    return AclBoundary("advstepLaunchShortHostOperator",
                       [&] { return Launch(stream, operation, TaskLength::kUsual); });
}
