// SPDX-License-Identifier: Apache-2.0
// Scenarios of cores and executors.
#include <cstdlib>
#include <numeric>

#include "aclnnop/aclnn_advance_step.h"
#include "src/runtime/device/core_pool.h"
#include "tests/schedules/scenario.h"
#include "tests/support/page_vector.h"

namespace schedules {
namespace {

// Every core is played once, and its launcher sees that when Run returns.
void RunOnCores(advstep::CorePool* pool, int32_t cores) {
    std::vector<int> played(static_cast<size_t>(cores), 0);
    bool returned = false;
    pool->Run(cores, [&](int32_t begin, int32_t end) {
        Expect(!returned, "no core is played after Run has returned");
        for (int32_t core = begin; core < end; ++core) {
            static const char place = 0;
            Point(Op::kChange, &place);
            ++played[static_cast<size_t>(core)];
        }
    });
    returned = true;
    for (const int times : played) {
        Expect(times == 1, "every core is played once");
    }
}

SCENARIO(Bare, core_pool, kLarge) {
    advstep::CorePool pool(2);
    RunThreads({[&] {
        RunOnCores(&pool, 2);
        RunOnCores(&pool, 3);
        pool.Stop();
        RunOnCores(&pool, 2);
    }});
}

SCENARIO(Bare, core_pool_shared, kLarge) {
    advstep::CorePool pool(3);
    RunThreads({[&] { RunOnCores(&pool, 4); }, [&] { RunOnCores(&pool, 3); }});
}

// The tensors of AdvanceStep for two rows.
class Batch {
 public:
    Batch() {
        const std::vector<int64_t> shapes[] = {{2}, {1, 1}, {2}, {2}, {2}, {2, kMaxBlocks}};
        for (const std::vector<int64_t>& shape : shapes) {
            const auto count = static_cast<size_t>(
                std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
            const size_t bytes = count * sizeof(int64_t);
            void* memory = nullptr;
            Ok(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
            Ok(aclrtMemset(memory, bytes, 0, bytes), "aclrtMemset");
            memory_.push_back(memory);
            tensors_.push_back(aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0,
                                               ACL_FORMAT_ND, shape.data(), shape.size(), memory));
        }
    }
    ~Batch() {
        for (const aclTensor* tensor : tensors_) {
            (void)aclDestroyTensor(tensor);
        }
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    aclOpExecutor* Plan() {
        uint64_t workspace = 0;
        aclOpExecutor* executor = nullptr;
        ExpectCode(aclnnAdvanceStepGetWorkspaceSize(tensors_[0], tensors_[1], tensors_[2],
                                                    tensors_[3], tensors_[4], tensors_[5], 2, 1,
                                                    kBlockSize, &workspace, &executor),
                   ACLNN_SUCCESS, "phase one");
        return executor;
    }
    int64_t Length() const { return static_cast<const int64_t*>(memory_[3])[0]; }

 private:
    static constexpr int64_t kBlockSize = 16;
    static constexpr int64_t kMaxBlocks = 2;
    std::vector<void*> memory_;
    std::vector<aclTensor*> tensors_;
};

// One of two threads spends the executor. The other is refused, and the run happens once.
SCENARIO(OneStream, executor_once, kSmall) {
    Batch batch;
    aclOpExecutor* const executor = batch.Plan();
    int launched = 0;
    const auto launch = [&] {
        const aclnnStatus status = aclnnAdvanceStep(nullptr, 0, executor, stream);
        Expect(status == ACLNN_SUCCESS || status == ACLNN_ERR_PARAM_INVALID, "phase two");
        launched += status == ACLNN_SUCCESS ? 1 : 0;
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    runtime.Run({launch, launch});
    Expect(launched == 1, "the executor was spent once");
    Expect(batch.Length() == 1, "the row advanced once");
}

// Two threads plan and launch the same call, so spent executors are found again.
SCENARIO(OneStream, executor_reuse, kLarge) {
    Batch batch;
    const auto launch = [&] {
        for (int i = 0; i < 2; ++i) {
            ExpectCode(aclnnAdvanceStep(nullptr, 0, batch.Plan(), stream), ACLNN_SUCCESS,
                       "phase two");
        }
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    runtime.Run({launch, launch});
    Expect(batch.Length() == 4, "every launch has run");
}

// A shuffled core order has every launch use the core threads. A reset leaves the launches of
// another context alone, and the end of the runtime waits for them.
SCENARIO(Bare, launches_and_reset, kLarge) {
    setenv("ADVANCE_STEP_CORE_ORDER", "7", 1);
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    support::PageVector<int64_t> words(64, 0);
    void* device = nullptr;
    Ok(aclrtHostRegister(words.data(), words.size() * sizeof(int64_t), ACL_HOST_REGISTER_MAPPED,
                         &device),
       "aclrtHostRegister");
    auto* const next = static_cast<int64_t*>(device);
    const auto tensor = [&](size_t place, std::vector<int64_t> shape) {
        return aclCreateTensor(shape.data(), shape.size(), ACL_INT64, nullptr, 0, ACL_FORMAT_ND,
                               shape.data(), shape.size(), next + place);
    };
    aclTensor* const tensors[] = {tensor(0, {2}), tensor(2, {1, 1}), tensor(4, {2}),
                                  tensor(6, {2}), tensor(8, {2}),    tensor(10, {2, 2})};
    RunThreads({[&] {
                    Ok(aclrtSetCurrentContext(own), "aclrtSetCurrentContext");
                    for (int64_t step = 1; step <= 2; ++step) {
                        uint64_t workspace = 0;
                        aclOpExecutor* executor = nullptr;
                        ExpectCode(aclnnAdvanceStepGetWorkspaceSize(
                                       tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                                       tensors[5], 2, 1, 16, &workspace, &executor),
                                   ACLNN_SUCCESS, "phase one");
                        ExpectCode(aclnnAdvanceStep(nullptr, 0, executor, nullptr), ACLNN_SUCCESS,
                                   "phase two");
                        Ok(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
                        Expect(next[6] == step, "every launch advances the row once");
                    }
                    Ok(aclrtDestroyContext(own), "aclrtDestroyContext");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtResetDevice(0), "aclrtResetDevice");
                    Ok(aclrtSetDevice(0), "aclrtSetDevice");
                }});
    for (const aclTensor* each : tensors) {
        (void)aclDestroyTensor(each);
    }
    Ok(aclrtHostUnregister(words.data()), "aclrtHostUnregister");
}

}  // namespace

}  // namespace schedules
