// Every documented code of Step: what phase one refuses, what the device finds wrong with a state,
// no progress, and the edges that are none of these.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace {

using namespace reference;
using support::IsError;
using support::IsOk;
using support::kStepTensorNames;
using support::kStepTensors;
using support::StepBatch;
using support::TensorSpec;

constexpr int kNull = ACLNN_ERR_PARAM_NULLPTR;
constexpr int kBadTensor = ACLNN_ERR_PARAM_INVALID;
constexpr int kTiling = ACLNN_ERR_INNER_TILING_ERROR;
constexpr int kBadData = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
constexpr int kNoProgress = ACL_ERROR_RT_RESOURCE_ALLOC_FAIL;

constexpr StepDims kDims = {6, 7, 6, 7, 16, 10, 4};

// The arguments of a valid phase one; addresses are invented, for it touches no memory.
struct Arguments {
    std::array<TensorSpec, kStepTensors> tensors;
    std::array<bool, kStepTensors> isNull{};
    int64_t blockSize = kDims.blockSize;
    bool hasWorkspaceSize = true;
    bool hasExecutor = true;

    Arguments() {
        for (size_t i = 0; i < kStepTensors; ++i) {
            tensors[i] = support::StepSpec(kDims, i, false);
            tensors[i].data = Place(i);
        }
    }
    static void* Place(size_t index, size_t byte = 0) {
        return reinterpret_cast<void*>(0x100000 + 0x1000 * index + byte);
    }
};

// The code of phase one and a part of its message, after change.
void ExpectPlan(int code, const std::string& part, const std::function<void(Arguments&)>& change) {
    Arguments arguments;
    change(arguments);
    std::array<support::Tensor, kStepTensors> tensors;
    std::array<const aclTensor*, kStepTensors> t{};
    for (size_t i = 0; i < kStepTensors; ++i) {
        if (!arguments.isNull[i]) {
            tensors[i] = support::Tensor(arguments.tensors[i]);
            t[i] = tensors[i].Get();
        }
    }
    uint64_t workspaceSize = 77;
    int local = 0;
    auto* const untouched = reinterpret_cast<aclOpExecutor*>(&local);
    aclOpExecutor* executor = untouched;
    const int status = support::PlanStep(t, arguments.blockSize,
                                         arguments.hasWorkspaceSize ? &workspaceSize : nullptr,
                                         arguments.hasExecutor ? &executor : nullptr);
    if (code == ACLNN_SUCCESS) {
        EXPECT_TRUE(IsOk(status));
    } else {
        EXPECT_TRUE(IsError(code, status, {"aclnnStep", part}));
        EXPECT_EQ(workspaceSize, 77U) << "no output is written on error";
        EXPECT_EQ(executor, untouched);
    }
    if (executor != untouched) {
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
    }
}

class StepPlanTest : public support::DeviceTest {
 protected:
    // Calls check with each tensor's index and name.
    template <class Check>
    static void ForEachTensor(Check check) {
        for (size_t i = 0; i < kStepTensors; ++i) {
            SCOPED_TRACE(kStepTensorNames[i]);
            check(i, std::string(kStepTensorNames[i]));
        }
    }
};

TEST_F(StepPlanTest, TakesTheValidCall) {
    ExpectPlan(ACLNN_SUCCESS, "", [](Arguments&) {});
    ExpectPlan(ACLNN_SUCCESS, "", [](Arguments& a) {
        for (size_t i = 0; i < kStepTensors; ++i) {
            a.tensors[i].shape = support::StepSpec(kDims, i, true).shape;
        }
    });
}

TEST_F(StepPlanTest, RefusesNullInOrder) {
    ForEachTensor([](size_t i, const std::string& name) {
        ExpectPlan(kNull, name, [i](Arguments& a) { a.isNull[i] = true; });
        ExpectPlan(kNull, name, [i](Arguments& a) {
            for (size_t later = i; later < kStepTensors; ++later) {
                a.isNull[later] = true;
            }
            a.hasWorkspaceSize = a.hasExecutor = false;
            a.tensors[0].dtype = ACL_FLOAT;
            a.blockSize = 0;
        });
    });
    ExpectPlan(kNull, "workspaceSize", [](Arguments& a) { a.hasWorkspaceSize = false; });
    ExpectPlan(kNull, "executor", [](Arguments& a) { a.hasExecutor = false; });
}

