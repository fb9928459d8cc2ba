// SPDX-License-Identifier: Apache-2.0
// Fixtures: each test gets a runtime of its own and leaves none behind.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_RUNTIME_TEST_H_
#define ADVANCE_STEP_TESTS_SUPPORT_RUNTIME_TEST_H_

#include <gtest/gtest.h>

#include <memory>

#include "support/settings.h"
#include "support/status.h"
#include "support/watchdog.h"

namespace support {

// An ended runtime and an environment without settings.
class EndedRuntimeTest : public testing::Test {
 private:
    Watchdog watchdog_{std::chrono::seconds(120)};
    EnvironmentGuard environment_{Settings{}};
};

// An initialised runtime with device 0 current in the test's thread.
class DeviceTest : public testing::Test {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Restart({})); }

    // Starts the runtime anew; every handle of before is gone.
    void Restart(const Settings& settings) {
        guard_.reset();
        guard_ = std::make_unique<SettingsGuard>(settings);
        ASSERT_TRUE(IsOk(guard_->Status()));
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    }

 private:
    Watchdog watchdog_{std::chrono::seconds(240)};
    std::unique_ptr<SettingsGuard> guard_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_RUNTIME_TEST_H_
