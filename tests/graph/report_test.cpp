// SPDX-License-Identifier: Apache-2.0
// Failures that a program does not ask about: they are written to standard error once.
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <string>
#include <thread>

#include "graph/graph_parts.h"
#include "support/stderr_capture.h"

namespace {

using graphs::Succeeded;
using OptionMap = std::map<ge::AscendString, ge::AscendString>;

size_t CountOf(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

class ReportTest : public graphs::GraphTest {
 protected:
    // Adds a graph whose run fails on the device.
    void AddFailingGraph() {
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeGraph(graphs::SmallBatch()))));
        inputs_[3] = graphs::MakeGraphTensor({4}, {5, -8, 12, 0});
    }

    std::vector<ge::Tensor> inputs_ = graphs::TensorsOf(graphs::SmallBatch());
    std::vector<ge::Tensor> outputs_;
};

TEST_F(ReportTest, AFailedRunIsWrittenOnce) {
    AddFailingGraph();
    for (const char* level : {"error", "warn"}) {
        SCOPED_TRACE(level);
        const support::StderrCapture capture;
        EXPECT_EQ(Session().RunGraph(1, inputs_, outputs_), ge::FAILED);
        const std::string text = capture.Text();
        EXPECT_EQ(CountOf(text, "advance_step error: Inner_Error(E19999): Session::RunGraph: "), 1U)
            << text;
        EXPECT_EQ(CountOf(text, "507035"), 1U) << text;
        EXPECT_EQ(CountOf(text, "\n"), 1U) << text;
        const std::string message = ge::GEGetErrorMsgV2().GetString();
        EXPECT_NE(text.find(message), std::string::npos) << message << "\n" << text;
        RestartWithSession({{"ADVANCE_STEP_LOG", "warn"}});
        AddFailingGraph();
    }
}

TEST_F(ReportTest, AFailedRunIsNotWrittenIfTheLogIsOff) {
    RestartWithSession({{"ADVANCE_STEP_LOG", "off"}});
    AddFailingGraph();
    const support::StderrCapture capture;
    EXPECT_EQ(Session().RunGraph(1, inputs_, outputs_), ge::FAILED);
    EXPECT_EQ(capture.Text(), "");
    const std::string message = ge::GEGetErrorMsgV2().GetString();
    EXPECT_NE(message.find("507035"), std::string::npos) << message;
}

TEST_F(ReportTest, ARunThatSucceedsWritesNothing) {
    const support::StderrCapture capture;
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeGraph(graphs::SmallBatch()))));
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs_, outputs_)));
    EXPECT_EQ(capture.Text(), "");
}

TEST_F(ReportTest, AFailedAsynchronousRunIsWrittenOnce) {
    AddFailingGraph();
    std::promise<ge::Status> ran;
    const support::StderrCapture capture;
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(
        1, inputs_, [&](ge::Status status, std::vector<ge::Tensor>&) { ran.set_value(status); })));
    EXPECT_EQ(ran.get_future().get(), ge::FAILED);
    EXPECT_EQ(CountOf(capture.Text(), "Session::RunGraphAsync"), 1U) << capture.Text();
}

TEST_F(ReportTest, ADeviceThatIsMissingIsWarnedOf) {
    Restart({{"ADVANCE_STEP_DEVICES", "2"}});
    ASSERT_TRUE(Succeeded(ge::GEInitialize(OptionMap{{ge::OPTION_EXEC_DEVICE_ID, "1"}})));
    EXPECT_STREQ(ge::GEGetWarningMsgV2().GetString(), "");
    ASSERT_TRUE(Succeeded(ge::GEInitialize(OptionMap{{ge::OPTION_EXEC_DEVICE_ID, "-1"}})));
    EXPECT_STREQ(ge::GEGetWarningMsgV2().GetString(), "");
    const ge::Session session(OptionMap{{ge::OPTION_EXEC_DEVICE_ID, "2"}});
    const std::string warning = ge::GEGetWarningMsgV2().GetString();
    EXPECT_NE(warning.find("option ge.exec.deviceId is 2; there are 2 devices"), std::string::npos)
        << warning;
}

TEST_F(ReportTest, ARequiredAttributeThatWasNeverSetSaysSo) {
    const ge::op::AdvanceStep advance("advance");
    EXPECT_EQ(advance.get_attr_block_size(), 0);
    EXPECT_TRUE(graphs::HasError({"E19999", "block_size", "advance", "never set"}));
    int64_t value = 7;
    EXPECT_EQ(advance.GetAttr("num_seqs", value), ge::GRAPH_FAILED);
    EXPECT_TRUE(graphs::HasError({"num_seqs", "never set"}));
    EXPECT_EQ(value, 7);
    EXPECT_EQ(advance.GetAttr("no_such", value), ge::GRAPH_FAILED);
    EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");
    const auto set = graphs::MakeAdvanceStep("set", 4, 3, 4);
    EXPECT_EQ(set.get_attr_block_size(), 4);
    EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");
}

// Static objects are destroyed after the main thread's own data.
struct AsksAtTheEnd {
    ~AsksAtTheEnd() {
        ge::Session(OptionMap{}).RemoveGraph(9);
        const std::string text = ge::GEGetErrorMsgV2().GetString();
        ge::GEGetWarningMsgV2();
        const bool hasBoth = text.find("has no graph 8") != std::string::npos &&
                             text.find("RemoveGraph: session") != std::string::npos;
        std::_Exit(hasBoth ? 3 : 4);
    }
};

TEST_F(ReportTest, MessagesOutliveTheMainThread) {
    EXPECT_EXIT(
        {
            ge::GEInitialize({});  // in the child of a fork
            ge::Session(OptionMap{}).RemoveGraph(8);
            static const AsksAtTheEnd asks;
            std::exit(0);
        },
        testing::ExitedWithCode(3), "has no graph 8");
}

// The thread's messages may be destroyed before another object of the thread that asks for them.
TEST_F(ReportTest, AThreadMayAskAfterItsEnd) {
    struct AsksLate {
        std::string* text = nullptr;
        ~AsksLate() {
            ge::GEInitialize({{"", ""}});
            *text += ge::GEGetErrorMsgV2().GetString();
        }
    };
    std::string text = "asked:";
    std::thread([&] {
        thread_local AsksLate asks;
        asks.text = &text;
        ge::GEInitialize({{"", ""}});
    }).join();
    EXPECT_EQ(text, "asked:");
}

}  // namespace
