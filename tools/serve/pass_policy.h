// SPDX-License-Identifier: Apache-2.0
// How an iteration is shared out between prefills and decoding. First come, first served.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "serve_options.h"

namespace serve {

/// What an iteration has to do before another request is admitted.
struct PassLoad {
    int64_t admitted = 0;    // prompt tokens of those admitted in this iteration
    int64_t prefill = 0;     // tokens that all sequences want prefilled, the admitted ones included
    int64_t decodeRows = 0;  // tokens of the sequences that decode
};

/// A sequence that wants a prefill.
struct PrefillShare {
    int64_t index;  // the caller's
    int64_t wanted;
    int64_t granted = 0;
};

class PassPolicy {
 public:
    virtual ~PassPolicy() = default;

    /// Whether the policy has room for a prompt; slots and blocks are another matter.
    virtual bool Admits(int64_t promptTokens, const PassLoad& load) const = 0;
    /// Grants tokens to the sequences that want some, which are in order of arrival. Those that
    /// decode do so in any case.
    virtual void Share(std::vector<PrefillShare>& prefills, int64_t decodeRows) const = 0;
};

/// Prompts whole: those admitted together are within the budget, a longer one is admitted alone.
class PrefillFirst : public PassPolicy {
 public:
    explicit PrefillFirst(int64_t budget) : budget_(budget) {}
    bool Admits(int64_t promptTokens, const PassLoad& load) const override;
    void Share(std::vector<PrefillShare>& prefills, int64_t decodeRows) const override;

 private:
    int64_t budget_;
};

/// Prompts in chunks: what those that decode leave of the budget goes to prefills, the first ones
/// first. A request is admitted while something would be left for it.
class ChunkedPrefill : public PassPolicy {
 public:
    explicit ChunkedPrefill(int64_t budget) : budget_(budget) {}
    bool Admits(int64_t promptTokens, const PassLoad& load) const override;
    void Share(std::vector<PrefillShare>& prefills, int64_t decodeRows) const override;

 private:
    int64_t budget_;
};

std::unique_ptr<PassPolicy> MakePolicy(const Options& options);

}  // namespace serve
