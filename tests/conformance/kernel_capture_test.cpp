// SPDX-License-Identifier: Apache-2.0
// Launches in captures, and their arguments in replays.
#include "conformance/kernel_launch_fixture.h"

namespace conformance {
namespace {

TEST_F(KernelLaunchTest, IsCapturedWithTheBytesOfItsArguments) {
    const Values values({1});
    const Stream stream = MakeStream();
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(LaunchWith(Function("double_and_add"), 1, values.With(1), stream.Get())));
        EXPECT_TRUE(IsOk(LaunchWith(Function("add_rows"), 1, values.With(10), stream.Get())));
    });
    EXPECT_EQ(values.Read()[0], 1) << "nothing runs in a capture";
    int64_t expected = 1;
    for (int replay = 0; replay < 5; ++replay) {
        EXPECT_TRUE(IsOk(Replay(model, stream)));
        expected = expected * 2 + 1 + 10;
    }
    EXPECT_EQ(values.Read()[0], expected);
}

TEST_F(KernelLaunchTest, ATaskGroupUpdatesItsArguments) {
    const Values values({0});
    const Stream stream = MakeStream();
    aclrtTaskGrp group = nullptr;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
        EXPECT_TRUE(IsOk(LaunchWith(Function("add_rows"), 1, values.With(1), stream.Get())));
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
    });
    const Stream other = MakeStream();
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(other.Get(), group)));
    ASSERT_TRUE(IsOk(LaunchWith(Function("add_rows"), 1, values.With(100), other.Get())));
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(other.Get())));
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(values.Read()[0], 100);
}

}  // namespace
}  // namespace conformance
