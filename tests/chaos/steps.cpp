// SPDX-License-Identifier: Apache-2.0
// A short service with Step on buffers that no other thread touches, compared with the plain loop.
#include <array>
#include <cstring>
#include <vector>

#include "aclnnop/aclnn_step.h"
#include "chaos/actions.h"
#include "chaos/buffers.h"
#include "chaos/disturb.h"
#include "reference/step_reference.h"
#include "support/step_service.h"

namespace chaos {
namespace {

using reference::StepData;

aclDataType TypeOf(size_t tensor) {
    if (reference::IsStepFlag(tensor)) {
        return ACL_BOOL;
    }
    return tensor >= reference::kInputIds ? ACL_INT64 : ACL_INT32;
}

// The values as they lie in memory.
Bytes ImageOf(const StepData& data, size_t tensor) {
    const size_t size = aclDataTypeSize(TypeOf(tensor));
    Bytes image;
    for (const int64_t value : data.tensors[tensor]) {
        const auto* const bytes =
            reinterpret_cast<const char*>(&value);  // the low bytes come first
        image.insert(image.end(), bytes, bytes + size);
    }
    return image;
}

bool StepHolds(const Buffers& buffers, const StepData& data) {
    for (size_t i = 0; i < reference::kStepTensorCount; ++i) {
        const Bytes image = ImageOf(data, i);
        if (std::memcmp(buffers.At(i), image.data(), image.size()) != 0) {
            return false;
        }
    }
    return true;
}

// Plans and launches one run; 0, or the first code that is not.
int RunStep(Worker& worker, Buffers& buffers, const StepData& data,
            const std::array<aclTensor*, reference::kStepTensorCount>& t) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    int code = CHAOS_CALL(aclnnStepGetWorkspaceSize, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
                          t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15], t[16], t[17], t[18],
                          t[19], t[20], t[21], data.dims.blockSize, 1, &size, &executor);
    if (code != 0) {
        return code;
    }
    const Bytes room(size);
    void* const workspace = size == 0 ? nullptr : buffers.Add(room.data(), room.size());
    return CHAOS_CALL(aclnnStep, workspace, size, executor, worker.ownStream);
}

StepData MakeState(Worker& worker) {
    reference::StepDims dims;
    dims.batch = dims.slots = worker.random.Between(1, 40);
    dims.blockSize = worker.random.Between(1, 8);
    dims.columns = worker.random.Between(4, 9);
    dims.inputIds = dims.preIds = 30;
    dims.capacity = worker.random.Between(1, 60);
    support::StepService<support::Random> service(dims, support::Random(worker.random));
    for (int64_t step = worker.random.Between(1, 12); step > 0; --step) {
        service.Advance();
        StepData next = service.State();
        if (reference::Step(next, false).outcome != reference::StepOutcome::kOk) {
            break;
        }
        service.Take(next);
    }
    service.Advance();
    StepData state = service.State();
    if (worker.random.OneIn(4)) {
        support::SpoilStep(worker.random, state);
    }
    return state;
}

}  // namespace

void LaunchStep(Worker& worker) {
    const Quiet quiet(worker.world);
    if (!worker.MakeOwnIdle()) {
        return;
    }
    const StepData before = MakeState(worker);
    Buffers buffers(&worker);
    std::array<aclTensor*, reference::kStepTensorCount> tensors{};
    bool isUsable = true;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const Bytes image = ImageOf(before, i);
        const std::vector<int64_t> shape = reference::StepShape(before.dims, i);
        void* const address = buffers.Add(image.data(), image.size());
        isUsable = isUsable && address != nullptr;
        tensors[i] = aclCreateTensor(shape.data(), shape.size(), TypeOf(i), nullptr, 0,
                                     ACL_FORMAT_ND, shape.data(), shape.size(), address);
    }
    const int queued = isUsable ? RunStep(worker, buffers, before, tensors) : -1;
    const int code = CHAOS_CALL(aclrtSynchronizeStream, worker.ownStream);
    for (const aclTensor* tensor : tensors) {
        (void)aclDestroyTensor(tensor);
    }
    if (!buffers.Release() || !isUsable) {
        return;
    }
    const bool isQuiet = quiet.Lasts();
    StepData after = before;
    const reference::StepOutcome outcome = reference::Step(after, false).outcome;
    const int expected = outcome == reference::StepOutcome::kOk ? ACL_SUCCESS
                         : outcome == reference::StepOutcome::kNoProgress
                             ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                             : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
    const bool isUntouched = StepHolds(buffers, before);
    const bool isDone = StepHolds(buffers, after);
    // Another thread that synchronises the device may take the report of a failure.
    const bool isReported = code == expected || (code == 0 && worker.world.threads > 1);
    const bool mustBeDone = isQuiet && queued == 0 && isReported;
    if (isQuiet && queued == 0 && code == 0 && !isReported) {
        Fail(worker.world, "Step did not find what was wrong");
    }
    if (mustBeDone ? !isDone : !isDone && !isUntouched) {
        Fail(worker.world, mustBeDone ? "wrong result of Step" : "partial result of Step");
    }
    worker.world.verified += 1;
}

}  // namespace chaos
