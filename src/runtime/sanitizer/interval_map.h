// SPDX-License-Identifier: Apache-2.0
// Maps and sets of ranges of numbers.

#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace advstep {

/// A map from disjoint ranges [begin, end) to values.
template <typename Value>
class IntervalMap {
 public:
    /// Calls visit(begin, end, Value&) for the parts of [begin, end), in ascending order. Ranges
    /// are split at both ends, and gaps get new values.
    template <typename Visit>
    void Fill(uint64_t begin, uint64_t end, Visit&& visit) {
        SplitAt(begin);
        SplitAt(end);
        auto next = ranges_.lower_bound(begin);
        for (uint64_t at = begin; at < end;) {
            if (next == ranges_.end() || next->first > at) {
                const uint64_t gapEnd = next == ranges_.end() ? end : std::min(end, next->first);
                next = ranges_.emplace_hint(next, at, Range{gapEnd, Value()});
            }
            visit(at, next->second.end, next->second.value);
            at = next->second.end;
            ++next;
        }
    }

    /// Calls visit(begin, end, const Value&) for the parts of [begin, end) that have a value.
    template <typename Visit>
    void ForEach(uint64_t begin, uint64_t end, Visit&& visit) const {
        auto next = ranges_.upper_bound(begin);
        if (next != ranges_.begin() && std::prev(next)->second.end > begin) {
            --next;
        }
        for (; next != ranges_.end() && next->first < end; ++next) {
            visit(std::max(begin, next->first), std::min(end, next->second.end),
                  next->second.value);
        }
    }

    void Erase(uint64_t begin, uint64_t end) {
        SplitAt(begin);
        SplitAt(end);
        ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    }

    /// Erases the ranges whose values `drop(Value&)` returns true for, and joins neighbours with
    /// equal values.
    template <typename Drop>
    void Sweep(Drop&& drop) {
        for (auto next = ranges_.begin(); next != ranges_.end();) {
            if (drop(next->second.value)) {
                next = ranges_.erase(next);
                continue;
            }
            if (next != ranges_.begin()) {
                const auto before = std::prev(next);
                if (before->second.end == next->first &&
                    before->second.value == next->second.value) {
                    before->second.end = next->second.end;
                    next = ranges_.erase(next);
                    continue;
                }
            }
            ++next;
        }
    }

    size_t Size() const { return ranges_.size(); }

 private:
    struct Range {
        uint64_t end;
        Value value;
    };

    void SplitAt(uint64_t place) {
        auto after = ranges_.lower_bound(place);
        if (after == ranges_.begin()) {
            return;
        }
        const auto before = std::prev(after);
        if (before->second.end > place) {
            ranges_.emplace_hint(after, place, Range{before->second.end, before->second.value});
            before->second.end = place;
        }
    }

    std::map<uint64_t, Range> ranges_;  // by begin
};

/// A set of numbers, as ranges [begin, end) that do not touch.
class IntervalSet {
 public:
    void Add(uint64_t begin, uint64_t end) {
        if (begin >= end) {
            return;
        }
        auto next = ranges_.upper_bound(end);
        while (next != ranges_.begin() && std::prev(next)->second >= begin) {
            --next;
            begin = std::min(begin, next->first);
            end = std::max(end, next->second);
            next = ranges_.erase(next);
        }
        ranges_.emplace(begin, end);
    }

    void Remove(uint64_t begin, uint64_t end) {
        auto next = ranges_.lower_bound(end);
        while (next != ranges_.begin() && std::prev(next)->second > begin) {
            --next;
            const auto [from, to] = *next;
            next = ranges_.erase(next);
            if (to > end) {
                next = ranges_.emplace(end, to).first;
            }
            if (from < begin) {
                next = ranges_.emplace(from, begin).first;
            }
        }
    }

    /// Calls visit(begin, end) for the parts of [begin, end) in the set.
    template <typename Visit>
    void ForEach(uint64_t begin, uint64_t end, Visit&& visit) const {
        auto next = ranges_.upper_bound(begin);
        if (next != ranges_.begin() && std::prev(next)->second > begin) {
            --next;
        }
        for (; next != ranges_.end() && next->first < end; ++next) {
            visit(std::max(begin, next->first), std::min(end, next->second));
        }
    }

    bool Meets(uint64_t begin, uint64_t end) const {
        bool meets = false;
        ForEach(begin, end, [&](uint64_t, uint64_t) { meets = true; });
        return meets;
    }

 private:
    std::map<uint64_t, uint64_t> ranges_;  // end by begin
};

}  // namespace advstep
