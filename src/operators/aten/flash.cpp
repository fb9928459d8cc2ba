// SPDX-License-Identifier: Apache-2.0
// The sums of attention of training, forward and backward.

#include "src/operators/aten/flash.h"

#include <limits>

#include "src/operators/aten/flash_call.h"
#include "src/operators/aten/rounding.h"

namespace advstep_operators {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Returns [N, S, D] as [heads, N / heads * S, D]: a head of keys serves several of queries.
at::Tensor ByKeyHead(const at::Tensor& tensor, int64_t heads) {
    return tensor.reshape({heads, tensor.size(0) / heads * tensor.size(1), tensor.size(2)});
}

at::Tensor ScoresOf(const FlashCall& call, const FlashRequest& one) {
    const int64_t heads = one.key.size(0);
    at::Tensor scores = at::matmul(ByKeyHead(one.query, heads), one.key.transpose(1, 2))
                            .reshape({one.query.size(0), one.query.size(1), one.key.size(1)});
    if (one.bias.defined() && call.scalesBias()) {
        scores = at::add(scores, one.bias);
    }
    scores = at::mul(scores, call.scale());
    if (one.bias.defined() && !call.scalesBias()) {
        scores = at::add(scores, one.bias);
    }
    return one.hidden.defined() ? at::masked_fill(scores, one.hidden, kLowest) : scores;
}

at::Tensor PowersOf(const at::Tensor& scores, const at::Tensor& most) {
    return at::exp(at::sub(scores, at::masked_fill(most, at::eq(most, kLowest), 0)));
}

struct Forward {
    at::Tensor out;    // [N, Sq, Dv]
    at::Tensor most;   // [N, Sq, 1]
    at::Tensor total;  // [N, Sq, 1]
};

at::Tensor Probabilities(const at::Tensor& powers, const at::Tensor& total) {
    return at::div(powers, at::masked_fill(total, at::eq(total, 0), 1));
}

Forward Attend(const FlashCall& call, const FlashRequest& one) {
    const at::Tensor scores = ScoresOf(call, one);
    const int64_t heads = one.key.size(0);
    Forward forward;
    forward.most = one.key.size(1) > 0
                       ? at::amax(scores, -1, true)
                       : at::full({scores.size(0), scores.size(1), 1}, kLowest, scores.options());
    const at::Tensor powers = PowersOf(scores, forward.most);
    forward.total = at::sum(powers, -1, true);
    at::Tensor weights = Probabilities(powers, forward.total);
    weights = one.kept.defined() ? at::mul(weights, one.kept) : weights;
    forward.out = at::matmul(ByKeyHead(weights, heads), one.value)
                      .reshape({scores.size(0), scores.size(1), one.value.size(2)});
    return forward;
}

}  // namespace

void FlashAttention(Call& call) {
    Named named(call);
    const FlashCall flash(named);
    const at::Tensor out = flash.Result();
    const at::Tensor most = flash.Statistics();
    const at::Tensor total = flash.Statistics();
    for (int64_t request = 0; request < flash.requests(); ++request) {
        const Forward forward = Attend(flash, flash.Request(request));
        flash.Part(out, request, true).copy_(forward.out);
        flash.Statistic(most, request).copy_(forward.most.expand({-1, -1, 8}));
        flash.Statistic(total, request).copy_(forward.total.expand({-1, -1, 8}));
    }
    named.Put({{"softmaxMaxOut", most}, {"softmaxSumOut", total}, {"attentionOutOut", out}});
}

