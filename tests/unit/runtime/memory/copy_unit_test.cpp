// SPDX-License-Identifier: Apache-2.0
// Tests of copies and fills: kinds, ranges, rows, tasks, and batches.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/memories.h"
#include "support/table.h"
#include "unit/status_check.h"

namespace advstep {

namespace {

using unit::FailsWith;
using unit::Succeeds;

// Two device blocks and a pinned one of 100 bytes each, and pageable memory.
class CopyTest : public testing::Test {
 protected:
    enum Place { kDevice, kDevice2, kPinned, kPageable };

    CopyTest() {
        void* address = nullptr;
        for (const Place place : {kDevice, kDevice2, kPinned}) {
            const bool pinned = place == kPinned;
            EXPECT_TRUE(
                Succeeds(memory_.Allocate(pinned ? MemoryKind::kPinnedHost : MemoryKind::kDevice,
                                          pinned ? nullptr : &device_, 100, &address)));
            places_[place] = static_cast<char*>(address);
        }
        places_[kPageable] = pageable_;
    }
    ~CopyTest() override { memory_.ReleaseAll(nullptr); }

    static Settings WithMemory() {
        Settings settings;
        settings.memoryBytes = 1 << 20;
        return settings;
    }

    Status Check(Place dst, Place src, size_t count, aclrtMemcpyKind kind) {
        sides_ = CopySides{};
        return CheckCopyRanges(memory_, {places_[dst], count, places_[src], count, kind}, &sides_);
    }

    const Device device_{0, WithMemory()};
    DeviceMemory memory_{[](const Device*) { return std::vector<Ticket>(); }};
    char pageable_[100] = {};
    char* places_[4] = {};
    CopySides sides_;
};

TEST_F(CopyTest, NullsAndUnknownKindsAreRefused) {
    char bytes[8];
    const auto check = [&](void* dst, const void* src, int kind) {
        return CheckCopyArguments({dst, 8, src, 8, static_cast<aclrtMemcpyKind>(kind)});
    };
    EXPECT_TRUE(FailsWith(ACL_ERROR_INVALID_PARAM, check(nullptr, bytes, 1), {"dst is null"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_INVALID_PARAM, check(bytes, nullptr, 1), {"src is null"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_INVALID_PARAM, check(bytes, bytes, -1), {"kind is -1"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_INVALID_PARAM, check(bytes, bytes, 8), {"kind is 8"}));
    for (int kind = 0; kind <= 7; ++kind) {
        EXPECT_TRUE(Succeeds(check(bytes, bytes, kind))) << kind;
    }
}

TEST_F(CopyTest, TheKindHasNoEffectOnKnownMemory) {
    for (int number = ACL_MEMCPY_HOST_TO_HOST; number <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;
         ++number) {
        SCOPED_TRACE(number);
        const auto kind = static_cast<aclrtMemcpyKind>(number);
        for (const Place place : {kDevice2, kPinned, kPageable}) {
            const CopyRequest request{places_[place], 10, places_[kDevice], 10, kind};
            EXPECT_TRUE(Succeeds(Check(place, kDevice, 10, kind))) << place;
            EXPECT_EQ(sides_.pageable, place == kPageable);
            EXPECT_TRUE(Succeeds(RefuseHostToHost(request, sides_)));
            EXPECT_TRUE(Succeeds(Check(kDevice, place, 10, kind))) << place;
            EXPECT_EQ(sides_.pageable, place == kPageable);
            EXPECT_TRUE(Succeeds(RefuseHostToHost(request, sides_)));
        }
        EXPECT_TRUE(Succeeds(Check(kPinned, kPinned, 10, kind)));
        const CopyRequest request{places_[kPinned], 10, places_[kPinned], 10, kind};
        EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, RefuseHostToHost(request, sides_),
                              {"from host to host", "kind is " + std::to_string(number)}));
    }
}

TEST_F(CopyTest, WhatTheKindCallsDeviceMemoryIsKnownOrHostMemory) {
    void* freed = nullptr;
    void* reserved = nullptr;
    ASSERT_TRUE(Succeeds(memory_.Allocate(MemoryKind::kDevice, &device_, 4096, &freed)));
    ASSERT_TRUE(Succeeds(memory_.Free(MemoryKind::kDevice, freed)));
    ASSERT_TRUE(Succeeds(TheVirtualMemory().Reserve(
        &device_, VirtualMemory::kGranularity, VirtualMemory::kGranularity, nullptr, &reserved)));
    char* const before = places_[kPageable];
    for (void* const address : {freed, reserved, reinterpret_cast<void*>(uintptr_t{4096})}) {
        places_[kPageable] = static_cast<char*>(address);
        for (const Status& status : {Check(kPageable, kDevice, 10, ACL_MEMCPY_DEVICE_TO_DEVICE),
                                     Check(kPageable, kDevice, 10, ACL_MEMCPY_HOST_TO_DEVICE),
                                     Check(kPageable, kPinned, 10, ACL_MEMCPY_HOST_TO_DEVICE)}) {
            EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, status, {"dst is ", "device"}));
        }
        for (const Status& status : {Check(kDevice, kPageable, 10, ACL_MEMCPY_DEVICE_TO_DEVICE),
                                     Check(kDevice, kPageable, 10, ACL_MEMCPY_DEVICE_TO_HOST),
                                     Check(kPinned, kPageable, 10, ACL_MEMCPY_DEVICE_TO_HOST)}) {
            EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, status, {"src is ", "device"}));
        }
    }
    places_[kPageable] = before;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          Check(kPageable, kPageable, 10, ACL_MEMCPY_HOST_TO_DEVICE), {"dst is "}));
    EXPECT_TRUE(Succeeds(TheVirtualMemory().Release(reserved)));
}

