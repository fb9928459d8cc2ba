// SPDX-License-Identifier: Apache-2.0
// Both phases of every operator. Phase two spends its executor also when it fails, so its call has
// a phase one before it.
#include <type_traits>

#include "faults/scene.h"
#include "reference/step_reference.h"
#include "support/advance_step_batch.h"
#include "support/advance_step_flashinfer_batch.h"
#include "support/advance_step_multi_batch.h"
#include "support/advance_step_v2_batch.h"
#include "support/batches.h"
#include "support/step_batch.h"

namespace faults {
namespace {

using support::MakeBatch;

std::shared_ptr<void> One() {
    return std::make_shared<support::AdvanceStepBatch>(MakeBatch(4, 3, 4, 5, 1));
}
std::shared_ptr<void> V2() {
    return std::make_shared<support::OpBatch>(
        support::MakeV2Batch(support::MakeV2Data(4, 2, 4, 5, 1)));
}
std::shared_ptr<void> FlashInfer() {
    return std::make_shared<support::OpBatch>(
        support::MakeFlashInferBatch(support::MakeFlashInferData(MakeBatch(4, 3, 4, 5, 1), 3)));
}
std::shared_ptr<void> Multi() {
    return std::make_shared<support::OpBatch>(support::MakeMultiBatch(
        support::MakeMultiData(support::WithRoom(MakeBatch(4, 3, 4, 5, 1), 3), 3, 1)));
}
std::shared_ptr<void> Step() {
    return std::make_shared<support::StepBatch>(reference::IdleStepData({6, 7, 6, 2, 16, 10, 4}));
}

// A first run, so that the batch has its workspace.
template <class Batch, std::shared_ptr<void> (*make)()>
int Prepare(Scene& s) {
    s.batch = make();
    return static_cast<Batch*>(s.batch.get())->Run(s.stream);
}
template <class Batch>
int Plan(Scene& s) {
    return static_cast<Batch*>(s.batch.get())->Plan();
}
template <class Batch>
int Both(Scene& s) {
    const int code = Plan<Batch>(s);
    return code != 0 ? code : static_cast<Batch*>(s.batch.get())->Launch(s.stream);
}
template <class Batch>
int Spend(Scene& s) {
    return static_cast<Batch*>(s.batch.get())->Launch(s.stream);
}

template <class Batch, std::shared_ptr<void> (*make)()>
void Add(std::vector<Call>* calls, const char* phaseOne, const char* phaseTwo) {
    // Their part of a plan lists the tensors.
    const bool allocates = !std::is_same_v<Batch, support::AdvanceStepBatch>;
    calls->push_back(
        {phaseOne, &Prepare<Batch, make>, &Plan<Batch>, &Spend<Batch>, false, nullptr, allocates});
    calls->push_back(
        {phaseTwo, &Prepare<Batch, make>, &Both<Batch>, nullptr, false, nullptr, allocates});
}

}  // namespace

std::vector<Call> OperatorCalls() {
    std::vector<Call> calls;
    Add<support::AdvanceStepBatch, &One>(&calls, "aclnnAdvanceStepGetWorkspaceSize",
                                         "aclnnAdvanceStep");
    Add<support::OpBatch, &V2>(&calls, "aclnnAdvanceStepV2GetWorkspaceSize", "aclnnAdvanceStepV2");
    Add<support::OpBatch, &FlashInfer>(&calls, "aclnnAdvanceStepFlashInferGetWorkspaceSize",
                                       "aclnnAdvanceStepFlashInfer");
    Add<support::OpBatch, &Multi>(&calls, "aclnnAdvanceStepMultiGetWorkspaceSize",
                                  "aclnnAdvanceStepMulti");
    Add<support::StepBatch, &Step>(&calls, "aclnnStepGetWorkspaceSize", "aclnnStep");
    return calls;
}

}  // namespace faults