namespace {

// The gradients of a call, as its arguments, in float32.
struct Gradients {
    at::Tensor query, key, value, queryRope, keyRope, pse;
};

at::Tensor Zeros(const at::Tensor& like) {
    return like.defined() ? at::zeros(like.sizes(), like.options().dtype(at::kFloat)) : like;
}

// What the forward pass has given, for a request.
Forward Given(const Named& named, const FlashCall& flash, const FlashRequest& one,
              int64_t request) {
    const at::Tensor most = named.Tensor("softmaxMax");
    const at::Tensor total = named.Tensor("softmaxSum");
    const at::Tensor out = named.Tensor("attentionIn");
    const bool isWhole = most.defined() && total.defined() && out.defined();
    Forward forward = isWhole ? Forward() : Attend(flash, one);
    if (most.defined()) {
        forward.most = Wide(flash.Statistic(most, request)).narrow(-1, 0, 1);
    }
    if (total.defined()) {
        forward.total = Wide(flash.Statistic(total, request)).narrow(-1, 0, 1);
    }
    if (out.defined()) {
        CheckShape("attentionInOptional", out, flash.Result().sizes());
        forward.out = Wide(flash.Part(out, request, true));
    }
    return forward;
}

void AddRequest(const Named& named, const FlashCall& flash, int64_t request,
                const Gradients& into) {
    const FlashRequest one = flash.Request(request);
    const Forward forward = Given(named, flash, one, request);
    const int64_t heads = one.key.size(0);
    const at::Tensor dy = Wide(flash.Part(named.Tensor("dy"), request, true));
    const at::Tensor weights =
        Probabilities(PowersOf(ScoresOf(flash, one), forward.most), forward.total);
    const at::Tensor kept = one.kept.defined() ? at::mul(weights, one.kept) : weights;
    flash.Part(into.value, request, false)
        .copy_(at::matmul(ByKeyHead(kept, heads).transpose(1, 2), ByKeyHead(dy, heads)));
    at::Tensor change =
        at::matmul(ByKeyHead(dy, heads), one.value.transpose(1, 2)).reshape(weights.sizes());
    change = one.kept.defined() ? at::mul(change, one.kept) : change;
    const at::Tensor delta = at::sum(at::mul(dy, forward.out), -1, true);
    const at::Tensor scores = at::mul(weights, at::sub(change, delta));
    const at::Tensor grouped = ByKeyHead(scores, heads);
    const at::Tensor dq =
        at::mul(at::matmul(grouped, one.key).reshape(one.query.sizes()), flash.scale());
    const at::Tensor dk =
        at::mul(at::matmul(grouped.transpose(1, 2), ByKeyHead(one.query, heads)), flash.scale());
    const int64_t rope = flash.queryRope().defined() ? flash.queryRope().size(-1) : 0;
    const int64_t size = one.query.size(2) - rope;
    flash.Part(into.query, request, true).copy_(dq.narrow(-1, 0, size));
    flash.Part(into.key, request, false).copy_(dk.narrow(-1, 0, size));
    if (rope > 0) {
        flash.Part(into.queryRope, request, true).copy_(dq.narrow(-1, size, rope));
        flash.Part(into.keyRope, request, false).copy_(dk.narrow(-1, size, rope));
    }
    if (into.pse.defined()) {
        const at::Tensor part = flash.PartOfPse(into.pse, request);
        const at::Tensor dpse = flash.scalesBias() ? at::mul(scores, flash.scale()) : scores;
        part.add_(at::sum_to(dpse, part.sizes()));
    }
}

}  // namespace

void FlashAttentionGrad(Call& call) {
    Named named(call);
    const FlashCall flash(named);
    CheckShape("dy", named.Tensor("dy"), flash.Result().sizes());
    const Gradients into = {Zeros(flash.query()),     Zeros(flash.key()),     Zeros(flash.value()),
                            Zeros(flash.queryRope()), Zeros(flash.keyRope()), Zeros(flash.pse())};
    for (int64_t request = 0; request < flash.requests(); ++request) {
        AddRequest(named, flash, request, into);
    }
    named.Put({{"dqOut", into.query},
               {"dkOut", into.key},
               {"dvOut", into.value},
               {"dqRopeOut", into.queryRope},
               {"dkRopeOut", into.keyRope},
               {"dpseOut", into.pse}});
}

}  // namespace advstep_operators
