// SPDX-License-Identifier: Apache-2.0
// Checks of divisions of integers, gradients, sums and zeros.

#include "src/operators/aten/elementwise.h"

#include "acl/acl_base.h"
#include "advance_step/host_operator.h"

namespace advstep_operators {
namespace {

at::Tensor WrappedLike(const at::Scalar& value, const at::Tensor& like) {
    return at::scalar_tensor(value, at::TensorOptions(at::result_type(like, value)));
}

}  // namespace

void CheckDivision(const at::Tensor& self, const at::Tensor& other) {
    const at::ScalarType type = at::result_type(self, other);
    if (!at::isIntegralType(type, true) || other.is_meta() || self.is_meta()) {
        return;
    }
    const at::Tensor zero = at::eq(other, 0);
    if (at::any(zero).item<bool>()) {
        TORCH_CHECK(false, "other has 0 as its element ",
                    at::argmax(zero.to(at::kByte)).item<int64_t>(), " of ", other.numel(),
                    "; expected no division of integers by 0");
    }
    const bool trapped =
        (type == at::kLong || type == at::kInt) && at::any(at::eq(other, -1)).item<bool>() &&
        at::any(at::eq(self.to(type), type == at::kLong ? INT64_MIN : int64_t{INT32_MIN}))
            .item<bool>();
    TORCH_CHECK(!trapped,
                "self has the least integer of its dtype and other has -1; expected a "
                "quotient that the dtype has");
}

void CheckDivision(const at::Tensor& self, const at::Scalar& other) {
    CheckDivision(self, WrappedLike(other, self));
}

void CheckDivision(const at::Scalar& self, const at::Tensor& other) {
    CheckDivision(WrappedLike(self, other), other);
}

std::tuple<at::Tensor, at::Tensor> PreluBackward(const at::Tensor& gradOutput,
                                                 const at::Tensor& self, const at::Tensor& weight) {
    const at::Tensor channels = Channels(weight, self);
    auto [gradInput, gradWeight] = at::_prelu_kernel_backward(gradOutput, self, channels);
    return {gradInput, at::sum_to(gradWeight, channels.sizes()).reshape(weight.sizes())};
}

at::Tensor AddAll(const std::vector<at::Tensor>& tensors) {
    TORCH_CHECK_VALUE(!tensors.empty(), "tensors has no tensors; expected at least one");
    at::Tensor sum = tensors.front();
    for (size_t place = 1; place < tensors.size(); ++place) {
        sum = at::add(sum, tensors[place]);
    }
    return sum;
}

bool Cleared(const Call& call, int place) {
    constexpr size_t kLarge = size_t{2} << 20;  // the library gives no page of less back
    const at::Tensor output = call.Tensor(place);
    const bool isView = output.scalar_type() == TypeOf(call.View(place)->dataType);  // and no copy
    if (!isView || output.is_meta() || output.nbytes() < kLarge ||
        !output.is_non_overlapping_and_dense()) {
        return false;
    }
    TORCH_CHECK(advstepZeroMemory(output.mutable_data_ptr(), output.nbytes()) == ACL_SUCCESS,
                aclGetRecentErrMsg());
    return true;
}

}  // namespace advstep_operators
