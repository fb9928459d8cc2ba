// SPDX-License-Identifier: Apache-2.0
// The objects of the C++ interface: what they own, how they move, how they fail.
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "acl/acl.h"
#include "advance_step/advance_step.hpp"
#include "support/runtime_test.h"

namespace cpp_objects {
namespace {

using advance_step::AdvanceStep;
using advance_step::AdvanceStepArguments;
using advance_step::Buffer;
using advance_step::Device;
using advance_step::Error;
using advance_step::Event;
using advance_step::Executor;
using advance_step::Result;
using advance_step::Stream;
using advance_step::StreamRef;
using advance_step::Tensor;

class CppObjectsTest : public support::DeviceTest {
 protected:
    static size_t FreeMemory() {
        size_t free = 0;
        size_t total = 0;
        EXPECT_TRUE(support::IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }
    static uint32_t StreamsLeft() {
        uint32_t count = 0;
        EXPECT_TRUE(support::IsOk(aclrtGetStreamAvailableNum(&count)));
        return count;
    }
    static bool IsLive(aclrtStream stream) {
        int32_t id = 0;
        return aclrtStreamGetId(stream, &id) == ACL_SUCCESS;
    }
    static bool IsLive(aclrtEvent event, uint32_t) {
        uint32_t id = 0;
        return aclrtGetEventId(event, &id) == ACL_SUCCESS;
    }
};

// Four rows, three queries, and what phase one wants of them.
struct Batch {
    Tensor inputTokens = Tensor::From({4}, std::array<int64_t, 4>{});
    Tensor sampledTokenIds = Tensor::From({3, 1}, std::array<int64_t, 3>{11, 12, 13});
    Tensor inputPositions = Tensor::From({4}, std::array<int64_t, 4>{});
    Tensor seqLens = Tensor::From({4}, std::array<int64_t, 4>{5, 0, 3, 0});
    Tensor slotMapping = Tensor::From({4}, std::array<int64_t, 4>{});
    Tensor blockTables = Tensor::From({4, 2}, std::array<int64_t, 8>{7, 2, 3, 0, 9, 1, 0, 0});

    AdvanceStepArguments Arguments() const {
        return {inputTokens,
                sampledTokenIds,
                inputPositions,
                seqLens,
                slotMapping,
                blockTables,
                4,
                3,
                4};
    }
};
const std::vector<int64_t> kSlots = {9, 12, 39, -1};

TEST_F(CppObjectsTest, AnExceptionHasCodeAndMessage) {
    try {
        Buffer::Allocate(0);
        FAIL() << "no exception";
    } catch (const Error& error) {
        EXPECT_EQ(error.Code(), ACL_ERROR_INVALID_PARAM);
        void* memory = nullptr;
        ASSERT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), error.Code());
        EXPECT_EQ(support::TakeMessage(), error.what());
    }
    EXPECT_THROW(Device::Open(-1), std::runtime_error);
}

TEST_F(CppObjectsTest, AResultHasCodeAndMessage) {
    const Result<Buffer> memory = Buffer::TryAllocate(0);
    ASSERT_FALSE(memory);
    EXPECT_FALSE(memory.has_value());
    EXPECT_EQ(memory.error().Code(), ACL_ERROR_INVALID_PARAM);
    EXPECT_NE(std::string(memory.error().what()).find("aclrtMalloc"), std::string::npos);
    EXPECT_EQ(support::TakeMessage(), "") << "the message was taken";

    const Result<Device> device = Device::TryOpen(99);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().Code(), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_TRUE(support::HasNumber(device.error().what(), 99));
}

TEST_F(CppObjectsTest, AResultIsReadInAllWays) {
    Result<Buffer> memory = Buffer::TryAllocate(64);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->Size(), 64U);
    EXPECT_EQ((*memory).Size(), 64U);
    EXPECT_EQ(memory.value().Size(), 64U);
    const Buffer taken = *std::move(memory);
    EXPECT_EQ(taken.Size(), 64U);
    EXPECT_TRUE(Stream().TrySynchronize());
}

