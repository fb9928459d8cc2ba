// SPDX-License-Identifier: Apache-2.0
// Refusals of Step's phase one, and their codes.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/table.h"

namespace step_plan {
namespace {

using namespace reference;
using namespace support;

constexpr int kNull = ACLNN_ERR_PARAM_NULLPTR;
constexpr int kBadTensor = ACLNN_ERR_PARAM_INVALID;
constexpr int kTiling = ACLNN_ERR_INNER_TILING_ERROR;

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

// Slots and blocks are counted in int32. Phase one touches no memory, so none is needed.
TEST_F(StepPlanTest, RefusesMoreThanItsTensorsCount) {
    constexpr int64_t kTooMany = int64_t{1} << 31;
    const auto refuse = [](StepDims dims, const std::string& part) {
        ExpectPlan(kTiling, part, [&](Arguments& a) {
            for (size_t i = 0; i < kStepTensors; ++i) {
                a.tensors[i].shape = support::StepSpec(dims, i, false).shape;
            }
        });
    };
    StepDims dims = kDims;
    dims.capacity = kTooMany;
    refuse(dims, "freeList has F = 2147483648 entries");
    dims = kDims;
    dims.columns = kTooMany;
    refuse(dims, "blockTables W = 2147483648 columns");
    dims = kDims;
    dims.slots = kTooMany;
    refuse(dims, "stopFlags S = 2147483648");
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

}  // namespace
}  // namespace step_plan
