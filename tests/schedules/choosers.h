// SPDX-License-Identifier: Apache-2.0
// The ways to choose schedules: all of them with few preemptions, at random, and as told.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/schedules/scheduler.h"

namespace schedules {

/// Takes every schedule with at most `bound` preemptions, by depth first. Which threads continue
/// where one has to sleep costs nothing, so all ways are taken there.
class EveryChooser : public Chooser {
 public:
    explicit EveryChooser(int bound) : bound_(bound) {}
    size_t Choose(const std::vector<Option>& options) override;
    bool Next() override;
    bool Reduces() const override { return true; }

    /// Schedules that had other options than the same choices had before. A few are no harm: the
    /// library has learnt something since, as the size of a table.
    uint64_t diverged() const { return diverged_; }

 private:
    struct Node {
        uint32_t costs;  // a bit for each option
        uint16_t count;
        uint16_t chosen;
    };
    const int bound_;
    std::vector<Node> path_;
    size_t depth_ = 0;
    bool first_ = true;
    uint64_t diverged_ = 0;
};

/// Makes random choices, one kind of schedule in turn with another: by random priorities, of which
/// some fall at random places (probabilistic concurrency testing), and by switches at a random
/// rate.
class RandomChooser : public Chooser {
 public:
    RandomChooser(uint64_t seed, uint64_t expectedChoices);
    size_t Choose(const std::vector<Option>& options) override;
    bool Next() override { return false; }

 private:
    uint64_t Random();
    uint64_t Below(uint64_t limit) { return Random() % limit; }
    uint64_t& PriorityOf(int thread);

    uint64_t state_;
    bool byPriority_;
    uint64_t rate_;                  // a switch at one choice among these
    uint64_t deadlineRate_;          // an early deadline likewise
    std::vector<uint64_t> changes_;  // the choices at which a priority falls
    std::vector<uint64_t> priorities_;
    uint64_t lowest_ = 1'000;
    uint64_t choice_ = 0;
};

/// Repeats a schedule by its choices that were not the first option.
class FixedChooser : public Chooser {
 public:
    explicit FixedChooser(std::vector<std::pair<uint64_t, size_t>> choices, bool reduces)
        : choices_(std::move(choices)), reduces_(reduces) {}
    size_t Choose(const std::vector<Option>& options) override;
    bool Next() override { return false; }
    bool Reduces() const override { return reduces_; }

 private:
    const std::vector<std::pair<uint64_t, size_t>> choices_;
    const bool reduces_;
    size_t next_ = 0;
    uint64_t choice_ = 0;
};

}  // namespace schedules
