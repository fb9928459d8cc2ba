// Both phases of AdvanceStepFlashInfer on any arguments and data: never a crash, and on legal
// arguments the same result, or the same refusal with nothing written, as the plain reference.
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_flashinfer_batch.h"

namespace {

struct Attributes {
    int64_t numSeqs, numQueries, blockSize;
};

bool operator==(const Attributes& a, const Attributes& b) {
    return a.numSeqs == b.numSeqs && a.numQueries == b.numQueries && a.blockSize == b.blockSize;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    UseMachine("sim:" + std::to_string(1 + input.Byte() % 9), "standard");
    support::FlashInferLayout layout;
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
    const Attributes legal = {rows.numSeqs, rows.numQueries, rows.blockSize};
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
    const FuzzArguments arguments(batch.Handles(), &input);
    Attributes given = legal;
    if (input.Byte() == 1) {
        given = {input.Value(24), input.Value(24), input.Value(24)};
    }
    const FuzzArguments::Tensors& t = arguments.Get();
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    const int planned = aclnnAdvanceStepFlashInferGetWorkspaceSize(
        t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], given.numSeqs, given.numQueries,
        given.blockSize, &workspaceSize, &executor);
    const bool isLegal = !arguments.IsSpoilt() && given == legal;
    if (planned != ACLNN_SUCCESS) {
        FUZZ_REQUIRE(!isLegal);
        RequireRefusal(planned, executor);
        FUZZ_REQUIRE(batch.IsUntouched());
        return 0;
    }
    const support::DeviceBuffer workspace(workspaceSize + 1);
    const auto launched = LaunchSomehow(&aclnnAdvanceStepFlashInfer, workspace.Get(), workspaceSize,
                                        executor, &input);
    const int synchronised = aclrtSynchronizeStream(nullptr);
    if (!isLegal) {  // such as an offset that may or may not stay inside the memory
        return 0;
    }
    if (launched) {
        FUZZ_REQUIRE(*launched == ACLNN_SUCCESS);
        const auto error = reference::AdvanceStepFlashInfer(data, layout.Limits());
        FUZZ_REQUIRE(error ? support::IsDataError(synchronised, *error)
                           : support::IsOk(synchronised));
    }
    FUZZ_REQUIRE(batch.Holds(support::ValuesOf(data)));
    return 0;
}
