// SPDX-License-Identifier: Apache-2.0
// Step in a serving loop of the input's making, states spoilt in between, against the plain
// reference; while nothing is spoilt every block is in exactly one place. And both phases on any
// arguments.
#include <algorithm>
#include <array>
#include <string>

#include "fuzz/fuzz_arguments.h"
#include "reference/step_invariants.h"
#include "support/status.h"
#include "support/step_batch.h"
#include "support/step_service.h"

namespace {

using reference::StepData;
using reference::StepDims;
using reference::StepOutcome;
using support::StepBatch;

// Few bytes for a choice, so that short inputs make long services.
class Choices {
 public:
    explicit Choices(FuzzInput* input) : input_(input) {}
    int64_t Between(int64_t first, int64_t last) {
        uint64_t value = input_->Byte();
        if (last - first > 255) {
            value = value << 8 | input_->Byte();
        }
        return first + static_cast<int64_t>(value % static_cast<uint64_t>(last - first + 1));
    }
    bool OneIn(int64_t count) { return Between(1, count) == 1; }
    template <class T, size_t N>
    T OneOf(const T (&values)[N]) {
        return values[Between(0, static_cast<int64_t>(N) - 1)];
    }

 private:
    FuzzInput* input_;
};

StepDims MakeDims(Choices& choices) {
    StepDims dims;
    dims.batch = choices.Between(0, 12);
    dims.slots = dims.batch + choices.Between(0, 2);
    dims.blockSize = choices.Between(1, 5);
    dims.inputIds = dims.blockSize * choices.Between(2, 8) + choices.Between(0, dims.blockSize - 1);
    dims.preIds = std::max<int64_t>(3, dims.inputIds - choices.Between(0, 2));
    dims.columns = (dims.inputIds + dims.blockSize - 1) / dims.blockSize + choices.Between(1, 3);
    dims.capacity = choices.Between(0, dims.batch * dims.columns / 2 + 1);
    return dims;
}

// One run on data, which becomes what the reference says.
StepOutcome RunLegal(StepBatch& batch, StepData& data, bool isExact) {
    batch.Upload(data);
    const StepOutcome outcome = reference::Step(data, isExact).outcome;
    const int status = batch.LaunchAndWait(nullptr);
    FUZZ_REQUIRE(status == support::StepCode(outcome));
    if (status != ACL_SUCCESS) {
        FUZZ_REQUIRE(support::TakeMessage().find("aclnnStep: ") != std::string::npos);
    }
    FUZZ_REQUIRE(batch.Holds(data));
    return outcome;
}

void Serve(FuzzInput* input, bool isExact) {
    Choices choices(input);
    const StepDims dims = MakeDims(choices);
    using Service = support::StepService<Choices>;
    Service service(dims, choices);
    const int64_t viewOffset = choices.Between(0, 3);
    StepBatch batch(service.State(), {choices.OneIn(2), viewOffset});
    FUZZ_REQUIRE(batch.PlanRepeatable() == ACLNN_SUCCESS);
    bool isRetry = false;
    for (int step = 0; step < 100 && !input->IsOver(); ++step) {
        if (!isRetry) {  // no forward pass without the blocks that it needs
            service.Advance();
        }
        if (choices.Between(0, 15) == 15) {
            StepData spoilt = service.State();
            support::SpoilStep(choices, spoilt);
            RunLegal(batch, spoilt, isExact);
        }
        StepData data = service.State();
        const StepOutcome outcome = RunLegal(batch, data, isExact);
        isRetry = outcome == StepOutcome::kNoProgress;
        if (outcome == StepOutcome::kOk) {
            service.Take(data);
        } else if (isRetry) {
            service.ShedLoad();
        } else {  // a short grant of the exact kernel has broken the state
            FUZZ_REQUIRE(isExact);
            service = Service(dims, choices);
        }
        if (!isExact) {
            const std::string wrong =
                reference::FindStepInconsistency(service.State(), support::kFirstDynamicBlock);
            FUZZ_REQUIRE(wrong.empty());
        }
    }
}

void CallOnce(FuzzInput* input, bool isExact) {
    Choices choices(input);
    const StepDims dims = MakeDims(choices);
    support::StepService<Choices> service(dims, choices);
    service.Advance();
    StepData data = service.State();
    support::SpoilStep(choices, data);
    const StepBatch batch(data);
    FuzzTensors::Tensors tensors;
    for (size_t i = 0; i < support::kStepTensors; ++i) {
        tensors.push_back(batch.TensorAt(i));
    }
    const FuzzTensors spoilt(tensors, input);
    std::array<const aclTensor*, support::kStepTensors> given{};
    std::copy(spoilt.Get().begin(), spoilt.Get().end(), given.begin());
    const int64_t blockSize = input->Byte() == 1 ? input->Value(9) : dims.blockSize;
    FuzzCall call;
    // Another size may fit the tables as well.
    call.verdict = blockSize == dims.blockSize ? VerdictOf(spoilt, true) : FuzzVerdict::kUnknown;
    call.phaseOne = [&](uint64_t* workspaceSize, aclOpExecutor** executor) {
        return support::PlanStep(given, blockSize, workspaceSize, executor);
    };
    call.phaseTwo = &aclnnStep;
    call.isUntouched = [&] { return bool{batch.IsUntouched()}; };
    call.isRight = [&](int status) {
        return status == support::StepCode(reference::Step(data, isExact).outcome);
    };
    call.holds = [&] { return bool{batch.Holds(data)}; };
    RunCall(call, input);
}

}  // namespace

extern "C" int fuzz_step(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const uint8_t form = input.Byte();
    const bool isExact = form % 4 == 3;
    UseMachine("sim:5", isExact ? "exact" : "standard");
    if (form >= 128) {
        CallOnce(&input, isExact);
    } else {
        Serve(&input, isExact);
    }
    return 0;
}
