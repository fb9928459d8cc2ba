// SPDX-License-Identifier: Apache-2.0
// Tests of the set of busy streams: what a look without locks may rely on, and who leaves it.
#include "src/runtime/stream/busy_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/context_end.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"
#include "unit/runtime/stream/stream_bench.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using unit::Succeeds;

std::vector<uint32_t> PlacesIn(const BusySet& busy) {
    std::vector<uint32_t> places;
    busy.ForEach([&](uint32_t place) { places.push_back(place); });
    return places;
}

TEST(BusySetTest, FindsThePlacesThatWereAdded) {
    const auto busy = std::make_unique<BusySet>();
    EXPECT_TRUE(PlacesIn(*busy).empty());
    for (const uint32_t place : {130U, 0U, 63U, 64U, 1048575U}) {
        busy->Add(place);
    }
    EXPECT_EQ(PlacesIn(*busy), (std::vector<uint32_t>{0, 63, 64, 130, 1048575}));
    busy->Remove(64);
    busy->Remove(1048575);
    EXPECT_EQ(PlacesIn(*busy), (std::vector<uint32_t>{0, 63, 130}));
}

// Streams come and go in a long program: those that have ended cost a look nothing.
TEST(BusySetTest, AStreamThatHasEndedIsNotInTheSet) {
    constexpr uint32_t kPlace = 70;
    const auto busy = std::make_unique<BusySet>();
    unit::CountingWorkers workers;
    Stream stream;
    stream.tableIndex = kPlace;
    for (const bool drop : {false, true}) {
        unit::StreamBench bench(&stream, drop ? 0x257 : 0x157, &workers, nullptr, busy.get());
        std::atomic<int> count{0};
        ASSERT_TRUE(Succeeds(bench.EnqueueCount(&count)));
        EXPECT_EQ(PlacesIn(*busy), std::vector<uint32_t>{kPlace});
        ASSERT_TRUE(Succeeds(bench.Close(drop)));
        EXPECT_TRUE(PlacesIn(*busy).empty());
    }
}

// The thread sanitizer sees whether a device that is found idle has done its work before the look:
// a thread that does not find it in the set takes no lock of the stream.
TEST(BusySetTest, WhatAnIdleDeviceHasDoneCameBeforeTheLook) {
    Device device{0, Settings{}};
    const ContextRef context = CreateContext(&device, false);
    const StreamRef stream{context.defaultStream, context.defaultStreamHandle, context.handle};
    struct WriteTask : Task {
        int* to;
    };
    int written = 0;
    ASSERT_TRUE(Succeeds(stream.Enqueue(sizeof(WriteTask), [&](void* memory) {
        auto* const task = new (memory) WriteTask;
        task->run = [](const Task& base) {
            *static_cast<const WriteTask&>(base).to = 1;
            return Status();
        };
        task->to = &written;
        return task;
    })));
    std::atomic<bool> forgotten{false};  // relaxed, so that it brings nothing along
    std::thread waiter([&] {
        EXPECT_TRUE(Succeeds(DrainDevice(&device)));
        EXPECT_TRUE(Succeeds(SynchronizeStreamsOf(&device)));
        forgotten.store(true, std::memory_order_relaxed);
    });
    std::thread reader([&] {
        while (!forgotten.load(std::memory_order_relaxed)) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(Succeeds(DrainDevice(&device)));
        EXPECT_EQ(written, 1);
    });
    waiter.join();
    reader.join();
    EXPECT_TRUE(Succeeds(DestroyContext(context)));
    TheWorkers().Stop();
}

}  // namespace
}  // namespace advstep
