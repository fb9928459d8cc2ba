// SPDX-License-Identifier: Apache-2.0
// Views of one tensor in two streams.
#include "advance_step/host_call.h"
#include "corpus.h"
#include "device_program.h"

namespace corpus {
namespace {

int32_t DoNothingWithViews(const void*, const AdvStepHostRun*) { return 0; }
constexpr AdvStepHostCallTable kViewTable = {sizeof(AdvStepHostCallTable),
                                             ADVSTEP_HOST_CALL_INTERFACE, "aclnnViewAdd",
                                             &DoNothingWithViews, nullptr};
// An operator on a view of int64.
void UseView(void* data, std::vector<int64_t> dims, std::vector<int64_t> strides, int64_t offset,
             std::vector<int64_t> storage, AdvStepTensorAccess access, aclrtStream stream) {
    static const AdvStepHostCall* const call = [] {
        const AdvStepHostCall* registered = nullptr;
        Must(advstepRegisterHostCall(&kViewTable, &registered));
        return registered;
    }();
    aclTensor* const t =
        aclCreateTensor(dims.data(), dims.size(), ACL_INT64, strides.data(), offset, ACL_FORMAT_ND,
                        storage.data(), storage.size(), data);
    AdvStepHostTensor place{{}, "x", access, 0, -1};
    Must(advstepReadTensor(t, &place.view));
    const AdvStepHostPlanRequest request = {
        sizeof(AdvStepHostPlanRequest), 1, &place, nullptr, 0, 0};
    AdvStepHostPlan* plan = nullptr;
    aclOpExecutor* executor = nullptr;
    uint64_t size = 0;
    Must(advstepMakeHostPlan(call, &request, &plan));
    Must(advstepMakeHostExecutor(plan, nullptr, &size, &executor));
    advstepReleaseHostPlan(plan);
    aclDestroyTensor(t);
    Must(advstepRunHostExecutor(call, nullptr, size, executor, stream));
}

}  // namespace

// ---- bad

// Fused projections: two column views of a tall tensor share some columns.
BAD_PROGRAM(WritesOneColumnTwice, "all", {{"race", "race", {}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory(4096 * 8 * 8);
    UseView(m, {4096, 4}, {8, 1}, 0, {4096 * 8}, ADVSTEP_WRITES, a);
    UseView(m, {4096, 4}, {8, 1}, 2, {4096 * 8}, ADVSTEP_WRITES, b);
    Must(aclrtSynchronizeDevice());
}

// Heads of a tensor of three dims: the second view begins inside the first one.
BAD_PROGRAM(WritesViewsOfThreeDimsThatMeet, "all", {{"race", "race", {}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory(64 * 64 * 8);
    UseView(m, {8, 4, 32}, {512, 64, 1}, 0, {64 * 64}, ADVSTEP_WRITES, a);
    UseView(m, {8, 4, 32}, {512, 64, 1}, 16, {64 * 64}, ADVSTEP_WRITES, b);
    Must(aclrtSynchronizeDevice());
}

// The tensor is cleared while a view of three dims is written.
BAD_PROGRAM(FillsBehindAView, "all", {{"race", "race", {}}}) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory(64 * 64 * 8);
    UseView(m, {8, 4, 32}, {512, 64, 1}, 0, {64 * 64}, ADVSTEP_WRITES, a);
    Fill(m, b, 64 * 64 * 8);
    Must(aclrtSynchronizeDevice());
}

// The last run of a view of four dims is all that both have.
BAD_PROGRAM(WritesTheLastRunOfAView, "all", {{"race", "race", {"aclnnViewAdd"}}}) {
    const aclrtStream a = NewStream();
    const aclrtStream b = NewStream();
    void* const m = NewMemory(size_t{4096} * 8);
    UseView(m, {2, 3, 4, 8}, {2048, 512, 64, 1}, 0, {4096}, ADVSTEP_WRITES, a);
    UseView(m, {8}, {1}, 2048 + 1024 + 192, {4096}, ADVSTEP_WRITES, b);
    Must(aclrtSynchronizeDevice());
}

// ---- right

RIGHT_PROGRAM(WritesBehindTheRunsOfAView) {
    const aclrtStream a = NewStream();
    const aclrtStream b = NewStream();
    void* const m = NewMemory(size_t{4096} * 8);
    UseView(m, {2, 3, 4, 8}, {2048, 512, 64, 1}, 0, {4096}, ADVSTEP_WRITES, a);
    UseView(m, {2, 3, 4, 56}, {2048, 512, 64, 1}, 8, {4096}, ADVSTEP_WRITES, b);
    UseView(m, {512}, {1}, 2048 + 1536, {4096}, ADVSTEP_WRITES, b);
    Must(aclrtSynchronizeDevice());
}

// Views of one tensor without a byte in common, some of them with gaps of two sizes.
RIGHT_PROGRAM(UsesViewsThatInterleave) {
    const aclrtStream a = NewStream(), b = NewStream();
    void* const m = NewMemory(64 * 64 * 8);
    UseView(m, {64, 32}, {64, 1}, 0, {64 * 64}, ADVSTEP_READS_AND_WRITES, a);
    UseView(m, {64, 32}, {64, 1}, 32, {64 * 64}, ADVSTEP_READS_AND_WRITES, b);
    Synchronize(a);
    Synchronize(b);
    // every second element
    UseView(m, {2048}, {2}, 0, {64 * 64}, ADVSTEP_WRITES, a);
    UseView(m, {2048}, {2}, 1, {64 * 64}, ADVSTEP_WRITES, b);
    Synchronize(a);
    Synchronize(b);
    // transposed halves, three dims
    UseView(m, {8, 4, 64}, {512, 64, 1}, 0, {64 * 64}, ADVSTEP_WRITES, a);
    UseView(m, {8, 4, 64}, {512, 64, 1}, 256, {64 * 64}, ADVSTEP_WRITES, b);
    Synchronize(a);
    Synchronize(b);
    UseView(m, {8, 4, 32}, {512, 64, 1}, 0, {64 * 64}, ADVSTEP_WRITES, a);
    UseView(m, {8, 4, 32}, {512, 64, 1}, 32, {64 * 64}, ADVSTEP_WRITES, b);
    UseView(m, {32, 8, 4}, {1, 512, 64}, 256, {64 * 64}, ADVSTEP_WRITES, a);
    Synchronize(a);
    Synchronize(b);
}

}  // namespace corpus
