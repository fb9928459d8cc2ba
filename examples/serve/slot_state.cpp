// SPDX-License-Identifier: Apache-2.0
// Allocates the tensors of Step, loads a sequence into its slot and fetches results.

#include "slot_state.h"

#include <algorithm>

namespace serve {

SlotState::SlotState(const Options& options, int64_t longestGeneration, int64_t prefillRoom)
    : stopFlags(options.maxSeqs),
      seqLensThisTime(options.maxSeqs),
      oriSeqLensEncoder(options.maxSeqs),
      seqLensEncoder(options.maxSeqs),
      seqLensDecoder(options.maxSeqs),
      blockTables(options.maxSeqs * options.MaxBlocks()),
      encoderBlockLens(options.maxSeqs),
      isBlockStep(options.maxSeqs),
      stepBlockList(options.maxSeqs),
      stepLens(1),
      recoverBlockList(options.maxSeqs),
      recoverLens(1),
      needBlockList(options.maxSeqs),
      needBlockLen(1),
      usedListLen(options.maxSeqs),
      freeList(std::max<int64_t>(options.DynamicBlocks(), 1)),  // no allocation is empty
      freeListLen(1),
      inputIds(options.maxSeqs * options.maxLen),
      preIds(options.maxSeqs * (longestGeneration + 1)),
      stepIdx(options.maxSeqs),
      nextTokens(options.maxSeqs),
      firstTokenIds(options.maxSeqs),
      infos(options.maxSeqs),
      slots_(options.maxSeqs),
      maxBlocks_(options.MaxBlocks()),
      dynamicBlocks_(options.DynamicBlocks()),
      inputWidth_(options.maxLen),
      preWidth_(longestGeneration + 1),  // the k-th generated token is preIds[k]; [0] is not used
      prompts_(prefillRoom) {
    stopFlags.Device().Fill(1);
    seqLensThisTime.Device().Fill(0);
    oriSeqLensEncoder.Device().Fill(0);
    seqLensEncoder.Device().Fill(0);
    seqLensDecoder.Device().Fill(0);
    blockTables.Device().Fill(kMinusOne);
    encoderBlockLens.Device().Fill(0);
    isBlockStep.Device().Fill(0);
    stepBlockList.Fill(kMinusOne);
    stepLens.Fill(0);
    recoverBlockList.Fill(kMinusOne);
    recoverLens.Fill(0);
    needBlockList.Fill(kMinusOne);
    needBlockLen.Fill(0);
    usedListLen.Device().Fill(0);
    stepIdx.Device().Fill(0);
    nextTokens.Device().Fill(0);
    firstTokenIds.Device().Fill(kMinusOne);
    infos.Device().Fill(0);
    // Nobody follows what is behind a slot's tokens, but who compares devices must see no chance.
    inputIds.Fill(0);
    preIds.Fill(0);

    // The host's allocator has the ids below. The lowest id is on top of the stack.
    for (int64_t i = 0; i < dynamicBlocks_; ++i) {
        freeList[i] = static_cast<int32_t>(options.blocks - 1 - i);
    }
    freeListLen[0] = static_cast<int32_t>(dynamicBlocks_);
    Stream stream;
    if (dynamicBlocks_ > 0) {
        freeList.Send(stream, 0, dynamicBlocks_);
    }
    freeListLen.Send(stream, 0, 1);
    stream.Synchronize();
}

void SlotState::Load(Stream& stream, int64_t slot, const Sequence& sequence) {
    const Request& request = *sequence.request;
    const uint64_t seed = SeedOf(request.line);
    const auto promptTokens = static_cast<int32_t>(request.promptTokens);

    int64_t* prompt = prompts_.Data() + promptEnd_;
    promptEnd_ += request.promptTokens;
    for (int64_t position = 0; position < request.promptTokens; ++position) {
        prompt[position] = PromptToken(seed, position);
    }
    Upload(stream, inputIds, slot * inputWidth_, prompt, request.promptTokens);
    firstTokenIds.Set(stream, slot, prompt[0]);

    // -1 where the sequence has no block yet.
    int32_t* table = &blockTables[slot * maxBlocks_];
    std::fill(std::copy(sequence.promptBlocks.begin(), sequence.promptBlocks.end(), table),
              table + maxBlocks_, -1);
    blockTables.Send(stream, slot * maxBlocks_, maxBlocks_);
    encoderBlockLens.Set(stream, slot, static_cast<int32_t>(sequence.promptBlocks.size()));
    usedListLen.Set(stream, slot, 0);

    oriSeqLensEncoder.Set(stream, slot, promptTokens);
    seqLensEncoder.Set(stream, slot, promptTokens);
    seqLensThisTime.Set(stream, slot, promptTokens);
    seqLensDecoder.Set(stream, slot, 0);
    stepIdx.Set(stream, slot, 0);
    infos.Set(stream, slot, {seed, request.CachedTokens()});
    isBlockStep.Set(stream, slot, 0);
    stopFlags.Set(stream, slot, 0);
}

void SlotState::LimitClaim(Stream& stream, int64_t slot, int64_t used, int64_t most) {
    if (used + 1 > most) {
        usedListLen.Set(stream, slot, static_cast<int32_t>(most - 1));
    }
}

}  // namespace serve
