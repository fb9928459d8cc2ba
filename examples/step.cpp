// SPDX-License-Identifier: Apache-2.0
// Preemption and recovery with aclnnStep: three slots that all need a block while one is free, then
// one of them finishes. Prints the state before and after each call.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_step.h"
#include "check.h"

namespace {

constexpr int64_t kSlots = 3;
constexpr int64_t kTableWidth = 4;
constexpr int64_t kBlockSize = 4;
constexpr int64_t kPool = 4;      // blocks that Step manages: 10 to 13
constexpr int64_t kMostIds = 16;  // token ids per sequence

template <typename T>
constexpr aclDataType kDataType = sizeof(T) == 1   ? ACL_BOOL
                                  : sizeof(T) == 4 ? ACL_INT32
                                                   : ACL_INT64;

// A tensor with its device memory.
template <typename T>
class DeviceTensor {
 public:
    DeviceTensor(const std::vector<int64_t>& shape, const std::vector<T>& values)
        : bytes_(values.size() * sizeof(T)) {
        CHECK(aclrtMalloc(&address_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST));
        Set(values);
        tensor_ = aclCreateTensor(shape.data(), shape.size(), kDataType<T>, nullptr, 0,
                                  ACL_FORMAT_ND, shape.data(), shape.size(), address_);
        Check(tensor_ == nullptr, "aclCreateTensor");
    }
    ~DeviceTensor() {
        CHECK(aclDestroyTensor(tensor_));
        CHECK(aclrtFree(address_));
    }
    DeviceTensor(DeviceTensor&&) = delete;