TEST_F(StepPlanTest, RefusesOtherDtypesFormatsAndLayouts) {
    ForEachTensor([](size_t i, const std::string& name) {
        for (const aclDataType dtype : {ACL_FLOAT, ACL_UINT8, ACL_INT8, ACL_BOOL, ACL_INT32,
                                        ACL_INT64, ACL_UINT32, ACL_UINT64}) {
            const bool isTaken = dtype == support::StepDtype(i);
            ExpectPlan(isTaken ? ACLNN_SUCCESS : kBadTensor, name,
                       [=](Arguments& a) { a.tensors[i].dtype = dtype; });
        }
        for (const aclFormat format : {ACL_FORMAT_NCHW, ACL_FORMAT_UNDEFINED}) {
            ExpectPlan(kBadTensor, name, [=](Arguments& a) {
                a.tensors[i].format = format;
                a.blockSize = 0;
            });
        }
        const std::vector<int64_t> shape = support::StepSpec(kDims, i, false).shape;
        if (shape.size() == 2) {
            for (const std::vector<int64_t>& strides : std::vector<std::vector<int64_t>>{
                     {shape[1] + 1, 1}, {shape[1] * 2, 2}, {1, shape[0]}, {0, 1}}) {
                ExpectPlan(kBadTensor, name, [=](Arguments& a) { a.tensors[i].strides = strides; });
            }
        } else if (shape[0] > 1) {
            for (const int64_t stride : {0, 2}) {
                ExpectPlan(kBadTensor, name,
                           [=](Arguments& a) { a.tensors[i].strides = {stride}; });
            }
        }
    });
}

TEST_F(StepPlanTest, RefusesOtherShapes) {
    ForEachTensor([](size_t i, const std::string& name) {
        const std::vector<int64_t> shape = support::StepSpec(kDims, i, false).shape;
        const auto refuse = [&](std::vector<int64_t> other) {
            SCOPED_TRACE(testing::Message() << testing::PrintToString(other));
            // Another number of slots may show at the tensors that follow.
            ExpectPlan(kTiling, i == kStopFlags ? "" : name,
                       [&](Arguments& a) { a.tensors[i].shape = other; });
        };
        refuse({});
        refuse({shape[0], 1, 1});
        if (i != kFreeList && i != kSeqLensThisTime) {
            refuse({shape[0] + 1});
            refuse({shape[0] - 1});
        }
        if (shape.size() == 2) {
            refuse({shape[0] * shape[1]});
            refuse({shape[0] + 1, shape[1]});
            refuse({shape[0] - 1, shape[1]});
        } else {
            refuse({shape[0], 2});
            refuse({1, shape[0] + 1});
        }
    });
    ExpectPlan(kTiling, "", [](Arguments& a) { a.tensors[kSeqLensThisTime].shape = {8}; });
    for (const int64_t blockSize : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
        ExpectPlan(kTiling, "blockSize", [=](Arguments& a) { a.blockSize = blockSize; });
    }
    ExpectPlan(ACLNN_SUCCESS, "", [](Arguments& a) { a.blockSize = INT64_MAX; });
}

TEST_F(StepPlanTest, RefusesOverlap) {
    ForEachTensor([](size_t i, const std::string& name) {
        for (size_t other = 0; other < kStepTensors; ++other) {
            if (other != i) {
                SCOPED_TRACE(kStepTensorNames[other]);
                const size_t bytes = aclDataTypeSize(support::StepDtype(other));
                ExpectPlan(kBadTensor, "overlap",
                           [=](Arguments& a) { a.tensors[i].data = Arguments::Place(other); });
                ExpectPlan(kBadTensor, name, [=](Arguments& a) {
                    const int64_t count = support::StorageElements(a.tensors[other]);
                    const size_t end = static_cast<size_t>(count) * bytes;
                    a.tensors[i].data = Arguments::Place(other, end - 1);
                });
                ExpectPlan(ACLNN_SUCCESS, "", [=](Arguments& a) {
                    const int64_t count = support::StorageElements(a.tensors[other]);
                    const size_t end = static_cast<size_t>(count) * bytes;
                    a.tensors[i].data = Arguments::Place(other, end);
                });
            }
        }
    });
}

