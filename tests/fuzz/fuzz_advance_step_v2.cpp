// SPDX-License-Identifier: Apache-2.0
// Both phases of AdvanceStepV2 on any arguments and data: never a crash, and on legal arguments the
// same result, or the same refusal with nothing written, as the plain reference.
#include <algorithm>
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_v2_batch.h"

namespace {

reference::AdvanceStepV2Data MakeData(FuzzInput* input) {
    reference::AdvanceStepV2Data data;
    data.numSeqs = 1 + input->Byte() % 12;
    data.specNum = 1 + input->Byte() % 5;
    const int64_t longest = FuzzBlocks(input, &data);
    for (int64_t query = 0; query < data.numSeqs; ++query) {
        data.acceptedNum.push_back(FuzzValue(input, data.specNum + 1));
        for (int64_t j = 0; j <= data.specNum; ++j) {
            data.inputTokens.push_back(5);
            // 254 is an entry behind the last valid one.
            const int64_t sampled = FuzzValue(input, 255);
            data.sampledTokenIds.push_back(sampled == 254 ? -1 : sampled);
            data.inputPositions.push_back(reference::WrappingAdd(FuzzValue(input, longest), -1));
            data.seqLens.push_back(6);
            data.slotMapping.push_back(7);
        }
        for (int64_t j = 0; j < data.specNum; ++j) {
            data.specToken.push_back(FuzzValue(input, 200));
        }
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables.push_back(FuzzValue(input, 100));
        }
    }
    return data;
}

}  // namespace

extern "C" int fuzz_advance_step_v2(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const std::string conformance = kConformances[input.Byte() % 3];
    UseMachine("sim:7", conformance);
    support::OpLayout layout;
    const uint8_t form = input.Byte();
    const bool isExact = conformance == "exact";
    layout.columns = (form & 1) != 0 && !isExact;
    layout.tables = (form & 2) != 0 ? ACL_INT32 : ACL_INT64;
    layout.viewOffset = form >> 4;
    reference::AdvanceStepV2Data data = MakeData(&input);
    if (layout.tables == ACL_INT32) {
        NarrowValues(data.blockTables);
    }
    layout.rowStride = data.maxBlocks + input.Byte() % 4;
    const support::OpBatch batch = support::MakeV2Batch(data, layout);
    const FuzzTensors tensors(batch.Handles(), &input);
    const FuzzTensors::Tensors& t = tensors.Get();

    const FuzzAttributes given(data.numSeqs, data.numSeqs, data.blockSize, &input);
    // A real device has 32 bits for the block size.
    data.blockSize = isExact ? static_cast<int32_t>(given.blockSize) : given.blockSize;
    FuzzCall call;
    call.verdict = VerdictOf(tensors, given.fit && data.blockSize >= 1);
    call.phaseOne = [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return aclnnAdvanceStepV2GetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7],
                                                  given.numSeqs, given.numQueries, given.blockSize,
                                                  workspaceSize, executor);
    };
    call.phaseTwo = &aclnnAdvanceStepV2;
    call.isUntouched = [&] { return bool{batch.IsUntouched()}; };
    call.isRight = [&](int status) {
        const auto error = reference::AdvanceStepV2(data, isExact);
        return bool{error ? support::IsDataError(status, error->query, {error->row})
                          : support::IsOk(status)};
    };
    call.holds = [&] { return bool{batch.Holds(support::ValuesOf(data))}; };
    RunCall(call, &input);
    return 0;
}