// Each kind of failing call, by its result: a bad plan, bad data, an unrecorded event.
TEST_F(CppObjectsTest, EveryKindOfFailureIsTold) {
    const Batch batch;
    const Stream stream = Stream::Create();
    AdvanceStepArguments arguments = batch.Arguments();
    arguments.blockSize = 0;
    const auto planned = AdvanceStep::TryPlan(arguments);
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.error().Code(), ACLNN_ERR_INNER_TILING_ERROR);
    EXPECT_NE(std::string(planned.error().what()).find("blockSize"), std::string::npos);
    arguments.inputTokens = nullptr;
    AdvanceStep advance;
    const auto called = advance.TryCall(arguments, stream);
    ASSERT_FALSE(called);
    EXPECT_EQ(called.error().Code(), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_THROW(advance(arguments, stream), Error);
    EXPECT_THROW(AdvanceStep::Plan(arguments), Error);

    batch.seqLens.Upload(std::array<int64_t, 3>{5, 0, -3});
    advance(batch.Arguments(), stream);
    const auto ended = stream.TrySynchronize();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().Code(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_TRUE(support::NamesQuery(ended.error().what(), 2));
    EXPECT_TRUE(stream.TrySynchronize()) << "told once";

    EXPECT_EQ(stream.TryWait(Event::Create()).error().Code(), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(Event().TryRecord(stream).error().Code(), ACL_ERROR_INVALID_PARAM);
    const auto noPlan = Executor().TryRun(stream).error();
    EXPECT_EQ(noPlan.Code(), ACLNN_ERR_INNER_NULLPTR);
    EXPECT_STREQ(noPlan.what(), "Executor::Run: the executor is empty; expected one of Plan");
    EXPECT_EQ(batch.seqLens.TryUpload(std::array<int64_t, 99>{}).error().Code(),
              ACL_ERROR_RT_PARAM_INVALID);
    std::array<int64_t, 99> values{};
    EXPECT_EQ(batch.seqLens.Memory().TryDownload(values.data(), 99).error().Code(),
              ACL_ERROR_RT_PARAM_INVALID);
    const auto error = Tensor::TryFrom({3}, values).error();
    EXPECT_EQ(error.Code(), ACL_ERROR_INVALID_PARAM);
    EXPECT_STREQ(error.what(), ("Tensor::From: values has " + std::to_string(values.size()) +
                                " elements; expected 3, as the shape has")
                                   .c_str());
    EXPECT_EQ(Tensor::TryDescribe(ACL_INT64, nullptr, 1, nullptr).error().Code(),
              ACLNN_ERR_INNER_NULLPTR);
    EXPECT_EQ(Device().TryCounters().error().Code(), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(CppObjectsTest, ObjectsGoWithTheirScope) {
    const size_t memory = FreeMemory();
    const uint32_t streams = StreamsLeft();
    aclrtEvent event = nullptr;
    {
        const Batch batch;
        const Stream stream = Stream::Create();
        const Event mark = Event::Create();
        event = mark.Get();
        const Executor plan = AdvanceStep::Plan(batch.Arguments());
        plan.Run(stream);
        mark.Record(stream);
        EXPECT_LT(FreeMemory(), memory);
        EXPECT_LT(StreamsLeft(), streams);
        EXPECT_TRUE(IsLive(event, 0));
    }
    EXPECT_EQ(FreeMemory(), memory);
    EXPECT_EQ(StreamsLeft(), streams);
    EXPECT_FALSE(IsLive(event, 0));
}

TEST_F(CppObjectsTest, ADeviceIsOneUse) {
    int32_t active = 0;
    ASSERT_TRUE(support::IsOk(aclrtResetDeviceForce(0)));
    {
        Device first = Device::Open();
        Device second = Device::Open();
        second = std::move(first);  // gives the second use back
        EXPECT_EQ(first.Id(), -1);
        EXPECT_EQ(second.Id(), 0);
        ASSERT_TRUE(support::IsOk(aclrtGetPrimaryCtxState(0, nullptr, &active)));
        EXPECT_EQ(active, 1);
    }
    ASSERT_TRUE(support::IsOk(aclrtGetPrimaryCtxState(0, nullptr, &active)));
    EXPECT_EQ(active, 0);
}

// By a reference, so that no compiler warns of a self-move.
template <class T>
void MoveTo(T& to, T& from) {
    to = std::move(from);
}

TEST_F(CppObjectsTest, MovedObjectsAreEmptyAndSelfMovesChangeNothing) {
    const size_t memory = FreeMemory();
    {
        Buffer first = Buffer::Allocate(128);
        Buffer second = Buffer::Allocate(64);
        void* const address = first.Data();
        MoveTo(first, first);
        EXPECT_EQ(first.Data(), address);
        MoveTo(second, first);
        EXPECT_EQ(second.Data(), address);
        EXPECT_EQ(second.Size(), 128U);
        EXPECT_EQ(first.Data(), nullptr);
        EXPECT_EQ(first.Size(), 0U);
        first = Buffer::Allocate(64);
    }
    EXPECT_EQ(FreeMemory(), memory);

    Stream stream = Stream::Create();
    aclrtStream handle = stream.Get();
    MoveTo(stream, stream);
    EXPECT_TRUE(IsLive(handle));
    Stream other = Stream::Create();
    aclrtStream gone = other.Get();
    MoveTo(other, stream);
    EXPECT_EQ(other.Get(), handle);
    EXPECT_EQ(stream.Get(), nullptr);
    EXPECT_FALSE(IsLive(gone));

    Device device = Device::Open();
    MoveTo(device, device);
    EXPECT_EQ(device.Id(), 0);

    Tensor tensor = Tensor::From({2}, std::vector<int32_t>{4, 5});
    MoveTo(tensor, tensor);
    const Tensor moved = std::move(tensor);
    EXPECT_EQ(moved.Download<int32_t>(), (std::vector<int32_t>{4, 5}));
    EXPECT_EQ(tensor.Get(), nullptr);

    Event event = Event::Create();
    Event later = std::move(event);
    MoveTo(later, later);
    EXPECT_TRUE(IsLive(later.Get(), 0));
    EXPECT_EQ(event.Get(), nullptr);
}

TEST_F(CppObjectsTest, AnExecutorMovesWithItsWorkspace) {
    const Batch batch;
    const Stream stream = Stream::Create();
    Executor first = AdvanceStep::Plan(batch.Arguments());
    MoveTo(first, first);
    Executor second;
    MoveTo(second, first);
    EXPECT_FALSE(first.TryRun(stream)) << "moved from";
    second.Run(stream);
    stream.Synchronize();
    EXPECT_EQ(batch.slotMapping.Download<int64_t>(), kSlots);

    const Tensor slots = Tensor::From({4}, std::array<int64_t, 4>{});
    batch.seqLens.Upload(std::array<int64_t, 4>{5, 0, 3, 0});
    second.SetAddress(4, batch.slotMapping, slots.Memory().Data());
    second.Run(stream);
    stream.Synchronize();
    EXPECT_EQ(slots.Download<int64_t>(), kSlots);
}

TEST_F(CppObjectsTest, EventsAndStreamsMeet) {
    const Stream first = Stream::Create();
    const Stream second = Stream::Create();
    const Event start = Event::Create();
    const Event end = Event::Create();
    start.Record(first);
    second.Wait(start);
    end.Record(second);
    end.Synchronize();
    EXPECT_TRUE(start.IsDone());
    EXPECT_TRUE(end.IsDone());
    EXPECT_TRUE(second.IsDone());
    EXPECT_GE(end.MillisecondsSince(start), 0.0F);
    end.Record(StreamRef(first.Get()));
    first.Synchronize();
    EXPECT_FALSE(Event::Create().IsDone());
}

TEST_F(CppObjectsTest, CountersAreThoseOfTheDevice) {
    const Device device = Device::Open();
    const Batch batch;
    AdvanceStep advance;
    advance(batch.Arguments(), Stream());
    device.Synchronize();
    EXPECT_EQ(device.Counters().launches, 1U);
    EXPECT_EQ(device.Counters().advanced, 3U);
    EXPECT_EQ(device.Counters().padded, 1U);
}

}  // namespace
}  // namespace cpp_objects
