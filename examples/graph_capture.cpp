// SPDX-License-Identifier: Apache-2.0
// A decode step as a graph: Step hands out blocks, AdvanceStep moves every sequence one token
// forward, and copies bring the sampled tokens in and the slots out. Makes 1,000 steps call by
// call, then captures one step and replays it 1,000 times from the same start. Fails if the results
// differ; prints what a step costs in both ways.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "aclnnop/aclnn_step.h"
#include "check.h"

namespace {

constexpr int64_t kBatch = 4;
constexpr int64_t kBlockSize = 16;
constexpr int64_t kTableWidth = 64;                        // blocks per sequence
constexpr int64_t kPool = kBatch * kTableWidth - kBatch;   // blocks that Step hands out
constexpr int64_t kMostTokens = kBlockSize * kTableWidth;  // per sequence
constexpr int64_t kSteps = 1000;
constexpr size_t kTokenBytes = kBatch * sizeof(int64_t);

template <typename T>
constexpr aclDataType kDataType = sizeof(T) == 1   ? ACL_BOOL
                                  : sizeof(T) == 4 ? ACL_INT32
                                                   : ACL_INT64;

// A tensor with its device memory, which can go back to what it was at first.
class DeviceTensor {
 public:
    template <typename T>
    DeviceTensor(const std::vector<int64_t>& shape, const std::vector<T>& values)
        : initial_(reinterpret_cast<const uint8_t*>(values.data()),
                   reinterpret_cast<const uint8_t*>(values.data() + values.size())) {
        CHECK(aclrtMalloc(&address_, initial_.size(), ACL_MEM_MALLOC_HUGE_FIRST));
        tensor_ = aclCreateTensor(shape.data(), shape.size(), kDataType<T>, nullptr, 0,
                                  ACL_FORMAT_ND, shape.data(), shape.size(), address_);
        Check(tensor_ == nullptr, "aclCreateTensor");
    }
    ~DeviceTensor() {
        CHECK(aclDestroyTensor(tensor_));
        CHECK(aclrtFree(address_));
    }
    DeviceTensor(DeviceTensor&&) = delete;

