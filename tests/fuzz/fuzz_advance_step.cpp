// SPDX-License-Identifier: Apache-2.0
// Both phases of AdvanceStep on any arguments and data: never a crash, and on legal arguments the
// same result, or the same refusal with nothing written, as the plain reference.
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_batch.h"

namespace {

constexpr int64_t kVectorCores = 7;

support::OpLayout MakeLayout(FuzzInput* input, bool isVllm) {
    support::OpLayout layout;
    const uint8_t form = input->Byte();
    layout.columns = (form & 1) != 0;
    layout.tables = (form & 2) != 0 ? ACL_INT32 : ACL_INT64;
    layout.lengths = isVllm && (form & 4) != 0 ? ACL_INT32 : ACL_INT64;
    layout.slots = isVllm && (form & 8) != 0 ? ACL_INT32 : ACL_INT64;
    layout.viewOffset = form >> 4;
    return layout;
}

}  // namespace

extern "C" int fuzz_advance_step(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const std::string conformance = kConformances[input.Byte() % 3];
    UseMachine("sim:" + std::to_string(kVectorCores), conformance);
    const bool isVllm = conformance == "vllm";
    support::OpLayout layout = MakeLayout(&input, isVllm);
    reference::AdvanceStepData data = FuzzDecodeBatch(&input, 24);
    const reference::AdvanceStepLimits limits = layout.Limits();
    if (layout.lengths == ACL_INT32) {
        NarrowValues(data.seqLens);
    }
    if (layout.tables == ACL_INT32) {
        NarrowValues(data.blockTables);
    }
    layout.rowStride = data.maxBlocks + input.Byte() % 4;
    const support::AdvanceStepBatch batch(data, layout);
    FuzzTensors::Tensors legal;
    for (size_t i = 0; i < 6; ++i) {
        legal.push_back(batch.TensorAt(i));
    }
    const FuzzTensors tensors(legal, &input);
    const FuzzTensors::Tensors& t = tensors.Get();

    const FuzzAttributes given(data.numSeqs, data.numQueries, data.blockSize, &input);
    data.blockSize = given.blockSize;
    FuzzCall call;
    call.verdict = VerdictOf(tensors, given.fit && (isVllm || given.numQueries < given.numSeqs));
    call.phaseOne = [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], given.numSeqs,
                                                given.numQueries, given.blockSize, workspaceSize,
                                                executor);
    };
    call.phaseTwo = &aclnnAdvanceStep;
    call.isUntouched = [&] { return bool{batch.IsUntouched()}; };
    call.isRight = [&](int status) {
        const auto error = conformance == "exact" ? reference::AdvanceStepExact(data, kVectorCores)
                                                  : reference::AdvanceStepStandard(data, limits);
        return bool{error ? support::IsDataError(status, error->query) : support::IsOk(status)};
    };
    call.holds = [&] { return bool{batch.Holds(data)}; };
    RunCall(call, &input);
    return 0;
}
