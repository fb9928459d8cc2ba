// SPDX-License-Identifier: Apache-2.0
// What the tests of captures and replays have in common. They are in the namespace of their
// helpers, so that none lists the names that it uses.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURE_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURE_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"

namespace conformance {

using support::DeviceBuffer;
using support::Event;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::OnAnotherThread;
using support::PinnedArray;
using support::Recorder;
using support::Signal;
using support::Stream;

// Ends a capture that cannot be ended.
inline aclError TryEnd(aclrtStream stream) {
    aclmdlRI model = nullptr;
    const aclError status = aclmdlRICaptureEnd(stream, &model);
    EXPECT_EQ(model, nullptr) << "no output on error";
    return status;
}

class CaptureTest : public support::DeviceTest {
 protected:
    void Mark(const Stream& stream, int value) const {
        EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), value)));
    }
    // What is said of a stream without a capture that has a model.
    static void ExpectNoModel(const Stream& stream, aclmdlRICaptureStatus expected) {
        int place = 0;
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
        aclmdlRI model = &place;
        EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream.Get(), &status, &model)));
        EXPECT_EQ(status, expected);
        EXPECT_EQ(model, nullptr);
    }
    static aclError Queue(const Model& model, const Stream& stream) {
        return aclmdlRIExecuteAsync(model.Get(), stream.Get());
    }

    Recorder recorder_;
};

// A capture that has made the mark 1 so far.
struct OneMark {
    explicit OneMark(aclmdlRICaptureMode mode = kGlobal) {
        Begin(stream.Get(), mode);
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    }
    // The capture is as it was: it ends, and its replay makes exactly the mark.
    void ExpectUnharmed() const {
        ASSERT_EQ(StatusOf(stream.Get()), kActive);
        const Model model = End(stream.Get());
        EXPECT_EQ(recorder.Values(), std::vector<int>{});
        EXPECT_TRUE(IsOk(Replay(model, stream)));
        EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    }

    Stream stream = MakeStream();
    Recorder recorder;
};

// Captures of several streams, which replays must keep in order.
class CaptureStreamsTest : public CaptureTest {
 protected:
    static constexpr int kReplays = 20;

    // Replays many times. In each replay every one of the marks 0 .. count - 1 is made once, and
    // the first of each pair before the second.
    void ExpectReplays(const Model& model, const Stream& stream, int count,
                       const std::vector<std::pair<int, int>>& pairs) const {
        EXPECT_EQ(recorder_.Values(), std::vector<int>{}) << "nothing runs in a capture";
        for (int replay = 0; replay < kReplays; ++replay) {
            const size_t before = recorder_.Values().size();
            ASSERT_TRUE(IsOk(Replay(model, stream)));
            std::vector<int> values = recorder_.Values();
            values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(before));
            for (const auto& [first, second] : pairs) {
                EXPECT_LT(std::find(values.begin(), values.end(), first),
                          std::find(values.begin(), values.end(), second))
                    << first << " before " << second;
            }
            std::sort(values.begin(), values.end());
            std::vector<int> expected;
            for (int i = 0; i < count; ++i) {
                expected.push_back(i);
            }
            ASSERT_EQ(values, expected);
        }
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_CAPTURE_FIXTURE_H_
