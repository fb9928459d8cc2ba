// SPDX-License-Identifier: Apache-2.0
// Filters of logits, and draws.

#include "src/operators/aten/sampling.h"

#include <limits>

#include "src/operators/aten/random.h"
#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Returns the logits, [rows, columns], without those that are not among the k largest of their row.
// A k that is not 1 to the number of columns leaves all.
at::Tensor Largest(const at::Tensor& logits, const at::Tensor& k) {
    CheckShape("k", k, {logits.size(0)});
    const int64_t columns = logits.size(1);
    const at::Tensor wanted = k.to(at::kLong);
    const at::Tensor counts = at::where(at::logical_and(at::gt(wanted, 0), at::lt(wanted, columns)),
                                        wanted, at::full_like(wanted, columns));
    const at::Tensor falling = std::get<0>(at::sort(logits, -1, true));
    const at::Tensor least = at::gather(falling, 1, at::sub(counts, 1).unsqueeze(1));
    return at::masked_fill(logits, at::lt(logits, least), kLowest);
}

// Returns the logits without the smallest ones whose probabilities are at most 1 - p together. The
// largest one stays.
at::Tensor Likeliest(const at::Tensor& logits, const at::Tensor& p) {
    CheckShape("p", p, {logits.size(0)});
    const auto [rising, order] = at::sort(logits, true, -1, false);
    const at::Tensor sums = at::cumsum(at::softmax(rising, -1), -1);
    at::Tensor hidden = at::le(sums, at::rsub(Wide(p), 1).unsqueeze(1));
    hidden = at::cat(
        {hidden.narrow(1, 0, logits.size(1) - 1), at::zeros_like(hidden.narrow(1, 0, 1))}, 1);
    return at::masked_fill(logits, at::scatter(at::zeros_like(hidden), 1, order, hidden), kLowest);
}

at::Tensor LogitsOf(const Named& named) {
    const at::Tensor logits = named.Tensor("logits");
    CheckShape("logits", logits, {-1, -1});
    TORCH_CHECK_VALUE(logits.size(1) > 0, "logits has shape ", logits.sizes(),
                      "; expected at least one column");
    return Wide(logits);
}

}  // namespace

void ApplyTopKTopP(Call& call) {
    Named named(call);
    at::Tensor logits = LogitsOf(named);
    if (const at::Tensor k = named.Tensor("k"); k.defined()) {
        logits = Largest(logits, k);
    }
    if (const at::Tensor p = named.Tensor("p"); p.defined()) {
        logits = Likeliest(logits, p);
    }
    named.Put({{"out", logits}});
}

void TopKTopPSample(Call& call) {
    Named named(call);
    at::Tensor logits = Largest(LogitsOf(named), named.Tensor("topK"));
    logits = Likeliest(logits, named.Tensor("topP"));
    at::Tensor merit = at::softmax(logits, -1);
    if (const at::Tensor q = named.Tensor("q"); q.defined()) {
        CheckShape("q", q, logits.sizes());
        merit = at::div(merit, at::add(at::abs(Wide(q)), named.Real("eps")));
    }
    TORCH_CHECK_VALUE(!named.Flag("isNeedLogits") || named.Has("logitsTopKPSelect"),
                      "logitsTopKPSelect is null; expected a tensor, as isNeedLogits is true");
    named.Put({{"logitsSelectIdx", at::argmax(merit, -1)},
               {"logitsTopKPSelect", named.Flag("isNeedLogits") ? logits : at::Tensor()}});
}

void MultinomialTensor(Call& call) {
    Named named(call);
    const at::Tensor seed = named.Tensor("seedTensor");
    const at::Tensor offset = named.Tensor("offsetTensor");
    TORCH_CHECK_VALUE(seed.numel() == 1 && offset.numel() == 1, "seedTensor and offsetTensor have ",
                      seed.numel(), " and ", offset.numel(), " elements; expected one each");
    const at::Generator generator =
        Generator(seed.item().toLong(), offset.item().toLong() + named.Int("offset"));
    named.Put({{"out", at::multinomial(named.Tensor("self"), named.Int("numsamples"),
                                       named.Flag("replacement"), generator)}});
}

}  // namespace advstep_operators
