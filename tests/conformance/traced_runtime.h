// SPDX-License-Identifier: Apache-2.0
// A runtime with ADVANCE_STEP_TRACE, and what it has written.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_TRACED_RUNTIME_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_TRACED_RUNTIME_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "acl/acl.h"
#include "support/device_trace.h"
#include "support/runtime_test.h"

namespace conformance {

using support::DeviceTrace;
using support::IsOk;
using support::Settings;

constexpr char kKernel[] = "aclnnAdvanceStep";

// A traced runtime with device 0 current.
class TraceTest : public testing::Test {
 protected:
    void SetUp() override { ASSERT_NO_FATAL_FAILURE(Start({})); }

    void Start(Settings settings) {
        settings["ADVANCE_STEP_TRACE"] = file_.Path();
        guard_.reset();
        guard_ = std::make_unique<support::SettingsGuard>(settings);
        ASSERT_TRUE(IsOk(guard_->Status()));
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    }

    // Ends the runtime.
    DeviceTrace Finish() {
        guard_.reset();
        return DeviceTrace(file_.Path());
    }

    static std::string TrackOf(aclrtStream stream) {
        int32_t id = -1;
        EXPECT_TRUE(IsOk(aclrtStreamGetId(stream, &id)));
        return "stream " + std::to_string(id);
    }

    support::TempFile file_{""};

 private:
    support::Watchdog watchdog_{std::chrono::seconds(240)};
    std::unique_ptr<support::SettingsGuard> guard_;
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_TRACED_RUNTIME_H_
