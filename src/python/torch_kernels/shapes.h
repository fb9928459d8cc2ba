// SPDX-License-Identifier: Apache-2.0
// The shapes of an operator's results before it runs: those of its kernel for "meta", or of a
// trial.

#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "queued.h"
#include "signature.h"

namespace advstep_torch {

/// The properties from which a new tensor is made.
struct TensorShape {
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    caffe2::TypeMeta dtype;
    bool defined = false;
    bool dense = false;  // without gaps and overlaps
    bool conj = false;
    bool neg = false;

    static TensorShape Of(const at::Tensor& like) {
        CheckPlain(like);
        if (!like.defined()) {
            return {};
        }
        return {like.sizes().vec(),
                like.strides().vec(),
                like.dtype(),
                true,
                like.is_non_overlapping_and_dense(),
                like.is_conj(),
                like.is_neg()};
    }

    at::Tensor New(c10::Device device) const {
        at::Tensor made =
            at::empty_strided(sizes, strides, at::TensorOptions().dtype(dtype).device(device));
        if (conj) {
            made._set_conj(true);
        }
        if (neg) {
            made._set_neg(true);
        }
        return made;
    }
};

/// One result: a tensor, or a list of them.
struct ResultShapes {
    std::vector<TensorShape> tensors;
    bool list = false;
};

/// The shapes of one operator. torch's kernels for "meta" are Python and take some 50 us, so the
/// answers are kept by signature.
class Shapes {
 public:
    using Answer = std::shared_ptr<const std::vector<ResultShapes>>;

    explicit Shapes(const Operator& op) : op_(op) {}

    /// Returns the shapes of the results. Null: they depend on data, or torch has no such function.
    /// An error of the kernel for "meta" is thrown while recording. Otherwise it is left to the
    /// operator itself, which runs then.
    Answer Of(c10::ArrayRef<c10::IValue> arguments, bool recording) {
        if (Dynamic(arguments)) {
            return nullptr;
        }
        std::optional<std::string> signature;
        if (!op_.writes) {  // these also resize their arguments
            signature = Signature::Of(arguments, op_.pointwise);
        }
        if (signature) {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto found = known_.find(*signature);
            if (found != known_.end()) {
                return found->second;
            }
        }
        Answer answer = Ask(arguments, recording);
        if (signature && answer) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (known_.size() >= kMostKnown) {
                known_.clear();
            }
            known_.emplace(std::move(*signature), answer);
        }
        return answer;
    }

 private:
    static constexpr size_t kMostKnown = 256;  // for each operator