TEST_F(CopyTest, TheKindDecidesWhereTheCallSaysSo) {
    CopyRequest request{places_[kDevice], 10, places_[kPinned], 10, ACL_MEMCPY_DEVICE_TO_DEVICE};
    request.kindDecides = true;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, CheckCopyRanges(memory_, request, &sides_),
                          {"src is ", "device memory"}));
    request.kind = ACL_MEMCPY_HOST_TO_HOST;
    sides_ = CopySides{};
    EXPECT_TRUE(Succeeds(CheckCopyRanges(memory_, request, &sides_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, RefuseHostToHost(request, sides_)));
}

TEST_F(CopyTest, TellsWhatTheCopyTouches) {
    struct Row {
        Place dst, src;
        aclrtMemcpyKind kind;
        bool deviceSide, pageable;
    };
    for (const Row& row : {Row{kDevice, kPinned, ACL_MEMCPY_HOST_TO_DEVICE, true, false},
                           Row{kDevice, kPageable, ACL_MEMCPY_HOST_TO_DEVICE, true, true},
                           Row{kPageable, kDevice, ACL_MEMCPY_DEFAULT, true, true},
                           Row{kPinned, kPageable, ACL_MEMCPY_DEFAULT, false, true}}) {
        SCOPED_TRACE(testing::Message() << row.dst << " from " << row.src);
        ASSERT_TRUE(Succeeds(Check(row.dst, row.src, 10, row.kind)));
        EXPECT_EQ(sides_.deviceSide, row.deviceSide);
        EXPECT_EQ(sides_.pageable, row.pageable);
    }
}

