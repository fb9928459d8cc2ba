// SPDX-License-Identifier: Apache-2.0
// Queues host operators, and releases their arguments.

#include "advance_step/host_operator.h"

#include <new>
#include <vector>

#include "src/base/boundary.h"
#include "src/runtime/commands/host_work.h"
#include "src/runtime/memory/zero_pages.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

// Returns the range without the bits that say how it is used.
Use UseOf(const char* name, const AdvStepMemoryRange& range) {
    constexpr uint64_t kBits = ADVSTEP_RANGE_READ | ADVSTEP_RANGE_WRITTEN | ADVSTEP_RANGE_PARTLY;
    const uint64_t both = range.bytes & (ADVSTEP_RANGE_READ | ADVSTEP_RANGE_WRITTEN);
    Use use{Use::Kind::kMemory, name, range.address, range.bytes & ~kBits,
            both == ADVSTEP_RANGE_READ      ? Use::Access::kReads
            : both == ADVSTEP_RANGE_WRITTEN ? Use::Access::kWrites
                                            : Use::Access::kReadsAndWrites};
    use.inexact = (range.bytes & ADVSTEP_RANGE_PARTLY) != 0;
    return use;
}

// A host operator of the program, with the only share of its arguments.
class HostOperator final : public HostWork {
 public:
    explicit HostOperator(const AdvStepHostOperator& operation)
        : HostWork(operation.name), operation_(operation) {}

    void ListUses(std::vector<Use>* uses) const override {
        for (uint64_t index = 0; index < operation_.rangeCount; ++index) {
            uses->push_back(UseOf(operation_.name, operation_.ranges[index]));
        }
    }

 private:
    ~HostOperator() override { ReleaseHostArgs(operation_.release, operation_.args); }

    int32_t Call(void* /*workspace*/, char* message, size_t size) const override {
        return operation_.run(operation_.args, message, size);
    }

    const AdvStepHostOperator operation_;
};

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

// Releases the arguments of a launch that fails, unless the operator owns them.
struct Arguments {
    const AdvStepHostOperator* operation;

    explicit Arguments(const AdvStepHostOperator* launched) : operation(launched) {}
    Arguments(const Arguments&) = delete;
    Arguments& operator=(const Arguments&) = delete;
    ~Arguments() {
        if (operation != nullptr) {
            ReleaseHostArgs(operation->release, operation->args);
        }
    }
};

Status Launch(aclrtStream stream, const AdvStepHostOperator* operation, TaskLength length) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(operation, "operation"));
    Arguments arguments(operation);
    ADVSTEP_RETURN_IF_ERROR(Check(*operation));
    StreamRef found;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
    auto* const host = new HostOperator(*operation);
    arguments.operation = nullptr;
    HostWorkLaunch launch;
    launch.length = length;
    return EnqueueHostWork(found, host, launch);
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

aclError advstepZeroMemory(void* address, size_t bytes) {
    return AclBoundary("advstepZeroMemory", [&]() -> Status {
        if (bytes > 0) {
            ADVSTEP_RETURN_IF_ERROR(RequireNotNull(address, "address"));
            FillWithZeros(address, bytes);
        }
        return {};
    });
}
