// SPDX-License-Identifier: Apache-2.0
// An operator as its schema, its tags and the table of special operators describe it.

#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "torch_kernels/operators/special_operators.h"

namespace advstep_torch {

/// The properties of an operator that are known before any call.
struct Operator {
    std::string name;  // "aten::add.Tensor"; lives as long as the process
    c10::OperatorHandle handle;
    Flags flags;
    std::vector<bool> fresh;    // of the returns: a new tensor, not an argument
    bool onlyTensors = true;    // the returns are tensors or lists of them
    bool pointwise = false;     // it works element by element
    bool dynamicShape = false;  // the shapes of the returns depend on data
    bool anyFresh = false;
    bool writes = false;             // it may resize its outputs: it has an out= argument
    bool computesInDefault = false;  // it may compute integers in torch's default dtype
    std::vector<size_t> inPlace;     // tensors that it writes, except out= arguments
    int generator = -1;              // the index of that argument
    int device = -1;
    int pinMemory = -1;
    int outputSize = -1;                     // the shapes depend on data only without that argument
    int indices = -1;                        // a list of indices, which may be on "cpu"
    int scalars = -1;                        // a tensor of scalars, which is on "cpu"
    std::optional<c10::OperatorHandle> out;  // its out= form; none if it draws

    bool Has(Flag flag) const { return flags.Has(flag); }
};

/// Returns the description of an operator.
Operator Describe(const c10::OperatorHandle& handle);

/// Returns whether an operator writes an argument, in place or as out=.
inline bool IsWritten(const c10::Argument& argument) {
    return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

}  // namespace advstep_torch
