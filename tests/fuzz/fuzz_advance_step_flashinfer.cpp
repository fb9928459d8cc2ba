// SPDX-License-Identifier: Apache-2.0
// Both phases of AdvanceStepFlashInfer on any arguments and data: never a crash, and on legal
// arguments the same result, or the same refusal with nothing written, as the plain reference.
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_flashinfer_batch.h"

extern "C" int fuzz_advance_step_flashinfer(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    UseMachine("sim:" + std::to_string(1 + input.Byte() % 9), "standard");
    support::OpLayout layout;
    const uint8_t form = input.Byte();
    layout.columns = (form & 1) != 0;
    layout.lengths = (form & 2) != 0 ? ACL_INT32 : ACL_INT64;
    layout.slots = (form & 4) != 0 ? ACL_INT32 : ACL_INT64;
    layout.tables = (form & 8) != 0 ? ACL_INT32 : ACL_INT64;
    layout.viewOffset = form >> 4;
    const int64_t room = static_cast<int8_t>(input.Byte()) % 10;
    reference::AdvanceStepData rows = FuzzDecodeBatch(&input, 24);
    if (layout.lengths == ACL_INT32) {
        NarrowValues(rows.seqLens);
    }
    if (layout.tables == ACL_INT32) {
        NarrowValues(rows.blockTables);
    }
    int64_t pages = 0;
    for (int64_t query = 0; query < rows.numQueries; ++query) {
        pages += std::clamp<int64_t>(rows.seqLens[query] / rows.blockSize, 0, 64) + 1;
    }
    reference::FlashInferData data;
    data.rows = rows;
    data.pagedKvIndices.assign(static_cast<size_t>(std::max<int64_t>(0, pages + room)), -77);
    data.pagedKvIndptr.assign(static_cast<size_t>(rows.numSeqs + 1), -78);
    data.pagedKvLastPageLen.assign(static_cast<size_t>(rows.numSeqs), -79);
    data.blockTableBound.assign(static_cast<size_t>(rows.numSeqs), -80);

    const support::OpBatch batch = support::MakeFlashInferBatch(data, layout);
    const FuzzTensors tensors(batch.Handles(), &input);
    const FuzzTensors::Tensors& t = tensors.Get();
    const FuzzAttributes given(rows.numSeqs, rows.numQueries, rows.blockSize, &input);
    data.rows.blockSize = given.blockSize;
    FuzzCall call;
    call.verdict = VerdictOf(tensors, given.fit);
    call.phaseOne = [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepFlashInferGetWorkspaceSize(
            t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], given.numSeqs,
            given.numQueries, given.blockSize, workspaceSize, executor);
    };
    call.phaseTwo = &aclnnAdvanceStepFlashInfer;
    call.isUntouched = [&] { return bool{batch.IsUntouched()}; };
    call.isRight = [&](int status) {
        const auto error = reference::AdvanceStepFlashInfer(data, layout.Limits());
        return bool{error ? support::IsDataError(status, *error) : support::IsOk(status)};
    };
    call.holds = [&] { return bool{batch.Holds(support::ValuesOf(data))}; };
    RunCall(call, &input);
    return 0;
}
