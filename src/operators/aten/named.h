// SPDX-License-Identifier: Apache-2.0
// The arguments of a call by their names, for kernels that serve several versions of a function.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Arguments by name, with or without "Optional" behind it. One that this version of the function
/// lacks has a value that the kernel says. It borrows the call.
class Named {
 public:
    explicit Named(Call& call) : call_(call) {}

    bool Exists(std::string_view name) const { return call_.PlaceOf(name) >= 0; }
    bool Has(std::string_view name) const { return call_.Has(name); }

    /// Returns the tensor, or an undefined one. One of INT4 becomes one of int8.
    at::Tensor Tensor(std::string_view name) const;
    /// Returns the tensor, or an undefined one if it has no elements: torch_npu passes such a one
    /// for some that its caller leaves out.
    at::Tensor Given(std::string_view name) const;
    std::vector<at::Tensor> Tensors(std::string_view name) const;
    int64_t Int(std::string_view name, int64_t missing = 0) const;
    double Real(std::string_view name, double missing = 0) const;
    bool Flag(std::string_view name, bool missing = false) const;
    /// Returns the text, or `missing` if it is null or empty.
    std::string Text(std::string_view name, std::string_view missing = "") const;
    at::IntArrayRef Ints(std::string_view name) const;
    std::vector<bool> Flags(std::string_view name) const;
    const AdvStepTensorView* View(std::string_view name) const;

    /// Refuses outputs that overlap: the later one would be written over the earlier one.
    void CheckApart(const char* output, const char* other) const;

    /// Refuses tensors with elements whose effect is not computed.
    void Refuse(std::initializer_list<const char*> names) const;

    /// Gives outputs their results. All of them are checked before one is written; those that this
    /// version lacks, or the call leaves out, take none.
    using Results = std::vector<std::pair<const char*, at::Tensor>>;
    void Put(const Results& results);

 private:
    Call& call_;
};

/// Refuses a number that is not from `least` to `most`.
void CheckNumber(const char* name, int64_t number, int64_t least, int64_t most);

/// Refuses a tensor of another shape. -1 stands for any size.
void CheckShape(const char* name, const at::Tensor& tensor, at::IntArrayRef shape);

/// Refuses a tensor whose shape is not that of the last dims of x.
void CheckLastDims(const char* name, const at::Tensor& tensor, const at::Tensor& x);

/// Returns the dim counted from 0, or refuses it.
int64_t DimOf(const char* name, int64_t dim, const at::Tensor& tensor);

}  // namespace advstep_operators
