// SPDX-License-Identifier: Apache-2.0
// The random numbers of "npu" generators: those that torch's generator for "cpu" draws.
//
// A generator of torch_npu has a seed and an offset. The offset says how many 32-bit numbers have
// been drawn since the seed, times 16, plus 4 if a normal sample in double is kept for the next
// call, plus 8 for one in float. So seed and offset are the whole state, also in a saved one.

#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/DistributionsHelper.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "device.h"

namespace advstep_torch {

inline std::atomic<uint64_t> drawsRepeated{0};  // to get to the offset of a saved state

/// States of an engine since its seed, so that a saved state costs the draws since the nearest one.
class Marks {
 public:
    void Clear() { marks_.clear(); }

    /// Keeps the engine after so many draws, unless one is kept that is little behind it.
    void Keep(uint64_t draws, const at::mt19937& engine) {
        const auto next = marks_.upper_bound(draws);
        if (draws - (next == marks_.begin() ? 0 : std::prev(next)->first) < distance_) {
            return;
        }
        marks_.emplace(draws, engine);
        if (marks_.size() > kMost) {
            distance_ *= 2;
            for (auto mark = marks_.begin(); mark != marks_.end();) {
                mark = marks_.erase(mark);  // every second one
                mark = mark == marks_.end() ? mark : std::next(mark);
            }
        }
    }

    /// Sets the engine, which is at its seed, to the last state kept that is not behind `draws`.
    /// Returns the draws until there.
    uint64_t Restore(uint64_t draws, at::mt19937* engine) const {
        const auto next = marks_.upper_bound(draws);
        if (next == marks_.begin()) {
            return 0;
        }
        *engine = std::prev(next)->second;
        return std::prev(next)->first;
    }

 private:
    static constexpr size_t kMost = 1024;  // 2.5 MB

    std::map<uint64_t, at::mt19937> marks_;   // by draws
    uint64_t distance_ = uint64_t{1} << 20U;  // a millisecond
};

/// The generator on "cpu" that draws for one on "npu". `mutex` guards it.
struct Engine {
    std::mutex mutex;
    at::Generator cpu = at::detail::createCPUGenerator();
    bool seeded = false;
    uint64_t seed = 0;
    uint64_t offset = 0;
    Marks marks;
    bool exact = true;  // so many numbers have been drawn as the offset says

    at::CPUGeneratorImpl& impl() { return *at::check_generator<at::CPUGeneratorImpl>(cpu); }

    static uint64_t Draw(at::mt19937* engine, uint64_t count) {
        for (uint64_t index = 0; index < count; ++index) {
            (void)(*engine)();
        }
        return count;
    }

    void Seek(uint64_t newSeed, uint64_t newOffset) {
        if (seeded && seed == newSeed && offset == newOffset) {
            return;
        }
        if (!seeded || seed != newSeed) {
            marks.Clear();
        }
        seed = newSeed;
        offset = newOffset;
        seeded = true;
        impl().set_current_seed(seed);
        impl().set_next_double_normal_sample(std::nullopt);
        impl().set_next_float_normal_sample(std::nullopt);
        const uint64_t keptDouble = (offset & 4U) != 0 ? 4 : 0;  // draws of the kept sample
        const uint64_t keptFloat = (offset & 8U) != 0 && keptDouble == 0 ? 2 : 0;
        const uint64_t draws = offset / 16;
        const uint64_t kept = keptDouble + keptFloat;
        at::mt19937 engine = impl().engine();
        const uint64_t before = draws - std::min(draws, kept);
        drawsRepeated.fetch_add(Draw(&engine, before - marks.Restore(before, &engine)));
        marks.Keep(before, engine);
        exact = draws >= kept;  // else a program has set an offset that no draws lead to
        impl().set_engine(engine);
        if (keptDouble != 0) {
            at::normal_distribution<double> normal(0.0, 1.0);
            (void)normal(&impl());
        } else if (keptFloat != 0) {
            at::normal_distribution<float> normal(0.0F, 1.0F);
            (void)normal(&impl());
        }
    }

    /// Adds the numbers that have been drawn since the engine was `before` to the offset.
    void Advance(at::mt19937 before) {
        const at::mt19937_data_pod now = impl().engine().data();
        constexpr uint64_t kMost = uint64_t{1} << 36U;
        uint64_t draws = 0;
        while (draws < kMost && std::memcmp(before.data().state_.data(), now.state_.data(),
                                            sizeof now.state_) != 0) {
            draws += Draw(&before, static_cast<uint64_t>(before.data().left_));
        }
        draws += now.next_ - before.data().next_;
        exact = exact && draws < kMost;
        draws += offset / 16;
        if (exact) {
            marks.Keep(draws, impl().engine());
        }
        offset = draws * 16 + (impl().next_double_normal_sample().has_value() ? 4 : 0) +
                 (impl().next_float_normal_sample().has_value() ? 8 : 0);
    }
};

/// Draws for the generator of an "npu" device during its life, and then advances the generator's
/// offset. It holds the engine's lock; the generator's own lock is taken after that.
class Drawing {
 public:
    Drawing(at::Generator npu, std::shared_ptr<Engine> engine)
        : npu_(std::move(npu)), engine_(std::move(engine)), lock_(engine_->mutex) {
        const std::lock_guard<std::mutex> lock(npu_.mutex());
        engine_->Seek(npu_.current_seed(), npu_.get_offset());
        before_ = engine_->impl().engine();
    }
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;
    ~Drawing() {
        const std::lock_guard<std::mutex> lock(npu_.mutex());
        engine_->Advance(before_);
        npu_.set_offset(engine_->offset);
    }

 private:
    at::Generator npu_;
    std::shared_ptr<Engine> engine_;
    std::unique_lock<std::mutex> lock_;
    at::mt19937 before_;
};

/// Returns the engine of a generator. All work that draws for a generator at a time has the same
/// engine, whose mutex keeps the draws apart. The engine of a freed generator may be found by a
/// later one at the same address. Its seed and offset do not fit then, so Seek sets it anew.
inline std::shared_ptr<Engine> EngineOf(const at::Generator& npu) {
    constexpr size_t kMost = 256;
    struct Table {
        std::mutex mutex;  // guards the other members
        std::unordered_map<const void*, std::shared_ptr<Engine>> engines;
        size_t most = kMost;  // engines, before those are removed that no work has
    };
    static auto* const table = new Table;  // queued work may outlive main
    const std::lock_guard<std::mutex> lock(table->mutex);
    auto& engines = table->engines;
    if (engines.size() >= table->most) {
        for (auto entry = engines.begin(); entry != engines.end();) {
            // Work gets an engine from this function only, so a count of 1 does not change here.
            entry = entry->second.use_count() == 1 ? engines.erase(entry) : std::next(entry);
        }
        table->most = std::max(kMost, 2 * engines.size());
    }
    std::shared_ptr<Engine>& engine = engines[npu.unsafeGetGeneratorImpl()];
    if (engine == nullptr) {
        engine = std::make_shared<Engine>();
    }
    return engine;
}

}  // namespace advstep_torch
