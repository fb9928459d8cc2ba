// Which requests are decoded, and in which rows. Host only: it calls neither device nor operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <vector>

#include "block_pool.h"
#include "request_trace.h"
#include "serve_options.h"

namespace serve {

/// A request that is being decoded.
struct Sequence {
    const Request* request;
    std::vector<int32_t> blocks;  // its block table
    std::vector<int64_t> tokens;  // generated so far

    /// Whether its next token is its last.
    bool EndsNext() const {
        return static_cast<int64_t>(tokens.size()) + 1 == request->generatedTokens;
    }
};

/// A request that no admission could ever take.
class NeverFits : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

class Scheduler {
 public:
    /// @throws NeverFits  names the first request that needs more than the pool or a table has
    Scheduler(const std::vector<Request>& requests, const Options& options);

    bool Done() const { return nextArrival_ == requests_.size() && waiting_.empty() && Idle(); }
    bool Idle() const { return rows_.empty(); }

    /// Requests that have arrived by now wait their turn.
    void Arrive(int64_t now);
    /// Of the first request still to arrive.
    int64_t NextArrivalTime() const { return requests_.at(nextArrival_).arrival; }

    /// Rows [firstRow, firstRow + count) are new and want a prefill.
    struct Admission {
        int64_t firstRow;
        int64_t count;
        int64_t promptTokens;
    };

    /// Admits waiting requests, first come first served, while a row, all blocks for prompt and
    /// generated tokens, and room in the prefill are there.
    Admission Admit();

    /// Prompt tokens of one prefill never exceed this.
    int64_t PrefillRoom() const { return prefillRoom_; }

    /// Live sequences by row, without holes.
    std::vector<Sequence>& Rows() { return rows_; }
    int64_t RowCount() const { return static_cast<int64_t>(rows_.size()); }

    /// Takes a sequence out and gives its blocks back. The last row moves into its place.
    Sequence Retire(int64_t row);

    const BlockPool& Blocks() const { return pool_; }

 private:
    bool HeadFits(int64_t promptTokens) const;

    const std::vector<Request>& requests_;
    const Options& options_;
    int64_t prefillRoom_;
    size_t nextArrival_ = 0;
    std::deque<const Request*> waiting_;
    std::vector<Sequence> rows_;
    BlockPool pool_;
};

}  // namespace serve
