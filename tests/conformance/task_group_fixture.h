// SPDX-License-Identifier: Apache-2.0
// Task groups for tests.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_TASK_GROUP_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_TASK_GROUP_FIXTURE_H_

#include <gtest/gtest.h>

#include <vector>

#include "conformance/capture_fixture.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"

namespace conformance {

using support::AdvanceStepBatch;

inline constexpr int kGroupStatus = ACL_ERROR_STREAM_TASK_GROUP_STATUS;

inline reference::AdvanceStepData GroupData(uint64_t seed) {
    return support::MakeBatch(5, 4, 8, 6, seed);
}

class TaskGroupTest : public CaptureTest {
 protected:
    static void Launch(AdvanceStepBatch& batch, const Stream& stream) {
        EXPECT_TRUE(IsOk(batch.Plan()));
        EXPECT_TRUE(IsOk(batch.Launch(stream.Get())));
    }
    static void GroupBegin(const Stream& stream) {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
    }
    static aclrtTaskGrp GroupEnd(const Stream& stream) {
        aclrtTaskGrp group = nullptr;
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
        EXPECT_NE(group, nullptr);
        return group;
    }
    struct CapturedGroup {
        aclrtTaskGrp group;
        Model model;
    };
    // Captures one group with one launch.
    static CapturedGroup CaptureGroup(const Stream& stream, AdvanceStepBatch& batch) {
        Begin(stream.Get());
        GroupBegin(stream);
        Launch(batch, stream);
        const aclrtTaskGrp group = GroupEnd(stream);
        return {group, End(stream.Get())};
    }
    static void UpdateBegin(const Stream& stream, aclrtTaskGrp group) {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(stream.Get(), group)));
    }
    static void UpdateEnd(const Stream& stream) {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(stream.Get())));
    }
    // Replaces the launches of the group by those of the batches.
    static void Update(const Stream& stream, aclrtTaskGrp group,
                       const std::vector<AdvanceStepBatch*>& batches) {
        UpdateBegin(stream, group);
        for (AdvanceStepBatch* const batch : batches) {
            Launch(*batch, stream);
        }
        UpdateEnd(stream);
    }
    // Puts the data back and replays: exactly these of the batches have advanced.
    static void ExpectAdvanced(const Model& model, const Stream& stream,
                               const std::vector<AdvanceStepBatch*>& batches,
                               const std::vector<bool>& advanced) {
        for (AdvanceStepBatch* batch : batches) {
            batch->Upload();
        }
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        for (size_t i = 0; i < batches.size(); ++i) {
            SCOPED_TRACE(i);
            EXPECT_TRUE(advanced[i] ? batches[i]->Holds(support::Advanced(batches[i]->Data()))
                                    : batches[i]->IsUntouched());
        }
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_TASK_GROUP_FIXTURE_H_
