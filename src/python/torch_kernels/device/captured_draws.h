// SPDX-License-Identifier: Apache-2.0
// The states of generators in captured graphs, which a capture cannot know: a replay draws anew.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace advstep_torch {

struct Engine;

/// The states that one generator has during a replay of one graph.
///
/// While a graph is captured, torch_npu's generator has an offset of the capture's own, from 0,
/// which get_state and set_state show. Here it is a label: each draw that is recorded takes the
/// label that the generator has, and gives it a new one. So a state that a program gets and sets
/// during the capture (activation checkpointing does) says after which draw the next one begins.
/// A replay notes the true offset for each label. An offset that is no label counts from the state
/// at the beginning of the replay, as on an NPU.
///
/// The capturing thread alone makes labels, before the first replay. The mutex of the generator's
/// engine guards the offsets.
class CapturedDraws {
 public:
    /// One recorded draw: the labels before and after it.
    struct Draw {
        uint64_t from = 0;
        uint64_t to = 0;
        bool first = false;  // of the graph
    };

    explicit CapturedDraws(at::Generator npu) : npu_(std::move(npu)) {}

    /// Takes the generator's label for a draw that is recorded, and gives it the next one.
    Draw Record();

    /// Gives the generator the state with which a draw begins. A draw that follows the one before
    /// it takes the state that is there, because other threads may have drawn meanwhile.
    void Begin(const Draw& draw);
    void End(const Draw& draw);

    /// Takes the label with which the capture ends, and gives the generator the one of the graph
    /// around it in its place, or 0: torch_npu adds that offset at each replay. Returns whether a
    /// replay has to be settled.
    bool EndCapture();

    /// Gives the generator the state with which the capture ended.
    void Settle();

    const at::Generator& generator() const { return npu_; }

 private:
    uint64_t OffsetOf(uint64_t label) const;

    at::Generator npu_;
    uint64_t outer_ = 0;   // label of the graph around it, before its first draw
    uint64_t newest_ = 0;  // label
    uint64_t end_ = 0;     // label
    bool recorded_ = false;
    std::unordered_map<uint64_t, uint64_t> offsets_;  // by label
    uint64_t begin_ = 0;                              // offset at the beginning of the replay
    uint64_t last_ = 0;                               // label after the latest draw of the replay
};

/// Returns the states of a generator in the graph that is captured.
std::shared_ptr<CapturedDraws> CapturedDrawsOf(const void* model, const at::Generator& npu);

/// Forgets what an earlier graph at the same address has left.
void BeginCapturedDraws(const void* model);

/// Ends the recording of draws in a graph whose capture ends. Queues in `stream`, which is
/// captured, what gives the generators their state after a replay.
void EndCapturedDraws(void* stream, const void* model);

}  // namespace advstep_torch