TEST_F(StepPlanTest, NeedsACurrentContext) {
    std::thread([] { ExpectPlan(ACLNN_ERR_RUNTIME_ERROR, "107002", [](Arguments&) {}); }).join();
}

// Slot 0 runs, 1 runs and needs a block, 2 has finished, 4 and 3 are preempted and wait, 5 is idle,
// 6 is past the batch. One run releases 2, serves 1 and recovers 4; then 3 does not fit.
StepData GoodState() {
    StepData data = IdleStepData(kDims);
    data[kStopFlags] = {0, 0, 1, 1, 1, 1, 0};
    data[kSeqLensThisTime] = {1, 1, 0, 0, 0, 0};
    data[kOriSeqLensEncoder] = {4, 4, 4, 4, 4, 0, -9};
    data[kSeqLensDecoder] = {9, 8, 5, 0, 0, 0, -9};
    data[kStepBlockTables] = {500, 100, 101, -1, -1, -1,  //
                              501, 102, -1,  -1, -1, -1,  //
                              502, 103, -1,  -1, -1, -1,  //
                              503, -1,  -1,  -1, -1, -1,  //
                              504, -1,  -1,  -1, -1, -1,  //
                              -1,  -1,  -1,  -1, -1, -1,  //
                              -1,  -1,  -1,  -1, -1, -1};
    data[kEncoderBlockLens] = {1, 1, 1, 1, 1, 0, -9};
    data[kIsBlockStep] = {0, 0, 0, 1, 1, 0, 1};
    data[kStepBlockList] = {3, 4, -1, -1, -1, -1, -1};
    data[kStepLens] = {2};
    data[kUsedListLen] = {2, 1, 1, 1, 2, 0, -9};
    data[kFreeList] = {104, 105, 106, -1, -1, -1, -1};
    data[kFreeListLen] = {3};
    data[kStepIdx] = {6, 5, 2, 4, 8, 0, -9};
    data[kNextTokens] = {70, 71, 72, 73, 74, 75, 76};
    data[kFirstTokenIds] = {10, 11, 12, 13, 14, 15, 16};
    for (size_t k = 0; k < data[kPreIds].size(); ++k) {
        data[kPreIds][k] = 2000 + static_cast<int64_t>(k);
    }
    return data;
}

using Change = std::function<void(StepData&)>;

Change Set(StepTensor tensor, size_t index, int64_t value) {
    return [=](StepData& data) { data[tensor][index] = value; };
}
Change Both(const Change& first, const Change& second) {
    return [=](StepData& data) {
        first(data);
        second(data);
    };
}

struct StateCase {
    const char* name;
    Change change;
    int64_t slot = -1;  // that the message names; -1: none
    std::vector<int64_t> values = {};
};

class StepStateTest : public support::DeviceTest, public testing::WithParamInterface<StateCase> {
 protected:
    static StepData State() {
        StepData data = GoodState();
        GetParam().change(data);
        return data;
    }
};
class StepBadStateTest : public StepStateTest {};
class StepEdgeStateTest : public StepStateTest {};

