// SPDX-License-Identifier: Apache-2.0
// Conditional tasks of models: what runs in a replay.
#include "conformance/conditional_fixture.h"

#include <numeric>

namespace conformance {
namespace {

TEST_F(ConditionalTest, IfRunsOneOfTwoSubGraphs) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    Mark(stream, 0);
    const aclmdlRICondHandle handle = MakeCondition(stream, 7, kLeave);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, kIf, {Marks(1), Marks(2)});
    Mark(stream, 3);
    const Model model = End(stream.Get());
    EXPECT_EQ(*variable, 0u);
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    Write(variable, 5);
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    ASSERT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{0, 2, 3, 0, 1, 3, 0, 1, 3}));
}

TEST_F(ConditionalTest, IfAloneRunsNothingAtZero) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 0, kLeave);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, kIf, {Marks(1)});
    Mark(stream, 2);
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{2}));
    Write(variable, 1);
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{2, 1, 2}));
}

// The style of torch_npu's loops: captured work counts the variable down, and the default value
// sets it at the start of each execution, over what the host wrote.
TEST_F(ConditionalTest, WhileRunsAsOftenAsTheVariableSays) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 100);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, kWhile, {[&](const Stream& body) {
            Mark(body, 1);
            CountDown(body, variable);
        }});
    const Model model = End(stream.Get());
    for (int replay = 1; replay <= 5; ++replay) {
        Write(variable, 3);
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        EXPECT_EQ(*variable, 0u);
        EXPECT_EQ(recorder_.Values().size(), 100u * replay);
    }
}

TEST_F(ConditionalTest, WhileTestsFirst) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    Add(stream, MakeCondition(stream, 0), kWhile, {Marks(1)});
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

TEST_F(ConditionalTest, SwitchRunsTheSubGraphOfTheNumberOrNone) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 0, kLeave);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, kSwitch, {Marks(10), Marks(11), Marks(12)});
    Mark(stream, 9);
    const Model model = End(stream.Get());
    for (const uint64_t value : {2UL, 0UL, 1UL, 3UL, ~0UL}) {
        Write(variable, value);
        ASSERT_TRUE(IsOk(Replay(model, stream)));
    }
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{12, 9, 10, 9, 11, 9, 9, 9}));
}

// A loop in a loop, with the inner variable set anew in each turn, and branches in the inner body.
TEST_F(ConditionalTest, SubGraphsNestAndHaveBranches) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle outer = MakeCondition(stream, 4);
    uint64_t* const turns = Variable(outer);
    Add(stream, outer, kWhile, {[&](const Stream& body) {
            const aclmdlRICondHandle inner = MakeCondition(body, 3);
            uint64_t* const steps = Variable(inner);
            Add(body, inner, kWhile, {[&](const Stream& deep) {
                    const Stream side = MakeStream();
                    Mark(deep, 1);
                    Order(deep, side);
                    Mark(side, 2);
                    Order(side, deep);
                    CountDown(deep, steps);
                }});
            Mark(body, 3);
            CountDown(body, turns);
        }});
    const Model model = End(stream.Get());
    std::vector<int> expected;
    for (int turn = 0; turn < 4; ++turn) {
        expected.insert(expected.end(), {1, 2, 1, 2, 1, 2, 3});
    }
    std::vector<int> all;
    for (int replay = 0; replay < 3; ++replay) {
        ASSERT_TRUE(IsOk(Replay(model, stream)));
        all.insert(all.end(), expected.begin(), expected.end());
        ASSERT_EQ(recorder_.Values(), all);
    }
}

// Replays on many streams run one after another, and each runs its loop whole.
TEST_F(ConditionalTest, ReplaysOnManyStreamsDoNotMix) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    Mark(stream, 0);
    const aclmdlRICondHandle handle = MakeCondition(stream, 3);
    uint64_t* const variable = Variable(handle);
    Add(stream, handle, kWhile, {[&](const Stream& body) {
            Mark(body, 1);
            CountDown(body, variable);
        }});
    Mark(stream, 2);
    const Model model = End(stream.Get());
    std::vector<Stream> streams;
    for (int index = 0; index < 4; ++index) {
        streams.push_back(MakeStream());
    }
    std::vector<int> expected;
    for (int replay = 0; replay < 40; ++replay) {
        ASSERT_TRUE(IsOk(Queue(model, streams[static_cast<size_t>(replay % 4)])));
        expected.insert(expected.end(), {0, 1, 1, 1, 2});
    }
    for (const Stream& each : streams) {
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(each.Get())));
    }
    EXPECT_EQ(recorder_.Values(), expected);
}

// A failure ends the loop, is reported once, and the next replay is whole.
TEST_F(ConditionalTest, AFailureInASubGraphEndsTheLoop) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 1);
    Add(stream, handle, kWhile, {[&](const Stream& body) {
            Mark(body, 1);
            EXPECT_TRUE(IsOk(support::EnqueueFailure(body.Get())));
        }});
    Mark(stream, 2);
    const Model model = End(stream.Get());
    for (int replay = 0; replay < 3; ++replay) {
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, Replay(model, stream), {"thrown by a test"}));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

// Memory that a sub-graph uses is looked for by the replay of its model.
TEST_F(ConditionalTest, FreedMemoryOfASubGraphIsFound) {
    const Stream stream = MakeStream();
    auto memory = DeviceBuffer(64);
    Begin(stream.Get(), kRelaxed);
    Add(stream, MakeCondition(stream, 1), kIf, {[&](const Stream& body) {
            EXPECT_TRUE(IsOk(aclrtMemsetAsync(memory.Get(), 64, 1, 64, body.Get())));
        }});
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(IsOk(aclrtFree(memory.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Queue(model, stream), {"64 bytes", "freed"}));
}

TEST_F(ConditionalTest, TheModelTakesVariablesAndSubGraphsWithIt) {
    const Stream stream = MakeStream();
    size_t before = 0, during = 0, after = 0, total = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total)));
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 1);
    const std::vector<aclmdlRI> parts = Add(stream, handle, kIf, {Marks(1)});
    Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &during, &total)));
    EXPECT_LT(during, before);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIDestroy(parts[0]), {"sub-graph"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(parts[0], stream.Get()),
                        {"sub-graph"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecute(parts[0], -1), {"sub-graph"}));
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    ASSERT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDebugPrint(parts[0]), {"modelRI"}));
    uint64_t* variable = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclmdlRICondHandleGetCondPtr(handle, &variable),
                        {"handle"}));
    EXPECT_EQ(variable, nullptr);
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total)));
    EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace conformance
