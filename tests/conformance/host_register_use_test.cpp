// SPDX-License-Identifier: Apache-2.0
// What registered host memory is good for: copies, fills, tensors.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "conformance/host_register_fixture.h"
#include "conformance/one_query.h"
#include "support/host_work.h"

namespace {

using conformance::HostRegisterTest;
using support::DeviceBuffer;
using support::HostGate;
using support::IsCode;
using support::IsError;
using support::IsOk;
using support::PinnedArray;
using support::Stream;

TEST_F(HostRegisterTest, CopiesFromAndToItAreAsynchronous) {
    std::vector<char> from = All('f'), to = All('t');
    const Registration first = Registered(from.data(), kSize);
    const Registration second = Registered(to.data(), kSize);
    const DeviceBuffer device(All('d'));
    const Stream stream = support::MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), kSize, from.data(), kSize,
                                      ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(to.data(), kSize, device.Get(), kSize,
                                      ACL_MEMCPY_DEVICE_TO_HOST, stream.Get())));
    EXPECT_EQ(to, All('t'));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(to, All('f'));
}

TEST_F(HostRegisterTest, FillsTakeIt) {
    std::vector<char> host = All('h');
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(host.data(), kSize, 'x', kSize)));
    const Registration registration = Registered(host.data(), kSize / 2);
    EXPECT_TRUE(IsOk(aclrtMemset(host.data(), kSize, 'x', kSize / 2)));
    EXPECT_TRUE(IsOk(aclrtMemsetAsync(host.data() + 8, kSize, 'y', 8, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(host[7], 'x');
    EXPECT_EQ(host[8], 'y');
    EXPECT_EQ(host[16], 'x');
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(host.data(), kSize, 'z', kSize), {},
                        {kSize, kSize / 2}));
}

// Memory of which only a part is registered is ordinary memory to a copy.
TEST_F(HostRegisterTest, CopiesOfMoreThanIsRegisteredWait) {
    std::vector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize / 2);
    const DeviceBuffer device(All('d'));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(device.Get(), kSize, host.data(), kSize,
                                      ACL_MEMCPY_HOST_TO_DEVICE, nullptr)));
    EXPECT_EQ(device.Download<char>(), All('h')) << "it returned before it was done";
    EXPECT_TRUE(
        IsOk(aclrtMemcpy(host.data(), kSize, device.Get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST)));
}

TEST_F(HostRegisterTest, ItsAddressIsGoodOnTheDevice) {
    std::vector<char> host = All('h');
    const Registration registration = Registered(host.data(), kSize);
    const DeviceBuffer device(All('d'));
    EXPECT_TRUE(
        IsOk(aclrtMemcpy(host.data(), kSize, device.Get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE)));
    EXPECT_EQ(host, All('d'));
    EXPECT_TRUE(IsError(
        ACL_ERROR_RT_PARAM_INVALID,
        aclrtMemcpy(device.Get(), 2 * kSize, host.data() + 1, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE),
        {}, {kSize, kSize - 1}));
}

TEST_F(HostRegisterTest, TensorsMayLieInIt) {
    std::vector<int64_t> values = conformance::OneQuery();
    char* const base = reinterpret_cast<char*>(values.data());
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(base), {"107000"}));
    ASSERT_TRUE(IsOk(Register(base, 88)));
    EXPECT_TRUE(IsOk(conformance::AdvanceOneQuery(base)));
    conformance::ExpectAdvanced(values);
    ASSERT_TRUE(IsOk(aclrtHostUnregister(base)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(base), {"107000"}));
    const PinnedArray<char> pinned(88);
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, conformance::AdvanceOneQuery(pinned.Get())));
}

TEST_F(HostRegisterTest, FromHostToHostInAStreamIsRefused) {
    std::vector<char> from = All('f'), to = All('t');
    const Registration first = Registered(from.data(), kSize);
    const Registration second = Registered(to.data(), kSize);
    EXPECT_TRUE(IsCode(
        ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
        aclrtMemcpyAsync(to.data(), kSize, from.data(), kSize, ACL_MEMCPY_DEFAULT, nullptr)));
    EXPECT_EQ(to, All('t'));
}

}  // namespace
