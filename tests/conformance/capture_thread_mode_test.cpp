// SPDX-License-Identifier: Apache-2.0
// aclmdlRICaptureThreadExchangeMode: the mode of a thread, which says what it may do during
// captures.
#include <gtest/gtest.h>

#include <thread>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

class ThreadModeTest : public CaptureTest {
 protected:
    static aclmdlRICaptureMode Exchange(aclmdlRICaptureMode mode) {
        EXPECT_TRUE(IsOk(aclmdlRICaptureThreadExchangeMode(&mode)));
        return mode;
    }
};

TEST_F(ThreadModeTest, IsSwapped) {
    std::thread([] {
        EXPECT_EQ(Exchange(kThreadLocal), kGlobal) << "at first GLOBAL";
        EXPECT_EQ(Exchange(kRelaxed), kThreadLocal);
        EXPECT_EQ(Exchange(kGlobal), kRelaxed);
        EXPECT_EQ(Exchange(kGlobal), kGlobal);
    }).join();
}

TEST_F(ThreadModeTest, IsTheThreadsOwn) {
    std::thread([] {
        Exchange(kRelaxed);
        std::thread([] { EXPECT_EQ(Exchange(kThreadLocal), kGlobal); }).join();
        EXPECT_EQ(Exchange(kGlobal), kRelaxed);
    }).join();
}

TEST_F(ThreadModeTest, RefusesNullAndBadModes) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureThreadExchangeMode(nullptr),
                        {"aclmdlRICaptureThreadExchangeMode: ", "mode"}));
    for (const int bad : {-1, 3, 1 << 20}) {
        auto mode = static_cast<aclmdlRICaptureMode>(bad);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRICaptureThreadExchangeMode(&mode),
                            {"aclmdlRICaptureThreadExchangeMode: "}, {bad}));
        EXPECT_EQ(static_cast<int>(mode), bad);
    }
    EXPECT_EQ(Exchange(kGlobal), kGlobal);
}

}  // namespace
}  // namespace conformance
