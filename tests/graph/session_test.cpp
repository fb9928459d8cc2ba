// SPDX-License-Identifier: Apache-2.0
// Start and end of graph mode, options, and what sessions keep.
#include <gtest/gtest.h>

#include <algorithm>

#include "acl/acl.h"
#include "graph/graph_fixture.h"
#include "graph/session_calls.h"

namespace {

using namespace graphs;
using OptionMap = std::map<ge::AscendString, ge::AscendString>;
using TextOptions = std::map<std::string, std::string>;

constexpr ge::Status kUnknownGraph = 1343242242;

class SessionTest : public graphs::BareGraphTest {
 protected:
    // Whether the session runs a graph and gets the right values.
    testing::AssertionResult Works(ge::Session& session, uint32_t graphId) {
        if (const auto added = Succeeded(session.AddGraph(graphId, graphs::MakeGraph(data_)));
            !added) {
            return added;
        }
        std::vector<ge::Tensor> outputs;
        const auto ran = Succeeded(session.RunGraph(graphId, graphs::TensorsOf(data_), outputs));
        if (!ran || ValuesOf(outputs) == OutputsOf(after_)) {
            return ran;
        }
        return testing::AssertionFailure() << testing::PrintToString(ValuesOf(outputs));
    }
    // Whether every call of the session is refused.
    void ExpectDead(ge::Session& session) {
        EXPECT_EQ(graphs::CallsTakenBy(session, graphs::MakeGraph(data_)), "");
    }

    const reference::AdvanceStepData data_ = graphs::SmallBatch();
    const reference::AdvanceStepData after_ = graphs::Advanced(data_);
};

TEST_F(SessionTest, NeedsGEInitialize) {
    ge::Session early(OptionMap{});
    EXPECT_TRUE(graphs::HasError({"E10062", "GEInitialize"}));
    ExpectDead(early);
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ExpectDead(early);
    ge::Session session(OptionMap{});
    EXPECT_TRUE(Works(session, 1));
}

TEST_F(SessionTest, StartsAndEndsAnyNumberOfTimes) {
    EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session first(OptionMap{});
    EXPECT_TRUE(Works(first, 1));
    EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    ExpectDead(first);
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ExpectDead(first);
    ge::Session second(OptionMap{});
    EXPECT_TRUE(Works(second, 1));
    EXPECT_NE(first.GetSessionId(), second.GetSessionId());
}

TEST_F(SessionTest, MayLeak) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    static auto* const leaked = new ge::Session(OptionMap{});
    EXPECT_TRUE(Works(*leaked, 1));
    EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    ExpectDead(*leaked);
}

struct OptionCase {
    const char* name;
    const char* key;
    const char* value;
    bool isRight;
};

class OptionTest : public SessionTest, public testing::WithParamInterface<OptionCase> {};