TEST_P(StepBadStateTest, IsReportedAndWritesNothing) {
    for (const char* conformance : {"standard", "exact"}) {
        for (const char* soc : {"Ascend910B3", "sim:1", "sim:7"}) {
            SCOPED_TRACE(std::string(conformance) + " " + soc);
            ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance},
                                             {"ADVANCE_STEP_SOC", soc},
                                             {"ADVANCE_STEP_THREADS", "3"},
                                             {"ADVANCE_STEP_CORE_ORDER", "5"}}));
            const support::Stream stream = support::MakeStream();
            StepData expected = State();
            ASSERT_EQ(Step(expected, conformance[0] == 'e').outcome, StepOutcome::kInvalid);
            StepBatch bad(State());
            StepBatch good(GoodState());
            ASSERT_TRUE(IsOk(bad.Plan()));
            ASSERT_TRUE(IsOk(good.Plan()));
            ASSERT_TRUE(IsOk(bad.Launch(stream.Get())));
            ASSERT_TRUE(IsOk(good.Launch(stream.Get())));
            const int status = aclrtSynchronizeStream(stream.Get());
            const std::string message = support::TakeMessage();
            EXPECT_EQ(status, kBadData) << message;
            EXPECT_NE(message.find("aclnnStep"), std::string::npos) << message;
            if (GetParam().slot >= 0) {
                const std::string slot = "slot " + std::to_string(GetParam().slot);
                EXPECT_NE(message.find(slot), std::string::npos) << message;
            }
            for (const int64_t value : GetParam().values) {
                EXPECT_TRUE(support::HasNumber(message, value)) << value << " not in: " << message;
            }
            EXPECT_TRUE(bad.IsUntouched());
            ASSERT_EQ(Step(expected = GoodState(), false).outcome, StepOutcome::kOk);
            EXPECT_TRUE(good.Holds(expected)) << "later work goes on";
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "reported once";
        }
    }
}

const StateCase kBadStates[] = {
    {"FreeListLenNegative", Set(kFreeListLen, 0, -1), -1, {-1, 7}},
    {"FreeListLenAboveCapacity", Set(kFreeListLen, 0, 8), -1, {8, 7}},
    {"FreeListLenLargest", Set(kFreeListLen, 0, INT32_MAX), -1, {INT32_MAX}},
    {"StepLensNegative", Set(kStepLens, 0, -1), -1, {-1, 6}},
    {"StepLensAboveBatch", Set(kStepLens, 0, 7), -1, {7, 6}},
    {"StackEntryNegative", Set(kStepBlockList, 0, -1), -1, {-1}},
    {"StackEntryPastTheBatch", Set(kStepBlockList, 1, 6), -1, {6}},
    {"StackEntryLargest", Set(kStepBlockList, 1, INT32_MAX), -1, {INT32_MAX}},
    {"StackEntryLeast", Set(kStepBlockList, 1, INT32_MIN), -1, {INT32_MIN}},
    {"StackEntryTwice", Set(kStepBlockList, 1, 3), 3},
    {"StackEntryNotFlagged", Set(kStepBlockList, 0, 0), 0},
    {"StackEntryNoLongerFlagged", Set(kIsBlockStep, 4, 0), 4},
    {"NeedBlockLenOne", Set(kNeedBlockLen, 0, 1), -1, {1}},
    {"NeedBlockLenNegative", Set(kNeedBlockLen, 0, -3), -1, {-3}},
    {"RecoverLensOne", Set(kRecoverLens, 0, 1), -1, {1}},
    {"RecoverLensNegative", Set(kRecoverLens, 0, -3), -1, {-3}},
    {"UsedNegative", Set(kUsedListLen, 0, -1), 0, {-1}},
    {"UsedLeast", Set(kUsedListLen, 1, INT32_MIN), 1, {INT32_MIN}},
    {"UsedNegativeOfAnIdleSlot", Set(kUsedListLen, 5, -1), 5, {-1}},
    {"UsedNegativeOfAPreemptedSlot", Set(kUsedListLen, 3, -2), 3, {-2}},
    {"BlocksPastTheRow", Set(kEncoderBlockLens, 0, 5), 0, {5, 2}},
    {"BlocksFarPastTheRow", Set(kEncoderBlockLens, 0, INT32_MAX), 0, {INT32_MAX}},
    {"BlocksBeforeTheRow", Set(kEncoderBlockLens, 0, -1), 0, {-1}},
    {"BlocksOfAFinishedSlot", Set(kEncoderBlockLens, 2, 6), 2, {6}},
    {"NextColumnJustPastTheRow", Set(kSeqLensDecoder, 1, 24), 1, {24}},
    {"NextColumnFarPastTheRow", Set(kSeqLensDecoder, 1, INT32_MAX), 1, {INT32_MAX}},
    {"NegativeLength", Set(kSeqLensDecoder, 0, -1), 0, {-1}},
    {"LeastLength", Set(kSeqLensDecoder, 0, INT32_MIN), 0, {INT32_MIN}},
    {"NegativeLengthOfASlotThatFeedsLessThanNothing",
     Both(Set(kSeqLensDecoder, 1, -5), Set(kSeqLensThisTime, 1, -1)),
     1,
     {-5}},
    {"NegativeLengthOfAWaitingSlotThatFeeds",
     Both(Set(kSeqLensDecoder, 3, -5), Set(kSeqLensThisTime, 3, 1)),
     3,
     {-5}},
    {"MoreBlocksThanTheListHolds", Set(kFreeListLen, 0, 4), -1, {4, 7}},
    {"FarMoreBlocksThanTheListHolds",
     [](StepData& data) {
         data = IdleStepData({6, 7, 6, 7, 16, 10, 4});
         data[kUsedListLen].assign(7, 6);
     },
     -1,
     {7}},
    {"GrantPastTheRow", Set(kEncoderBlockLens, 4, 5), 4, {5}},
    {"GrantFarPastTheRow", Set(kEncoderBlockLens, 4, INT32_MAX), 4, {INT32_MAX}},
    {"GrantBeforeTheRow", Set(kEncoderBlockLens, 4, -1), 4, {-1}},
    {"PromptNegative", Set(kOriSeqLensEncoder, 4, -1), 4, {-1}},
    {"PromptLargest", Set(kOriSeqLensEncoder, 4, INT32_MAX), 4, {INT32_MAX}},
    {"StepIdxNegative", Set(kStepIdx, 4, -1), 4, {-1}},
    {"StepIdxPastPreIds", Set(kStepIdx, 4, 11), 4, {11, 10}},
    {"StepIdxLargest", Set(kStepIdx, 4, INT64_MAX), 4, {INT64_MAX}},
    {"StepIdxLeast", Set(kStepIdx, 4, INT64_MIN), 4, {INT64_MIN}},
    {"NothingToReplay", Both(Set(kOriSeqLensEncoder, 4, 0), Set(kStepIdx, 4, 0)), 4, {0}},
    {"TooMuchToReplay", Set(kOriSeqLensEncoder, 4, 9), 4, {16}},
};

