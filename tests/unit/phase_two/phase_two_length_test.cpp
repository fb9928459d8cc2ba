// SPDX-License-Identifier: Apache-2.0
// How long the launches of phase two count as, by what they may move.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "src/runtime/commands/launcher.h"
#include "support/advance_step_flashinfer_batch.h"

namespace advstep {
namespace {

// Keeps the length of the last launch, and queues nothing.
class LengthLauncher : public Launcher {
 public:
    Status Launch(const StreamRef& /*stream*/, const KernelLaunch& launch, const void* /*payload*/,
                  const Work& /*work*/) override {
        length = launch.length;
        return {};
    }
    TaskLength length = TaskLength::kUsual;
};

class PhaseTwoLengthTest : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        before_ = ExchangeLauncher(&launcher_);
    }
    void TearDown() override {
        ExchangeLauncher(before_);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }

    LengthLauncher launcher_;
    Launcher* before_ = nullptr;
};

TEST_F(PhaseTwoLengthTest, BlocksOfFlashInferCountBesideItsRows) {
    struct Case {
        int64_t numSeqs;
        int64_t numQueries;
        int64_t maxBlocks;
        TaskLength length;
    };
    for (const Case& c :
         {Case{8, 8, 4, TaskLength::kUsual}, Case{64, 64, 1024, TaskLength::kUsual},
          Case{64, 64, 1028, TaskLength::kHeavy}, Case{64, 32, 1028, TaskLength::kUsual}}) {
        SCOPED_TRACE(testing::Message() << c.numQueries << " x " << c.maxBlocks);
        support::OpBatch batch = support::MakeFlashInferBatch(support::MakeFlashInferData(
            support::MakeBatch(c.numSeqs, c.numQueries, 16, c.maxBlocks, 1), 0));
        ASSERT_EQ(batch.Plan(), ACLNN_SUCCESS);
        ASSERT_EQ(batch.Launch(nullptr), ACLNN_SUCCESS);
        EXPECT_EQ(launcher_.length, c.length);
    }
}

}  // namespace
}  // namespace advstep
