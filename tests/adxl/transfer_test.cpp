// SPDX-License-Identifier: Apache-2.0
// Bytes that go from one process to the other and back.

#include "adxl/engines.h"

namespace transfer {
namespace {

constexpr size_t kNumber = sizeof(int32_t);

TEST_F(TransferTest, WritesAndReadsDeviceMemory) {
    const Registered mine(engine_, kCount, 7);
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), device_, mine.Bytes()}})));
    EXPECT_EQ(other_->Run(&Sum).at[0], SumOf(Numbers(kCount, 7)));
    const Registered back(engine_, kCount, 0);
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, {{back.At(0), device_, back.Bytes()}})));
    EXPECT_EQ(back.Values(), mine.Values());
}

TEST_F(TransferTest, HostMemoryOnEitherSide) {
    std::vector<int32_t> mine(kCount);
    adxl::MemHandle handle = nullptr;
    ASSERT_TRUE(IsOk(
        engine_.RegisterMem(Described(mine.data(), kCount * kNumber), adxl::MEM_HOST, handle)));
    const uintptr_t here = AddressOf(mine.data());
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, {{here, device_, kCount * kNumber}})));
    EXPECT_EQ(mine, Numbers(kCount, kRemoteFirst));
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, {{here, host_, kCount * kNumber}})));
    EXPECT_EQ(mine, Numbers(kCount, -kRemoteFirst));
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, {{here, device_, kCount * kNumber}})));
    EXPECT_EQ(other_->Run(&Sum).at[0], SumOf(mine));
}

// Ranges of all lengths, which begin and end inside pieces and span them.
TEST_F(TransferTest, ABatchMovesEachRangeToItsPlace) {
    const Registered mine(engine_, kCount, 7);
    std::vector<TransferOpDesc> descs;
    std::vector<int32_t> expected = Numbers(kCount, kRemoteFirst);
    size_t from = 0;
    for (const size_t count : {size_t{1}, size_t{1000}, size_t{70000}, size_t{3}, size_t{65536}}) {
        const size_t to = kCount - from - count;
        descs.push_back({mine.At(from), device_ + to * kNumber, count * kNumber});
        for (size_t i = 0; i < count; ++i) {
            expected[to + i] = static_cast<int32_t>(7 + from + i);
        }
        from += count + 1;
    }
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, descs)));
    const Registered back(engine_, kCount, 0);
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, {{back.At(0), device_, back.Bytes()}})));
    EXPECT_EQ(back.Values(), expected);
    for (TransferOpDesc& desc : descs) {
        desc.local_addr = back.At(0) + (desc.local_addr - mine.At(0));
    }
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, descs)));
    EXPECT_EQ(back.Values()[0], 7);
}

// What is not registered as a whole is refused before a byte moves, and the connection stays.
TEST_F(TransferTest, OnlyRegisteredMemoryIsReached) {
    const Registered mine(engine_, kCount, 7);
    const uint64_t before = other_->Run(&Sum).at[0];
    const size_t all = kCount * kNumber;
    struct Case {
        const char* name;
        uintptr_t remote;
        size_t bytes;
    } const cases[] = {
        {"one byte behind", device_ + 1, all},
        {"one byte before", device_ - 1, all},
        {"behind", device_ + all, 1},
        {"nothing there", 4096, 8},
        {"around the address space", UINTPTR_MAX - 2, 8},
    };
    for (const Case& wrong : cases) {
        EXPECT_TRUE(IsError(kInvalid,
                            Transfer(adxl::WRITE, {{mine.At(0), device_, kNumber},
                                                   {mine.At(0), wrong.remote, wrong.bytes}}),
                            {"op_descs[1]", "remote_addr", "not registered"}))
            << wrong.name;
        EXPECT_TRUE(
            IsCode(kInvalid, Transfer(adxl::READ, {{mine.At(0), wrong.remote, wrong.bytes}})))
            << wrong.name;
    }
    EXPECT_EQ(other_->Run(&Sum).at[0], before);
    EXPECT_EQ(mine.Values(), Numbers(kCount, 7));
    EXPECT_TRUE(
        IsCode(adxl::ALREADY_CONNECTED, static_cast<int>(engine_.Connect(remote_.c_str()))));
    // The local side, too.
    EXPECT_TRUE(IsError(kInvalid, Transfer(adxl::READ, {{mine.At(1), device_, all}}),
                        {"op_descs[0]", "local_addr"}));
    EXPECT_TRUE(IsCode(kInvalid, Transfer(adxl::READ, {{AddressOf(&before), device_, 8}})));
}

TEST_F(TransferTest, NothingIsReachedAfterDeregisterMem) {
    const Registered mine(engine_, 16, 7);
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), device_, 16}})));
    other_->Run([](Words*) { TheServed().memory.reset(); });
    EXPECT_TRUE(IsCode(kInvalid, Transfer(adxl::WRITE, {{mine.At(0), device_, 16}})));
    EXPECT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), host_, 16}})));
}

// Memory that was freed without DeregisterMem makes no crash.
TEST_F(TransferTest, FreedDeviceMemoryFails) {
    const Registered mine(engine_, 16, 7);
    const Words freed = other_->Run([](Words* words) {
        void* block = nullptr;
        adxl::MemHandle handle = nullptr;
        Keep(words, aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
        Keep(words, static_cast<int>(TheServed().engine.RegisterMem(Described(block, 1 << 20),
                                                                    adxl::MEM_DEVICE, handle)));
        Keep(words, aclrtFree(block));
        words->at[0] = AddressOf(block);
    });
    ASSERT_EQ(freed.code, 0) << freed.text;
    EXPECT_TRUE(
        IsError(kFailed, Transfer(adxl::WRITE, {{mine.At(0), freed.at[0], 16}}), {"was freed"}));
    EXPECT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), device_, 16}})));
}

// A capture forbids synchronous copies to the threads of the program, but not to the engine.
TEST_F(TransferTest, ACaptureOfTheOtherProcessDoesNotMatter) {
    const Registered mine(engine_, 16, 7);
    const Words begun = other_->Run([](Words* words) {
        aclrtStream stream = nullptr;
        Keep(words, aclrtCreateStream(&stream));
        Keep(words, aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        words->Set(0, stream);
    });
    ASSERT_EQ(begun.code, 0) << begun.text;
    EXPECT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), device_, 16}})));
    other_->Run(
        [](Words* words) {
            aclmdlRI model = nullptr;
            Keep(words, aclmdlRICaptureEnd(words->Pointer(0), &model));
            Keep(words, aclmdlRIDestroy(model));
        },
        begun);
}

}  // namespace
}  // namespace transfer
