// SPDX-License-Identifier: Apache-2.0
// Writes the arguments of a call into a string.

#include "torch_kernels/shapes/signature.h"

#include <ATen/ATen.h>
#include <c10/core/DefaultDtype.h>

#include <cstring>
#include <utility>
#include <vector>

#include "torch_kernels/device/views.h"

namespace advstep_torch {
namespace {

class Signature {
 public:
    Signature(bool pointwise, Numbers numbers) : pointwise_(pointwise), numbers_(numbers) {
        text_.reserve(256);
    }

    template <typename Number>
    void Add(Number number) {
        char bytes[sizeof(Number)];
        std::memcpy(bytes, &number, sizeof(Number));
        text_.append(bytes, sizeof(Number));
    }

    // Returns whether the value has a place in a signature.
    bool AddValue(const c10::IValue& value) {
        if (value.isTensor()) {
            return AddTensor(value.toTensor());
        }
        if (value.isNone()) {
            Add('n');
        } else if (value.isInt()) {  // dtypes, layouts and memory formats, too
            Add('i');
            Add(value.toInt());
        } else if (value.isDouble()) {
            Add('d');
            if (numbers_ == Numbers::kByValue) {
                Add(value.toDouble());
            }
        } else if (value.isBool()) {
            Add('b');
            Add(value.toBool());
        } else if (value.isDevice()) {
            Add('v');
            Add(value.toDevice().type());
            Add(value.toDevice().index());
        } else if (value.isString()) {
            Add('s');
            Add(value.toStringRef().size());
            text_ += value.toStringRef();
        } else if (value.isList()) {
            return AddList(value.toListRef());
        } else {
            return false;
        }
        return true;
    }

    std::string Take() { return std::move(text_); }

 private:
    void AddSizes(c10::IntArrayRef values) {
        Add(values.size());
        text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
    }

    bool AddList(c10::ArrayRef<c10::IValue> values) {
        Add('[');
        Add(values.size());
        for (const c10::IValue& value : values) {
            if (!AddValue(value)) {
                return false;
            }
        }
        return true;
    }

    bool AddTensor(const at::Tensor& tensor) {
        Add('t');
        Add(tensor.defined());
        if (!tensor.defined()) {
            return true;
        }
        if (!IsNpu(tensor) && (tensor.dim() != 0 || !pointwise_)) {
            return false;
        }
        // The same tensor twice is not the same as two tensors.
        size_t first = 0;
        while (first < tensors_.size() && tensors_[first] != tensor.unsafeGetTensorImpl()) {
            ++first;
        }
        tensors_.push_back(tensor.unsafeGetTensorImpl());
        Add(first);
        Add(tensor.device().type());
        Add(tensor.scalar_type());
        Add(tensor.unsafeGetTensorImpl()->is_wrapped_number());
        Add(tensor.is_conj());
        Add(tensor.is_neg());
        AddSizes(tensor.sizes());
        AddSizes(tensor.strides());
        return true;
    }

    const bool pointwise_;
    const Numbers numbers_;
    std::string text_;
    std::vector<const c10::TensorImpl*> tensors_;
};

}  // namespace

std::optional<std::string> SignatureOf(c10::ArrayRef<c10::IValue> arguments, bool pointwise,
                                       Numbers numbers) {
    Signature signature(pointwise, numbers);
    signature.Add(c10::get_default_dtype_as_scalartype());
    for (const c10::IValue& argument : arguments) {
        if (!signature.AddValue(argument)) {
            return std::nullopt;
        }
    }
    return signature.Take();
}

}  // namespace advstep_torch
