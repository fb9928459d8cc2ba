// SPDX-License-Identifier: Apache-2.0
// Implements the shared part of operator calls: tensors, workspace, launch and device time.

#include "op_call.h"

namespace serve {

Tensor MakeTensor(std::initializer_list<int64_t> shape, aclDataType type, void* data) {
    Tensor tensor(aclCreateTensor(shape.begin(), shape.size(), type, nullptr, 0, ACL_FORMAT_ND,
                                  shape.begin(), shape.size(), data));
    if (tensor == nullptr) {
        throw AclError("aclCreateTensor returned NULL");
    }
    return tensor;
}

double OpCall::SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void* OpCall::Workspace(uint64_t size) {
    if (size == 0) {
        return nullptr;
    }
    if (workspace_ == nullptr || workspace_->BytesFrom(0) < size) {
        workspace_.reset();
        workspace_ = std::make_unique<DeviceBuffer<uint8_t>>(static_cast<int64_t>(size));
    }
    return workspace_->Data();
}

void OpCall::Launch(Stream& stream, uint64_t workspaceSize, aclOpExecutor* executor) {
    void* workspace = Workspace(workspaceSize);
    start_.Record(stream);
    const Clock::time_point start = Clock::now();
    Check(phaseTwo_(workspace, workspaceSize, executor, stream.Handle()), phaseTwoName_);
    timing_.hostSeconds += SecondsSince(start);
    end_.Record(stream);
    ++timing_.calls;
}

void OpCall::CountDeviceTime() { timing_.deviceSeconds += Event::SecondsBetween(start_, end_); }

}  // namespace serve