    bool Dynamic(c10::ArrayRef<c10::IValue> arguments) const {
        if (op_.outputSize >= 0) {
            return arguments[static_cast<size_t>(op_.outputSize)].isNone();
        }
        if (!op_.onlyTensors || !op_.dynamicShape || !op_.boolIndices) {
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

    /// Returns the arguments on "meta", or on "cpu" for a trial: ones, by which integers can be
    /// divided, or zeros, which are right as indices.
    std::vector<c10::IValue> Without(c10::ArrayRef<c10::IValue> arguments,
                                     c10::Device device) const {
        std::vector<c10::IValue> meta;
        std::vector<std::pair<const void*, at::Tensor>> known;
        MapTensors(arguments, &meta, [&](const at::Tensor& tensor) {
            if (!IsNpu(tensor)) {
                return tensor;
            }
            for (const auto& [impl, made] : known) {
                if (impl == tensor.unsafeGetTensorImpl()) {
                    return made;
                }
            }
            at::Tensor made = NewLike(tensor, device);
            if (device.type() == c10::kCPU) {
                made.fill_(op_.pointwise ? 1 : 0);
            }
            known.emplace_back(tensor.unsafeGetTensorImpl(), made);
            return made;
        });
        if (op_.device >= 0) {
            meta[static_cast<size_t>(op_.device)] = device;
        }
        if (op_.generator >= 0) {
            meta[static_cast<size_t>(op_.generator)] =
                device.type() == c10::kCPU ? c10::IValue(at::detail::createCPUGenerator())
                                           : c10::IValue();
        }
        if (op_.pinMemory >= 0) {
            meta[static_cast<size_t>(op_.pinMemory)] = c10::IValue();
        }
        return meta;
    }

    /// The results of the kernel for "meta", and the arguments that it may have resized. False: it
    /// has none, or refuses the arguments; the reason is in `refused`.
    bool Call(c10::ArrayRef<c10::IValue> arguments, std::vector<c10::IValue>* given,
              std::vector<c10::IValue>* results, std::exception_ptr* refused) const {
        const bool trial = NeedsTrial(op_.disagree, op_.pointwise, arguments);
        *results = Without(arguments, trial ? c10::kCPU : c10::kMeta);
        *given = *results;
        try {
            op_.handle.callBoxed(*results);
            return true;
        } catch (const c10::NotImplementedError&) {
            return false;
        } catch (const std::exception&) {
            *refused = std::current_exception();
            return false;
        }
    }

    /// Throws an exception that the kernel for "meta" does not throw again: a handler of a signal,
    /// such as Ctrl-C, raised it in the middle of the kernel's Python.
    void ThrowIfNotItsOwn(c10::ArrayRef<c10::IValue> arguments,
                          const std::exception_ptr& first) const {
        if (MessageOf(first, /*ofC=*/true)) {
            return;
        }
        std::vector<c10::IValue> given;
        std::vector<c10::IValue> results;
        std::exception_ptr second;
        (void)Call(arguments, &given, &results, &second);
        if (second == nullptr ||
            MessageOf(first, /*ofC=*/false) != MessageOf(second, /*ofC=*/false)) {
            std::rethrow_exception(first);
        }
    }

    /// The message of an exception. `ofC`: none if Python may have raised it.
    static std::optional<std::string> MessageOf(const std::exception_ptr& thrown, bool ofC) {
        try {
            std::rethrow_exception(thrown);
        } catch (const c10::Error& error) {
            return error.what_without_backtrace();
        } catch (const std::exception& error) {
            return ofC ? std::nullopt : std::optional<std::string>(error.what());
        }
    }

    Answer Ask(c10::ArrayRef<c10::IValue> arguments, bool recording) const {
        const BelowAutograd below;
        std::vector<c10::IValue> given;
        std::vector<c10::IValue> meta;
        std::exception_ptr refused;
        if (!Call(arguments, &given, &meta, &refused)) {
            if (refused != nullptr && recording) {
                std::rethrow_exception(refused);
            }
            if (refused != nullptr) {
                ThrowIfNotItsOwn(arguments, refused);
            }
            return nullptr;
        }
        if (op_.writes && !Resize(arguments, given)) {
            return nullptr;
        }
        auto answer = std::make_shared<std::vector<ResultShapes>>();
        for (const c10::IValue& result : meta) {
            ResultShapes shapes;
            shapes.list = !result.isTensor();
            if (!shapes.list) {
                shapes.tensors.push_back(TensorShape::Of(result.toTensor()));
            } else {
                for (const at::Tensor& tensor : result.toTensorVector()) {
                    shapes.tensors.push_back(TensorShape::Of(tensor));
                }
            }
            answer->push_back(std::move(shapes));
        }
        return answer;
    }

    /// Returns whether any other argument is the tensor. Kernels for "cpu" may refuse to resize it.
    static bool IsRead(c10::ArrayRef<c10::IValue> arguments, size_t out) {
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

    /// Returns whether an out= argument has another shape on "meta" that it cannot take before the
    /// run.
    bool IsFixed(c10::ArrayRef<c10::IValue> arguments, size_t out, const c10::IValue& meta) const {
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
               (op_.factors || IsRead(arguments, out));
    }

    /// Gives out= arguments the shapes that those on "meta" have now. False: one of them cannot
    /// take its shape before the run, and none has changed.
    bool Resize(c10::ArrayRef<c10::IValue> arguments, const std::vector<c10::IValue>& meta) const {
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (op_.handle.schema().arguments()[index].is_out() &&
                IsFixed(arguments, index, meta[index])) {
                return false;
            }
        }
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (!op_.handle.schema().arguments()[index].is_out() || !arguments[index].isTensor() ||
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

    const Operator& op_;
    std::mutex mutex_;  // guards known_; held for look-ups only, never while Python may run
    std::unordered_map<std::string, Answer> known_;
};

}  // namespace advstep_torch
