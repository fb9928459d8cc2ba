// SPDX-License-Identifier: Apache-2.0
// Tests of the registry: start, settings, resets, end.

#include "src/runtime/lifecycle/device_registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "acl/acl_base.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::FailsWith;
using unit::Succeeds;

class DeviceRegistryTest : public support::EndedRuntimeTest {
 protected:
    DeviceRegistry& registry_ = TheDeviceRegistry();

    const Device* CurrentDevice() {
        ContextRef current;
        return CurrentContext(&current).ok() ? current.device : nullptr;
    }
    uint32_t Count() {
        uint32_t count = 0;
        EXPECT_TRUE(Succeeds(registry_.Count(&count)));
        return count;
    }
};

TEST_F(DeviceRegistryTest, InitIsCountedAndFinalizeEndsItAtOnce) {
    EXPECT_TRUE(Succeeds(registry_.Init(nullptr)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_REPEAT_INITIALIZE, registry_.Init(nullptr)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_REPEAT_INITIALIZE, registry_.Init(nullptr)));
    EXPECT_TRUE(Succeeds(registry_.Finalize()));
    EXPECT_TRUE(FailsWith(ACL_ERROR_REPEAT_FINALIZE, registry_.Finalize()));
    EXPECT_TRUE(Succeeds(registry_.Init(nullptr)));
    EXPECT_TRUE(Succeeds(registry_.Finalize()));
}

TEST_F(DeviceRegistryTest, DevicesNeedNoInit) {
    EXPECT_EQ(Count(), 2U);
    EXPECT_TRUE(Succeeds(registry_.Set(1)));
    ASSERT_NE(CurrentDevice(), nullptr);
    EXPECT_EQ(CurrentDevice()->id(), 1);
    EXPECT_TRUE(Succeeds(registry_.Reset(1, false)));
}

TEST_F(DeviceRegistryTest, SettingsAreReadAtEveryStart) {
    EXPECT_EQ(Count(), 2U);
    support::EndRuntime();
    support::WriteEnvironment({{"ADVANCE_STEP_DEVICES", "5"}, {"ADVANCE_STEP_SOC", "sim:7"}});
    EXPECT_EQ(Count(), 5U);
    Status status;
    EXPECT_STREQ(registry_.SocName(&status), "sim:7");
    EXPECT_TRUE(Succeeds(status));
    EXPECT_TRUE(Succeeds(registry_.Set(4)));
    EXPECT_EQ(CurrentDevice()->settings().soc.vectorCores, 7);
    EXPECT_TRUE(Succeeds(registry_.Reset(4, false)));
    support::WriteEnvironment({});
    EXPECT_EQ(Count(), 5U);  // not before the next start
}

TEST_F(DeviceRegistryTest, BadSettingsAreToldAtFirstUse) {
    support::WriteEnvironment({{"ADVANCE_STEP_SOC", "abacus"}});
    uint32_t count = 77;
    Status status;
    EXPECT_TRUE(FailsWith(ACL_ERROR_FILE_ATTR_INVALID, registry_.Init(nullptr), {"abacus"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FILE_ATTR_INVALID, registry_.Count(&count)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_FILE_ATTR_INVALID, registry_.Set(0)));
    EXPECT_EQ(registry_.SocName(&status), nullptr);
    EXPECT_TRUE(FailsWith(ACL_ERROR_FILE_ATTR_INVALID, status));
    EXPECT_EQ(count, 77U);
    support::WriteEnvironment({});
    EXPECT_EQ(Count(), 2U);
}

TEST_F(DeviceRegistryTest, UnknownDevicesAreRefused) {
    ContextRef context;
    for (const int32_t deviceId : {-1, 2, 1000}) {
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_DEVICEID, registry_.Set(deviceId),
                              {std::to_string(deviceId), "device count = 2"}));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_INVALID_DEVICEID, registry_.Reset(deviceId, true)));
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_INVALID_DEVICEID, registry_.MakeContext(deviceId, &context)));
    }
    EXPECT_EQ(context.context, nullptr);
}

TEST_F(DeviceRegistryTest, PrimaryContextIsSharedByThreads) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    ContextRef mine;
    ASSERT_TRUE(Succeeds(CurrentContext(&mine)));
    EXPECT_TRUE(mine.primary);
    std::thread([&] {
        EXPECT_TRUE(Succeeds(registry_.Set(0)));
        ContextRef theirs;
        ASSERT_TRUE(Succeeds(CurrentContext(&theirs)));
        EXPECT_EQ(theirs.handle, mine.handle);
    }).join();
    EXPECT_TRUE(Succeeds(registry_.Reset(0, false)));
    EXPECT_NE(CurrentDevice(), nullptr);  // the other use is left
    EXPECT_TRUE(Succeeds(registry_.Reset(0, false)));
    EXPECT_EQ(CurrentDevice(), nullptr);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, registry_.Reset(0, false)));
}

