// SPDX-License-Identifier: Apache-2.0
// Conditional tasks: wrong arguments, captures in the wrong order, and ends in the middle.
#include <thread>

#include "conformance/conditional_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

constexpr int kInvalid = ACL_ERROR_RT_PARAM_INVALID;

class ConditionalRulesTest : public ConditionalTest {};

TEST_F(ConditionalRulesTest, VariablesAreOfModelsUnderCapture) {
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRI open = ModelOf(stream);
    aclmdlRICondHandle handle = nullptr;
    EXPECT_TRUE(
        IsError(kInvalid,
                aclmdlRICondHandleCreate(open, 0, static_cast<aclmdlRICondHandleFlag>(2), &handle),
                {"aclmdlRICondHandleCreate: ", "flag is 2"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRICondHandleCreate(nullptr, 0, kAssign, &handle), {"modelRI"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclmdlRICondHandleCreate(open, 0, kAssign, nullptr), {"handle"}));
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsError(kInvalid, aclmdlRICondHandleCreate(model.Get(), 0, kAssign, &handle),
                        {"is not being captured"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclmdlRICondHandleCreate(stream.Get(), 0, kAssign, &handle), {"modelRI"}));
    EXPECT_EQ(handle, nullptr);
    uint64_t* variable = nullptr;
    EXPECT_TRUE(
        IsError(kInvalid, aclmdlRICondHandleGetCondPtr(stream.Get(), &variable), {"handle"}));
}

TEST_F(ConditionalRulesTest, AVariableNeedsMemoryOfTheDevice) {
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_MEMORY", "64M"}}));
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    void* all = nullptr;
    ASSERT_TRUE(IsOk(aclrtMalloc(&all, 64U << 20, ACL_MEM_MALLOC_HUGE_FIRST)));
    aclmdlRICondHandle handle = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MEMORY_ALLOCATION,
                        aclmdlRICondHandleCreate(ModelOf(stream), 0, kAssign, &handle), {}));
    EXPECT_EQ(handle, nullptr);
    ASSERT_TRUE(IsOk(aclrtFree(all)));
    EXPECT_NE(MakeCondition(stream), nullptr);
    (void)End(stream.Get());
}

TEST_F(ConditionalRulesTest, TasksAreChecked) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    Begin(stream.Get(), kRelaxed);
    Begin(other.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream);
    const aclmdlRICondHandle foreign = MakeCondition(other);
    aclmdlRI parts[3] = {};
    const auto add = [&](aclmdlRICondHandle of, int type, uint32_t size, uint32_t flags = 0) {
        return aclmdlRIAddCondTask({of, static_cast<aclmdlRICondTaskType>(type), size, parts},
                                   stream.Get(), flags);
    };
    EXPECT_TRUE(IsError(kInvalid, add(handle, 3, 1), {"params.type is 3"}));
    EXPECT_TRUE(IsError(kInvalid, add(handle, kIf, 0), {"params.size is 0", "1 to 2"}));
    EXPECT_TRUE(IsError(kInvalid, add(handle, kIf, 3), {"params.size is 3", "1 to 2"}));
    EXPECT_TRUE(IsError(kInvalid, add(handle, kWhile, 2), {"params.size is 2", "1 to 1"}));
    EXPECT_TRUE(IsError(kInvalid, add(handle, kSwitch, 0), {"params.size is 0"}));
    EXPECT_TRUE(IsError(kInvalid, add(handle, kIf, 1, 1), {"flags is 0x1"}));
    EXPECT_TRUE(IsError(kInvalid, add(foreign, kIf, 1), {"handle", "is of modelRI"}));
    EXPECT_TRUE(IsError(kInvalid, add(stream.Get(), kIf, 1), {"is no condition"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, add(nullptr, kIf, 1), {"params.handle"}));
    const Stream idle = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED,
                        aclmdlRIAddCondTask({handle, kIf, 1, parts}, idle.Get(), 0), {"stream"}));
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpBegin(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_STREAM_TASK_GROUP_INTR, add(handle, kIf, 1), {"task group"}));
    aclrtTaskGrp group = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureTaskGrpEnd(stream.Get(), &group)));
    EXPECT_EQ(parts[0], nullptr) << "nothing is written on an error";
    ASSERT_TRUE(IsOk(add(handle, kIf, 1))) << "a refused task leaves its handle as it was";
    EXPECT_TRUE(IsError(kInvalid, add(handle, kIf, 1), {"has a conditional task"}));
    CaptureInto(parts[0], Marks(1));
    const Model model = End(stream.Get());
    const Model second = End(other.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
}

TEST_F(ConditionalRulesTest, TasksAreInsideEachOtherUpToALimit) {
    constexpr int kMost = 64;
    const Stream stream = MakeStream();
    const Body deepest = [&](const Stream& inner) {
        Mark(inner, 1);
        aclmdlRI part = nullptr;
        EXPECT_TRUE(IsError(
            kInvalid, aclmdlRIAddCondTask({MakeCondition(inner), kIf, 1, &part}, inner.Get(), 0),
            {"aclmdlRIAddCondTask: handle", "inside 64 conditional tasks", "expected at most 64"}));
        EXPECT_EQ(part, nullptr);
    };
    const std::function<void(const Stream&, int)> addInside = [&](const Stream& outer, int depth) {
        Add(outer, MakeCondition(outer, 1), kIf, {[&](const Stream& inner) {
                if (depth == kMost) {
                    deepest(inner);
                } else {
                    addInside(inner, depth + 1);
                }
            }});
    };
    Begin(stream.Get(), kRelaxed);
    addInside(stream, 1);
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1}));
}

