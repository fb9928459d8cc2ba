// SPDX-License-Identifier: Apache-2.0
// A call of attention of training: its layout, its requests, and what they hide.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// A request's tensors, in float32.
struct FlashRequest {
    at::Tensor query;   // [N, Sq, D], with the rope part behind
    at::Tensor key;     // [Nk, Sk, D]
    at::Tensor value;   // [Nk, Sk, Dv]
    at::Tensor hidden;  // bool, broadcasts to [N, Sq, Sk]; or undefined
    at::Tensor bias;    // [N, Sq, Sk], of it or broadcast; or undefined
    at::Tensor kept;    // factors of the probabilities, [N, Sq, Sk]; or undefined
};

/// The arguments of a call that all requests have in common. It borrows the call.
class FlashCall {
 public:
    explicit FlashCall(const Named& named);

    int64_t requests() const { return requests_; }
    int64_t heads() const { return heads_; }
    double scale() const { return scale_; }
    bool scalesBias() const { return pseType_ == 1; }

    FlashRequest Request(int64_t request) const;

    /// Returns the part of a tensor that a request has, [heads, tokens, D]: of queries or of keys.
    at::Tensor Part(const at::Tensor& tensor, int64_t request, bool ofQueries) const;
    /// Returns the same part of softmaxMax or softmaxSum, [N, Sq, 8].
    at::Tensor Statistic(const at::Tensor& tensor, int64_t request) const;
    at::Tensor PartOfPse(const at::Tensor& pse, int64_t request) const;

    at::Tensor query() const { return query_; }
    at::Tensor key() const { return key_; }
    at::Tensor value() const { return value_; }
    at::Tensor queryRope() const { return queryRope_; }
    at::Tensor keyRope() const { return keyRope_; }
    at::Tensor pse() const { return pse_; }

    /// Returns zeros, in float32: of the shape of the queries with values' heads, and of
    /// statistics.
    at::Tensor Result() const;
    at::Tensor Statistics() const;

 private:
    void ReadLayout(const Named& named);
    void ReadOptions(const Named& named);
    at::Tensor Hidden(int64_t request, int64_t queries, int64_t keys) const;
    at::Tensor Kept(int64_t request, int64_t queries, int64_t keys) const;

    at::Tensor query_, key_, value_, queryRope_, keyRope_, pse_, mask_, dropMask_;
    std::string layout_;
    int64_t heads_ = 0;
    int64_t keyHeads_ = 0;
    int64_t requests_ = 0;
    double scale_ = 1;
    double keepProb_ = 1;
    int64_t before_ = 0;
    int64_t after_ = 0;
    int64_t sparseMode_ = 0;
    int64_t pseType_ = 1;
    std::vector<int64_t> queryEnds_;  // of TND
    std::vector<int64_t> keyEnds_;
};

}  // namespace advstep_operators
