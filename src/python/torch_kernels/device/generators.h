// SPDX-License-Identifier: Apache-2.0
// The random numbers of "npu" generators: those that torch's generator for "cpu" draws.
//
// A generator of torch_npu has a seed and an offset. The offset says how many 32-bit numbers have
// been drawn since the seed, times 16, plus 4 if a normal sample in double is kept for the next
// call, plus 8 for one in float. So seed and offset are the whole state, also in a saved one.

#pragma once

#include <ATen/CPUGeneratorImpl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "torch_kernels/device/captured_draws.h"

namespace advstep_torch {

/// States of an engine since its seed, so that a saved state costs the draws since the nearest one.
class EngineStates {
 public:
    void Clear() { states_.clear(); }

    /// Keeps the engine after so many draws, unless one is kept that is little behind it.
    void Keep(uint64_t draws, const at::mt19937& engine);

    /// Sets the engine, which is at its seed, to the last state kept that is not behind `draws`.
    /// Returns the draws until there.
    uint64_t Restore(uint64_t draws, at::mt19937* engine) const;

 private:
    static constexpr size_t kMost = 1024;  // 2.5 MB

    std::map<uint64_t, at::mt19937> states_;  // by draws
    uint64_t distance_ = uint64_t{1} << 20U;  // a millisecond
};

/// The generator on "cpu" that draws for one on "npu". `mutex` guards it.
struct Engine {
    std::mutex mutex;
    at::Generator cpu = at::detail::createCPUGenerator();
    bool seeded = false;
    uint64_t seed = 0;
    uint64_t offset = 0;
    EngineStates states;
    bool exact = true;  // so many numbers have been drawn as the offset says

    at::CPUGeneratorImpl& impl() { return *at::check_generator<at::CPUGeneratorImpl>(cpu); }

    /// Sets the engine to the state that a seed and an offset stand for.
    void Seek(uint64_t newSeed, uint64_t newOffset);

    /// Adds the numbers that have been drawn since the engine was `before` to the offset.
    void Advance(at::mt19937 before);
};

/// The place of a draw in a captured graph.
struct CapturedDraw {
    std::shared_ptr<CapturedDraws> draws;  // null: the draw is not captured
    CapturedDraws::Draw draw = {};
};

/// Draws for the generator of an "npu" device during its life, and then advances the generator's
/// offset. It holds the engine's lock; the generator's own lock is taken after that.
class Drawing {
 public:
    Drawing(at::Generator npu, std::shared_ptr<Engine> engine, CapturedDraw captured = {});
    Drawing(const Drawing&) = delete;
    Drawing& operator=(const Drawing&) = delete;
    ~Drawing();

 private:
    at::Generator npu_;
    std::shared_ptr<Engine> engine_;
    std::unique_lock<std::mutex> lock_;
    CapturedDraw captured_;
    at::mt19937 before_;
};

/// Returns the engine of a generator. All work that draws for a generator at a time has the same
/// engine, whose mutex keeps the draws apart. The engine of a freed generator may be found by a
/// later one at the same address. Its seed and offset do not fit then, so Seek sets it anew.
std::shared_ptr<Engine> EngineOf(const at::Generator& npu);

/// Returns the random numbers drawn again until now, to get to the offset of a saved state.
uint64_t DrawsRepeated();

}  // namespace advstep_torch
