#include "src/aclnn/executor.h"

#include "src/aclnn/object_pool.h"

namespace advstep {
namespace {

// A contiguous view is one run; otherwise rows of the first axis, each contiguous (the checks of
// the operators let nothing else pass).
MemoryExtent ExtentOf(const TensorView& view) {
    int64_t elements = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        elements *= view.dims[axis];
    }
    MemoryExtent extent;
    if (view.rank < 2 || view.dims[0] <= 1 || IsContiguous(view)) {
        extent.rows = 1;
        extent.rowBytes = extent.strideBytes = elements * view.itemSize;
        return extent;
    }
    extent.rows = view.dims[0];
    extent.rowBytes = elements / view.dims[0] * view.itemSize;
    extent.strideBytes = view.strides[0] * view.itemSize;
    return extent;
}

}  // namespace

Status CheckOverlaps(const aclOpExecutor& executor) {
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& written = executor.tensors[index];
        const uint8_t* const begin = executor.Address(index);
        if ((!written.written && !executor.allDistinct) || begin == nullptr) {
            continue;
        }
        const int64_t bytes = written.extent.spanBytes();
        for (int32_t other = 0; other < executor.tensorCount; ++other) {
            const PlannedTensor& tensor = executor.tensors[other];
            const uint8_t* const address = executor.Address(other);
            if (other == index || address == nullptr ||
                !Overlaps(begin, bytes, address, tensor.extent)) {
                continue;
            }
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "{} at {} ({} bytes) overlaps {} at {} ({} bytes); expected memory of its "
                         "own",
                         written.name, static_cast<const void*>(begin), bytes, tensor.name,
                         static_cast<const void*>(address), tensor.extent.spanBytes());
        }
    }
    return {};
}

Status MakeExecutor(const Plan& plan, aclOpExecutor** executor) {
    aclOpExecutor* const made = ObjectPool<aclOpExecutor>::Instance().Acquire();
    made->launch = plan.launch;
    made->workspaceBytes = plan.workspaceBytes;
    made->workspaceAt = plan.workspaceAt;
    made->allDistinct = plan.allDistinct;
    made->checkedEpoch = 0;
    made->tensorCount = plan.tensorCount;
    std::memcpy(made->payload, plan.payload, plan.launch.payloadBytes);
    for (int32_t index = 0; index < plan.tensorCount; ++index) {
        const TensorArgument& argument = plan.tensors[index];
        made->tensors[index] = {argument.name,
                                argument.written,
                                argument.addressAt,
                                argument.view->itemSize,
                                argument.view->offset * argument.view->itemSize,
                                ExtentOf(*argument.view)};
        made->SetAddress(index, argument.view->first());
    }
    Status overlaps = CheckOverlaps(*made);
    if (!overlaps.ok()) {
        RecycleExecutor(made);
        return overlaps;
    }
    made->state.store(aclOpExecutor::State::kPlanned, std::memory_order_release);
    *executor = made;
    return {};
}

void RecycleExecutor(aclOpExecutor* executor) noexcept {
    ObjectPool<aclOpExecutor>::Instance().Release(executor);
}

}  // namespace advstep