TEST_F(CopyTest, RangeMustLieInItsAllocation) {
    EXPECT_TRUE(Succeeds(Check(kDevice, kPageable, 100, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          Check(kDevice, kPageable, 101, ACL_MEMCPY_HOST_TO_DEVICE),
                          {"copies 101 bytes into a device range of 100 bytes"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          Check(kPageable, kDevice, 101, ACL_MEMCPY_DEVICE_TO_HOST),
                          {"copies 101 bytes from a device range of 100 bytes"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          Check(kPinned, kDevice, 101, ACL_MEMCPY_DEFAULT),
                          {"copies 101 bytes into a pinned host range of 100 bytes"}));
    places_[kDevice] += 60;
    EXPECT_TRUE(Succeeds(Check(kDevice, kPageable, 40, ACL_MEMCPY_HOST_TO_DEVICE)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          Check(kDevice, kPageable, 41, ACL_MEMCPY_HOST_TO_DEVICE),
                          {"41 bytes", "40 bytes"}));
}

TEST_F(CopyTest, CountMustFitTheDestination) {
    const CopyRequest request{places_[kDevice], 9, pageable_, 10, ACL_MEMCPY_HOST_TO_DEVICE};
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, CheckCopyRanges(memory_, request, &sides_),
                          {"count is 10", "destMax = 9"}));
}

TEST_F(CopyTest, NothingFitsEverywhere) {
    const CopyRequest request{pageable_, 0, pageable_, 0, ACL_MEMCPY_DEVICE_TO_DEVICE};
    EXPECT_TRUE(Succeeds(CheckCopyRanges(memory_, request, &sides_)));
}

TEST_F(CopyTest, FillTakesDeviceAndPinnedMemory) {
    EXPECT_TRUE(Succeeds(CheckFill(memory_, places_[kDevice], "devPtr", 100, &sides_)));
    EXPECT_TRUE(Succeeds(CheckFill(memory_, places_[kPinned] + 1, "devPtr", 99, &sides_)));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          CheckFill(memory_, pageable_, "devPtr", 10, &sides_),
                          {"devPtr is ", "no allocation"}));
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                          CheckFill(memory_, places_[kDevice] + 1, "devPtr", 100, &sides_),
                          {"sets 100 bytes in a range of 99 bytes", "devPtr"}));
}

TEST_F(CopyTest, CopyNowCopiesOverlappingRangesToo) {
    for (int byte = 0; byte < 100; ++byte) {
        pageable_[byte] = static_cast<char>(byte);
    }
    CopyNow({pageable_ + 10, 50, pageable_, 50, ACL_MEMCPY_HOST_TO_HOST});
    EXPECT_EQ(pageable_[9], 9);
    EXPECT_EQ(pageable_[10], 0);
    EXPECT_EQ(pageable_[59], 49);
    EXPECT_EQ(pageable_[60], 60);
}

TEST_F(CopyTest, RowsAreCopiedInOrder) {
    std::memcpy(pageable_, "abcdefgh", 9);
    // Each row is the next one's source.
    CopyNow({pageable_ + 2, 2, pageable_, 2, ACL_MEMCPY_HOST_TO_HOST, 3, 2, 2});
    EXPECT_STREQ(pageable_, "abababab");
}

TEST_F(CopyTest, ManySmallRowsAreHeavyTogether) {
    alignas(kTaskAlignment) unsigned char record[sizeof(CopyTask)];
    const auto heavy = [&](size_t rows) {
        return CopyTask::Make(record,
                              {pageable_, 100, pageable_, 100, ACL_MEMCPY_DEFAULT, rows, 200, 200})
            ->heavy();
    };
    EXPECT_FALSE(heavy(1000));
    EXPECT_TRUE(heavy(10000));
}

TEST_F(CopyTest, ACopyOfTwoDevicesIsForeignToBoth) {
    const Device second(1, Settings{});
    CopySides own;
    own.Touch(&device_);
    own.Touch(&device_);
    EXPECT_FALSE(own.ForeignTo(&device_));
    EXPECT_TRUE(own.ForeignTo(&second));
    for (const bool swapped : {false, true}) {
        CopySides both;
        both.Touch(swapped ? &second : &device_);
        both.Touch(swapped ? &device_ : &second);
        EXPECT_TRUE(both.ForeignTo(&device_));
        EXPECT_TRUE(both.ForeignTo(&second));
    }
    EXPECT_FALSE(CopySides().ForeignTo(&device_)) << "touches no device";
}

