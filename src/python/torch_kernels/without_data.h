// SPDX-License-Identifier: Apache-2.0
// An operator's kernels for "meta" and "cpu", called without the data of its arguments.

#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "queued.h"

namespace advstep_torch {

class Silent : public c10::WarningHandler {
 public:
    void process(const c10::Warning&) override {}
};

/// Calls without data. It keeps nothing, so any thread may call it.
class WithoutData {
 public:
    explicit WithoutData(const Operator& op) : op_(op) {}

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
        try {
            *results = Without(arguments, device);
            *given = *results;
            op_.handle.callBoxed(*results);
            return true;
        } catch (const c10::NotImplementedError&) {
            if (device.type() == c10::kCPU) {  // for this dtype
                *refused = std::current_exception();
            }
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

    const Operator& op_;
};

}  // namespace advstep_torch