TEST_F(DeviceRegistryTest, ForcedResetEndsEveryUse) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    EXPECT_TRUE(Succeeds(registry_.Reset(0, true)));
    EXPECT_EQ(CurrentDevice(), nullptr);
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, registry_.Reset(0, true)));
}

TEST_F(DeviceRegistryTest, MadeContextIsNotPrimaryAndOutlivesTheReset) {
    ContextRef made;
    ASSERT_TRUE(Succeeds(registry_.MakeContext(1, &made)));
    EXPECT_FALSE(made.primary);
    EXPECT_EQ(made.device->id(), 1);
    EXPECT_TRUE(Succeeds(registry_.Set(1)));
    EXPECT_TRUE(Succeeds(registry_.Reset(1, false)));
    EXPECT_TRUE(made.context->Alive(made.handle));
    EXPECT_TRUE(Succeeds(DestroyContext(made)));
}

TEST_F(DeviceRegistryTest, ResetFreesTheDevicesMemory) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    const Device* const device = CurrentDevice();
    void* address = nullptr;
    Allocation allocation;
    DeviceMemory& memory = TheDeviceMemory();
    ASSERT_TRUE(Succeeds(memory.Allocate(MemoryKind::kDevice, device, 64, &address)));
    EXPECT_TRUE(Succeeds(registry_.Reset(0, false)));
    EXPECT_FALSE(memory.Find(address, &allocation));
}

TEST_F(DeviceRegistryTest, FinalizeDestroysEveryContext) {
    EXPECT_TRUE(Succeeds(registry_.Init(nullptr)));
    ContextRef made;
    ASSERT_TRUE(Succeeds(registry_.MakeContext(1, &made)));
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    EXPECT_TRUE(Succeeds(registry_.Finalize()));
    EXPECT_FALSE(made.context->Alive(made.handle));
    EXPECT_EQ(CurrentDevice(), nullptr);
}

TEST_F(DeviceRegistryTest, InitAfterFirstUseKeepsTheSettings) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    support::WriteEnvironment({{"ADVANCE_STEP_DEVICES", "5"}});
    EXPECT_TRUE(Succeeds(registry_.Init(nullptr)));
    EXPECT_EQ(Count(), 2U);
    support::WriteEnvironment({});
}

TEST_F(DeviceRegistryTest, SameMachineGivesTheSameDevice) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    const Device* const before = CurrentDevice();
    support::EndRuntime();
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    EXPECT_EQ(CurrentDevice(), before);
    support::EndRuntime();
    support::WriteEnvironment({{"ADVANCE_STEP_CORE_ORDER", "3"}});
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    EXPECT_NE(CurrentDevice(), before);
    support::WriteEnvironment({});
}

TEST_F(DeviceRegistryTest, HostFunctionCanNeitherResetNorFinalize) {
    EXPECT_TRUE(Succeeds(registry_.Init(nullptr)));
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    ASSERT_TRUE(support::IsOk(support::Enqueue(nullptr, [this] {
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, registry_.Reset(0, true)));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, registry_.Finalize()));
    })));
    EXPECT_TRUE(support::IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_NE(CurrentDevice(), nullptr);
}

// Nothing is locked while a reset waits, so a host function may ask for devices meanwhile; only the
// one that is being reset it cannot have.
TEST_F(DeviceRegistryTest, HostFunctionMayUseOtherDevicesWhileAResetWaits) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    const support::Signal done;
    ASSERT_TRUE(support::IsOk(support::Enqueue(nullptr, [this, done] {
        EXPECT_TRUE(support::Eventually([this] { return !registry_.Set(0).ok(); }));
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, registry_.Set(0)));
        ContextRef context;
        EXPECT_TRUE(
            FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, registry_.MakeContext(0, &context)));
        EXPECT_EQ(Count(), 2U);
        EXPECT_TRUE(Succeeds(registry_.Set(1)));
        done.Set();
    })));
    EXPECT_TRUE(Succeeds(registry_.Reset(0, true)));
    EXPECT_TRUE(done.IsSet());
    EXPECT_TRUE(Succeeds(registry_.Reset(1, true)));
}

TEST_F(DeviceRegistryTest, OtherThreadsWaitForAResetToEnd) {
    EXPECT_TRUE(Succeeds(registry_.Set(0)));
    const support::Signal entered;
    const support::Signal opened;
    ASSERT_TRUE(support::IsOk(support::Enqueue(nullptr, [=] {
        entered.Set();
        EXPECT_TRUE(opened.Wait());
    })));
    EXPECT_TRUE(entered.Wait());
    std::thread resetting([this] { EXPECT_TRUE(Succeeds(registry_.Reset(0, true))); });
    std::thread setting([this] {
        EXPECT_TRUE(Succeeds(registry_.Set(0)));
        EXPECT_NE(CurrentDevice(), nullptr);
    });
    opened.Set();
    resetting.join();
    setting.join();
    EXPECT_TRUE(Succeeds(registry_.Set(0)));  // whichever came first, the device can be used
    EXPECT_TRUE(Succeeds(registry_.Reset(0, true)));
}

}  // namespace
}  // namespace advstep
