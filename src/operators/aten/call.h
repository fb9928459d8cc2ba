// SPDX-License-Identifier: Apache-2.0
// A call of an operator while it is checked or computed: its arguments as ATen's types, and its
// outputs.

#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/operators/entry/values.h"

namespace advstep_operators {

/// Returns ATen's type, or nullopt if it has none.
std::optional<at::ScalarType> TypeOf(aclDataType dataType);

/// What a check of a call on tensors without data has found out; it never changes afterwards.
struct Checked {
    static constexpr int kPlaces = 16;
    bool direct[kPlaces] = {};       // the output at a place has the dtype and shape of its result
    ResultShape* results = nullptr;  // if set, outputs take any result, and its shape goes there
};

/// A call. A kernel is a function of it: it computes results from the arguments, and gives each
/// output its result at the end. So a kernel that fails has written nothing.
///
/// A call is made for a check, where tensors have no data (ATen's device "meta"), or for a run.
/// Arguments are asked for by their place in the signature; an absent tensor is undefined.
class Call {
 public:
    struct Mode {
        bool meta = false;     // a check
        bool widened = false;  // float16 and bfloat16 arguments are converted to float32
    };

    /// `tensors` are those of the call; in a run with their addresses.
    Call(const CallValues& values, const AdvStepTensorView* tensors, Mode mode, Checked* checked)
        : call_(values), tensors_(tensors), mode_(mode), checked_(checked) {}

    /// Returns the place of the argument of that name, or of it with "Optional" behind; -1 if the
    /// function has none. For kernels of several functions.
    int PlaceOf(std::string_view name) const;
    /// Returns whether the function has the argument of that name, and the call passes it.
    bool Has(std::string_view name) const {
        const int place = PlaceOf(name);
        return place >= 0 && !ValueAt(place).isNull;
    }

    /// Returns whether the argument is declared as a tensor.
    bool IsTensor(int place) const {
        return call_.function->arguments[place].kind == Kind::kTensor;
    }

    /// The arguments. A list has what Unpacked gives for each of its tensors.
    at::Tensor Tensor(int place) const;
    /// As Tensor, but a tensor of INT4, which ATen does not have, becomes one of int8.
    at::Tensor Unpacked(int place) const;
    std::vector<at::Tensor> Tensors(int place) const;
    at::Scalar Scalar(int place) const;
    std::optional<at::Scalar> OptionalScalar(int place) const;
    std::vector<at::Scalar> Scalars(int place) const;
    at::IntArrayRef Ints(int place) const;
    at::OptionalIntArrayRef OptionalInts(int place) const;
    std::vector<double> Reals(int place) const;
    std::vector<bool> Flags(int place) const;
    int64_t Int(int place) const { return ValueAt(place).integer; }
    double Real(int place) const { return ValueAt(place).real; }
    bool Flag(int place) const { return (ValueAt(place).integer & 0xFF) != 0; }
    std::optional<at::ScalarType> Type(int place) const;
    std::string_view Text(int place) const;
    /// The dtype, dims, strides and format of a tensor, whatever ATen knows of them.
    const AdvStepTensorView* View(int place) const;

    /// Gives an output its result: cast to the output's dtype, through its strides. The shapes are
    /// equal, or have equal numbers of elements. Nothing happens for an output that is left out. An
    /// output of INT4 takes numbers of int8.
    void Put(int place, const at::Tensor& result);
    void Put(int place, const std::vector<at::Tensor>& results);

    /// Returns whether two tensors of the call, whose elements fill their memory, have memory in
    /// common; never without data. A place may be -1, or that of an argument that is left out.
    bool Overlapping(int one, int other) const;

    /// Refuses a result whose output has another shape or no dtype for it, as Put does.
    void CheckResult(int place, const at::Tensor& result) const { CheckAt(place, result); }

    /// Gives outputs the results of a tuple, in order.
    template <typename... Results, typename... Places>
    void PutAll(const std::tuple<Results...>& results, Places... places) {
        std::apply(
            [&](const auto&... each) {
                (CheckAt(places, each), ...);  // all are checked before one is written
                (Put(places, each), ...);
            },
            results);
    }

    /// As Put(place, compute()), but writes directly into an output that has the result's dtype and
    /// shape and shares no memory with an argument, or, for an elementwise operator, exactly that
    /// of an argument.
    template <typename Compute, typename Write>
    void PutDirectly(int place, bool elementwise, Compute&& compute, Write&& write) {
        if (MayWrite(place, elementwise)) {
            at::Tensor output = Tensor(place);
            write(output);
        } else {
            Put(place, compute());
        }
    }

 private:
    const Value& ValueAt(int place) const { return call_.values[place]; }
    const char* NameOf(int place) const { return call_.function->arguments[place].name; }
    at::Tensor Made(const char* name, const AdvStepTensorView& view) const;
    at::Tensor Member(int place, uint32_t member) const;
    at::Tensor Halves(const AdvStepTensorView& view) const;
    at::Scalar Narrowed(const AdvStepScalarValue& value) const;
    bool ComputesIntegers() const;
    bool MayWrite(int place, bool elementwise) const;
    void CheckAt(int place, const at::Tensor& result) const;
    void CheckAt(int place, const std::vector<at::Tensor>& results) const;
    void SetShape(int place, const at::Tensor& result);
    static void Check(const char* name, const AdvStepTensorView& view, const at::Tensor& result);
    void PutInto(const char* name, const AdvStepTensorView& view, const at::Tensor& result);
    static void PutHalves(const AdvStepTensorView& view, const at::Tensor& result);
    template <typename Visit>
    void ForEachTensor(Visit&& visit) const;

    const CallValues& call_;
    const AdvStepTensorView* const tensors_;
    const Mode mode_;
    Checked* const checked_;  // written by a check, read by a run
};

/// A kernel, as the build makes it of a line of a table.
struct Kernel {
    void (*compute)(Call& call);
    bool needsData;  // its results' shapes depend on data: it is not checked without
};

extern const Kernel kKernels[];
extern const uint32_t kKernelCount;

}  // namespace advstep_operators
