// SPDX-License-Identifier: Apache-2.0
// Makes the states of Step that benchmarks measure, and the tensors on them.

#include "tests/benchmark/step_batch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "aclnnop/aclnn_step.h"

namespace {

constexpr int64_t kBlockSize = 16, kWidth = 8;
constexpr int32_t kPrompt = 10, kHostBlocks = 1, kMostUsed = 4;

void RequireZero(int status, const char* what) {
    if (status != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s: %d %s\n", what, status, message != nullptr ? message : "");
        std::exit(1);
    }
}

struct TensorBytes {
    aclDataType type;
    std::vector<int64_t> shape;
    unsigned char* data;
    size_t size;
};

// In signature order.
std::array<TensorBytes, 22> TensorsOf(SeedState& s) {
    const std::vector<int64_t> slots = {s.batch};
    const auto of = [](aclDataType type, std::vector<int64_t> shape, auto& values) {
        return TensorBytes{type, std::move(shape), reinterpret_cast<unsigned char*>(values.data()),
                           values.size() * sizeof(values[0])};
    };
    const auto flags = [&](auto& values) { return of(ACL_BOOL, slots, values); };
    const auto ints = [&](auto& values) {
        return of(ACL_INT32, {static_cast<int64_t>(values.size())}, values);
    };
    const auto longs = [&](auto& values) { return of(ACL_INT64, slots, values); };
    return {flags(s.stopFlags),
            ints(s.seqLensThisTime),
            ints(s.oriSeqLensEncoder),
            ints(s.seqLensEncoder),
            ints(s.seqLensDecoder),
            of(ACL_INT32, {s.batch, s.tableWidth}, s.blockTables),
            ints(s.encoderBlockLens),
            flags(s.isBlockStep),
            ints(s.stepBlockList),
            ints(s.stepLens),
            ints(s.recoverBlockList),
            ints(s.recoverLens),
            ints(s.needBlockList),
            ints(s.needBlockLen),
            ints(s.usedListLen),
            ints(s.freeList),
            ints(s.freeListLen),
            of(ACL_INT64, {s.batch, s.inputWidth}, s.inputIds),
            of(ACL_INT64, {s.batch, s.preWidth}, s.preIds),
            longs(s.stepIdx),
            longs(s.nextTokens),
            longs(s.firstTokenIds)};
}

// All slots run, in the middle of their last block, and the free list is full of blocks.
SeedState MakeRunning(int64_t batch, const StepTokens& tokens) {
    const auto slots = static_cast<size_t>(batch);
    SeedState s;
    s.batch = batch;
    s.tableWidth = kWidth;
    s.inputWidth = tokens.input;
    s.preWidth = tokens.pre;
    s.blockSize = kBlockSize;
    s.stopFlags.assign(slots, 0);
    s.isBlockStep.assign(slots, 0);
    s.seqLensThisTime.assign(slots, 1);
    s.oriSeqLensEncoder.assign(slots, kPrompt);
    s.seqLensEncoder.assign(slots, 0);
    s.encoderBlockLens.assign(slots, kHostBlocks);
    for (auto* list : {&s.stepBlockList, &s.recoverBlockList, &s.needBlockList}) {
        list->assign(slots, -1);
    }
    for (auto* scalar : {&s.stepLens, &s.recoverLens, &s.needBlockLen}) {
        scalar->assign(1, 0);
    }
    s.blockTables.assign(slots * kWidth, -1);
    int32_t nextBlock = 0;
    for (int64_t slot = 0; slot < batch; ++slot) {
        const auto used = static_cast<int32_t>(1 + slot % kMostUsed);
        s.usedListLen.push_back(used);
        s.seqLensDecoder.push_back(
            static_cast<int32_t>((kHostBlocks + used) * kBlockSize - 1 - slot % (kBlockSize - 1)));
        std::iota(&s.blockTables[static_cast<size_t>(slot * kWidth)],
                  &s.blockTables[static_cast<size_t>(slot * kWidth + kHostBlocks + used)],
                  nextBlock);
        nextBlock += kHostBlocks + used;
        s.stepIdx.push_back(s.seqLensDecoder.back() + 1 - kPrompt);
        s.nextTokens.push_back(slot + 7);
        s.firstTokenIds.push_back(slot + 1);
    }
    s.freeList.resize(slots * (kMostUsed + 1) * 2);
    std::iota(s.freeList.begin(), s.freeList.end(), nextBlock);
    s.freeListLen.assign(1, static_cast<int32_t>(slots * (kMostUsed + 1)));
    s.inputIds.resize(slots * static_cast<size_t>(tokens.input));
    s.preIds.resize(slots * static_cast<size_t>(tokens.pre));
    std::iota(s.inputIds.begin(), s.inputIds.end(), int64_t{1});
    std::iota(s.preIds.begin(), s.preIds.end(), int64_t{1000000});
    return s;
}

void FillLastBlock(SeedState& s, size_t slot) {
    s.seqLensDecoder[slot] =
        static_cast<int32_t>((s.encoderBlockLens[slot] + s.usedListLen[slot]) * kBlockSize);
    s.stepIdx[slot] = s.seqLensDecoder[slot] + 1 - kPrompt;
}

void PreemptAlready(SeedState& s, size_t slot) {
    FillLastBlock(s, slot);
    const auto row = s.blockTables.begin() + static_cast<int64_t>(slot) * kWidth;
    std::fill(row + kHostBlocks, row + kWidth, -1);
    s.stopFlags[slot] = s.isBlockStep[slot] = 1;
    s.seqLensThisTime[slot] = s.seqLensDecoder[slot] = 0;
    s.stepBlockList[static_cast<size_t>(s.stepLens[0]++)] = static_cast<int32_t>(slot);
}

}  // namespace