INSTANTIATE_TEST_SUITE_P(Table, StepBadStateTest, testing::ValuesIn(kBadStates),
                         support::CaseName());

TEST_P(StepEdgeStateTest, IsComputed) {
    for (const char* conformance : {"standard", "vllm", "exact"}) {
        SCOPED_TRACE(conformance);
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        StepData expected = State();
        ASSERT_EQ(Step(expected, conformance[0] == 'e').outcome, StepOutcome::kOk);
        StepBatch batch(State());
        EXPECT_TRUE(IsOk(batch.Run(nullptr)));
        EXPECT_TRUE(batch.Holds(expected));
    }
}

// Everything wrong that can be, where nothing is done.
StepData SpoiltState(const StepDims& dims) {
    StepData data = IdleStepData(dims);
    for (auto& tensor : data.tensors) {
        tensor.assign(tensor.size(), 3);
    }
    return data;
}

const StateCase kEdgeStates[] = {
    {"Good", [](StepData&) {}},
    {"FlagsOfAnyByte",
     [](StepData& data) {
         data[kStopFlags] = {0, 0, 128, 2, 254, 255, 77};
         data[kIsBlockStep] = {0, 0, 0, 255, 128, 0, 77};
     }},
    {"NoRows",
     [](StepData& data) {
         data = SpoiltState({0, 0, 6, 7, 16, 10, 4});
     }},
    {"NoBatch",
     [](StepData& data) {
         data = SpoiltState({0, 7, 6, 7, 16, 10, 4});
     }},
    {"NoBatchAndNoBlocks",
     [](StepData& data) {
         data = SpoiltState({0, 7, 6, 0, 16, 10, 4});
     }},
    {"NoBlocks",
     [](StepData& data) {
         data = IdleStepData({6, 7, 6, 0, 16, 10, 4});
     }},
    {"LargestBlockSize",
     [](StepData& data) {
         data.dims.blockSize = INT64_MAX;
         data[kStepLens][0] = 0;
     }},
    {"IdsMayBeAnything",
     [](StepData& data) { data[kFreeList] = {-1, INT32_MIN, INT32_MAX, 0, 0, 0, 0}; }},
    {"TokensMayBeAnything",
     [](StepData& data) {
         data[kNextTokens][4] = INT64_MIN;
         data[kFirstTokenIds][4] = INT64_MAX;
         data[kPreIds].assign(data[kPreIds].size(), -1);
     }},
    {"SlotsThatDoNotFeedAreNotRead",
     Both(Set(kSeqLensThisTime, 0, 0), Set(kSeqLensDecoder, 0, -1))},
    {"FinishedSlotsDoNotFeed", Both(Set(kSeqLensThisTime, 2, 1), Set(kSeqLensDecoder, 2, -1))},
    {"WaitingSlotsThatDoNotFitAreNotRead",
     Both(Set(kOriSeqLensEncoder, 3, -1), Set(kStepIdx, 3, INT64_MAX))},
    {"LastColumn", Set(kSeqLensDecoder, 1, 23)},
    {"LargestTotal", Set(kOriSeqLensEncoder, 4, 8)},
    {"LargestStepIdx", Set(kStepIdx, 4, 10)},
    {"StaleLists",
     [](StepData& data) {
         data[kNeedBlockList].assign(7, 99);
         data[kRecoverBlockList].assign(7, -99);
     }},
};

