// SPDX-License-Identifier: Apache-2.0
// Computes steps of optimizers in float32.

#include "src/operators/aten/optimizers.h"

#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

// Returns a number that a call has in a tensor, which may be read at the run only.
at::Tensor NumberOf(const Named& named, const char* name) {
    const at::Tensor tensor = named.Tensor(name);
    TORCH_CHECK_VALUE(tensor.numel() == 1, name, " has shape ", tensor.sizes(),
                      "; expected one element");
    return tensor.reshape({}).to(at::kDouble);
}

// The numbers of a step. Those of the second version are attributes, but for the step's own.
struct AdamNumbers {
    at::Tensor rate, decay, beta1, beta2, epsilon;
    at::Tensor power1, power2;  // of the betas, at this step
};

at::Tensor Plain(double number) { return at::scalar_tensor(number, at::kDouble); }

AdamNumbers NumbersOf(const Named& named) {
    AdamNumbers numbers;
    if (named.Exists("step")) {
        numbers = {Plain(named.Real("lr")),
                   Plain(named.Real("weightDecay")),
                   Plain(named.Real("beta1")),
                   Plain(named.Real("beta2")),
                   Plain(named.Real("eps")),
                   {},
                   {}};
        const at::Tensor step = at::add(NumberOf(named, "step"), 1);
        numbers.power1 = at::pow(named.Real("beta1"), step);
        numbers.power2 = at::pow(named.Real("beta2"), step);
        return numbers;
    }
    numbers = {NumberOf(named, "lr"),
               NumberOf(named, "weightDecay"),
               NumberOf(named, "beta1"),
               NumberOf(named, "beta2"),
               NumberOf(named, "eps"),
               {},
               {}};
    numbers.power1 = at::mul(NumberOf(named, "beta1Power"), numbers.beta1);
    numbers.power2 = at::mul(NumberOf(named, "beta2Power"), numbers.beta2);
    return numbers;
}

at::Tensor StateOf(const Named& named, const char* name, const at::Tensor& var) {
    const at::Tensor state = named.Tensor(name);
    CheckShape(name, state, var.sizes());
    return Wide(state);
}

// Returns (1 - beta) * `by` + beta * state.
at::Tensor Moment(const at::Tensor& state, const at::Tensor& beta, const at::Tensor& by) {
    return at::add(at::mul(state, beta), at::mul(by, at::rsub(beta, 1)));
}

}  // namespace

void ApplyAdamW(Call& call) {
    Named named(call);
    const bool second = named.Exists("step");
    const char* const most = second ? "maxGradNormOptionalRef" : "maxGradNormOptional";
    const bool amsgrad = named.Flag("amsgrad");
    TORCH_CHECK_VALUE(!amsgrad || named.Has(most), most,
                      " is null; expected one, as amsgrad is true");
    const at::Tensor var = Wide(named.Tensor("varRef"));
    const AdamNumbers numbers = NumbersOf(named);
    at::Tensor grad = StateOf(named, "grad", var);
    grad = named.Flag("maximize") ? at::neg(grad) : grad;
    const at::Tensor m = Moment(StateOf(named, "mRef", var), numbers.beta1, grad);
    const at::Tensor v = Moment(StateOf(named, "vRef", var), numbers.beta2, at::mul(grad, grad));
    const at::Tensor largest = amsgrad ? at::maximum(StateOf(named, most, var), v) : v;
    const at::Tensor root =
        at::add(at::sqrt(at::div(largest, at::rsub(numbers.power2, 1))), numbers.epsilon);
    const at::Tensor step = at::div(at::div(m, at::rsub(numbers.power1, 1)), root);
    const at::Tensor kept = at::mul(var, at::rsub(at::mul(numbers.rate, numbers.decay), 1));
    Named::Results results{{"varRef", at::sub(kept, at::mul(step, numbers.rate))},
                           {"mRef", m},
                           {"vRef", second ? v : largest}};
    if (second && amsgrad) {
        results.emplace_back(most, largest);
    }
    named.Put(results);
}

}  // namespace advstep_operators
