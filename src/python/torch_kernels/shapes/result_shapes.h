// SPDX-License-Identifier: Apache-2.0
// The shapes of an operator's results before it runs: those of its kernel for "meta", or of a
// trial.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "torch_kernels/shapes/tensor_shape.h"
#include "torch_kernels/shapes/without_data.h"

namespace advstep_torch {

/// The way in which an operator whose shapes are asked for will run.
enum class RunAs { kAtOnce, kQueued, kRecorded };

/// The shapes of one operator. torch's kernels for "meta" are Python and take some 50 us, so the
/// answers are kept by signature.
class Shapes {
 public:
    using Answer = std::shared_ptr<const std::vector<ResultShapes>>;

    explicit Shapes(const Operator& op) : op_(op), kernels_(op) {}

    /// Returns the shapes of the results. Null: they depend on data, or torch has no such function.
    /// An error of the kernel for "meta", or of dtypes on "cpu", is thrown while recording.
    /// Otherwise it is left to the operator itself, which runs then.
    Answer Of(c10::ArrayRef<c10::IValue> arguments, RunAs how);

    /// Returns whether an operator that only writes in place refuses its arguments, so that its
    /// error is raised by the call, as by an idle stream. Where only its run can tell, it may yet
    /// refuse them. An error is thrown while recording, of a kernel for "cpu".
    bool Refuses(c10::ArrayRef<c10::IValue> arguments, bool recording);

    /// Notes that the operator has run with such arguments, so that no trial is needed for them.
    void Ran(c10::ArrayRef<c10::IValue> arguments);

 private:
    static constexpr size_t kMostKnown = 256;  // for each operator

    /// Returns whether the shapes depend on data.
    bool Dynamic(c10::ArrayRef<c10::IValue> arguments) const;
    bool IsRefused(c10::ArrayRef<c10::IValue> arguments, bool recording) const;

    bool HasRun(const std::string& key);
    void NoteRun(const std::string& key);

    /// Returns whether the kernel for "cpu" refuses a trial of a call that is queued. An error of
    /// dtypes is thrown while recording. `results`: their bytes.
    bool IsRefusedByCpu(c10::ArrayRef<c10::IValue> arguments, size_t results, RunAs how);

    Answer Ask(c10::ArrayRef<c10::IValue> arguments, RunAs how);

    const Operator& op_;
    const WithoutData kernels_;
    std::mutex mutex_;  // guards the three sets; held for look-ups only, never while Python may run
    std::unordered_map<std::string, Answer> known_;
    std::unordered_set<std::string> accepted_;  // signatures that Refuses has answered with false
    std::unordered_set<std::string> ran_;       // keys of Dtypes that "cpu" has taken
};

}  // namespace advstep_torch
