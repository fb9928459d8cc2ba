// SPDX-License-Identifier: Apache-2.0
// Many threads on one engine.

#include <atomic>
#include <thread>

#include "adxl/engines.h"

namespace transfer {
namespace {

// Each thread has its part of the other process's memory, which no other one touches.
TEST_F(TransferTest, ThreadsMoveTheirParts) {
    constexpr size_t kThreads = 6;
    constexpr size_t kPart = kCount / kThreads;
    const Registered mine(engine_, kCount, 0);
    const Registered back(engine_, kCount, -1);
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            const size_t bytes = kPart * sizeof(int32_t);
            for (int round = 0; round < 10; ++round) {
                const bool ok =
                    Transfer(adxl::WRITE, {{mine.At(i * kPart), device_ + i * bytes, bytes}}) ==
                        0 &&
                    Transfer(adxl::READ, {{back.At(i * kPart), device_ + i * bytes, bytes}}) == 0;
                failures += ok ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(failures, 0);
    EXPECT_EQ(back.Values(), mine.Values());
}

// Registrations come and go, connections end and the other process registers while transfers run:
// each transfer either moves its bytes or returns a code of these.
TEST_F(TransferTest, RegistrationsAndConnectionsEndDuringTransfers) {
    const Registered mine(engine_, kCount, 7);
    std::atomic<bool> isOver{false};
    std::atomic<int> others{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 60; ++round) {
                const int code = Transfer(i == 0 ? adxl::READ : adxl::WRITE,
                                          {{mine.At(0), device_, mine.Bytes()}});
                if (code != 0 && code != kInvalid && code != kNotConnected && code != kFailed) {
                    ++others;
                }
            }
        });
    }
    threads.emplace_back([&] {
        while (!isOver.load()) {
            (void)engine_.Disconnect(remote_.c_str());
        }
    });
    for (int i = 0; i < 20; ++i) {
        const Words again = other_->Run([](Words* words) {
            Served& served = TheServed();
            adxl::MemHandle handle = nullptr;
            const adxl::MemDesc mem =
                Described(reinterpret_cast<void*>(served.memory->At(0)), served.memory->Bytes());
            Keep(words, static_cast<int>(served.engine.RegisterMem(mem, adxl::MEM_DEVICE, handle)));
            Keep(words, static_cast<int>(served.engine.DeregisterMem(handle)));
        });
        EXPECT_EQ(again.code, 0) << again.text;
    }
    for (size_t i = 0; i < 3; ++i) {
        threads[i].join();
    }
    isOver.store(true);
    threads.back().join();
    EXPECT_EQ(others, 0);
    EXPECT_TRUE(IsOk(Transfer(adxl::READ, {{mine.At(0), device_, mine.Bytes()}})));
}

TEST_F(TransferTest, FinalizeDuringTransfers) {
    const support::DeviceBuffer block(kCount * sizeof(int32_t));
    adxl::MemHandle handle = nullptr;
    ASSERT_TRUE(
        IsOk(engine_.RegisterMem(Described(block.Get(), block.Size()), adxl::MEM_DEVICE, handle)));
    std::atomic<int> begun{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            int code = 0;
            while (code == 0) {
                code = Transfer(adxl::READ, {{AddressOf(block.Get()), device_, block.Size()}});
                ++begun;
            }
            EXPECT_TRUE(code == kFailed || code == kNotConnected || code == kInvalid) << code;
        });
    }
    while (begun.load() < 20) {
        std::this_thread::yield();
    }
    engine_.Finalize();
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
}  // namespace transfer
