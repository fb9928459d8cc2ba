// SPDX-License-Identifier: Apache-2.0
// The C++ interface costs nothing: objects are as large as what they own, and a decode loop makes
// the calls of the C program, in the same order, and no allocation of its own.
//
// The linker leads the calls listed in CMakeLists.txt, and operator new, of this program's objects
// through the functions below.
#include <gtest/gtest.h>

#include <array>
#include <new>

#include "advance_step/advance_step.hpp"
#include "support/runtime_test.h"

namespace {

// One thread only.
std::array<const char*, 64> calls;
size_t callCount = 0;
size_t allocations = 0;

void Note(const char* call) { calls.at(callCount++) = call; }

}  // namespace

#define WRAPPED(Type, Call, Parameters, Arguments) \
    extern "C" Type __real_##Call Parameters;      \
    extern "C" Type __wrap_##Call Parameters;      \
    extern "C" Type __wrap_##Call Parameters {     \
        Note(#Call);                               \
        return __real_##Call Arguments;            \
    }

WRAPPED(aclError, aclrtSetDevice, (int32_t id), (id))
WRAPPED(aclError, aclrtResetDevice, (int32_t id), (id))
WRAPPED(aclError, aclrtCreateStream, (aclrtStream * stream), (stream))
WRAPPED(aclError, aclrtDestroyStream, (aclrtStream stream), (stream))
WRAPPED(aclError, aclrtSynchronizeStream, (aclrtStream stream), (stream))
WRAPPED(aclError, aclrtMalloc, (void** memory, size_t size, aclrtMemMallocPolicy policy),
        (memory, size, policy))
WRAPPED(aclError, aclrtFree, (void* memory), (memory))
WRAPPED(aclError, aclrtMemcpy,
        (void* dst, size_t most, const void* src, size_t count, aclrtMemcpyKind kind),
        (dst, most, src, count, kind))
WRAPPED(aclTensor*, aclCreateTensor,
        (const int64_t* dims, uint64_t rank, aclDataType type, const int64_t* stride,
         int64_t offset, aclFormat format, const int64_t* storage, uint64_t storageRank,
         void* data),
        (dims, rank, type, stride, offset, format, storage, storageRank, data))
WRAPPED(aclnnStatus, aclDestroyTensor, (const aclTensor* tensor), (tensor))
WRAPPED(aclnnStatus, aclSetAclOpExecutorRepeatable, (aclOpExecutor * executor), (executor))
WRAPPED(aclnnStatus, aclDestroyAclOpExecutor, (aclOpExecutor * executor), (executor))
WRAPPED(aclnnStatus, aclnnAdvanceStepGetWorkspaceSize,
        (const aclTensor* a, const aclTensor* b, const aclTensor* c, const aclTensor* d,
         const aclTensor* e, const aclTensor* f, int64_t seqs, int64_t queries, int64_t blockSize,
         uint64_t* size, aclOpExecutor** executor),
        (a, b, c, d, e, f, seqs, queries, blockSize, size, executor))
WRAPPED(aclnnStatus, aclnnAdvanceStep,
        (void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream),
        (workspace, size, executor, stream))

extern "C" void* __real__Znwm(size_t size);
extern "C" void* __wrap__Znwm(size_t size);
extern "C" void* __wrap__Znwm(size_t size) {
    ++allocations;
    return __real__Znwm(size);
}

namespace {

struct Cost {
    std::vector<std::string> calls;
    size_t allocations = 0;
};

template <class Program>
Cost CostOf(Program program) {
    callCount = 0;
    allocations = 0;
    program();
    const size_t made = allocations;  // before the vector below adds its own
    return {{calls.begin(), calls.begin() + callCount}, made};
}

constexpr int64_t kSeqs = 4;
constexpr int64_t kQueries = 3;
constexpr int64_t kBlockSize = 4;
constexpr std::array<int64_t, kSeqs> kLengths = {5, 0, 3, 0};
constexpr std::array<int64_t, kSeqs* 2> kTables = {7, 2, 3, 0, 9, 1, 0, 0};
constexpr std::array<int64_t, kSeqs> kSlots = {10, 13, 4, -1};  // after two steps

// The last two parameters say what a program did; all CHECKs are left to the comparison.
void DecodeInC(std::array<int64_t, kSeqs>& slots) {
    constexpr std::array<int64_t, kSeqs> zeros{};
    const void* const values[] = {zeros.data(),    zeros.data(), zeros.data(),
                                  kLengths.data(), zeros.data(), kTables.data()};
    const int64_t shapes[][2] = {{kSeqs, 1}, {kQueries, 1}, {kSeqs, 1},
                                 {kSeqs, 1}, {kSeqs, 1},    {kSeqs, 2}};
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    void* memory[6];
    aclTensor* t[6];
    for (int i = 0; i < 6; ++i) {
        const size_t bytes = static_cast<size_t>(shapes[i][0] * shapes[i][1]) * sizeof(int64_t);
        aclrtMalloc(&memory[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        t[i] = aclCreateTensor(shapes[i], 2, ACL_INT64, nullptr, 0, ACL_FORMAT_ND, shapes[i], 2,
                               memory[i]);
        aclrtMemcpy(memory[i], bytes, values[i], bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    }
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], kSeqs, kQueries,
                                     kBlockSize, &size, &executor);
    aclnnAdvanceStep(nullptr, 0, executor, stream);
    aclnnAdvanceStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], kSeqs, kQueries,
                                     kBlockSize, &size, &executor);
    aclSetAclOpExecutorRepeatable(executor);
    aclnnAdvanceStep(nullptr, 0, executor, stream);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(slots.data(), sizeof(slots), memory[4], sizeof(slots), ACL_MEMCPY_DEVICE_TO_HOST);
    aclDestroyAclOpExecutor(executor);
    for (int i = 5; i >= 0; --i) {
        aclDestroyTensor(t[i]);
        aclrtFree(memory[i]);
    }
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
}

