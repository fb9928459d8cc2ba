// SPDX-License-Identifier: Apache-2.0
// Implements speculative decoding: its tensors and the call of AdvanceStepV2.

#include "speculation.h"

#include "aclnnop/aclnn_advance_step_v2.h"

namespace serve {
Speculation::Speculation(const Options& options, const PagedModel& model)
    : rowsPerQuery_(options.speculative + 1),
      blockSize_(options.blockSize),
      passSampled_(options.maxSeqs * rowsPerQuery_),
      lastSampled_(options.maxSeqs * rowsPerQuery_),
      lastAccepted_(options.maxSeqs),
      inputTokens_(options.maxSeqs * rowsPerQuery_),
      sampledTokenIds_(options.maxSeqs * rowsPerQuery_),
      inputPositions_(options.maxSeqs * rowsPerQuery_),
      seqLens_(options.maxSeqs * rowsPerQuery_),
      slotMapping_(options.maxSeqs * rowsPerQuery_),
      blockTables_(options.maxSeqs * options.BlocksFor(options.maxLen + options.speculative)),
      specToken_(options.maxSeqs * options.speculative),
      acceptedNum_(options.maxSeqs),
      pass_(model.Args()),
      memory_{&pass_,
              rowsPerQuery_,
              options.BlocksFor(options.maxLen + options.speculative),
              static_cast<int32_t>(options.blocks),
              lastSampled_.Data(),
              lastAccepted_.Data(),
              inputTokens_.Data(),
              sampledTokenIds_.Data(),
              inputPositions_.Data(),
              slotMapping_.Data(),
              blockTables_.Data(),
              specToken_.Data(),
              acceptedNum_.Data(),
              passSampled_.Data()},
      call_("aclnnAdvanceStepV2GetWorkspaceSize", "aclnnAdvanceStepV2", aclnnAdvanceStepV2) {
    lastSampled_.Fill(kMinusOne);
    lastAccepted_.Fill(0);
    // Those who look at whole tensors see the same in every process.
    for (const DeviceArray& array : Arrays()) {
        Check(aclrtMemset(array.data, array.bytes, 0, array.bytes), "aclrtMemset");
    }
}

std::vector<DeviceArray> Speculation::Arrays() const {
    return {ArrayOf("AdvanceStepV2.inputTokens", inputTokens_),
            ArrayOf("AdvanceStepV2.sampledTokenIds", sampledTokenIds_),
            ArrayOf("AdvanceStepV2.inputPositions", inputPositions_),
            ArrayOf("AdvanceStepV2.seqLens", seqLens_),
            ArrayOf("AdvanceStepV2.slotMapping", slotMapping_),
            ArrayOf("AdvanceStepV2.blockTables", blockTables_),
            ArrayOf("AdvanceStepV2.specToken", specToken_),
            ArrayOf("AdvanceStepV2.acceptedNum", acceptedNum_)};
}

void Speculation::MakeTensors(int64_t numQueries) {
    const auto matrix = [numQueries](int64_t columns, int64_t* data) {
        return MakeTensor({numQueries, columns}, ACL_INT64, data);
    };
    tensors_[0] = matrix(rowsPerQuery_, inputTokens_.Data());
    tensors_[1] = matrix(rowsPerQuery_, sampledTokenIds_.Data());
    tensors_[2] = matrix(rowsPerQuery_, inputPositions_.Data());
    tensors_[3] = matrix(rowsPerQuery_, seqLens_.Data());
    tensors_[4] = matrix(rowsPerQuery_, slotMapping_.Data());
    tensors_[5] = MakeTensor({numQueries, memory_.columns}, ACL_INT32, blockTables_.Data());
    tensors_[6] = matrix(SpecTokens(), specToken_.Data());
    tensors_[7] = MakeTensor({numQueries}, ACL_INT64, acceptedNum_.Data());
}

void Speculation::Enqueue(Stream& stream) {
    const int64_t numQueries = pass_.numQueries;
    if (queries_ != numQueries) {
        MakeTensors(numQueries);
        queries_ = numQueries;
    }
    stream.Launch(DraftKernel, &memory_, "draft");
    call_.Enqueue(stream, [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        const Tensor* const t = tensors_;
        return aclnnAdvanceStepV2GetWorkspaceSize(
            t[0].get(), t[1].get(), t[2].get(), t[3].get(), t[4].get(), t[5].get(), t[6].get(),
            t[7].get(), numQueries, numQueries, blockSize_, workspaceSize, executor);
    });
    stream.Launch(VerifyKernel, &memory_, "verify");
    passSampled_.Fetch(stream, numQueries * rowsPerQuery_);
}

int64_t Speculation::SampledTokens(int64_t query) const {
    int64_t count = 0;
    while (count < rowsPerQuery_ && SampledToken(query, count) >= 0) {
        ++count;
    }
    return count;
}

}  // namespace serve
