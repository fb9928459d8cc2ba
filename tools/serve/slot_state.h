// SPDX-License-Identifier: Apache-2.0
// The slots in device memory: the tensors of Step, and what the model knows of a slot besides.

#pragma once

#include <cstdint>
#include <vector>

#include "device_buffer.h"
#include "model_kernels.h"
#include "scheduler.h"

namespace serve {

/// A sequence keeps its slot from admission to its end, preempted or not. The host writes a slot
/// when a sequence enters it or is shed; otherwise the model and Step do, on the device.
class SlotState {
 public:
    /// All slots idle, all dynamic blocks free. The scheduler knows the sizes.
    SlotState(const Options& options, const Scheduler& scheduler);

    /// Nothing may be pending of the loads before.
    void BeginLoads() { loadArgs_.count = promptEnd_ = blockEnd_ = prefixEnd_ = 0; }
    /// Notes a sequence that enters a slot: it wants the prefill of its prompt.
    void Load(int64_t slot, const Sequence& sequence);
    /// Enqueues the upload of all that have been noted, in three copies, however many they are.
    void EnqueueLoads(Stream& stream);
    /// Enqueues that the sequence in a slot is shed; the next Step takes its dynamic blocks back.
    void Stop(Stream& stream, int64_t slot) { stopFlags.Set(stream, slot, 1); }

    /// Enqueues that a preempted slot, which had `used` dynamic blocks, is recovered with no more
    /// than `most`. Step
    /// grants one more than it took away, so the claim of a slot preempted again and again would
    /// grow past what its sequence can ever use, in the end past all there are.
    void LimitClaim(Stream& stream, int64_t slot, int64_t used, int64_t most);

    /// Enqueues the download of the free list's length; read it after a synchronisation.
    void Fetch(Stream& stream) { freeListLen.Fetch(stream, 1); }
    int64_t FreeDynamicBlocks() const { return freeListLen[0]; }
    /// From the host's allocator.
    int64_t PromptBlocks(int64_t slot) const { return promptBlocks_[static_cast<size_t>(slot)]; }

    int64_t Slots() const { return slots_; }
    int64_t MaxBlocks() const { return maxBlocks_; }
    int64_t DynamicBlocks() const { return dynamicBlocks_; }
    int64_t InputWidth() const { return inputWidth_; }
    int64_t PreWidth() const { return preWidth_; }
    int64_t PrefixWidth() const { return prefixWidth_; }

    // In signature order.
    Mirror<uint8_t> stopFlags;
    DeviceBuffer<int32_t> seqLensThisTime;
    DeviceBuffer<int32_t> oriSeqLensEncoder;
    DeviceBuffer<int32_t> seqLensEncoder;
    DeviceBuffer<int32_t> seqLensDecoder;
    DeviceBuffer<int32_t> blockTables;  // [slots, MaxBlocks]
    DeviceBuffer<int32_t> encoderBlockLens;
    DeviceBuffer<uint8_t> isBlockStep;
    DeviceBuffer<int32_t> stepBlockList;
    DeviceBuffer<int32_t> stepLens;
    DeviceBuffer<int32_t> recoverBlockList;
    DeviceBuffer<int32_t> recoverLens;
    DeviceBuffer<int32_t> needBlockList;
    DeviceBuffer<int32_t> needBlockLen;
    Mirror<int32_t> usedListLen;
    Mirror<int32_t> freeList;  // [DynamicBlocks]
    Mirror<int32_t> freeListLen;
    DeviceBuffer<int64_t> inputIds;  // [slots, InputWidth]
    DeviceBuffer<int64_t> preIds;    // [slots, PreWidth]
    DeviceBuffer<int64_t> stepIdx;
    DeviceBuffer<int64_t> nextTokens;
    DeviceBuffer<int64_t> firstTokenIds;

    DeviceBuffer<SlotInfo> infos;
    DeviceBuffer<uint64_t> prefixSeeds;  // [slots, PrefixWidth]

 private:
    int64_t slots_;
    int64_t maxBlocks_;
    int64_t dynamicBlocks_;
    int64_t inputWidth_;
    int64_t preWidth_;
    int64_t prefixWidth_;
    std::vector<int64_t> promptBlocks_;  // by slot
    // Of the loads between two synchronisations.
    int64_t promptEnd_ = 0;
    int64_t blockEnd_ = 0;
    int64_t prefixEnd_ = 0;
    Mirror<SlotLoad> loads_;
    Mirror<int64_t> prompts_;
    Mirror<int32_t> promptBlockIds_;
    Mirror<uint64_t> loadedPrefixSeeds_;
    LoadArgs loadArgs_;
};

}  // namespace serve