TEST_F(CopyTest, CopyTaskCopiesWhenRun) {
    alignas(kTaskAlignment) unsigned char record[sizeof(CopyTask)];
    char from[4] = {'a', 'b', 'c', 'd'};
    const Task* const task =
        CopyTask::Make(record, {pageable_, 4, from, 3, ACL_MEMCPY_HOST_TO_HOST});
    EXPECT_EQ(pageable_[0], 0);
    from[0] = 'x';  // read when run, not before
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_EQ(std::string(pageable_, 4), std::string("xbc\0", 4));
    EXPECT_EQ(task->kind, TaskKind::kPlain);
}

TEST_F(CopyTest, FillTaskFillsWhenRun) {
    alignas(kTaskAlignment) unsigned char record[sizeof(FillTask)];
    const Task* const task = FillTask::Make(record, pageable_ + 1, 0x141, 2);
    EXPECT_EQ(pageable_[1], 0);
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_EQ(std::string(pageable_, 4), std::string("\0AA\0", 4));
}

TEST_F(CopyTest, LargeCopiesAreHeavy) {
    alignas(kTaskAlignment) unsigned char record[sizeof(CopyTask) + sizeof(FillTask)];
    const auto copyIsHeavy = [&](size_t count) {
        return CopyTask::Make(record, {pageable_, count, pageable_, count, ACL_MEMCPY_DEFAULT})
            ->heavy();
    };
    EXPECT_FALSE(copyIsHeavy(4096));
    EXPECT_TRUE(copyIsHeavy(16 << 20));
    EXPECT_FALSE(FillTask::Make(record, pageable_, 0, 4096)->heavy());
    EXPECT_TRUE(FillTask::Make(record, pageable_, 0, 16 << 20)->heavy());
}

// Tests of batched copies: order, weight, size of a record.

TEST(CopyBatchTaskTest, CopiesInOrderWhenRun) {
    char bytes[] = "abcdef";
    void* dsts[] = {bytes + 1, bytes + 2};
    void* srcs[] = {bytes, bytes + 1};
    size_t sizes[] = {1, 2};
    CopyBatch batch;
    batch.dsts = dsts;
    batch.srcs = srcs;
    batch.sizes = sizes;
    batch.count = 2;
    size_t size = 0;
    ASSERT_TRUE(Succeeds(CopyBatchTask::Bytes(batch, &size)));
    std::vector<std::max_align_t> record(size / sizeof(std::max_align_t) + 1);
    const Task* const task = CopyBatchTask::Make(record.data(), batch);
    EXPECT_FALSE(task->heavy());
    sizes[0] = 99;  // the record has its own
    dsts[0] = srcs[0] = nullptr;
    EXPECT_STREQ(bytes, "abcdef");
    EXPECT_TRUE(Succeeds(task->run(*task)));
    EXPECT_STREQ(bytes, "aaacef");
}

TEST(CopyBatchTaskTest, ManySmallCopiesAreHeavyTogether) {
    char byte = 0;
    std::vector<void*> sides(1000, &byte);
    std::vector<size_t> sizes(1000, 1000);
    CopyBatch batch;
    batch.dsts = batch.srcs = sides.data();
    batch.sizes = sizes.data();
    batch.count = 1000;
    size_t size = 0;
    ASSERT_TRUE(Succeeds(CopyBatchTask::Bytes(batch, &size)));
    std::vector<std::max_align_t> record(size / sizeof(std::max_align_t) + 1);
    EXPECT_TRUE(CopyBatchTask::Make(record.data(), batch)->heavy());
    sizes.assign(1000, SIZE_MAX / 2);
    EXPECT_TRUE(CopyBatchTask::Make(record.data(), batch)->heavy()) << "no overflow";
}

TEST(CopyBatchTaskTest, ARecordHasItsLimit) {
    CopyBatch batch;
    batch.count = size_t{1} << 28;
    size_t size = 7;
    EXPECT_TRUE(FailsWith(ACL_ERROR_RT_PARAM_INVALID, CopyBatchTask::Bytes(batch, &size),
                          {"numBatches is 268435456"}));
    EXPECT_EQ(size, 7U);
}

}  // namespace

}  // namespace advstep
