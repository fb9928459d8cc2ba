// Compares finished requests with the same requests computed on a contiguous cache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "contiguous_reference.h"
#include "scheduler.h"

namespace serve {

/// A fault is a token or a K/V cell that differs from the reference.
class RequestCheck {
 public:
    /// @param report  gets a line of text for each of the first faults
    explicit RequestCheck(std::function<void(const std::string&)> report)
        : report_(std::move(report)) {}

    /// @param cells  of the whole sequence, by position, as read through its block table
    void Compare(const Sequence& sequence, int64_t closingToken, const KvCell* cells);

    int64_t Faults() const { return faults_; }

 private:
    void CompareTokens(const Sequence& sequence, int64_t closingToken);
    void CompareCells(const Request& request, const KvCell* cells);
    void AddFault(const Request& request, int64_t position, const std::string& what);

    std::function<void(const std::string&)> report_;
    ReferenceRun reference_;
    int64_t faults_ = 0;
};

}  // namespace serve
