// SPDX-License-Identifier: Apache-2.0
// Asks kernels for the shapes of results, and keeps the answers.

#include "torch_kernels/shapes/result_shapes.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/shapes/refusals.h"
#include "torch_kernels/shapes/signature.h"

namespace advstep_torch {
namespace {

// Returns whether two elements of an argument that is written have the same memory. Kernels for
// "cpu" refuse most of these, those for "meta" none.
bool WritesTwice(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    return std::any_of(op.inPlace.begin(), op.inPlace.end(), [&](size_t index) {
        return arguments[index].isTensor() && arguments[index].toTensor().defined() &&
               at::has_internal_overlap(arguments[index].toTensor()) == at::MemOverlap::Yes;
    });
}

// Returns whether any other argument is the tensor. Kernels for "cpu" may refuse to resize it.
bool IsRead(c10::ArrayRef<c10::IValue> arguments, size_t out) {
    const auto same = [&](const c10::IValue& value) {
        return value.isTensor() && value.toTensor().unsafeGetTensorImpl() ==
                                       arguments[out].toTensor().unsafeGetTensorImpl();
    };
    for (size_t index = 0; index < arguments.size(); ++index) {
        const c10::IValue& value = arguments[index];
        if (index != out &&
            (same(value) || (value.isList() && std::any_of(value.toListRef().begin(),
                                                           value.toListRef().end(), same)))) {
            return true;
        }
    }
    return false;
}

// Returns whether an out= argument has another shape on "meta" that it cannot take before the run.
bool IsFixed(const Operator& op, c10::ArrayRef<c10::IValue> arguments, size_t out,
             const c10::IValue& meta) {
    if (meta.isTensorList()) {
        const std::vector<at::Tensor> npus = arguments[out].toTensorVector();
        const std::vector<at::Tensor> likes = meta.toTensorVector();
        return !std::equal(npus.begin(), npus.end(), likes.begin(), likes.end(),
                           [](const at::Tensor& npu, const at::Tensor& like) {
                               return npu.sizes() == like.sizes();
                           });
    }
    return meta.isTensor() && meta.toTensor().defined() &&
           arguments[out].toTensor().sizes() != meta.toTensor().sizes() &&
           (op.Has(Flag::kMatrices) || IsRead(arguments, out));
}

// Gives the out= arguments of an operator the sizes that those on "meta" have now. Returns whether
// all could take them before the run. Else none has changed.
bool TakeOutSizes(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                  const std::vector<c10::IValue>& meta) {
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (op.handle.schema().arguments()[index].is_out() &&
            IsFixed(op, arguments, index, meta[index])) {
            return false;
        }
    }
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (!op.handle.schema().arguments()[index].is_out() || !arguments[index].isTensor() ||
            !meta[index].isTensor() || !meta[index].toTensor().defined()) {
            continue;
        }
        const at::Tensor npu = arguments[index].toTensor();
        const at::Tensor like = meta[index].toTensor();
        if (npu.sizes() != like.sizes()) {
            npu.resize_(like.sizes());
            npu.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
        }
    }
    return true;
}

}  // namespace

Shapes::Answer Shapes::Of(c10::ArrayRef<c10::IValue> arguments, RunAs how) {
    if (Dynamic(arguments)) {
        return nullptr;
    }
    std::optional<std::string> signature;
    if (!op_.writes) {  // these also resize their arguments
        signature = SignatureOf(arguments, op_.pointwise, Numbers::kByValue);
    }
    if (signature) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = known_.find(*signature);
        if (found != known_.end()) {
            return found->second;
        }
    }
    Answer answer = Ask(arguments, how);
    if (signature && answer && (how != RunAs::kAtOnce || HasRun(Dtypes(op_, arguments).Key()))) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (known_.size() >= kMostKnown) {
            known_.clear();
        }
        known_.emplace(std::move(*signature), answer);
    }
    return answer;
}

bool Shapes::Refuses(c10::ArrayRef<c10::IValue> arguments, bool recording) {
    std::optional<std::string> signature = SignatureOf(arguments, op_.pointwise, Numbers::kByKind);
    if (signature) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (accepted_.count(*signature) != 0) {
            return false;
        }
    }
    if (IsRefused(arguments, recording) ||
        IsRefusedByCpu(arguments, 0, recording ? RunAs::kRecorded : RunAs::kQueued)) {
        return true;
    }
    if (signature) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (accepted_.size() >= kMostKnown) {
            accepted_.clear();
        }
        accepted_.insert(std::move(*signature));
    }
    return false;
}

