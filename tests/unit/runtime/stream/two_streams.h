// SPDX-License-Identifier: Apache-2.0
// Two streams that move only when a test makes them, and tasks that count or note their order.
#ifndef ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_STREAMS_H_
#define ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_STREAMS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "support/watchdog.h"
#include "unit/runtime/stream/stream_bench.h"

namespace unit {

template <class Workers>
class TwoStreamsOf : public testing::Test {
 protected:
    // A task that notes the value.
    advstep::Status Note(StreamBench* stream, int value, advstep::Ticket* ticket = nullptr) {
        return stream->Enqueue([this, value] { return order_.push_back(value), advstep::Status(); },
                               {}, ticket);
    }

    support::Watchdog watchdog_{std::chrono::seconds(120)};
    Workers workers_;
    advstep::Stream streamA_;
    advstep::Stream streamB_;
    StreamBench a_{&streamA_, 0x157, &workers_};
    StreamBench b_{&streamB_, 0x257, &workers_};
    std::atomic<int> count_{0};
    std::vector<int> order_;
};
using TwoStreamsTest = TwoStreamsOf<CountingWorkers>;

}  // namespace unit

#endif  // ADVANCE_STEP_TESTS_UNIT_RUNTIME_STREAM_TWO_STREAMS_H_
