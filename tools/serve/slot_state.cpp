// SPDX-License-Identifier: Apache-2.0
// Allocates the tensors of Step, loads a sequence into its slot and fetches results.

#include "slot_state.h"

#include <algorithm>

namespace serve {

SlotState::SlotState(const Options& options, const Scheduler& scheduler)
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
      preIds(options.maxSeqs * (scheduler.LongestGeneration() + 1)),
      stepIdx(options.maxSeqs),
      nextTokens(options.maxSeqs),
      firstTokenIds(options.maxSeqs),
      infos(options.maxSeqs),
      prefixSeeds(std::max<int64_t>(options.maxSeqs * scheduler.MostPrefixes(), 1)),
      slots_(options.maxSeqs),
      maxBlocks_(options.MaxBlocks()),
      dynamicBlocks_(options.DynamicBlocks()),
      inputWidth_(options.maxLen),
      // The k-th generated token is preIds[k]; [0] is not used.
      preWidth_(scheduler.LongestGeneration() + 1),
      prefixWidth_(scheduler.MostPrefixes()),
      promptBlocks_(static_cast<size_t>(options.maxSeqs)),
      loads_(options.maxSeqs),
      prompts_(scheduler.PrefillRoom()),
      promptBlockIds_(std::max<int64_t>(scheduler.PromptBlockRoom(), 1)),
      loadedPrefixSeeds_(std::max<int64_t>(options.maxSeqs * scheduler.MostPrefixes(), 1)),
      loadArgs_{loads_.Data(),
                0,
                prompts_.Data(),
                promptBlockIds_.Data(),
                loadedPrefixSeeds_.Data(),
                maxBlocks_,
                inputWidth_,
                prefixWidth_,
                stopFlags.Data(),
                seqLensThisTime.Data(),
                oriSeqLensEncoder.Data(),
                seqLensEncoder.Data(),
                seqLensDecoder.Data(),
                blockTables.Data(),
                encoderBlockLens.Data(),
                isBlockStep.Data(),
                usedListLen.Data(),
                inputIds.Data(),
                stepIdx.Data(),
                firstTokenIds.Data(),
                infos.Data(),
                prefixSeeds.Data()} {
    stopFlags.Device().Fill(1);
    seqLensThisTime.Fill(0);
    oriSeqLensEncoder.Fill(0);
    seqLensEncoder.Fill(0);
    seqLensDecoder.Fill(0);
    blockTables.Fill(kMinusOne);
    encoderBlockLens.Fill(0);
    isBlockStep.Fill(0);
    stepBlockList.Fill(kMinusOne);
    stepLens.Fill(0);
    recoverBlockList.Fill(kMinusOne);
    recoverLens.Fill(0);
    needBlockList.Fill(kMinusOne);
    needBlockLen.Fill(0);
    usedListLen.Device().Fill(0);
    stepIdx.Fill(0);
    nextTokens.Fill(0);
    firstTokenIds.Fill(kMinusOne);
    infos.Fill(0);
    prefixSeeds.Fill(0);
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

void SlotState::Load(int64_t slot, const Sequence& sequence) {
    const Request& request = *sequence.request;
    const TextSeeds& seeds = sequence.seeds;
    const auto promptBlocks = static_cast<int64_t>(sequence.promptBlocks.size());
    loads_[loadArgs_.count++] = {
        slot,         seeds.seed, request.CachedTokens(), request.promptTokens, promptEnd_,
        promptBlocks, blockEnd_,  sequence.sharedTokens,  seeds.sharedTokens,   request.prefixes,
        prefixEnd_};
    for (int64_t position = 0; position < request.promptTokens; ++position) {
        prompts_[promptEnd_ + position] = PromptToken(seeds.At(position), position);
    }
    for (int64_t i = 0; i < request.prefixes; ++i) {
        loadedPrefixSeeds_[prefixEnd_++] = seeds.prefixSeeds[i];
    }
    promptEnd_ += request.promptTokens;
    std::copy(sequence.promptBlocks.begin(), sequence.promptBlocks.end(),
              &promptBlockIds_[blockEnd_]);
    blockEnd_ += promptBlocks;
    promptBlocks_[static_cast<size_t>(slot)] = promptBlocks;
}

void SlotState::EnqueueLoads(Stream& stream) {
    if (loadArgs_.count == 0) {
        return;
    }
    loads_.Send(stream, 0, loadArgs_.count);
    prompts_.Send(stream, 0, promptEnd_);
    promptBlockIds_.Send(stream, 0, blockEnd_);
    if (prefixEnd_ > 0) {
        loadedPrefixSeeds_.Send(stream, 0, prefixEnd_);
    }
    stream.Launch(LoadSlotsKernel, &loadArgs_, "load slots");
}

void SlotState::LimitClaim(Stream& stream, int64_t slot, int64_t used, int64_t most) {
    if (used + 1 > most) {
        usedListLen.Set(stream, slot, static_cast<int32_t>(most - 1));
    }
}

}  // namespace serve
