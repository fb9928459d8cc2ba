// SPDX-License-Identifier: Apache-2.0
// Scenarios of cores, replays and executors.
#include <cstdlib>
#include <numeric>

#include "aclnnop/aclnn_advance_step.h"
#include "advance_step/fault_injection.h"
#include "src/runtime/device/core_pool.h"
#include "tests/schedules/scenario.h"

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

void CorePoolAlone() {
    advstep::CorePool pool(2);
    RunThreads({[&] {
        RunOnCores(&pool, 2);
        RunOnCores(&pool, 3);
        pool.Stop();
        RunOnCores(&pool, 2);
    }});
}

void CorePoolShared() {
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
void ExecutorOnce() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    Batch batch;
    aclOpExecutor* const executor = batch.Plan();
    int launched = 0;
    const auto launch = [&] {
        runtime.Use();
        const aclnnStatus status = aclnnAdvanceStep(nullptr, 0, executor, stream);
        Expect(status == ACLNN_SUCCESS || status == ACLNN_ERR_PARAM_INVALID, "phase two");
        launched += status == ACLNN_SUCCESS ? 1 : 0;
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    RunThreads({launch, launch});
    Expect(launched == 1, "the executor was spent once");
    Expect(batch.Length() == 1, "the row advanced once");
}

// Two threads plan and launch the same call, so spent executors are found again.
void ExecutorReuse() {
    const Runtime runtime;
    aclrtStream const stream = NewStream();
    Batch batch;
    const auto launch = [&] {
        runtime.Use();
        for (int i = 0; i < 2; ++i) {
            ExpectCode(aclnnAdvanceStep(nullptr, 0, batch.Plan(), stream), ACLNN_SUCCESS,
                       "phase two");
        }
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    RunThreads({launch, launch});
    Expect(batch.Length() == 4, "every launch has run");
}

// A shuffled core order has every launch use the core threads. A reset leaves the launches of
// another context alone, and the end of the runtime waits for them.
void LaunchesAndReset() {
    setenv("ADVANCE_STEP_CORE_ORDER", "7", 1);
    const Runtime runtime;
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    std::vector<int64_t> words(64, 0);
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

// A model of two branches, of which each has a host function.
aclmdlRI Capture(aclrtStream stream, aclrtStream branch, HostWork* work,
                 const std::function<void()>& inBranch) {
    aclrtEvent const fork = NewEvent();
    aclrtEvent const join = NewEvent();
    aclmdlRI model = nullptr;
    Ok(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "aclmdlRICaptureBegin");
    Ok(aclrtRecordEvent(fork, stream), "aclrtRecordEvent");
    Ok(aclrtStreamWaitEvent(branch, fork), "aclrtStreamWaitEvent");
    work->Add(branch, 1, inBranch);
    Ok(aclrtRecordEvent(join, branch), "aclrtRecordEvent");
    work->Add(stream, 2);
    Ok(aclrtStreamWaitEvent(stream, join), "aclrtStreamWaitEvent");
    work->Add(stream, 3);
    Ok(aclmdlRICaptureEnd(stream, &model), "aclmdlRICaptureEnd");
    return model;
}

// Replays of one model run one after another, also on two streams.
void Replay() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    HostWork work;
    aclmdlRI const model = Capture(first, second, &work, nullptr);
    const auto replay = [&](aclrtStream stream) {
        runtime.Use();
        Ok(aclmdlRIExecuteAsync(model, stream), "aclmdlRIExecuteAsync");
        Ok(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    };
    RunThreads({[&] { replay(first); }, [&] { replay(second); }});
    const std::vector<int>& ran = work.ran();
    Expect(ran.size() == 6 && ran[2] == 3 && ran[5] == 3 && ran[0] + ran[1] == 3,
           "one replay after the other");
}

// The abort of a replay leaves no branch behind that the next replay does not wait for.
void ReplayAbort() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    HostWork work;
    int inside = 0;
    aclmdlRI const model = Capture(first, second, &work, [&] {
        Expect(inside++ == 0, "a branch runs once at a time");
        static const char place = 0;
        Point(Op::kChange, &place);
        --inside;
    });
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclmdlRIExecuteAsync(model, first), "aclmdlRIExecuteAsync");
                    const aclError code = aclrtSynchronizeStream(first);
                    Expect(code == ACL_SUCCESS || code == ACL_ERROR_RT_STREAM_ABORT,
                           "the replay that is aborted returned " + std::to_string(code));
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(first), "aclrtStreamAbort");
                    const size_t before = work.ran().size();
                    Ok(aclmdlRIExecuteAsync(model, second), "aclmdlRIExecuteAsync");
                    Ok(aclrtSynchronizeStream(second), "the replay on the other stream");
                    Expect(work.ran().size() >= before + 3, "the second replay has run");
                    Expect(work.ran().back() == 3 || work.ran().size() > 3, "and to its end");
                }});
}

// A replay that is dropped before it begins runs nothing of its branches either.
void ReplayDrop() {
    const Runtime runtime;
    aclrtStream const first = NewStream();
    aclrtStream const second = NewStream();
    HostWork work;
    aclmdlRI const model = Capture(first, second, &work, nullptr);
    uint64_t hold = 0;
    Ok(advstepHoldStream(first, &hold), "advstepHoldStream");
    Ok(aclmdlRIExecuteAsync(model, first), "aclmdlRIExecuteAsync");
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclrtStreamAbort(first), "aclrtStreamAbort");
                    Ok(aclrtSynchronizeStream(first), "aclrtSynchronizeStream");
                },
                [&] {
                    runtime.Use();
                    Ok(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
                }});
    Expect(work.ran().empty(), "nothing of the dropped replay has run");
    Ok(advstepReleaseHold(hold), "advstepReleaseHold");
    Ok(aclmdlRIExecute(model, -1), "aclmdlRIExecute");
    Expect(work.ran().size() == 3, "the next replay has run");
}

}  // namespace

std::vector<Scenario> DeviceScenarios() {
    return {{"core_pool", false, &CorePoolAlone},
            {"core_pool_shared", false, &CorePoolShared},
            {"executor_once", true, &ExecutorOnce},
            {"executor_reuse", false, &ExecutorReuse},
            {"launches_and_reset", false, &LaunchesAndReset},
            {"replay", false, &Replay},
            {"replay_abort", false, &ReplayAbort},
            {"replay_drop", false, &ReplayDrop}};
}

}  // namespace schedules
