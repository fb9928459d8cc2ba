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
#include <vector>

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

// Returns the tensors of a call, for a message: "self FLOAT [2, 3], other FLOAT [4]". Outputs are
// left out where their shapes do not count.
std::string Described(const CallValues& call, const AdvStepTensorView* tensors,
                      const Checked& checked) {
    std::ostringstream text;
    const char* between = "";
    for (uint32_t place = 0; place < call.function->argumentCount; ++place) {
        const ArgumentSpec& spec = call.function->arguments[place];
        const bool counts = checked.results == nullptr || spec.access != ADVSTEP_WRITES;
        const bool holdsTensors =
            counts && (spec.kind == Kind::kTensor || spec.kind == Kind::kTensorList);
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

// Runs the kernel on tensors without data. Returns the code of phase one.
int32_t RunWithoutData(const CallValues& call, const AdvStepTensorView* tensors, Checked* checked,
                       char* message, size_t messageSize) {
    const c10::InferenceMode mode;
    try {
        Call made(call, tensors, {true, false}, checked);
        kKernels[call.function->kernel].compute(made);
        return 0;
    } catch (const c10::NotImplementedError&) {
        throw;
    } catch (const c10::Error& error) {
        SetMessage(std::string(error.what_without_backtrace()) + " (" +
                       Described(call, tensors, *checked) + ")",
                   message, messageSize);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        // In a program with Python, its torch checks some operators.
        const std::string text = error.what();
        SetMessage(text.substr(0, text.find("\n\nAt:\n")), message, messageSize);
    }
    return ACLNN_ERR_PARAM_INVALID;
}

// Checks a call. An operator that ATen has only for data is not checked.
int32_t Prepare(const CallValues* call, const AdvStepTensorView* tensors, uint32_t, void** prepared,
                char* message, size_t messageSize) {
    auto made = std::make_unique<Prepared>();
    made->call = call;
    made->kernel = &kKernels[call->function->kernel];
    if (!made->kernel->needsData) {
        try {
            const int32_t code =
                RunWithoutData(*call, tensors, &made->checked, message, messageSize);
            if (code != 0) {
                return code;
            }
        } catch (const c10::NotImplementedError&) {
        }
    }
    *prepared = made.release();
    return 0;
}

// The tensors of a call with one number as the value of all their elements, which take no memory.
class Samples {
 public:
    Samples(const CallValues& call, const AdvStepTensorView* tensors, int64_t number) {
        for (uint32_t place = 0; place < call.function->argumentCount; ++place) {
            const Kind kind = call.function->arguments[place].kind;
            const bool holdsTensors = kind == Kind::kTensor || kind == Kind::kTensorList;
            for (uint32_t member = 0; holdsTensors && member < call.values[place].count; ++member) {
                const int32_t tensor = call.values[place].tensors[member];
                if (tensor >= 0) {
                    Add(static_cast<size_t>(tensor), tensors[tensor], number);
                }
            }
        }
    }
    const AdvStepTensorView* data() const { return views_.data(); }

 private:
    void Add(size_t place, const AdvStepTensorView& tensor, int64_t number) {
        if (place >= views_.size()) {
            views_.resize(place + 1);
        }
        AdvStepTensorView& view = views_[place];
        view = tensor;
        const at::ScalarType type = TypeOf(tensor.dataType).value_or(at::kByte);
        const at::Tensor& element = elements_.emplace_back(at::full({1}, number, type));
        view.data = static_cast<uint8_t*>(element.mutable_data_ptr());
        view.offset = 0;
        strides_.emplace_back(static_cast<size_t>(view.rank));
        view.strides = strides_.back().data();
    }

    std::vector<AdvStepTensorView> views_;
    std::vector<at::Tensor> elements_;
    std::vector<std::vector<int64_t>> strides_;
};

// Where ATen computes only with data: the results of zeros, which are good indices, or of ones,
// which are good divisors.
int32_t InferBySamples(const CallValues& call, const AdvStepTensorView* tensors, Checked* checked,
                       char* message, size_t messageSize) {
    const ThreadsScope threads;
    const c10::InferenceMode mode;
    for (const int64_t number : {0, 1}) {
        try {
            const Samples samples(call, tensors, number);
            Call made(call, samples.data(), {}, checked);
            kKernels[call.function->kernel].compute(made);
            return 0;
        } catch (const c10::Error& error) {
            SetMessage(std::string(error.what_without_backtrace()) + " (" +
                           Described(call, tensors, *checked) + ")",
                       message, messageSize);
        }
    }
    return ACLNN_ERR_PARAM_INVALID;
}

int32_t Infer(const CallValues* call, const AdvStepTensorView* tensors, ResultShape* results,
              char* message, size_t messageSize) {
    Checked checked;
    checked.results = results;
    try {
        return RunWithoutData(*call, tensors, &checked, message, messageSize);
    } catch (const c10::NotImplementedError&) {
        return InferBySamples(*call, tensors, &checked, message, messageSize);
    }
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
    static const Kernels kernels{Kernels::kVersion, kKernelCount, &Prepare, &Infer, &Run, &Release};
    return &kernels;
}