    void Set(const std::vector<T>& values) {
        CHECK(aclrtMemcpy(address_, bytes_, values.data(), bytes_, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    std::vector<T> Get() const {
        std::vector<T> values(bytes_ / sizeof(T));
        CHECK(aclrtMemcpy(values.data(), bytes_, address_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }
    const aclTensor* Handle() const { return tensor_; }

 private:
    size_t bytes_;
    void* address_ = nullptr;
    aclTensor* tensor_ = nullptr;
};

// Rows that hold base + column in columns [first, last], and 0 elsewhere.
std::vector<int64_t> Rows(const std::vector<int64_t>& bases, int64_t first, int64_t last) {
    std::vector<int64_t> values;
    for (const int64_t base : bases) {
        for (int64_t column = 0; column < kMostIds; ++column) {
            values.push_back(column >= first && column <= last ? base + column : 0);
        }
    }
    return values;
}

// [slots]
// Three prompts of 4 tokens. Each has one block of the host's allocator, 0 to 2, and blocks of the
// pool behind it. All three have filled what they have.
struct Slots {
    DeviceTensor<uint8_t> stopFlags{{kSlots}, {0, 0, 0}};
    DeviceTensor<int32_t> seqLensThisTime{{kSlots}, {1, 1, 1}};
    DeviceTensor<int32_t> oriSeqLensEncoder{{kSlots}, {4, 4, 4}};
    DeviceTensor<int32_t> seqLensEncoder{{kSlots}, {0, 0, 0}};
    DeviceTensor<int32_t> seqLensDecoder{{kSlots}, {12, 8, 4}};
    DeviceTensor<int32_t> blockTables{{kSlots, kTableWidth},
                                      {0, 10, 11, -1,  //
                                       1, 12, -1, -1,  //
                                       2, -1, -1, -1}};
    DeviceTensor<int32_t> encoderBlockLens{{kSlots}, {1, 1, 1}};
    DeviceTensor<uint8_t> isBlockStep{{kSlots}, {0, 0, 0}};
    DeviceTensor<int32_t> stepBlockList{{kSlots}, {-1, -1, -1}};
    DeviceTensor<int32_t> stepLens{{1}, {0}};
    DeviceTensor<int32_t> recoverBlockList{{kSlots}, {-1, -1, -1}};
    DeviceTensor<int32_t> recoverLens{{1}, {0}};
    DeviceTensor<int32_t> needBlockList{{kSlots}, {-1, -1, -1}};
    DeviceTensor<int32_t> needBlockLen{{1}, {0}};
    DeviceTensor<int32_t> usedListLen{{kSlots}, {2, 1, 0}};
    DeviceTensor<int32_t> freeList{{kPool}, {13, -1, -1, -1}};
    DeviceTensor<int32_t> freeListLen{{1}, {1}};
    DeviceTensor<int64_t> inputIds{{kSlots, kMostIds}, Rows({100, 200, 300}, 0, 3)};
    DeviceTensor<int64_t> preIds{{kSlots, kMostIds}, Rows({103, 203, 303}, 1, 8)};
    DeviceTensor<int64_t> stepIdx{{kSlots}, {9, 5, 1}};  // generated, the newest included
    DeviceTensor<int64_t> nextTokens{{kSlots}, {112, 208, 304}};
    DeviceTensor<int64_t> firstTokenIds{{kSlots}, {100, 200, 300}};
};
// [/slots]

template <typename T>
void PrintLine(const char* name, const std::vector<T>& values, size_t first, size_t count) {
    std::printf("%s", name);
    for (size_t index = first; index < first + count; ++index) {
        std::printf(" %3lld", static_cast<long long>(values[index]));
    }
}

void Print(const char* title, const Slots& slots) {
    std::printf("%s\n  slot  state      cached  feeds  block table\n", title);
    const std::vector<int32_t> tables = slots.blockTables.Get();
    for (size_t slot = 0; slot < kSlots; ++slot) {
        const bool preempted = slots.isBlockStep.Get()[slot] != 0;
        const bool stopped = slots.stopFlags.Get()[slot] != 0;
        std::printf("  %4zu  %-9s  %6d  %5d ", slot,
                    preempted ? "preempted"
                    : stopped ? "stopped"
                              : "running",
                    slots.seqLensDecoder.Get()[slot], slots.seqLensThisTime.Get()[slot]);
        PrintLine("", tables, slot * kTableWidth, kTableWidth);
        std::puts("");
    }
    PrintLine("  free list:", slots.freeList.Get(), 0,
              static_cast<size_t>(slots.freeListLen.Get()[0]));
    PrintLine("\n  preempted slots:", slots.stepBlockList.Get(), 0,
              static_cast<size_t>(slots.stepLens.Get()[0]));
    std::puts("\n");
}

aclOpExecutor* PlanStep(const Slots& s, uint64_t* workspaceSize) {
    aclOpExecutor* executor = nullptr;
    CHECK(aclnnStepGetWorkspaceSize(
        s.stopFlags.Handle(), s.seqLensThisTime.Handle(), s.oriSeqLensEncoder.Handle(),
        s.seqLensEncoder.Handle(), s.seqLensDecoder.Handle(), s.blockTables.Handle(),
        s.encoderBlockLens.Handle(), s.isBlockStep.Handle(), s.stepBlockList.Handle(),
        s.stepLens.Handle(), s.recoverBlockList.Handle(), s.recoverLens.Handle(),
        s.needBlockList.Handle(), s.needBlockLen.Handle(), s.usedListLen.Handle(),
        s.freeList.Handle(), s.freeListLen.Handle(), s.inputIds.Handle(), s.preIds.Handle(),
        s.stepIdx.Handle(), s.nextTokens.Handle(), s.firstTokenIds.Handle(), kBlockSize, 1,
        workspaceSize, &executor));
    CHECK(aclSetAclOpExecutorRepeatable(executor));
    return executor;
}

// [preempt]
void PreemptAndRecover(aclrtStream stream) {
    Slots slots;
    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = PlanStep(slots, &workspaceSize);
    void* workspace = nullptr;
    CHECK(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));

    Print("Three slots need a block, one is free", slots);
    CHECK(aclnnStep(workspace, workspaceSize, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    Print("Slot 0 had the most blocks and was preempted; the others got one each", slots);

    // A real server runs the model and aclnnAdvanceStep here. Slot 1 finishes.
    slots.stopFlags.Set({1, 1, 0});
    slots.seqLensThisTime.Set({0, 0, 1});
    slots.seqLensDecoder.Set({0, 9, 5});
    slots.stepIdx.Set({9, 6, 2});

    Print("Slot 1 has finished", slots);
    CHECK(aclnnStep(workspace, workspaceSize, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    Print("Slot 1 gave its blocks back, and slot 0 was recovered", slots);
    PrintLine("Slot 0 replays its prompt and all it generated:\n ", slots.inputIds.Get(), 0,
              static_cast<size_t>(slots.seqLensEncoder.Get()[0]));
    std::puts("");

    CHECK(aclDestroyAclOpExecutor(executor));
    CHECK(aclrtFree(workspace));
}
// [/preempt]

}  // namespace

int main() {
    aclrtStream stream = OpenStream();
    PreemptAndRecover(stream);
    CloseStream(stream);
    return EXIT_SUCCESS;
}