void Shapes::Ran(c10::ArrayRef<c10::IValue> arguments) { NoteRun(Dtypes(op_, arguments).Key()); }

bool Shapes::Dynamic(c10::ArrayRef<c10::IValue> arguments) const {
    if (op_.outputSize >= 0) {
        return arguments[static_cast<size_t>(op_.outputSize)].isNone();
    }
    if (!op_.onlyTensors || !op_.dynamicShape || !op_.Has(Flag::kMaskIndices)) {
        return !op_.onlyTensors || op_.dynamicShape;
    }
    for (const c10::IValue& index : arguments[static_cast<size_t>(op_.indices)].toListRef()) {
        if (index.isTensor() && (index.toTensor().scalar_type() == at::kBool ||
                                 index.toTensor().scalar_type() == at::kByte)) {
            return true;
        }
    }
    return false;
}

bool Shapes::IsRefused(c10::ArrayRef<c10::IValue> arguments, bool recording) const {
    const BelowAutograd below;
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> results;
    std::exception_ptr refused;
    if (!WritesTwice(op_, arguments)) {
        if (kernels_.Call(arguments, &given, &results, &refused) || refused == nullptr) {
            return false;
        }
        kernels_.ThrowIfNotItsOwn(arguments, refused);
    }
    if (!recording) {
        return true;
    }
    // "meta" refuses some calls that "cpu" takes, and no run follows that could tell.
    std::exception_ptr ofCpu;
    (void)kernels_.CallOn(c10::kCPU, arguments, &given, &results, &ofCpu);
    if (ofCpu != nullptr) {
        std::rethrow_exception(ofCpu);
    }
    return false;
}

bool Shapes::HasRun(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ran_.count(key) != 0;
}

void Shapes::NoteRun(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ran_.size() >= kMostKnown) {
        ran_.clear();
    }
    ran_.insert(key);
}

bool Shapes::IsRefusedByCpu(c10::ArrayRef<c10::IValue> arguments, size_t results, RunAs how) {
    if (how == RunAs::kAtOnce) {
        return false;
    }
    const Dtypes dtypes(op_, arguments);
    if (!dtypes.WantsTrial(results) || HasRun(dtypes.Key())) {
        return false;
    }
    const BelowAutograd below;
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> made;
    std::exception_ptr refused;
    const NoWarnings noWarnings;
    if (kernels_.CallOn(c10::kCPU, arguments, &given, &made, &refused)) {
        NoteRun(dtypes.Key());
        return false;
    }
    if (refused == nullptr || how != RunAs::kRecorded) {
        return refused != nullptr;
    }
    if (Dtypes::AreMeantBy(WithoutData::MessageOf(refused, /*ofC=*/false).value_or(""))) {
        std::rethrow_exception(refused);
    }
    return false;
}

Shapes::Answer Shapes::Ask(c10::ArrayRef<c10::IValue> arguments, RunAs how) {
    const bool recording = how == RunAs::kRecorded;
    const BelowAutograd below;
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> meta;
    std::exception_ptr refused;
    if (!kernels_.Call(arguments, &given, &meta, &refused)) {
        if (refused != nullptr && recording) {
            std::rethrow_exception(refused);
        }
        if (refused != nullptr) {
            kernels_.ThrowIfNotItsOwn(arguments, refused);
        }
        return nullptr;
    }
    if (how != RunAs::kAtOnce && NeedsTrial(op_, arguments)) {
        NoteRun(Dtypes(op_, arguments).Key());  // that was the kernel for "cpu"
    }
    size_t bytes = 0;
    for (const c10::IValue& result : meta) {
        bytes += result.isTensor() && result.toTensor().defined() ? result.toTensor().nbytes() : 0;
    }
    if (IsRefusedByCpu(arguments, bytes, how)) {
        return nullptr;
    }
    if (op_.writes && !TakeOutSizes(op_, arguments, given)) {
        return nullptr;
    }
    auto answer = std::make_shared<std::vector<ResultShapes>>();
    for (const c10::IValue& result : meta) {
        answer->push_back(ResultShapes::Of(result));
    }
    return answer;
}

}  // namespace advstep_torch