SeedState MakeStepState(StepCase which, int64_t batch, const StepTokens& tokens) {
    SeedState s = MakeRunning(batch, tokens);
    const auto slots = static_cast<size_t>(batch);
    switch (which) {
        case StepCase::kNoPressure:
            for (size_t slot = 0; slot < slots; ++slot) {
                if (slot % 16 == 5) {
                    FillLastBlock(s, slot);
                } else if (slot % 256 == 100) {
                    s.stopFlags[slot] = 1;
                    s.seqLensThisTime[slot] = 0;
                }
            }
            break;
        case StepCase::kTenthPreempted:
            s.freeListLen[0] = 0;
            for (size_t slot = slots - slots * 2 / 5; slot < slots; ++slot) {
                FillLastBlock(s, slot);
            }
            break;
        case StepCase::kHalfRecovered:
            for (size_t slot = 0; slot < slots; slot += 2) {
                PreemptAlready(s, slot);
            }
            break;
    }
    return s;
}

StepBatch::StepBatch(const SeedState& start) : start_(start), seed_(start) {
    RequireZero(aclrtSetDevice(0), "aclrtSetDevice");
    const auto tensors = TensorsOf(start_);
    for (size_t index = 0; index < kTensors; ++index) {
        const TensorBytes& tensor = tensors[index];
        RequireZero(aclrtMalloc(&memory_[index], tensor.size, ACL_MEM_MALLOC_HUGE_FIRST), "memory");
        tensors_[index] = aclCreateTensor(tensor.shape.data(), tensor.shape.size(), tensor.type,
                                          nullptr, 0, ACL_FORMAT_ND, tensor.shape.data(),
                                          tensor.shape.size(), memory_[index]);
    }
    executor_ = PhaseOne();
    RequireZero(aclSetAclOpExecutorRepeatable(executor_), "aclSetAclOpExecutorRepeatable");
    RequireZero(aclrtMalloc(&workspace_, workspaceSize_, ACL_MEM_MALLOC_HUGE_FIRST), "workspace");
    RequireSame();
}

aclOpExecutor* StepBatch::PhaseOne() {
    const auto& t = tensors_;
    aclOpExecutor* executor = nullptr;
    RequireZero(
        aclnnStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10],
                                  t[11], t[12], t[13], t[14], t[15], t[16], t[17], t[18], t[19],
                                  t[20], t[21], start_.blockSize, 0, &workspaceSize_, &executor),
        "aclnnStepGetWorkspaceSize");
    return executor;
}

StepBatch::~StepBatch() {
    RequireZero(aclDestroyAclOpExecutor(executor_), "aclDestroyAclOpExecutor");
    for (const aclTensor* tensor : tensors_) {
        RequireZero(aclDestroyTensor(tensor), "aclDestroyTensor");
    }
    RequireZero(aclrtResetDevice(0), "aclrtResetDevice");
}