    void Restore() const {
        CHECK(aclrtMemcpy(address_, initial_.size(), initial_.data(), initial_.size(),
                          ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<uint8_t> Bytes() const {
        std::vector<uint8_t> bytes(initial_.size());
        CHECK(aclrtMemcpy(bytes.data(), bytes.size(), address_, bytes.size(),
                          ACL_MEMCPY_DEVICE_TO_HOST));
        return bytes;
    }
    const aclTensor* Handle() const { return tensor_; }
    void* Address() const { return address_; }

 private:
    std::vector<uint8_t> initial_;
    void* address_ = nullptr;
    aclTensor* tensor_ = nullptr;
};

// Per-slot values of Step, the same for all.
template <typename T>
std::vector<T> All(T value, int64_t count = kBatch) {
    return std::vector<T>(static_cast<size_t>(count), value);
}

// What both operators work on. Blocks 0 to 3 are the prompts', the others are on the free list.
// With conformance vllm AdvanceStep takes Step's own lengths and block tables, so that the whole
// step stays on the device.
class Batch {
 public:
    Batch() {
        std::vector<int32_t> tables = All<int32_t>(-1, kBatch * kTableWidth);
        std::vector<int32_t> pool;
        for (int64_t slot = 0; slot < kBatch; ++slot) {
            tables[static_cast<size_t>(slot * kTableWidth)] = static_cast<int32_t>(slot);
        }
        for (int64_t block = kBatch + kPool - 1; block >= kBatch; --block) {
            pool.push_back(static_cast<int32_t>(block));
        }
        Add<uint8_t>({kBatch}, All<uint8_t>(0));           // stopFlags
        Add<int32_t>({kBatch}, All<int32_t>(1));           // seqLensThisTime
        Add<int32_t>({kBatch}, {3, 7, 12, 16});            // oriSeqLensEncoder
        Add<int32_t>({kBatch}, All<int32_t>(0));           // seqLensEncoder
        Add<int32_t>({kBatch}, {3, 7, 12, 16});            // seqLensDecoder
        Add<int32_t>({kBatch, kTableWidth}, tables);       // blockTables
        Add<int32_t>({kBatch}, All<int32_t>(1));           // encoderBlockLens
        Add<uint8_t>({kBatch}, All<uint8_t>(0));           // isBlockStep
        Add<int32_t>({kBatch}, All<int32_t>(-1));          // stepBlockList
        Add<int32_t>({1}, {0});                            // stepLens
        Add<int32_t>({kBatch}, All<int32_t>(-1));          // recoverBlockList
        Add<int32_t>({1}, {0});                            // recoverLens
        Add<int32_t>({kBatch}, All<int32_t>(-1));          // needBlockList
        Add<int32_t>({1}, {0});                            // needBlockLen
        Add<int32_t>({kBatch}, All<int32_t>(0));           // usedListLen
        Add<int32_t>({kPool}, pool);                       // freeList
        Add<int32_t>({1}, {static_cast<int32_t>(kPool)});  // freeListLen
        Add<int64_t>({kBatch, kMostTokens}, All<int64_t>(1, kBatch * kMostTokens));  // inputIds
        Add<int64_t>({kBatch, kMostTokens}, All<int64_t>(1, kBatch * kMostTokens));  // preIds
        Add<int64_t>({kBatch}, All<int64_t>(1));                                     // stepIdx
        Add<int64_t>({kBatch, 1}, All<int64_t>(0));                                  // nextTokens
        Add<int64_t>({kBatch}, All<int64_t>(1));   // firstTokenIds
        Add<int64_t>({kBatch}, All<int64_t>(0));   // inputTokens
        Add<int64_t>({kBatch}, All<int64_t>(0));   // inputPositions
        Add<int64_t>({kBatch}, All<int64_t>(-1));  // slotMapping
    }

    enum { kSeqLens = 4, kBlockTables = 5, kSampled = 20, kInputTokens = 22, kPositions, kSlots };

    const aclTensor* Handle(size_t index) const { return tensors_[index]->Handle(); }
    void* Address(size_t index) const { return tensors_[index]->Address(); }
    void Restore() const {
        for (const auto& tensor : tensors_) {
            tensor->Restore();
        }
    }
    std::vector<std::vector<uint8_t>> Bytes() const {
        std::vector<std::vector<uint8_t>> all;
        for (const auto& tensor : tensors_) {
            all.push_back(tensor->Bytes());
        }
        return all;
    }

 private:
    template <typename T>
    void Add(const std::vector<int64_t>& shape, const std::vector<T>& values) {
        tensors_.push_back(std::make_unique<DeviceTensor>(shape, values));
    }

    std::vector<std::unique_ptr<DeviceTensor>> tensors_;
};

// Host memory that copies in a stream, and captures, can use.
struct Pinned {
    Pinned() { CHECK(aclrtMallocHost(&memory, kTokenBytes)); }
    ~Pinned() { CHECK(aclrtFreeHost(memory)); }
    Pinned(Pinned&&) = delete;
    int64_t* Values() const { return static_cast<int64_t*>(memory); }

    void* memory = nullptr;
};

class DecodeStep {
 public:
    ~DecodeStep() {
        if (workspace_ != nullptr) {
            CHECK(aclrtFree(workspace_));
        }
    }

    // Both operators and both copies into the stream: to run, or to be captured.
    void Queue(aclrtStream stream) {
        CHECK(aclrtMemcpyAsync(batch_.Address(Batch::kSampled), kTokenBytes, sampled_.memory,
                               kTokenBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        QueueStep(stream);
        QueueAdvanceStep(stream);
        CHECK(aclrtMemcpyAsync(slots_.memory, kTokenBytes, batch_.Address(Batch::kSlots),
                               kTokenBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    }

    struct Outcome {
        std::vector<std::vector<uint8_t>> state;  // of all tensors, after the last step
        std::vector<int64_t> slots;               // of every step
        double microseconds = 0;                  // of a step, the median
    };

    // kSteps steps from the same start; `queue` puts one into the stream.
    template <typename QueueOne>
    Outcome Run(aclrtStream stream, QueueOne&& queue) {
        Outcome outcome;
        batch_.Restore();
        std::vector<double> times;
        for (int64_t step = 0; step < kSteps; ++step) {
            for (int64_t query = 0; query < kBatch; ++query) {  // a real model samples here
                sampled_.Values()[query] = 1000 * (query + 1) + step;
            }
            const auto begin = std::chrono::steady_clock::now();
            queue();
            CHECK(aclrtSynchronizeStream(stream));
            const auto time = std::chrono::steady_clock::now() - begin;
            times.push_back(std::chrono::duration<double, std::micro>(time).count());
            outcome.slots.insert(outcome.slots.end(), slots_.Values(), slots_.Values() + kBatch);
        }
        std::nth_element(times.begin(), times.begin() + kSteps / 2, times.end());
        outcome.microseconds = times[kSteps / 2];
        outcome.state = batch_.Bytes();
        return outcome;
    }

 private:
    void QueueStep(aclrtStream stream) {
        const auto t = [&](size_t index) { return batch_.Handle(index); };
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        CHECK(aclnnStepGetWorkspaceSize(t(0), t(1), t(2), t(3), t(4), t(5), t(6), t(7), t(8), t(9),
                                        t(10), t(11), t(12), t(13), t(14), t(15), t(16), t(17),
                                        t(18), t(19), t(20), t(21), kBlockSize, 1, &workspaceSize,
                                        &executor));
        if (workspace_ == nullptr) {  // the shapes never change, and neither does the size
            CHECK(aclrtMalloc(&workspace_, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
        }
        CHECK(aclnnStep(workspace_, workspaceSize, executor, stream));
    }

    void QueueAdvanceStep(aclrtStream stream) {
        uint64_t workspaceSize = 0;
        aclOpExecutor* executor = nullptr;
        CHECK(aclnnAdvanceStepGetWorkspaceSize(
            batch_.Handle(Batch::kInputTokens), batch_.Handle(Batch::kSampled),
            batch_.Handle(Batch::kPositions), batch_.Handle(Batch::kSeqLens),
            batch_.Handle(Batch::kSlots), batch_.Handle(Batch::kBlockTables), kBatch, kBatch,
            kBlockSize, &workspaceSize, &executor));
        CHECK(aclnnAdvanceStep(nullptr, workspaceSize, executor, stream));
    }

    Batch batch_;
    Pinned sampled_;
    Pinned slots_;
    void* workspace_ = nullptr;
};

bool CompareReplayWithCalls(aclrtStream stream) {
    DecodeStep step;
    const DecodeStep::Outcome called = step.Run(stream, [&] { step.Queue(stream); });

    aclmdlRI graph = nullptr;
    CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    step.Queue(stream);  // recorded, not run
    CHECK(aclmdlRICaptureEnd(stream, &graph));
    const DecodeStep::Outcome replayed =
        step.Run(stream, [&] { CHECK(aclmdlRIExecuteAsync(graph, stream)); });
    CHECK(aclmdlRIDestroy(graph));

    const bool same = called.state == replayed.state && called.slots == replayed.slots;
    std::printf(
        "%lld steps of %lld sequences: %s\n", static_cast<long long>(kSteps),
        static_cast<long long>(kBatch),
        same ? "replay and calls agree in every slot and every tensor" : "REPLAY AND CALLS DIFFER");
    std::printf("  call by call  %6.2f us per step (median)\n  replay        %6.2f us\n",
                called.microseconds, replayed.microseconds);
    return same;
}

}  // namespace

int main() {
    setenv("ADVANCE_STEP_CONFORMANCE", "vllm", 1);  // NOLINT(concurrency-mt-unsafe): no threads yet
    aclrtStream stream = OpenStream();
    const bool same = CompareReplayWithCalls(stream);
    CloseStream(stream);
    return same ? EXIT_SUCCESS : EXIT_FAILURE;
}
