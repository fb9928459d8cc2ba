// SPDX-License-Identifier: Apache-2.0
// The shapes of an operator's results before it runs: those of its kernel for "meta", or of a
// trial.

#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "out_sizes.h"
#include "queued.h"
#include "signature.h"
#include "tensor_shape.h"

namespace advstep_torch {

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
            signature = Signature::Of(arguments, op_.pointwise, Numbers::kByValue);
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

    /// Returns whether an operator that only writes in place refuses its arguments, so that its
    /// error is raised by the call, as by an idle stream. Where only its run can tell, it may yet
    /// refuse them. An error is thrown while recording, of a kernel for "cpu".
    bool Refuses(c10::ArrayRef<c10::IValue> arguments, bool recording) {
        std::optional<std::string> signature =
            Signature::Of(arguments, op_.pointwise, Numbers::kByKind);
        if (signature) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (accepted_.count(*signature) != 0) {
                return false;
            }
        }
        if (IsRefused(arguments, recording)) {
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

    /// Throws what the kernel for "cpu" throws in the deterministic mode, and warns as it does.
    void ThrowIfNotDeterministic(c10::ArrayRef<c10::IValue> arguments) const {
        const BelowAutograd below;
        std::vector<c10::IValue> given;
        std::vector<c10::IValue> results;
        std::exception_ptr refused;
        (void)CallOn(c10::kCPU, arguments, &given, &results, &refused);
        if (refused != nullptr) {
            std::rethrow_exception(refused);
        }
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
        return CallOn(trial ? c10::kCPU : c10::kMeta, arguments, given, results, refused);
    }

    bool CallOn(c10::Device device, c10::ArrayRef<c10::IValue> arguments,
                std::vector<c10::IValue>* given, std::vector<c10::IValue>* results,
                std::exception_ptr* refused) const {
        const at::DisableRecordFunctionGuard unseen;  // by profilers
        *results = Without(arguments, device);
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

    /// Returns whether two elements of an argument that is written have the same memory. Kernels
    /// for "cpu" refuse most of these, those for "meta" none.
    bool WritesTwice(c10::ArrayRef<c10::IValue> arguments) const {
        return std::any_of(op_.inPlace.begin(), op_.inPlace.end(), [&](size_t index) {
            return arguments[index].isTensor() && arguments[index].toTensor().defined() &&
                   at::has_internal_overlap(arguments[index].toTensor()) == at::MemOverlap::Yes;
        });
    }

    bool IsRefused(c10::ArrayRef<c10::IValue> arguments, bool recording) const {
        const BelowAutograd below;
        std::vector<c10::IValue> given;
        std::vector<c10::IValue> results;
        std::exception_ptr refused;
        if (!WritesTwice(arguments)) {
            if (Call(arguments, &given, &results, &refused) || refused == nullptr) {
                return false;
            }
            ThrowIfNotItsOwn(arguments, refused);
        }
        if (!recording) {
            return true;
        }
        // "meta" refuses some calls that "cpu" takes, and no run follows that could tell.
        std::exception_ptr ofCpu;
        (void)CallOn(c10::kCPU, arguments, &given, &results, &ofCpu);
        if (ofCpu != nullptr) {
            std::rethrow_exception(ofCpu);
        }
        return false;
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
        if (op_.writes && !OutSizes(op_).Take(arguments, given)) {
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

    const Operator& op_;
    std::mutex mutex_;  // guards the two sets; held for look-ups only, never while Python may run
    std::unordered_map<std::string, Answer> known_;
    std::unordered_set<std::string> accepted_;  // signatures that Refuses has answered with false
};

}  // namespace advstep_torch
