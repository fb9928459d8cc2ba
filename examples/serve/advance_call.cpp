#include "advance_call.h"

#include <chrono>

namespace serve {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

AdvanceCall::Tensor AdvanceCall::MakeTensor(int64_t rows, int64_t columns, aclDataType type,
                                            void* data) {
    const int64_t shape[] = {rows, columns};
    Tensor tensor(aclCreateTensor(shape, 2, type, nullptr, 0, ACL_FORMAT_ND, shape, 2, data));
    if (tensor == nullptr) {
        throw AclError("aclCreateTensor returned NULL");
    }
    return tensor;
}

AdvanceCall::AdvanceCall(const BatchState& batch, int64_t blockSize)
    : numSeqs_(batch.NumSeqs()),
      blockSize_(blockSize),
      sampledTokenData_(batch.sampledTokenIds.Data()),
      inputTokens_(MakeTensor(numSeqs_, 1, ACL_INT64, batch.inputTokens.Data())),
      inputPositions_(MakeTensor(numSeqs_, 1, ACL_INT64, batch.inputPositions.Data())),
      seqLens_(MakeTensor(numSeqs_, 1, ACL_INT64, batch.seqLens.Data())),
      slotMapping_(MakeTensor(numSeqs_, 1, ACL_INT64, batch.slotMapping.Data())),
      blockTables_(MakeTensor(numSeqs_, batch.MaxBlocks(), ACL_INT32, batch.blockTables.Data())) {}

void* AdvanceCall::Workspace(uint64_t size) {
    if (size == 0) {
        return nullptr;
    }
    if (workspace_ == nullptr || workspace_->BytesFrom(0) < size) {
        workspace_.reset();
        workspace_ = std::make_unique<DeviceBuffer<uint8_t>>(static_cast<int64_t>(size));
    }
    return workspace_->Data();
}

void AdvanceCall::Enqueue(Stream& stream, int64_t numQueries) {
    if (sampledRows_ != numQueries) {
        sampledTokenIds_ = MakeTensor(numQueries, 1, ACL_INT64, sampledTokenData_);
        sampledRows_ = numQueries;
    }
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    const Clock::time_point phaseOne = Clock::now();
    Check(aclnnAdvanceStepGetWorkspaceSize(inputTokens_.get(), sampledTokenIds_.get(),
                                           inputPositions_.get(), seqLens_.get(),
                                           slotMapping_.get(), blockTables_.get(), numSeqs_,
                                           numQueries, blockSize_, &workspaceSize, &executor),
          "aclnnAdvanceStepGetWorkspaceSize");
    timing_.hostSeconds += SecondsSince(phaseOne);

    void* workspace = Workspace(workspaceSize);
    start_.Record(stream);
    const Clock::time_point phaseTwo = Clock::now();
    Check(aclnnAdvanceStep(workspace, workspaceSize, executor, stream.Handle()),
          "aclnnAdvanceStep");
    timing_.hostSeconds += SecondsSince(phaseTwo);
    end_.Record(stream);
    ++timing_.calls;
}

void AdvanceCall::CountDeviceTime() {
    timing_.deviceSeconds += Event::SecondsBetween(start_, end_);
}

}  // namespace serve
