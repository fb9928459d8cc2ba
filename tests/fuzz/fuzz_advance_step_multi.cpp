// Both phases of AdvanceStepMulti on any arguments and data: never a crash, and on legal arguments
// the same result, or the same refusal with nothing written, as one AdvanceStep after the other.
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "fuzz/fuzz_decode_batch.h"
#include "support/advance_step_multi_batch.h"

namespace {

constexpr const char* kConformances[] = {"standard", "vllm", "exact"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const std::string conformance = kConformances[input.Byte() % 3];
    const int64_t cores = 7;
    UseMachine("sim:" + std::to_string(cores), conformance);
    const bool isVllm = conformance == "vllm";
    support::MultiLayout layout;
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
    const FuzzArguments arguments(batch.Handles(), &input);
    int64_t numSeqs = rows.numSeqs, numQueries = rows.numQueries, blockSize = rows.blockSize;
    bool isLegal = !arguments.IsSpoilt() && (isVllm || numQueries < numSeqs);
    if (input.Byte() == 1) {
        numSeqs = input.Value(16);
        numQueries = input.Value(16);
        blockSize = input.Value(16);
        isLegal = isLegal && numSeqs == rows.numSeqs && numQueries == rows.numQueries &&
                  blockSize == rows.blockSize;
    }
    const FuzzArguments::Tensors& t = arguments.Get();
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    const int planned =
        aclnnAdvanceStepMultiGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], numSeqs,
                                              numQueries, blockSize, &workspaceSize, &executor);
    if (planned != ACLNN_SUCCESS) {
        FUZZ_REQUIRE(!isLegal);
        RequireRefusal(planned, executor);
        FUZZ_REQUIRE(batch.IsUntouched());
        return 0;
    }
    const support::DeviceBuffer workspace(workspaceSize + 1);
    const auto launched =
        LaunchSomehow(&aclnnAdvanceStepMulti, workspace.Get(), workspaceSize, executor, &input);
    const int synchronised = aclrtSynchronizeStream(nullptr);
    if (!isLegal) {  // such as an offset that may or may not stay inside the memory
        return 0;
    }
    if (launched) {
        FUZZ_REQUIRE(*launched == ACLNN_SUCCESS);
        const auto error =
            reference::AdvanceStepMulti(data, conformance == "exact" ? cores : 0, layout.Limits());
        FUZZ_REQUIRE(error ? support::IsDataError(synchronised, error->query)
                           : support::IsOk(synchronised));
    }
    FUZZ_REQUIRE(batch.Holds(support::ValuesOf(data)));
    return 0;
}
