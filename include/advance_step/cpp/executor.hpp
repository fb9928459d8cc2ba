// SPDX-License-Identifier: Apache-2.0
/// Plans that can run again, and the code that all operators share. Part of advance_step.hpp, which
/// has the rules.
#ifndef ADVSTEP_ADVANCE_STEP_CPP_EXECUTOR_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_EXECUTOR_HPP_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "aclnn/acl_meta.h"
#include "advance_step/cpp/memory.hpp"
#include "advance_step/cpp/result.hpp"
#include "advance_step/cpp/runtime.hpp"

namespace advance_step {

/// Phase two of an operator.
using Launch = aclnnStatus (*)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);

/// A plan that can run any number of times, with a workspace of its own. Only one run may be active
/// at a time: queue the runs on one stream, or wait for each run.
class Executor {
 public:
    /// An empty object, without a plan.
    Executor() noexcept = default;

    /// Queues one run and returns: phase two of the operator. The code of an empty object is
    /// ACLNN_ERR_INNER_NULLPTR.
    Result<void> TryRun(StreamRef stream) const {
        if (launch_ == nullptr) {
            return Error(ACLNN_ERR_INNER_NULLPTR,
                         "Executor::Run: the executor is empty; expected one of Plan");
        }
        return detail::ToResult(
            launch_(workspace_.Data(), workspace_.Size(), executor_.get(), stream.Get()));
    }
    /// Calls aclSetTensorAddr: changes the address of a tensor for later runs.
    /// @param[in] index    position among the operator's tensors in signature order, 0-based
    /// @param[in] tensor   not empty; it is neither read nor changed
    /// @param[in] address  device address
    Result<void> TrySetAddress(size_t index, const Tensor& tensor, void* address) const {
        return detail::ToResult(aclSetTensorAddr(executor_.get(), index, tensor.Get(), address));
    }

    /// The handle, for calls of the C interface. The object still owns it.
    aclOpExecutor* Get() const noexcept { return executor_.get(); }
    /// The size of the workspace in bytes; may be 0.
    size_t WorkspaceSize() const noexcept { return workspace_.Size(); }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryRun. @throws Error
    void Run(StreamRef stream) const { TryRun(stream).value(); }
    /// As TrySetAddress. @throws Error
    void SetAddress(size_t index, const Tensor& tensor, void* address) const {
        TrySetAddress(index, tensor, address).value();
    }
#endif

 private:
    template <class Arguments>
    friend class Operator;

    Buffer workspace_;
    detail::Owned<aclOpExecutor, aclDestroyAclOpExecutor> executor_;
    Launch launch_ = nullptr;
};

/// An operator as a function object. The class Arguments has the operator's tensors and attributes,
/// and its two calls as PhaseOne() and kPhaseTwo.
template <class Arguments>
class Operator {
 public:
    /// Makes a repeatable plan for these tensors.
    static Result<Executor> TryPlan(const Arguments& arguments) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* planned = nullptr;
        int code = arguments.PhaseOne(&workspaceSize, &planned);
        if (code != ACLNN_SUCCESS) {
            return detail::LastError(code);
        }
        Executor executor;
        executor.executor_.reset(planned);
        executor.launch_ = Arguments::kPhaseTwo;
        code = aclSetAclOpExecutorRepeatable(planned);
        if (code != ACLNN_SUCCESS) {
            return detail::LastError(code);
        }
        if (Result<void> grown = Grow(executor.workspace_, workspaceSize); !grown) {
            return grown.error();
        }
        return executor;
    }

    /// Calls both phases once: checks the arguments, queues the run and returns. The object keeps
    /// the workspace for its next call, so all calls of one object must use one stream.
    Result<void> TryCall(const Arguments& arguments, StreamRef stream) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        const int code = arguments.PhaseOne(&workspaceSize, &executor);
        if (code != ACLNN_SUCCESS) {
            return detail::LastError(code);
        }
        if (Result<void> grown = Grow(workspace_, workspaceSize); !grown) {
            static_cast<void>(aclDestroyAclOpExecutor(executor));
            return grown;
        }
        return detail::ToResult(
            Arguments::kPhaseTwo(workspace_.Data(), workspaceSize, executor, stream.Get()));
    }

#if ADVSTEP_CPP_EXCEPTIONS
    /// As TryPlan. @throws Error
    static Executor Plan(const Arguments& arguments) { return TryPlan(arguments).value(); }
    /// As TryCall. @throws Error
    void operator()(const Arguments& arguments, StreamRef stream) {
        TryCall(arguments, stream).value();
    }
#endif

 private:
    static Result<void> Grow(Buffer& workspace, uint64_t size) {
        if (size > workspace.Size()) {
            Result<Buffer> larger = Buffer::TryAllocate(size);
            if (!larger) {
                return larger.error();
            }
            workspace = *std::move(larger);
        }
        return {};
    }

    Buffer workspace_;
};

}  // namespace advance_step

#endif  /* ADVSTEP_ADVANCE_STEP_CPP_EXECUTOR_HPP_ */
