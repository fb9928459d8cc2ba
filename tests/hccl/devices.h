// SPDX-License-Identifier: Apache-2.0
// Ranks as devices of this process.
#ifndef ADVANCE_STEP_TESTS_HCCL_DEVICES_H_
#define ADVANCE_STEP_TESTS_HCCL_DEVICES_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "hccl/rank.h"
#include "support/settings.h"
#include "support/status.h"
#include "support/watchdog.h"

namespace hccl_test {

class DevicesTest : public testing::Test {
 protected:
    // Makes a communicator of that many devices, and ranks_.
    void Begin(uint32_t ranks) {
        settings_ = std::make_unique<support::SettingsGuard>(
            support::Settings{{"ADVANCE_STEP_DEVICES", std::to_string(ranks)}});
        ASSERT_TRUE(support::IsOk(settings_->Status()));
        std::vector<int32_t> devices(ranks);
        std::iota(devices.begin(), devices.end(), 0);
        comms_.resize(ranks);
        ASSERT_TRUE(support::IsOk(HcclCommInitAll(ranks, devices.data(), comms_.data())));
        for (uint32_t rank = 0; rank < ranks; ++rank) {
            ranks_.push_back(std::make_unique<Rank>(comms_[rank], static_cast<int32_t>(rank)));
        }
    }

    void TearDown() override {
        ranks_.clear();
        for (const HcclComm comm : comms_) {
            if (comm != nullptr) {
                (void)HcclCommDestroy(comm);
            }
        }
        settings_.reset();
    }

    // Calls a function for each rank, one after another, with the rank's device current.
    void ForEachRank(const std::function<void(Rank*)>& body) {
        for (const auto& rank : ranks_) {
            ASSERT_EQ(aclrtSetDevice(static_cast<int32_t>(rank->rank)), ACL_SUCCESS);
            ASSERT_NO_THROW(body(rank.get()));
        }
    }

    // The same in a thread for each rank.
    void InThreads(const std::function<void(Rank*)>& body) {
        std::vector<std::thread> threads;
        for (const auto& rank : ranks_) {
            threads.emplace_back([&body, own = rank.get()] {
                try {
                    HCCL_TEST_CHECK(aclrtSetDevice(static_cast<int32_t>(own->rank)));
                    body(own);
                } catch (const std::exception& error) {
                    ADD_FAILURE() << error.what();
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    // What each rank has of an AllReduce of these values.
    std::vector<Bytes> AllReduced(HcclDataType type, HcclReduceOp op,
                                  const std::vector<Bytes>& values) {
        std::vector<void*> outs;
        const uint64_t count = values[0].size() / SizeOf(type);
        ForEachRank([&](Rank* rank) {
            outs.push_back(rank->Room(values[0].size()));
            HCCL_TEST_CHECK(HcclAllReduce(rank->Device(values[rank->rank]), outs.back(), count,
                                          type, op, rank->comm(), rank->stream()));
        });
        std::vector<Bytes> results;
        ForEachRank([&](Rank* rank) {
            rank->Synchronize();
            results.push_back(rank->Read(outs[rank->rank], values[0].size()));
            rank->Forget();
        });
        return results;
    }

    void Use(uint32_t rank) { HCCL_TEST_CHECK(aclrtSetDevice(static_cast<int32_t>(rank))); }

    std::vector<HcclComm> comms_;
    std::vector<std::unique_ptr<Rank>> ranks_;

 private:
    support::Watchdog watchdog_{std::chrono::seconds(240)};
    std::unique_ptr<support::SettingsGuard> settings_;
};

}  // namespace hccl_test

#endif  // ADVANCE_STEP_TESTS_HCCL_DEVICES_H_
