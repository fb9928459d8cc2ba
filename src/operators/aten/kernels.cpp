// SPDX-License-Identifier: Apache-2.0
// The module's one symbol: checks calls on tensors without data, and runs them.

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/InferenceMode.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>
#include <sstream>
#include <string>

#include "src/operators/aten/call.h"
#include "src/operators/aten/threads.h"

namespace advstep_operators {
namespace {

// A call that has been checked. Runs may be under way on several threads.
struct Prepared {
    const CallValues* call;
    const Kernel* kernel;
    Checked checked;
    std::atomic<bool> widened{false};  // this processor's kernels lack the narrow dtype
};

void SetMessage(const std::string& text, char* message, size_t size) {
    std::snprintf(message, size, "%s", text.c_str());
}

// Returns the tensors of a call, for a message: "self FLOAT [2, 3], other FLOAT [4]".
std::string Described(const CallValues& call, const AdvStepTensorView* tensors) {
    std::ostringstream text;
    const char* between = "";
    for (uint32_t place = 0; place < call.function->argumentCount; ++place) {
        const ArgumentSpec& spec = call.function->arguments[place];
        const bool holdsTensors = spec.kind == Kind::kTensor || spec.kind == Kind::kTensorList;
        for (uint32_t member = 0; holdsTensors && member < call.values[place].count; ++member) {
            const int32_t tensor = call.values[place].tensors[member];
            if (tensor >= 0) {
                const AdvStepTensorView& view = tensors[tensor];
                text << between << spec.name << ' ' << advstepDataTypeName(view.dataType) << ' '
                     << at::IntArrayRef(view.dims, static_cast<size_t>(view.rank));
                between = ", ";
            }
        }
    }
    return text.str();
}

bool LacksNarrowKernel(const std::string& text) {
    return text.find("not implemented for 'Half'") != std::string::npos ||
           text.find("not implemented for 'BFloat16'") != std::string::npos;
}

// Runs the kernel on tensors without data. An operator that ATen has only for data is not checked.
int32_t Prepare(const CallValues* call, const AdvStepTensorView* tensors, uint32_t, void** prepared,
                char* message, size_t messageSize) {
    auto made = std::make_unique<Prepared>();
    made->call = call;
    made->kernel = &kKernels[call->function->kernel];
    if (!made->kernel->needsData) {
        const c10::InferenceMode mode;
        try {
            Call checked(*call, tensors, {true, false}, &made->checked);
            made->kernel->compute(checked);
        } catch (const c10::NotImplementedError&) {
        } catch (const c10::Error& error) {
            SetMessage(std::string(error.what_without_backtrace()) + " (" +
                           Described(*call, tensors) + ")",
                       message, messageSize);
            return ACLNN_ERR_PARAM_INVALID;
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& error) {
            // In a program with Python, its torch checks some operators.
            const std::string text = error.what();
            SetMessage(text.substr(0, text.find("\n\nAt:\n")), message, messageSize);
            return ACLNN_ERR_PARAM_INVALID;
        }
    }
    *prepared = made.release();
    return 0;
}

void Compute(const Prepared& prepared, const AdvStepHostRun& run, bool widened) {
    // Only a check writes what it has found out.
    Call call(*prepared.call, run.tensors, {false, widened},
              const_cast<Checked*>(&prepared.checked));
    prepared.kernel->compute(call);
}

int32_t Run(const void* args, const AdvStepHostRun* run) {
    const auto& prepared = *static_cast<const Prepared*>(args);
    const ThreadsScope threads;
    const c10::InferenceMode mode;
    try {
        const bool widened = prepared.widened.load(std::memory_order_relaxed);
        try {
            Compute(prepared, *run, widened);
        } catch (const c10::Error& error) {
            if (widened || !LacksNarrowKernel(error.what_without_backtrace())) {
                throw;
            }
            Compute(prepared, *run, true);
            const_cast<Prepared&>(prepared).widened.store(true, std::memory_order_relaxed);
        }
        return 0;
    } catch (const c10::Error& error) {
        SetMessage(error.what_without_backtrace(), run->message, run->messageSize);
    } catch (const std::exception& error) {
        SetMessage(error.what(), run->message, run->messageSize);
    }
    return ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
}

void Release(void* prepared) { delete static_cast<Prepared*>(prepared); }

}  // namespace
}  // namespace advstep_operators

extern "C" ADVSTEP_API const advstep_operators::Kernels* advstepOperatorKernels() {
    using namespace advstep_operators;
    static const Kernels kernels{Kernels::kVersion, kKernelCount, &Prepare, &Run, &Release};
    return &kernels;
}