TEST_F(ConditionalRulesTest, EachSubGraphIsCapturedOnceBeforeItsModelEnds) {
    const Stream stream = MakeStream();
    const Stream body = MakeStream();
    Begin(stream.Get(), kRelaxed);
    const aclmdlRICondHandle handle = MakeCondition(stream, 1);
    aclmdlRI parts[2] = {};
    ASSERT_TRUE(IsOk(aclmdlRIAddCondTask({handle, kIf, 2, parts}, stream.Get(), 0)));
    EXPECT_EQ(TryEnd(stream.Get()), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDebugPrint(parts[0]), {"modelRI"}));
    const auto begin = [&](aclrtStream on, aclmdlRI part) {
        return aclmdlRICaptureToModelRIBegin(on, part, kRelaxed);
    };
    EXPECT_TRUE(IsError(kInvalid, begin(body.Get(), ModelOf(stream)), {"is no sub-graph"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED, begin(stream.Get(), parts[0]), {"stream"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, begin(nullptr, parts[0]), {"stream"}));
    aclrtStream standard = nullptr;
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&standard)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, begin(standard, parts[0]), {"default"}));
    EXPECT_TRUE(IsError(
        kInvalid,
        aclmdlRICaptureToModelRIBegin(body.Get(), parts[0], static_cast<aclmdlRICaptureMode>(3)),
        {"mode is 3"}));
    // A capture that failed to begin leaves the sub-graph as it was.
    ASSERT_TRUE(IsOk(begin(body.Get(), parts[0])));
    EXPECT_EQ(ModelOf(body), parts[0]);
    const Stream third = MakeStream();
    EXPECT_TRUE(IsError(kInvalid, begin(third.Get(), parts[0]), {"has a capture"}));
    EXPECT_EQ(TryEnd(stream.Get()), ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING);
    Mark(body, 5);
    aclmdlRI ended = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(body.Get(), &ended)));
    EXPECT_TRUE(IsError(kInvalid, begin(body.Get(), parts[0]), {"has a capture"}));
    CaptureInto(parts[1], Marks(6));
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{5});
    Begin(body.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED, Queue(model, body), {"stream"}));
    const Model other = End(body.Get());
}

// Nothing of an endless loop runs after the abort, and the model can be replayed again.
TEST_F(ConditionalRulesTest, AnAbortEndsAnEndlessLoop) {
    const Stream stream = MakeStream();
    const Model model = CaptureEndless(stream, Marks(1));
    for (int round = 0; round < 20; ++round) {
        const size_t before = recorder_.Values().size();
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(recorder_.WaitFor(before + 5));
        ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        const std::vector<int> after = recorder_.Values();
        EXPECT_EQ(after.back(), 1);
        std::this_thread::yield();
        EXPECT_EQ(recorder_.Values(), after);
    }
}

// The loop stands at a wait that never ends, in a branch of a loop in a loop.
TEST_F(ConditionalRulesTest, AnAbortEndsAWaitInsideASubGraph) {
    const Stream stream = MakeStream();
    const Notify never = MakeNotify();
    const Model model = CaptureEndless(stream, [&](const Stream& body) {
        Add(body, MakeCondition(body, 1), kWhile, {[&](const Stream& deep) {
                const Stream side = MakeStream();
                Order(deep, side);
                Mark(side, 1);
                EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), side.Get(), 0)));
                Order(side, deep);
            }});
    });
    for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(recorder_.WaitFor(2 * static_cast<size_t>(round) + 2));
        switch (round % 3) {
            case 0:
                ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
                break;
            case 1:
                ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
                break;
            default:
                // The stream goes on after the conditional task.
                ASSERT_TRUE(IsOk(aclrtStreamStop(stream.Get())));
                break;
        }
        (void)aclrtSynchronizeStream(stream.Get());
        const std::vector<int> values = recorder_.Values();
        if (round % 3 == 2) {
            EXPECT_EQ(values.back(), 99);
            break;
        }
        EXPECT_EQ(values.back(), 1);
    }
}

TEST_F(ConditionalRulesTest, ADestroyedStreamDropsItsLoop) {
    Stream stream = MakeStream();
    const Model model = CaptureEndless(stream, Marks(1));
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(recorder_.WaitFor(5));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model.Get())));
    ASSERT_TRUE(IsOk(aclrtDestroyStreamForce(stream.Release())));
    const size_t after = recorder_.Values().size();
    std::this_thread::yield();
    EXPECT_EQ(recorder_.Values().size(), after);
}

// A reset or the end waits for a loop, as for all work, until another thread stops it.
TEST_F(ConditionalRulesTest, AResetWaitsForALoopThatAnotherThreadEnds) {
    for (const bool finalize : {false, true}) {
        const size_t before = recorder_.Values().size();
        Stream stream = MakeStream();
        Begin(stream.Get(), kRelaxed);
        const aclmdlRICondHandle handle = MakeCondition(stream, 1);
        uint64_t* const variable = Variable(handle);
        const auto stop = std::make_shared<std::atomic<bool>>(false);
        Add(stream, handle, kWhile, {[&](const Stream& body) {
                Mark(body, 1);
                EXPECT_TRUE(IsOk(support::Enqueue(body.Get(), [variable, stop] {
                    __atomic_store_n(variable, *stop ? 0 : 1, __ATOMIC_RELAXED);
                })));
            }});
        Model model = End(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(recorder_.WaitFor(before + 5));
        std::thread ends([&] {
            EXPECT_TRUE(recorder_.WaitFor(before + 50));
            *stop = true;
        });
        if (finalize) {
            EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
        } else {
            EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0)));
        }
        ends.join();
        (void)model.Release();
        (void)stream.Release();
        if (finalize) {
            EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
        }
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        const Stream alive = MakeStream();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(alive.Get())));
    }
}

}  // namespace
}  // namespace conformance
