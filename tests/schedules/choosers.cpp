// SPDX-License-Identifier: Apache-2.0
// Implements the ways to choose schedules.
#include "tests/schedules/choosers.h"

#include <algorithm>

namespace schedules {

size_t EveryChooser::Choose(const std::vector<Option>& options) {
    Node now{0, static_cast<uint16_t>(std::min<size_t>(options.size(), 32)), 0};
    for (uint16_t i = 0; i < now.count; ++i) {
        now.costs |= static_cast<uint32_t>(options[i].cost) << i;
    }
    if (depth_ < path_.size()) {
        const Node& before = path_[depth_];
        if (before.costs == now.costs && before.count == now.count) {
            ++depth_;
            return before.chosen;
        }
        path_.resize(depth_);
        ++diverged_;
    }
    path_.push_back(now);
    ++depth_;
    return 0;
}

bool EveryChooser::Next() {
    depth_ = 0;
    if (std::exchange(first_, false)) {
        return true;
    }
    int used = 0;
    for (const Node& node : path_) {
        used += static_cast<int>(node.costs >> node.chosen & 1U);
    }
    while (!path_.empty()) {
        Node& last = path_.back();
        used -= static_cast<int>(last.costs >> last.chosen & 1U);
        for (auto option = static_cast<uint16_t>(last.chosen + 1); option < last.count; ++option) {
            if (used + static_cast<int>(last.costs >> option & 1U) <= bound_) {
                last.chosen = option;
                return true;
            }
        }
        path_.pop_back();
    }
    return false;
}

RandomChooser::RandomChooser(uint64_t seed, uint64_t expectedChoices) : state_(seed) {
    byPriority_ = Below(2) == 0;
    rate_ = uint64_t{2} << Below(6);
    deadlineRate_ = uint64_t{8} << Below(5);
    const uint64_t changes = 1 + Below(5);
    for (uint64_t i = 0; i < changes; ++i) {
        changes_.push_back(Below(std::max<uint64_t>(expectedChoices, 8)));
    }
}

// SplitMix64.
uint64_t RandomChooser::Random() {
    uint64_t word = (state_ += 0x9E3779B97F4A7C15U);
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
}

uint64_t& RandomChooser::PriorityOf(int thread) {
    while (priorities_.size() <= static_cast<size_t>(thread)) {
        priorities_.push_back(1'000'000 + Below(1'000'000));
    }
    return priorities_[static_cast<size_t>(thread)];
}

size_t RandomChooser::Choose(const std::vector<Option>& options) {
    const bool change = std::find(changes_.begin(), changes_.end(), choice_++) != changes_.end();
    const bool deadline = options.back().deadline && Below(deadlineRate_) == 0;
    if (!byPriority_) {
        const bool sleeps = options[1].cost == 0;  // the thread that ran
        const size_t usual = options.size() - (options.back().deadline ? 1 : 0);
        return deadline ? options.size() - 1 : sleeps || Below(rate_) == 0 ? Below(usual) : 0;
    }
    if (deadline) {
        return options.size() - 1;
    }
    if (change) {
        PriorityOf(options.front().thread) = --lowest_;
    }
    size_t best = 0;
    for (size_t i = 1; i < options.size(); ++i) {
        if (!options[i].deadline &&
            PriorityOf(options[i].thread) > PriorityOf(options[best].thread)) {
            best = i;
        }
    }
    return best;
}

size_t FixedChooser::Choose(const std::vector<Option>& options) {
    const uint64_t now = choice_++;
    if (next_ < choices_.size() && choices_[next_].first == now) {
        return std::min(choices_[next_++].second, options.size() - 1);
    }
    return 0;
}

}  // namespace schedules
