// SPDX-License-Identifier: Apache-2.0
// Phase one, which finds a plan or makes one, and phase two.

#include "src/operators/entry/call.h"

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "src/operators/entry/call_counter.h"
#include "src/operators/entry/call_plan.h"
#include "src/operators/entry/call_reader.h"
#include "src/operators/entry/functions.h"
#include "src/operators/entry/kernel_module.h"

namespace advstep_operators {
namespace {

// Work on so many bytes takes a few us: no thread is woken for it.
constexpr int64_t kShortBytes = 32 * 1024;

struct ReleasePlan {
    void operator()(AdvStepHostPlan* plan) const { advstepReleaseHostPlan(plan); }
};
using HostPlan = std::unique_ptr<AdvStepHostPlan, ReleasePlan>;

// The plans that a thread has made. Only that thread uses them, so there is no lock; the child of a
// fork has those of its thread.
class KeptPlans {
 public:
    AdvStepHostPlan* Find(const CallKey& key, uint64_t hash) const {
        const auto [begin, end] = plans_.equal_range(hash);
        for (auto place = begin; place != end; ++place) {
            if (place->second.words == key.words) {
                return place->second.plan.get();
            }
        }
        return nullptr;
    }

    AdvStepHostPlan* Keep(const CallKey& key, uint64_t hash, HostPlan plan) {
        if (plans_.size() >= kMost) {
            plans_.clear();  // a program with so many shapes seldom comes back to one
        }
        return plans_.emplace(hash, Entry{key.words, std::move(plan)})->second.plan.get();
    }

 private:
    static constexpr size_t kMost = 4096;

    struct Entry {
        std::vector<uint64_t> words;
        HostPlan plan;
    };
    std::unordered_multimap<uint64_t, Entry> plans_;
};

// What phase one of a thread keeps from call to call. Null once the thread's objects have been
// destroyed: global destructors may call operators later.
struct ThreadState {
    CallKey key;
    KeptPlans plans;
};

ThreadState* StateOfThread() {
    struct Owner {
        std::unique_ptr<ThreadState> state = std::make_unique<ThreadState>();
        bool* ended;
        explicit Owner(bool* flag) : ended(flag) {}
        ~Owner() { *ended = true; }
    };
    thread_local bool ended = false;
    if (ended) {
        return nullptr;
    }
    thread_local const Owner owner(&ended);
    return owner.state.get();
}

// The registered call of each function; null before its first use.
const AdvStepHostCall* RegisteredCall(const FunctionSpec& function) {
    static auto& registered = *new std::unique_ptr<std::atomic<const AdvStepHostCall*>[]>(
        new std::atomic<const AdvStepHostCall*>[kFunctionCount] {});
    const auto place = static_cast<size_t>(&function - kFunctions);
    const AdvStepHostCall* call = registered[place].load(std::memory_order_acquire);
    if (call == nullptr && advstepRegisterHostCall(&kHostCalls[place], &call) == ACLNN_SUCCESS) {
        registered[place].store(call, std::memory_order_release);
    }
    return call;
}

int64_t BytesOf(const AdvStepTensorView& view) {
    int64_t bytes = view.itemSize > 0 ? view.itemSize : 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (__builtin_mul_overflow(bytes, view.dims[axis], &bytes) || bytes > kShortBytes) {
            return kShortBytes + 1;
        }
    }
    return bytes;
}

bool IsShort(const CallPlan& plan) {
    int64_t bytes = 0;
    for (const AdvStepTensorView& view : plan.views) {
        bytes += BytesOf(view);
    }
    return bytes <= kShortBytes;
}

Refusal Prepare(CallPlan* plan) {
    const std::string* why = nullptr;
    const Kernels* const kernels = LoadKernels(&why);
    if (kernels == nullptr) {
        return {ACLNN_ERR_RUNTIME_ERROR, *why};
    }
    char message[2048] = "";
    const int32_t code =
        kernels->prepare(&plan->call, plan->views.data(), static_cast<uint32_t>(plan->views.size()),
                         &plan->prepared, message, sizeof message);
    if (code != 0) {
        return {code, message};
    }
    plan->kernels = kernels;
    return {};
}

// Makes the plan of a call. A null plan without a refusal: the reason has been recorded.
Refusal MakePlan(const FunctionSpec& function, const Argument* arguments, HostPlan* made) {
    auto plan = std::make_unique<CallPlan>();
    ReadValues(function, arguments, plan.get());
    if (Refusal refusal = Prepare(plan.get()); !refusal.ok()) {
        return refusal;
    }
    const AdvStepHostCall* const call = RegisteredCall(function);
    AdvStepHostPlanRequest request{};
    request.structBytes = sizeof request;
    request.tensorCount = static_cast<uint32_t>(plan->tensors.size());
    request.tensors = plan->tensors.data();
    request.isShort = IsShort(*plan) ? 1 : 0;
    request.args = plan.release();  // from here on the call owns it
    AdvStepHostPlan* result = nullptr;
    const aclnnStatus code = advstepMakeHostPlan(call, &request, &result);
    made->reset(result);
    return {code, ""};
}

Refusal Plan(const FunctionSpec& function, const Argument* arguments, uint64_t* workspaceSize,
             aclOpExecutor** executor) {
    if (function.kernel < 0) {
        return {ACLNN_ERR_RUNTIME_ERROR,
                "it is not computed on this device; docs/aclnn.md lists "
                "the operators that are"};
    }
    ThreadState* const state = StateOfThread();
    CallKey own;
    CallKey& key = state != nullptr ? state->key : own;
    if (Refusal refusal = ReadKey(function, arguments, &key); !refusal.ok()) {
        return refusal;
    }
    const uint64_t hash = key.Hash();
    AdvStepHostPlan* plan = state != nullptr ? state->plans.Find(key, hash) : nullptr;
    HostPlan made;
    if (plan == nullptr) {
        if (Refusal refusal = MakePlan(function, arguments, &made); !refusal.ok()) {
            return refusal;
        }
        plan = made.get();
        if (state != nullptr) {
            plan = state->plans.Keep(key, hash, std::move(made));
        }
    }
    return {advstepMakeHostExecutor(plan, key.addresses.data(), workspaceSize, executor), ""};
}

}  // namespace