// Steps both once from the start, compares all tensors, and notes what a step changes.
void StepBatch::RequireSame() {
    const auto start = TensorsOf(start_);
    const auto seed = TensorsOf(seed_);
    for (size_t index = 0; index < kTensors; ++index) {
        RequireZero(aclrtMemcpy(memory_[index], start[index].size, start[index].data,
                                start[index].size, ACL_MEMCPY_HOST_TO_DEVICE),
                    "aclrtMemcpy");
    }
    RunLibrary();
    RunSeed();
    constexpr int64_t kScanned = 2 * sizeof(uint8_t) + 5 * sizeof(int32_t);  // of every slot
    bytes_ = start_.batch * kScanned;
    for (size_t index = 0; index < kTensors; ++index) {
        const TensorBytes& tensor = seed[index];
        std::vector<unsigned char> library(tensor.size);
        RequireZero(aclrtMemcpy(library.data(), tensor.size, memory_[index], tensor.size,
                                ACL_MEMCPY_DEVICE_TO_HOST),
                    "aclrtMemcpy");
        if (std::memcmp(library.data(), tensor.data, tensor.size) != 0) {
            std::fprintf(stderr, "aclnnStep and SEED differ in tensor %zu at B = %lld\n", index,
                         static_cast<long long>(start_.batch));
            std::exit(1);
        }
        NoteChanges(start[index].data, tensor.data, memory_[index], tensor.size);
    }
    for (const Change& change : changes_) {
        bytes_ += static_cast<int64_t>(change.size);
    }
    preempted_ = std::max(0, seed_.stepLens[0] - start_.stepLens[0]);
    recovered_ = std::max(0, start_.stepLens[0] - seed_.stepLens[0]);
}

// Runs of differing bytes with less than a cache line of equal ones between them are one.
void StepBatch::NoteChanges(const unsigned char* start, unsigned char* seed, void* library,
                            size_t size) {
    constexpr size_t kGap = 64;
    size_t end = 0;  // of the run noted last
    bool any = false;
    for (size_t at = 0; at < size; ++at) {
        if (start[at] == seed[at]) {
            continue;
        }
        if (!any || at - end > kGap) {
            changes_.push_back(
                {start + at, seed + at, static_cast<unsigned char*>(library) + at, 0});
        }
        any = true;
        end = at + 1;
        changes_.back().size = static_cast<size_t>(start + end - changes_.back().start);
    }
}

int64_t StepBatch::lineBytes() const {
    constexpr int64_t kLine = 64;
    constexpr int64_t kFlagsAndLengths = 2 * sizeof(uint8_t) + 4 * sizeof(int32_t);
    const auto row = start_.tableWidth * static_cast<int64_t>(sizeof(int32_t));
    int64_t bytes = start_.batch * (kFlagsAndLengths + std::min(row, kLine));
    for (const Change& change : changes_) {
        const auto begin = reinterpret_cast<intptr_t>(change.library);
        const auto last = begin + static_cast<intptr_t>(change.size) - 1;
        bytes += (last / kLine - begin / kLine + 1) * kLine;
    }
    return bytes;
}

void StepBatch::RestoreLibrary() {
    for (const Change& change : changes_) {
        RequireZero(aclrtMemcpy(change.library, change.size, change.start, change.size,
                                ACL_MEMCPY_HOST_TO_DEVICE),
                    "aclrtMemcpy");
    }
}

void StepBatch::RestoreSeed() {
    for (const Change& change : changes_) {
        std::memcpy(change.seed, change.start, change.size);
    }
}

void StepBatch::PhaseTwo(aclOpExecutor* executor) {
    RequireZero(aclnnStep(workspace_, workspaceSize_, executor, nullptr), "aclnnStep");
    RequireZero(aclrtSynchronizeStream(nullptr), "aclrtSynchronizeStream");
}

void StepBatch::RunLibrary() { PhaseTwo(executor_); }

void StepBatch::CallLibrary() { PhaseTwo(PhaseOne()); }

void StepBatch::RunSeed() {
    if (!RunSeedStep(seed_)) {
        std::fprintf(stderr, "SEED makes no progress\n");
        std::exit(1);
    }
}
