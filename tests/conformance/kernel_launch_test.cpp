// SPDX-License-Identifier: Apache-2.0
// Launches of a program's kernels: their order, arguments and attributes.
#include <vector>

#include "conformance/kernel_launch_fixture.h"

namespace conformance {
namespace {

TEST_F(KernelLaunchTest, RunsInStreamOrder) {
    const Values values({1, 2, 3});
    const Stream stream = MakeStream();
    std::vector<int64_t> expected = {1, 2, 3};
    for (int64_t number = 0; number < 20; ++number) {
        ASSERT_TRUE(
            IsOk(LaunchWith(Function("double_and_add"), 2, values.With(number), stream.Get())));
        for (int64_t& value : expected) {
            value = value * 2 + number;
        }
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read(), expected);
}

TEST_F(KernelLaunchTest, ReturnsBeforeTheKernelHasRun) {
    const Values values({1});
    const Stream stream = MakeStream();
    const KernelGate gate(binary_, stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    RowArguments arguments = values.With(5);
    ASSERT_TRUE(IsOk(LaunchWith(Function("c_add"), 1, arguments, stream.Get())));
    arguments = {nullptr, 1, 0};  // the launch has a copy
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read()[0], 6);
}

TEST_F(KernelLaunchTest, DeviceArgumentsAreReadWhenTheKernelRuns) {
    const Values values({1, 2});
    const Stream stream = MakeStream();
    const DeviceBuffer arguments(sizeof(RowArguments));
    const PinnedArray<RowArguments> host(1, values.With(10));
    ASSERT_TRUE(
        IsOk(aclrtMemcpyAsync(arguments.Get(), sizeof(RowArguments), host.Get(),
                              sizeof(RowArguments), ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtLaunchKernel(Function("add_rows"), 2, arguments.Get(),
                                       sizeof(RowArguments), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtLaunchKernelV2(Function("c_add"), 2, arguments.Get(),
                                         sizeof(RowArguments), nullptr, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(values.Read(), (std::vector<int64_t>{21, 22}));
}

TEST_F(KernelLaunchTest, WrongArguments) {
    const aclrtFuncHandle function = Function("add_rows");
    const Values values({1});
    RowArguments host = values.With(1);
    const DeviceBuffer device(sizeof(RowArguments));
    const auto launch = [&](uint32_t blocks, const void* args, size_t size) {
        return aclrtLaunchKernel(function, blocks, args, size, nullptr);
    };
    EXPECT_TRUE(IsError(kInvalid, launch(0, device.Get(), 8), {"numBlocks is 0"}, {65535}));
    EXPECT_TRUE(IsError(kInvalid, launch(65536, device.Get(), 8), {"numBlocks is 65536"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, device.Get(), 0), {"argsSize is 0"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, &host, 8), {"argsData", "no allocation"}));
    EXPECT_TRUE(IsError(kInvalid, launch(1, device.Get(), 1 << 20), {"argsSize is 1048576"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, launch(1, nullptr, 8), {"argsData"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, LaunchWith(binary_, 1, host, nullptr),
                        {"funcHandle"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, LaunchWith(nullptr, 1, host, nullptr)));
    const auto withPlace = [&](aclrtPlaceHolderInfo place) {
        return aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, &host, sizeof(host),
                                             &place, 1);
    };
    EXPECT_TRUE(IsError(kInvalid, withPlace({17, 0}), {"addrOffset 17"}));
    EXPECT_TRUE(IsError(kInvalid, withPlace({0, 24}), {"dataOffset 24"}));
    EXPECT_TRUE(IsError(kInvalid, withPlace({0xFFFFFFFF, 0}), {"addrOffset"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, &host,
                                                      sizeof(host), nullptr, 1)));
    std::vector<char> large(65537);
    EXPECT_TRUE(IsError(kInvalid,
                        aclrtLaunchKernelWithHostArgs(function, 1, nullptr, nullptr, large.data(),
                                                      large.size(), nullptr, 0),
                        {"argsSize is 65537"}));
    EXPECT_EQ(values.Read()[0], 1);
}

TEST_F(KernelLaunchTest, WrongAttributes) {
    const Values values({1});
    const auto with = [&](std::vector<aclrtLaunchKernelAttr> attributes, uint32_t blocks = 1) {
        aclrtLaunchKernelCfg config{attributes.data(), attributes.size()};
        return LaunchWith(Function("add_rows"), blocks, values.With(1), nullptr, &config);
    };
    for (const int id : {1, 5, 6, 9}) {  // schemMode and the switches
        aclrtLaunchKernelAttr attribute = Attribute(id);
        attribute.value.schemMode = 2;
        EXPECT_TRUE(IsError(kInvalid, with({attribute}), {"expected 0 or 1"})) << id;
    }
    aclrtLaunchKernelAttr atOnce = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    atOnce.value.schemMode = 1;
    EXPECT_TRUE(IsError(kInvalid, with({atOnce}, 41), {"schemMode is 1"}, {41, 40}));
    aclrtLaunchKernelAttr engine = Attribute(ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE);
    engine.value.engineType = static_cast<aclrtEngineType>(2);
    EXPECT_TRUE(IsError(kInvalid, with({engine}), {"engineType 2"}));
    EXPECT_TRUE(IsError(kInvalid, with({Attribute(7), Attribute(8)}), {"TIMEOUT_US"}));
    aclrtLaunchKernelCfg none{nullptr, 1};
    EXPECT_TRUE(
        IsError(kInvalid, LaunchWith(Function("add_rows"), 1, values.With(1), nullptr, &none)));
    EXPECT_EQ(values.Read()[0], 1);
    EXPECT_TRUE(IsOk(with({atOnce, Attribute(99)}, 40)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values.Read()[0], 2);
}

}  // namespace
}  // namespace conformance
