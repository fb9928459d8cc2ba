// SPDX-License-Identifier: Apache-2.0
// Peers: permissions, which are only kept, and copies, which do not need them.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using support::DeviceBuffer;
using support::IsError;
using support::IsOk;

class PeerTest : public support::DeviceTest {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_DEVICES", "3"}})); }

    static int32_t CanAccess(int32_t device, int32_t peer) {
        int32_t can = -7;
        EXPECT_TRUE(IsOk(aclrtDeviceCanAccessPeer(&can, device, peer)));
        return can;
    }
};

TEST_F(PeerTest, AnyTwoDevicesCan) {
    for (int32_t device = 0; device < 3; ++device) {
        for (int32_t peer = 0; peer < 3; ++peer) {
            if (device != peer) {
                EXPECT_EQ(CanAccess(device, peer), 1) << device << ", " << peer;
            }
        }
    }
}

TEST_F(PeerTest, CanAccessRefusesNullAndUnknownDevices) {
    int32_t can = -7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(nullptr, 0, 1),
                        {"aclrtDeviceCanAccessPeer: ", "canAccessPeer"}));
    for (const int32_t bad : {-1, 3}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, bad, 1),
                            {"aclrtDeviceCanAccessPeer: ", "deviceId"}, {bad, 3}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceCanAccessPeer(&can, 1, bad),
                            {"aclrtDeviceCanAccessPeer: ", "peerDeviceId"}, {bad, 3}));
    }
    EXPECT_EQ(can, -7);
}

TEST_F(PeerTest, EnableRefusesUnknownDevices) {
    for (const int32_t bad : {-1, 3}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceEnablePeerAccess(bad, 0),
                            {"aclrtDeviceEnablePeerAccess: ", "peerDeviceId"}, {bad, 3}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtDeviceDisablePeerAccess(bad),
                            {"aclrtDeviceDisablePeerAccess: ", "peerDeviceId"}, {bad, 3}));
    }
}

TEST_F(PeerTest, RefusesItselfAndFlags) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 0),
                        {"aclrtDeviceEnablePeerAccess: ", "peerDeviceId is 0"}));
    for (const int32_t peer : {0, 1, 7}) {
        EXPECT_TRUE(IsError(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(peer, 1),
                            {"aclrtDeviceEnablePeerAccess: ", "flags"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceDisablePeerAccess(0),
                        {"aclrtDeviceDisablePeerAccess: ", "peerDeviceId is 0"}));
    int32_t can = -7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceCanAccessPeer(&can, 1, 1),
                        {"aclrtDeviceCanAccessPeer: ", "peerDeviceId is 1"}));
    EXPECT_EQ(can, -7);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(1)))
        << "refused calls enable nothing";
}

TEST_F(PeerTest, EnableAndDisableTakeTurns) {
    for (int round = 0; round < 3; ++round) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(1),
                            {"aclrtDeviceDisablePeerAccess: ", "peerDeviceId is 1"}));
        EXPECT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
        EXPECT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0))) << "every import enables its pair";
        EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1)));
    }
}

TEST_F(PeerTest, AccessIsOfOnePairInOneDirection) {
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(2)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(0)));
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1))) << "it is the device's, not the context's";
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
}

TEST_F(PeerTest, AResetForgetsThePairsOfItsOwnDevice) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(2)));
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(0, 0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(2, 0)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1)));
    EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(2)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(2)));
    EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(0)));
}

// The order of a program that ends its devices one by one.
TEST_F(PeerTest, DisableAfterAForcedResetOfThePeer) {
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(0, 0)));
    ASSERT_TRUE(IsOk(aclrtResetDeviceForce(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1)));
    EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0)));
}

TEST_F(PeerTest, TheEndOfTheRuntimeForgets) {
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_DEVICES", "3"}}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDeviceDisablePeerAccess(1)));
}

TEST_F(PeerTest, CopiesWorkWithAndWithoutAccess) {
    const std::vector<int> values = {1, 2, 3, 4, 5};
    const size_t bytes = values.size() * sizeof(int);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer source(values);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (const bool enabled : {false, true}) {
        if (enabled) {
            ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
        }
        for (const aclrtMemcpyKind kind :
             {ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT}) {
            const DeviceBuffer now(std::vector<int>(5, -1));
            EXPECT_TRUE(IsOk(aclrtMemcpy(now.Get(), bytes, source.Get(), bytes, kind)));
            EXPECT_EQ(now.Download<int>(), values);
            const DeviceBuffer later(std::vector<int>(5, -1));
            EXPECT_TRUE(
                IsOk(aclrtMemcpyAsync(later.Get(), bytes, source.Get(), bytes, kind, nullptr)));
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
            EXPECT_EQ(later.Download<int>(), values);
        }
    }
}

}  // namespace
