// SPDX-License-Identifier: Apache-2.0
// The bare update on one thread or two: the roofline of a launch that threads share.

#pragma once

#include <cstdint>
#include <vector>

#include "tests/benchmark/bare_loop.h"
#include "tests/benchmark/crew.h"
#include "tests/benchmark/large_pages.h"

/// The bare loop's update without a division, with the lines of the table fetched ahead, on one
/// thread or cut in halves for two. As a launch, which writes no tensor before all rows are known
/// to be good, it reads the table first and keeps the slots, and it has large pages. It checks
/// nothing and no thread waits for the other, so two threads are as fast as the memory allows.
class PlainHalves {
 public:
    /// blockSize is a power of two.
    PlainHalves(BareBatch initial, int64_t blockSize);

    /// As BareSteps.
    int64_t mostSteps() const { return mostSteps_; }
    void MakeRoom(int64_t steps);
    /// Returns the batch as it is now.
    const BareBatch& batch();

    /// So many steps on one thread or two; nanoseconds of one.
    double Run(int threads, int64_t steps);

 private:
    // An array of the batch in its own memory.
    class Values {
     public:
        explicit Values(const std::vector<int64_t>& initial);
        int64_t* data() const { return reinterpret_cast<int64_t*>(memory_.get()); }
        void CopyTo(std::vector<int64_t>* values) const;

     private:
        LargePages memory_;
    };

    void Advance(int64_t begin, int64_t end);

    BareBatch batch_;
    std::vector<int64_t> lengths_;
    Values sampled_, blocks_, tokens_, positions_, seqLens_, slots_, kept_;
    int64_t shift_;
    int64_t mostSteps_;
    int64_t steps_ = 0;
    Crew crew_{2};
};
