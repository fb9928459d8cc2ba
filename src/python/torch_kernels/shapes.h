// SPDX-License-Identifier: Apache-2.0
// The shapes of an operator's results before it runs: those of its kernel for "meta", or of a
// trial.

#pragma once

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
#include "refusals.h"
#include "signature.h"
#include "tensor_shape.h"
#include "without_data.h"

namespace advstep_torch {

/// The way in which an operator whose shapes are asked for will run.
enum class Next { kRunsAtOnce, kIsQueued, kIsRecorded };

/// The shapes of one operator. torch's kernels for "meta" are Python and take some 50 us, so the
/// answers are kept by signature.
class Shapes {
 public:
    using Answer = std::shared_ptr<const std::vector<ResultShapes>>;

    explicit Shapes(const Operator& op) : op_(op), kernels_(op) {}

    /// Returns the shapes of the results. Null: they depend on data, or torch has no such function.
    /// An error of the kernel for "meta", or of dtypes on "cpu", is thrown while recording.
    /// Otherwise it is left to the operator itself, which runs then.
    Answer Of(c10::ArrayRef<c10::IValue> arguments, Next next) {
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
        Answer answer = Ask(arguments, next);
        if (signature && answer &&
            (next != Next::kRunsAtOnce || HasRun(Dtypes(op_, arguments).Key()))) {
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
        if (IsRefused(arguments, recording) ||
            IsRefusedByCpu(arguments, 0, recording ? Next::kIsRecorded : Next::kIsQueued)) {
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

    /// Notes that the operator has run with such arguments, so that no trial is needed for them.
    void Ran(c10::ArrayRef<c10::IValue> arguments) { NoteRun(Dtypes(op_, arguments).Key()); }

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

    bool HasRun(const std::string& key) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return ran_.count(key) != 0;
    }

    void NoteRun(const std::string& key) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (ran_.size() >= kMostKnown) {
            ran_.clear();
        }
        ran_.insert(key);
    }

    /// Returns whether the kernel for "cpu" refuses a trial of a call that is queued. An error of
    /// dtypes is thrown while recording. `results`: their bytes.
    bool IsRefusedByCpu(c10::ArrayRef<c10::IValue> arguments, size_t results, Next next) {
        if (next == Next::kRunsAtOnce) {
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
        Silent silent;  // the run warns
        const c10::WarningUtils::WarningHandlerGuard quiet(&silent);
        if (kernels_.CallOn(c10::kCPU, arguments, &given, &made, &refused)) {
            NoteRun(dtypes.Key());
            return false;
        }
        if (refused == nullptr || next != Next::kIsRecorded) {
            return refused != nullptr;
        }
        if (Dtypes::AreMeantBy(WithoutData::MessageOf(refused, /*ofC=*/false).value_or(""))) {
            std::rethrow_exception(refused);
        }
        return false;
    }

    Answer Ask(c10::ArrayRef<c10::IValue> arguments, Next next) {
        const bool recording = next == Next::kIsRecorded;
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
        if (next != Next::kRunsAtOnce && NeedsTrial(op_.disagree, op_.pointwise, arguments)) {
            NoteRun(Dtypes(op_, arguments).Key());  // that was the kernel for "cpu"
        }
        size_t bytes = 0;
        for (const c10::IValue& result : meta) {
            bytes +=
                result.isTensor() && result.toTensor().defined() ? result.toTensor().nbytes() : 0;
        }
        if (IsRefusedByCpu(arguments, bytes, next)) {
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
    const WithoutData kernels_;
    std::mutex mutex_;  // guards the three sets; held for look-ups only, never while Python may run
    std::unordered_map<std::string, Answer> known_;
    std::unordered_set<std::string> accepted_;  // signatures that Refuses has answered with false
    std::unordered_set<std::string> ran_;       // keys of Dtypes that "cpu" has taken
};

}  // namespace advstep_torch