INSTANTIATE_TEST_SUITE_P(Table, StepEdgeStateTest, testing::ValuesIn(kEdgeStates),
                         support::CaseName());

class StepNoProgressTest : public support::DeviceTest {
 protected:
    // Slots 1, 3 and 5 need a block and own none; slot 0 owns `owned` of the 2 blocks there are.
    static StepData State(int64_t owned, int64_t capacity = 2) {
        StepData data = IdleStepData({6, 7, 6, capacity, 16, 10, 4});
        for (const size_t slot : {1, 3, 5}) {
            data[kStopFlags][slot] = 0;
            data[kSeqLensThisTime][slot] = 1;
        }
        data[kUsedListLen][0] = owned;
        data[kStopFlags][0] = 0;
        for (int64_t block = 0; block < capacity; ++block) {
            if (block < owned) {
                data.Block(0, block) = 100 + block;
            } else {
                data[kFreeList][static_cast<size_t>(data[kFreeListLen][0]++)] = 100 + block;
            }
        }
        return data;
    }
};

TEST_F(StepNoProgressTest, IsReportedAndWritesNothing) {
    for (const char* conformance : {"standard", "exact"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        for (const int64_t owned : {0, 1, 2}) {
            StepBatch batch(State(owned));
            EXPECT_TRUE(IsError(kNoProgress, batch.Run(nullptr), {"aclnnStep"}, {3, 2}));
            EXPECT_TRUE(batch.IsUntouched());
        }
        StepBatch none(State(0, 0));
        EXPECT_TRUE(IsError(kNoProgress, none.Run(nullptr), {"aclnnStep"}, {3, 0}));
        EXPECT_TRUE(none.IsUntouched());
    }
}

TEST_F(StepNoProgressTest, EndsWhenTheHostShedsLoad) {
    StepBatch batch(State(2));
    ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
    EXPECT_TRUE(IsError(kNoProgress, batch.LaunchAndWait(nullptr), {"aclnnStep"}, {3, 2}));
    StepData data = State(2);
    data[kStopFlags][3] = 1;
    batch.Upload(data);
    ASSERT_EQ(Step(data, false).outcome, StepOutcome::kOk);
    EXPECT_TRUE(IsOk(batch.LaunchAndWait(nullptr)));
    EXPECT_TRUE(batch.Holds(data));
}

// Bad data is found first.
TEST_F(StepNoProgressTest, ComesAfterEntryChecks) {
    for (const auto& change : {Set(kNeedBlockLen, 0, 1), Set(kUsedListLen, 4, -1),
                               Set(kSeqLensDecoder, 5, -1), Set(kRecoverLens, 0, 9)}) {
        StepData data = State(1);
        change(data);
        StepBatch batch(data);
        EXPECT_TRUE(IsError(kBadData, batch.Run(nullptr), {"aclnnStep"}));
        EXPECT_TRUE(batch.IsUntouched());
    }
}

}  // namespace