void DecodeInCpp(std::array<int64_t, kSeqs>& slots) {
    using namespace advance_step;
    constexpr std::array<int64_t, kSeqs> zeros{};
    constexpr std::array<int64_t, kQueries> sampled{};
    const Device device = Device::Open();
    const Stream stream = Stream::Create();
    const Tensor inputTokens = Tensor::From({kSeqs, 1}, zeros);
    const Tensor sampledTokenIds = Tensor::From({kQueries, 1}, sampled);
    const Tensor inputPositions = Tensor::From({kSeqs, 1}, zeros);
    const Tensor seqLens = Tensor::From({kSeqs, 1}, kLengths);
    const Tensor slotMapping = Tensor::From({kSeqs, 1}, zeros);
    const Tensor blockTables = Tensor::From({kSeqs, 2}, kTables);
    const AdvanceStepArguments arguments = {inputTokens, sampledTokenIds, inputPositions,
                                            seqLens,     slotMapping,     blockTables,
                                            kSeqs,       kQueries,        kBlockSize};
    AdvanceStep advance;
    advance(arguments, stream);
    const Executor plan = AdvanceStep::Plan(arguments);
    plan.Run(stream);
    stream.Synchronize();
    slotMapping.Memory().Download(slots.data(), slots.size());
}

class CppCostTest : public support::DeviceTest {};

TEST_F(CppCostTest, TheCallsAreThoseOfTheCProgram) {
    std::array<int64_t, kSeqs> slotsOfC{};
    std::array<int64_t, kSeqs> slotsOfCpp{};
    const Cost c = CostOf([&] { DecodeInC(slotsOfC); });
    const Cost cpp = CostOf([&] { DecodeInCpp(slotsOfCpp); });
    EXPECT_EQ(slotsOfC, kSlots);
    EXPECT_EQ(slotsOfCpp, kSlots);
    EXPECT_EQ(c.calls.size(), 42U) << "every call is counted";
    EXPECT_EQ(cpp.calls, c.calls);
    EXPECT_EQ(c.allocations, 0U);
    EXPECT_EQ(cpp.allocations, 0U);
}

// The counters above count.
TEST_F(CppCostTest, AnAllocationIsSeen) {
    std::vector<int64_t> values;
    const Cost cost = CostOf([&] { values.reserve(100); });
    EXPECT_EQ(cost.allocations, 1U);
    EXPECT_TRUE(cost.calls.empty());
}

TEST_F(CppCostTest, ObjectsAreAsLargeAsWhatTheyOwn) {
    using namespace advance_step;
    static_assert(sizeof(Device) == sizeof(int32_t));
    static_assert(sizeof(Stream) == sizeof(aclrtStream));
    static_assert(sizeof(StreamRef) == sizeof(aclrtStream));
    static_assert(sizeof(Event) == sizeof(aclrtEvent));
    static_assert(sizeof(Buffer) == sizeof(void*) + sizeof(size_t));
    static_assert(sizeof(Tensor) == sizeof(Buffer) + sizeof(aclTensor*));
    static_assert(sizeof(Executor) == sizeof(Buffer) + sizeof(aclOpExecutor*) + sizeof(Launch));
    static_assert(sizeof(AdvanceStep) == sizeof(Buffer));
    static_assert(sizeof(AdvanceStepArguments) == 6 * sizeof(aclTensor*) + 3 * sizeof(int64_t));
    static_assert(!std::is_copy_constructible_v<Stream> && !std::is_copy_assignable_v<Buffer>);
    static_assert(std::is_nothrow_move_constructible_v<Executor> &&
                  std::is_nothrow_move_assignable_v<Tensor>);
}

}  // namespace
