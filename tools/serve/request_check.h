// SPDX-License-Identifier: Apache-2.0
// Compares finished requests with the same requests computed on a contiguous cache.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "contiguous_reference.h"
#include "scheduler.h"

namespace serve {

/// A fault is a token or a K/V cell that differs from the reference, or a recovery with too few
/// blocks.
class RequestCheck {
 public:
    /// @param report  gets a line of text for each of the first faults
    explicit RequestCheck(std::function<void(const std::string&)> report)
        : report_(std::move(report)) {}

    /// @param cells  of all its tokens but the last, by position, as read through its block table
    void Compare(const Sequence& sequence, const KvCell* cells);

    /// Expects a recovered sequence to have blocks for all the tokens that it prefills.
    void CompareRecovery(const Sequence& sequence, int64_t blocks, int64_t blockSize);

    int64_t Faults() const { return differences_ + shortRecoveries_; }

 private:
    void CompareTokens(const Sequence& sequence);
    void CompareCells(const Request& request, const KvCell* cells);
    // Counts a fault among those of its kind; only the first of a kind are shown.
    void AddFault(int64_t& faults, const Request& request, int64_t position,
                  const std::string& what);

    std::function<void(const std::string&)> report_;
    ReferenceRun reference_;
    int64_t differences_ = 0;
    int64_t shortRecoveries_ = 0;
};

}  // namespace serve
