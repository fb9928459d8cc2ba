// SPDX-License-Identifier: Apache-2.0
// Engines on "cpu" that are moved to the seed and offset of "npu" generators.

#include "torch_kernels/device/generators.h"

#include <ATen/core/DistributionsHelper.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace advstep_torch {
namespace {

std::atomic<uint64_t> drawsRepeated{0};

uint64_t Draw(at::mt19937* engine, uint64_t count) {
    for (uint64_t index = 0; index < count; ++index) {
        (void)(*engine)();
    }
    return count;
}

}  // namespace

void EngineStates::Keep(uint64_t draws, const at::mt19937& engine) {
    const auto next = states_.upper_bound(draws);
    if (draws - (next == states_.begin() ? 0 : std::prev(next)->first) < distance_) {
        return;
    }
    states_.emplace(draws, engine);
    if (states_.size() > kMost) {
        distance_ *= 2;
        for (auto state = states_.begin(); state != states_.end();) {
            state = states_.erase(state);  // every second one
            state = state == states_.end() ? state : std::next(state);
        }
    }
}

uint64_t EngineStates::Restore(uint64_t draws, at::mt19937* engine) const {
    const auto next = states_.upper_bound(draws);
    if (next == states_.begin()) {
        return 0;
    }
    *engine = std::prev(next)->second;
    return std::prev(next)->first;
}

void Engine::Seek(uint64_t newSeed, uint64_t newOffset) {
    if (seeded && seed == newSeed && offset == newOffset) {
        return;
    }
    if (!seeded || seed != newSeed) {
        states.Clear();
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
    drawsRepeated.fetch_add(Draw(&engine, before - states.Restore(before, &engine)));
    states.Keep(before, engine);
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

void Engine::Advance(at::mt19937 before) {
    const at::mt19937_data_pod now = impl().engine().data();
    constexpr uint64_t kMost = uint64_t{1} << 36U;
    uint64_t draws = 0;
    while (draws < kMost &&
           std::memcmp(before.data().state_.data(), now.state_.data(), sizeof now.state_) != 0) {
        draws += Draw(&before, static_cast<uint64_t>(before.data().left_));
    }
    draws += now.next_ - before.data().next_;
    exact = exact && draws < kMost;
    draws += offset / 16;
    if (exact) {
        states.Keep(draws, impl().engine());
    }
    offset = draws * 16 + (impl().next_double_normal_sample().has_value() ? 4 : 0) +
             (impl().next_float_normal_sample().has_value() ? 8 : 0);
}

Drawing::Drawing(at::Generator npu, std::shared_ptr<Engine> engine, CapturedDraw captured)
    : npu_(std::move(npu)),
      engine_(std::move(engine)),
      lock_(engine_->mutex),
      captured_(std::move(captured)) {
    const std::lock_guard<std::mutex> lock(npu_.mutex());
    if (captured_.draws != nullptr) {
        captured_.draws->Begin(captured_.draw);
    }
    engine_->Seek(npu_.current_seed(), npu_.get_offset());
    before_ = engine_->impl().engine();
}

Drawing::~Drawing() {
    const std::lock_guard<std::mutex> lock(npu_.mutex());
    engine_->Advance(before_);
    npu_.set_offset(engine_->offset);
    if (captured_.draws != nullptr) {
        captured_.draws->End(captured_.draw);
    }
}

std::shared_ptr<Engine> EngineOf(const at::Generator& npu) {
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

uint64_t DrawsRepeated() { return drawsRepeated.load(); }

}  // namespace advstep_torch
