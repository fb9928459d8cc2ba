// SPDX-License-Identifier: Apache-2.0
// A session with a graph for asynchronous runs.
#ifndef ADVANCE_STEP_TESTS_GRAPH_ASYNC_FIXTURE_H_
#define ADVANCE_STEP_TESTS_GRAPH_ASYNC_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <map>
#include <vector>

#include "graph/graph_fixture.h"
#include "support/threads.h"

namespace graphs {

using OptionMap = std::map<ge::AscendString, ge::AscendString>;
using Tensors = std::vector<ge::Tensor>;

// A gate that a callback waits at.
class Gate {
 public:
    void Open() { opened_.set_value(); }
    void Wait() const {
        EXPECT_EQ(future_.wait_for(support::kPatience), std::future_status::ready);
    }

 private:
    std::promise<void> opened_;
    std::shared_future<void> future_ = opened_.get_future().share();
};

// A batch whose outputs name it.
inline reference::AdvanceStepData BatchOf(int64_t number) {
    reference::AdvanceStepData data = SmallBatch();
    data.sampledTokenIds = {number, number + 1, number + 2};
    return data;
}

class AsyncTest : public GraphTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph(SmallBatch()))));
    }
};

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_ASYNC_FIXTURE_H_
