// SPDX-License-Identifier: Apache-2.0
// Queries of attention that are whole numbers: which scales go with them, and their exact products.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// The scales of queries of INT8, whose keys and values are INT8 as well. A call whose queries are
/// floats has none.
///
/// Scales of the whole tensor: scores = (q kT) * dequantScale1, and a weight is
/// exp(score - largest score) before it is divided by the sum of its row. Weights are rounded,
/// w = round(weight * quantScale1), and the result is (w v) * dequantScale2 / sum.
///
/// Scales of tokens and heads: scores = (q kT + qr krT) * dequantScaleQuery * keyAntiquantScale, as
/// callers divide their queryRope by both scales. Weights are not rounded.
class QueryQuant {
 public:
    QueryQuant() = default;
    /// Refuses queries of other dtypes, and arguments that do not go with those of INT8.
    QueryQuant(const Named& named, bool incremental);

    bool defined() const { return afterKeys_.defined() || ofTokens_.defined(); }
    bool IsByTensor() const { return afterKeys_.defined(); }

    /// Returns the scales of tokens and heads, laid out as queries with heads of one number.
    const at::Tensor& OfTokens() const { return ofTokens_; }

    /// Returns the exact products of q, [heads, queries, D], with k, [heads, keys, D], in float32.
    /// By tensor they are times their scale.
    at::Tensor Products(const at::Tensor& q, const at::Tensor& k) const;

    /// Returns what weights of 0 to 1, [heads, queries, keys], make of v, by tensor.
    at::Tensor Sums(const at::Tensor& weights, const at::Tensor& v) const;

 private:
    void SetByTensor(const Named& named);
    void SetByToken(const Named& named);

    at::Tensor afterKeys_;  // one number each, or undefined
    at::Tensor ofWeights_;
    at::Tensor afterValues_;
    at::Tensor ofTokens_;
};

}  // namespace advstep_operators
