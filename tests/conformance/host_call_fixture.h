// SPDX-License-Identifier: Apache-2.0
// A host operator for tests: out[i] = add + the sum of the terms' [i], where terms is a list.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_HOST_CALL_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_HOST_CALL_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "advance_step/host_call.h"
#include "conformance/capture_fixture.h"
#include "support/tensor.h"

namespace conformance {

using support::Tensor;
using support::TensorSpec;

/// The arguments of a plan, which also count what becomes of them.
struct SumArgs {
    int64_t add = 0;
    int32_t code = 0;  // of each run
    bool throws = false;
    std::atomic<int>* runs = nullptr;
    std::atomic<int>* released = nullptr;
};

inline int32_t RunSum(const void* args, const AdvStepHostRun* run) {
    const auto& sum = *static_cast<const SumArgs*>(args);
    if (sum.runs != nullptr) {
        ++*sum.runs;
    }
    if (sum.throws) {
        throw std::runtime_error("no sum today");
    }
    if (sum.code != 0) {
        (void)std::snprintf(run->message, run->messageSize, "add is %d", static_cast<int>(sum.add));
        return sum.code;
    }
    const AdvStepTensorView& out = run->tensors[run->tensorCount - 1];
    for (int64_t i = 0; i < out.dims[0]; ++i) {
        int64_t value = sum.add;
        for (uint32_t term = 0; term + 1 < run->tensorCount; ++term) {
            const AdvStepTensorView& view = run->tensors[term];
            value += reinterpret_cast<const int64_t*>(view.data)[view.offset + i * view.strides[0]];
        }
        reinterpret_cast<int64_t*>(out.data)[out.offset + i * out.strides[0]] = value;
    }
    return 0;
}

inline void ReleaseSum(void* args) {
    auto* const sum = static_cast<SumArgs*>(args);
    if (sum->released != nullptr) {
        ++*sum->released;
    }
    delete sum;
}

inline constexpr AdvStepHostCallTable kSumTable = {sizeof(AdvStepHostCallTable),
                                                   ADVSTEP_HOST_CALL_INTERFACE, "aclnnTestSum",
                                                   &RunSum, &ReleaseSum};
/// An operator that looks at no tensor.
inline constexpr AdvStepHostCallTable kOtherTable = {
    sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnTestOther",
    [](const void*, const AdvStepHostRun*) -> int32_t { return 0; }, &ReleaseSum};

inline const AdvStepHostCall* Registered(const AdvStepHostCallTable& table = kSumTable) {
    const AdvStepHostCall* call = nullptr;
    EXPECT_EQ(advstepRegisterHostCall(&table, &call), 0);
    return call;
}

inline AdvStepTensorView ViewOf(const aclTensor* tensor) {
    AdvStepTensorView view{};
    EXPECT_EQ(advstepReadTensor(tensor, &view), 0);
    return view;
}

class HostCallTest : public CaptureTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(CaptureTest::SetUp());
        stream_ = MakeStream();
        one_ = DeviceBuffer(Values(10));
        two_ = DeviceBuffer(Values(100));
        out_ = DeviceBuffer(Values(0));
    }

    /// Arguments that this test counts.
    SumArgs* Args(int64_t add) {
        auto* const args = new SumArgs;
        args->add = add;
        args->runs = &runs_;
        args->released = &released_;
        return args;
    }

    /// Makes the plan of a sum: the terms are argument 0, a list, and out is argument 1.
    AdvStepHostPlan* Plan(SumArgs* args, const std::vector<const aclTensor*>& terms,
                          const aclTensor* out, uint64_t workspaceBytes = 0) {
        std::vector<AdvStepHostTensor> tensors;
        for (size_t i = 0; i < terms.size(); ++i) {
            tensors.push_back(
                {ViewOf(terms[i]), "terms", ADVSTEP_READS, 0, static_cast<int32_t>(i)});
        }
        tensors.push_back({ViewOf(out), "out", ADVSTEP_WRITES, 1, -1});
        AdvStepHostPlanRequest request{sizeof(AdvStepHostPlanRequest),
                                       static_cast<uint32_t>(tensors.size()),
                                       tensors.data(),
                                       args,
                                       workspaceBytes,
                                       1};
        AdvStepHostPlan* plan = nullptr;
        EXPECT_TRUE(IsOk(advstepMakeHostPlan(Registered(), &request, &plan)));
        return plan;
    }

    static aclOpExecutor* Executor(AdvStepHostPlan* plan, void* const* addresses = nullptr) {
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        EXPECT_TRUE(IsOk(advstepMakeHostExecutor(plan, addresses, &bytes, &executor)));
        return executor;
    }

    /// Makes an executor of a sum of these terms, and keeps no share of its plan.
    aclOpExecutor* Sum(int64_t add, const std::vector<const DeviceBuffer*>& terms,
                       const DeviceBuffer& out) {
        std::vector<Tensor> tensors;
        std::vector<const aclTensor*> handles;
        for (const DeviceBuffer* term : terms) {
            tensors.emplace_back(TensorSpec{{kCount}, term->Get()});
            handles.push_back(tensors.back().Get());
        }
        const Tensor result(TensorSpec{{kCount}, out.Get()});
        AdvStepHostPlan* const plan = Plan(Args(add), handles, result.Get());
        aclOpExecutor* const executor = Executor(plan);
        advstepReleaseHostPlan(plan);
        return executor;
    }

    static aclnnStatus Run(aclOpExecutor* executor, aclrtStream stream = nullptr) {
        return advstepRunHostExecutor(Registered(), nullptr, 0, executor, stream);
    }

    static std::vector<int64_t> Values(int64_t first) {
        std::vector<int64_t> values;
        for (int64_t i = 0; i < kCount; ++i) {
            values.push_back(first + i);
        }
        return values;
    }

    void ExpectCounts(int runs, int released) const {
        EXPECT_EQ(runs_, runs);
        EXPECT_EQ(released_, released);
    }

    static constexpr int64_t kCount = 4;

    Stream stream_;
    DeviceBuffer one_, two_, out_;
    std::atomic<int> runs_{0};
    std::atomic<int> released_{0};
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_HOST_CALL_FIXTURE_H_
