// SPDX-License-Identifier: Apache-2.0
// Both phases of AdvanceStepMulti on any arguments and data: never a crash, and on legal arguments
// the same result, or the same refusal with nothing written, as one AdvanceStep after the other.
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_multi_batch.h"

extern "C" int fuzz_advance_step_multi(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const std::string conformance = kConformances[input.Byte() % 3];
    const int64_t cores = 7;
    UseMachine("sim:" + std::to_string(cores), conformance);
    const bool isVllm = conformance == "vllm";
    support::OpLayout layout;
    const uint8_t form = input.Byte();
    layout.columns = (form & 1) != 0;
    layout.tables = (form & 2) != 0 ? ACL_INT32 : ACL_INT64;
    layout.lengths = isVllm && (form & 4) != 0 ? ACL_INT32 : ACL_INT64;
    layout.slots = isVllm && (form & 8) != 0 ? ACL_INT32 : ACL_INT64;
    layout.viewOffset = form >> 4;
    const int64_t steps = 1 + input.Byte() % 8;
    reference::AdvanceStepData rows = FuzzDecodeBatch(&input, 16);
    if (layout.lengths == ACL_INT32) {
        NarrowValues(rows.seqLens);
    }
    if (layout.tables == ACL_INT32) {
        NarrowValues(rows.blockTables);
    }
    reference::MultiData data = support::MakeMultiData(rows, steps, input.Byte());
    const support::OpBatch batch = support::MakeMultiBatch(data, layout);
    const FuzzTensors tensors(batch.Handles(), &input);
    const FuzzTensors::Tensors& t = tensors.Get();
    const FuzzAttributes given(rows.numSeqs, rows.numQueries, rows.blockSize, &input);
    data.one.blockSize = given.blockSize;
    FuzzCall call;
    call.verdict = VerdictOf(tensors, given.fit && (isVllm || given.numQueries < given.numSeqs));
    call.phaseOne = [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepMultiGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5],
                                                     given.numSeqs, given.numQueries,
                                                     given.blockSize, workspaceSize, executor);
    };
    call.phaseTwo = &aclnnAdvanceStepMulti;
    call.isUntouched = [&] { return bool{batch.IsUntouched()}; };
    call.isRight = [&](int status) {
        const auto error =
            reference::AdvanceStepMulti(data, conformance == "exact" ? cores : 0, layout.Limits());
        return bool{error ? support::IsDataError(status, error->query) : support::IsOk(status)};
    };
    call.holds = [&] { return bool{batch.Holds(support::ValuesOf(data))}; };
    RunCall(call, &input);
    return 0;
}
