// SPDX-License-Identifier: Apache-2.0
// Models for tests of replays.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_REPLAY_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_REPLAY_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "conformance/capture_fixture.h"

namespace conformance {

class ReplayTest : public CaptureTest {
 protected:
    // A model that makes these marks.
    Model CaptureMarks(const std::vector<int>& values) const {
        const Stream stream = MakeStream();
        return Capture(stream.Get(), [&] {
            for (const int value : values) {
                EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), value)));
            }
        });
    }
    // A model that stands at a gate.
    struct Held {
        Signal entered, opened;
        Model model;
        ~Held() { opened.Set(); }
    };
    static std::unique_ptr<Held> CaptureGate() {
        auto held = std::make_unique<Held>();
        const Stream stream = MakeStream();
        held->model = Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(
                support::Enqueue(stream.Get(), [entered = held->entered, opened = held->opened] {
                    entered.Set();
                    EXPECT_TRUE(opened.Wait()) << "nobody opened the gate";
                })));
        });
        return held;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_REPLAY_FIXTURE_H_