TEST_P(OptionTest, IsCheckedEverywhere) {
    const OptionMap options = {{GetParam().key, GetParam().value}};
    const auto check = [&](ge::Status status) {
        if (GetParam().isRight) {
            EXPECT_TRUE(Succeeded(status));
        } else {
            EXPECT_TRUE(Failed(status, {"E10059", GetParam().value}));
        }
    };
    const TextOptions texts = {{GetParam().key, GetParam().value}};
    check(ge::GEInitialize(options));
    check(ge::GEInitialize(texts));
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(options);
    const bool hasError = graphs::HasError({"E10059", GetParam().value});
    ge::Session ofTexts(texts);
    EXPECT_EQ(hasError, !GetParam().isRight);
    EXPECT_EQ(bool{graphs::HasError({"E10059", GetParam().value})}, !GetParam().isRight);
    for (ge::Session* each : {&session, &ofTexts}) {
        if (GetParam().isRight) {
            EXPECT_TRUE(Works(*each, 5));
        } else {
            ExpectDead(*each);
        }
    }
    ge::Session other(OptionMap{});
    check(other.AddGraph(1, graphs::MakeGraph(data_), options));
    check(other.AddGraph(2, graphs::MakeGraph(data_), texts));
    check(other.AddGraph(3, graphs::MakeGraph(data_), {{GetParam().key, GetParam().value}}));
    check(other.AddGraphWithCopy(4, graphs::MakeGraph(data_), options));
    ASSERT_TRUE(Succeeded(other.AddGraph(6, graphs::MakeGraph(data_))));
    ASSERT_TRUE(Succeeded(other.CompileGraph(6)));
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    check(other.LoadGraph(6, options, nullptr));
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Table, OptionTest,
    testing::Values(OptionCase{"EmptyKey", "", "nothing", false},
                    OptionCase{"RunMode", "ge.graphRunMode", "1", true},
                    OptionCase{"RunModeText", "ge.graphRunMode", "train", false},
                    OptionCase{"RunModeEmpty", "ge.graphRunMode", "", false},
                    OptionCase{"Device", "ge.exec.deviceId", "1", true},
                    OptionCase{"NoDevice", "ge.exec.deviceId", "-1", true},
                    OptionCase{"FarDevice", "ge.exec.deviceId", "2147483647", true},
                    OptionCase{"DeviceTooSmall", "ge.exec.deviceId", "-2", false},
                    OptionCase{"DeviceTooLarge", "ge.exec.deviceId", "2147483648", false},
                    OptionCase{"DeviceWithText", "ge.exec.deviceId", "1x", false},
                    OptionCase{"DeviceWithSpace", "ge.exec.deviceId", " 1", false},
                    OptionCase{"Unknown", "ge.unknown", "any", true}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(SessionTest, WarnsOfUnknownOptions) {
    ASSERT_TRUE(
        Succeeded(ge::GEInitialize({{"ge.one", "1"}, {"ge.two", "2"}, {"ge.graphRunMode", "0"}})));
    const std::string warnings = ge::GEGetWarningMsgV2().GetString();
    EXPECT_NE(warnings.find("ge.one"), std::string::npos);
    EXPECT_NE(warnings.find("ge.two"), std::string::npos);
    EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1);
    EXPECT_STREQ(ge::GEGetWarningMsgV2().GetString(), "");
    EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");
}

// The device of the session's option, of GEInitialize, or 0: seen in the memory that runs need.
TEST_F(SessionTest, RunsOnTheDeviceOfTheOption) {
    Restart({{"ADVANCE_STEP_DEVICES", "2"}, {"ADVANCE_STEP_MEMORY", "64M"}});
    ASSERT_TRUE(Succeeded(ge::GEInitialize({{ge::OPTION_EXEC_DEVICE_ID, "1"}})));
    ASSERT_TRUE(Succeeded(ge::GEInitialize({{ge::OPTION_EXEC_DEVICE_ID, "0"}})));  // too late
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    void* all = nullptr;  // device 1 is full
    ASSERT_EQ(aclrtMalloc(&all, size_t{64} << 20, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ge::Session inherits(OptionMap{});
    EXPECT_FALSE(Works(inherits, 1));
    ge::Session own(OptionMap{{ge::OPTION_EXEC_DEVICE_ID, "0"}});
    EXPECT_TRUE(Works(own, 1));
    ge::Session far(OptionMap{{ge::OPTION_EXEC_DEVICE_ID, "7"}});
    EXPECT_TRUE(Works(far, 1));
    ASSERT_EQ(aclrtFree(all), ACL_SUCCESS);
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Succeeded(inherits.RunGraph(1, graphs::TensorsOf(data_), outputs)));
    ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(SessionTest, ANumberInUseKeepsItsGraph) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(OptionMap{});
    EXPECT_TRUE(session.IsGraphNeedRebuild(1));
    ASSERT_TRUE(Works(session, 1));
    EXPECT_FALSE(session.IsGraphNeedRebuild(1));
    EXPECT_TRUE(Succeeded(session.AddGraph(1, ge::Graph("not even valid"))));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Succeeded(session.RunGraph(1, graphs::TensorsOf(data_), outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
    EXPECT_TRUE(Succeeded(session.RemoveGraph(1)));
    EXPECT_TRUE(session.IsGraphNeedRebuild(1));
    EXPECT_TRUE(Failed(session.RunGraph(1, {}, outputs), {"E10062", "graph 1"}, kUnknownGraph));
    EXPECT_TRUE(Failed(session.BuildGraph(1, {}), {"E10062"}, kUnknownGraph));
    EXPECT_TRUE(Failed(session.RunGraphAsync(1, {}, [](ge::Status, std::vector<ge::Tensor>&) {}),
                       {"E10062"}, kUnknownGraph));
    EXPECT_TRUE(Failed(session.RemoveGraph(1), {"E10062"}));
    EXPECT_TRUE(Works(session, 1));                   // the number is free again
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));  // outputs outlive their graph
}

TEST_F(SessionTest, AGraphIsAddedOnce) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(OptionMap{});
    ge::Session other(OptionMap{});
    const ge::Graph graph = graphs::MakeGraph(data_);
    EXPECT_TRUE(Succeeded(session.AddGraphWithCopy(5, graph)));
    ASSERT_TRUE(Succeeded(session.AddGraph(1, graph)));
    EXPECT_TRUE(Failed(session.AddGraph(2, graph), {"E19999", "before"}));
    const ge::Graph copy = graph;
    EXPECT_TRUE(Failed(other.AddGraph(1, copy), {"E19999", "before"}));
    ASSERT_TRUE(Succeeded(session.RemoveGraph(1)));
    EXPECT_TRUE(Failed(session.AddGraph(1, graph), {"E19999", "before"}));
    EXPECT_TRUE(Succeeded(session.AddGraphWithCopy(3, graph)));
    EXPECT_TRUE(Succeeded(other.AddGraphWithCopy(3, graph)));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Succeeded(other.RunGraph(3, graphs::TensorsOf(data_), outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
}

TEST_F(SessionTest, OutputsOutliveTheirSession) {
    std::vector<ge::Tensor> outputs;
    {
        ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
        ge::Session session(OptionMap{});
        ASSERT_TRUE(Succeeded(session.AddGraph(1, graphs::MakeGraph(data_))));
        // Outputs may be the inputs of the same run.
        outputs = graphs::TensorsOf(data_);
        ASSERT_TRUE(Succeeded(session.RunGraph(1, outputs, outputs)));
    }
    ge::GEFinalize();
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
}

// Runs make no difference to the calling thread's context, message and last error, nor do the
// program's resets to later runs.
TEST_F(SessionTest, LeavesTheProgramsRuntimeAlone) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(OptionMap{});
    aclrtContext none = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_TRUE(Works(session, 1));
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);  // that of the program's own call
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    aclrtContext before = nullptr;
    aclrtContext after = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
    ASSERT_TRUE(Works(session, 2));
    ASSERT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
    EXPECT_EQ(before, after);
    ASSERT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
    support::EndRuntime();
    EXPECT_TRUE(Works(session, 3));
}

// A capture of the program, of whatever mode, neither sees a run nor forbids it.
TEST_F(SessionTest, RunsWhileTheProgramCaptures) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(OptionMap{});
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    uint32_t graphId = 0;
    for (const auto mode :
         {ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
          ACL_MODEL_RI_CAPTURE_MODE_RELAXED}) {
        ASSERT_EQ(aclmdlRICaptureBegin(stream, mode), ACL_SUCCESS);
        EXPECT_TRUE(Works(session, ++graphId));
        aclmdlRI model = nullptr;
        ASSERT_EQ(aclmdlRICaptureEnd(stream, &model), ACL_SUCCESS);
        ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(SessionTest, MessagesAreKeptUntilTheyAreRead) {
    ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
    ge::Session session(OptionMap{});
    EXPECT_EQ(session.RemoveGraph(1), ge::FAILED);
    EXPECT_EQ(session.RemoveGraph(2), ge::FAILED);
    EXPECT_TRUE(Works(session, 3));  // success leaves them
    const std::string lines = ge::GEGetErrorMsgV2().GetString();
    EXPECT_EQ(lines, "Invalid_Session_Or_Graph(E10062): Session::RemoveGraph: session " +
                         std::to_string(session.GetSessionId()) +
                         " has no graph 1\n"
                         "Invalid_Session_Or_Graph(E10062): Session::RemoveGraph: session " +
                         std::to_string(session.GetSessionId()) + " has no graph 2");
    EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");
    for (int i = 0; i < 1500; ++i) {
        EXPECT_EQ(session.RemoveGraph(1), ge::FAILED);
    }
    const std::string most = ge::GEGetErrorMsgV2().GetString();
    EXPECT_EQ(std::count(most.begin(), most.end(), '\n'), 999);
}

}  // namespace
