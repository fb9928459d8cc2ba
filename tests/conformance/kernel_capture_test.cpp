// SPDX-License-Identifier: Apache-2.0
// Launches in captures, and their arguments in replays.
#include <cstddef>
#include <cstring>
#include <vector>

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

// Launches use_up with data at `dataAt`.
void UseUp(aclrtFuncHandle function, int64_t* out, int32_t number, uint32_t dataAt,
           const Stream& stream) {
    std::vector<char> block(dataAt + sizeof(number));
    const PlaceArguments arguments{out, nullptr, 0};
    std::memcpy(block.data(), &arguments, sizeof(arguments));
    std::memcpy(block.data() + dataAt, &number, sizeof(number));
    aclrtPlaceHolderInfo place{offsetof(PlaceArguments, data), dataAt};
    EXPECT_TRUE(IsOk(aclrtLaunchKernelWithHostArgs(function, 1, stream.Get(), nullptr, block.data(),
                                                   block.size(), &place, 1)));
}

// The kernel writes into its arguments. Each replay has those of the launch again.
TEST_F(KernelLaunchTest, EachReplayOfATaskGroupHasTheArgumentsOfTheLaunch) {
    constexpr uint32_t kNear = sizeof(PlaceArguments);
    constexpr uint32_t kFar = 4096;
    const PinnedArray<int64_t> out(1);
    const aclrtFuncHandle function = Function("use_up");
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    aclrtTaskGrp group = nullptr;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
        UseUp(function, out.Get(), 7, kNear, stream);
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
    });
    const auto update = [&](int32_t number, uint32_t dataAt) {
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateBegin(other.Get(), group)));
        UseUp(function, out.Get(), number, dataAt, other);
        EXPECT_TRUE(IsOk(aclmdlRICaptureTaskUpdateEnd(other.Get())));
    };
    const auto expect = [&](int32_t number) {
        for (int replay = 0; replay < 3; ++replay) {
            EXPECT_TRUE(IsOk(Replay(model, stream)));
            EXPECT_EQ(out[0], number) << replay;
        }
    };
    expect(7);
    update(50, kNear);
    expect(50);
    for (const uint32_t dataAt : {kFar, kNear}) {  // longer and shorter than what is queued
        const auto number = static_cast<int32_t>(dataAt);
        {
            const KernelGate gate(binary_, stream.Get());
            EXPECT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
            update(number, dataAt);
        }
        EXPECT_EQ(out[0], number) << "of a replay that was queued";
        expect(number);
    }
}

}  // namespace
}  // namespace conformance