aclnnStatus PhaseOne(const FunctionSpec& function, const Argument* arguments,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
    try {
        const Refusal refusal = Plan(function, arguments, workspaceSize, executor);
        return refusal.ok() || refusal.message.empty()
                   ? refusal.code
                   : advstepRefuseHostCall(function.call, refusal.code, refusal.message.c_str());
    } catch (const std::exception& error) {
        return advstepRefuseHostCall(function.call, ACLNN_ERR_INNER, error.what());
    } catch (...) {
        return advstepRefuseHostCall(function.call, ACLNN_ERR_INNER, nullptr);
    }
}

aclnnStatus PhaseTwo(const FunctionSpec& function, void* workspace, uint64_t workspaceSize,
                     aclOpExecutor* executor, aclrtStream stream) noexcept {
    try {
        const aclnnStatus code = advstepRunHostExecutor(RegisteredCall(function), workspace,
                                                        workspaceSize, executor, stream);
        if (code == ACLNN_SUCCESS) {
            CountCall(function);
        }
        return code;
    } catch (const std::exception& error) {
        return advstepRefuseHostCall(function.call, ACLNN_ERR_INNER, error.what());
    } catch (...) {
        return advstepRefuseHostCall(function.call, ACLNN_ERR_INNER, nullptr);
    }
}

int32_t RunCall(const void* args, const AdvStepHostRun* run) {
    const auto& plan = *static_cast<const CallPlan*>(args);
    return plan.kernels->run(plan.prepared, run);
}

void ReleaseCall(void* args) { delete static_cast<CallPlan*>(args); }

}  // namespace advstep_operators
