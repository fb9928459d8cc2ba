// SPDX-License-Identifier: Apache-2.0
// Connections, their ends, and other processes that stop or die.

#include <signal.h>

#include "adxl/engines.h"

namespace transfer {
namespace {

using Clock = std::chrono::steady_clock;

TEST_F(TransferTest, ConnectsOnceAndDisconnectsOnce) {
    const char* const remote = remote_.c_str();
    EXPECT_TRUE(IsCode(kNotConnected, static_cast<int>(engine_.Disconnect(remote))));
    EXPECT_TRUE(IsOk(static_cast<int>(engine_.Connect(remote, 60000))));
    EXPECT_TRUE(IsCode(adxl::ALREADY_CONNECTED, static_cast<int>(engine_.Connect(remote, 60000))));
    EXPECT_TRUE(IsOk(static_cast<int>(engine_.Disconnect(remote))));
    EXPECT_TRUE(IsError(kNotConnected, static_cast<int>(engine_.Disconnect(remote)), {remote}));
}

TEST_F(TransferTest, NobodyHasTheName) {
    const std::string nobody = NameOf(FreePort());
    const Registered mine(engine_, 16, 7);
    EXPECT_TRUE(
        IsError(kNotConnected, static_cast<int>(engine_.Connect(nobody.c_str(), 60000)), {nobody}));
    EXPECT_TRUE(
        IsCode(kNotConnected, static_cast<int>(engine_.TransferSync(nobody.c_str(), adxl::READ,
                                                                    {{mine.At(0), device_, 4}}))));
}

TEST_F(TransferTest, WithoutAutoConnectATransferNeedsAConnect) {
    AdxlEngine engine;
    ASSERT_TRUE(IsOk(engine.Initialize("127.0.0.1", {{"AutoConnect", "0"}})));
    const Registered mine(engine, 16, 7);
    const std::vector<TransferOpDesc> descs = {{mine.At(0), device_, 16}};
    EXPECT_TRUE(IsError(kNotConnected,
                        static_cast<int>(engine.TransferSync(remote_.c_str(), adxl::READ, descs)),
                        {"AutoConnect"}));
    ASSERT_TRUE(IsOk(engine.Connect(remote_.c_str(), 60000)));
    EXPECT_TRUE(IsOk(engine.TransferSync(remote_.c_str(), adxl::READ, descs, 60000)));
}

// SIGKILL while a transfer waits: its code comes when the process is gone, not at the time limit.
TEST_F(TransferTest, TheOtherProcessIsKilledDuringATransfer) {
    const Registered mine(engine_, kCount, 7);
    const std::vector<TransferOpDesc> descs = {{mine.At(0), device_, mine.Bytes()}};
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, descs)));
    other_->Stop();
    adxl::TransferReq req = nullptr;
    ASSERT_TRUE(IsOk(engine_.TransferAsync(remote_.c_str(), adxl::WRITE, descs, {}, req)));
    KillOther();
    adxl::TransferStatus status = adxl::TransferStatus::WAITING;
    while (status == adxl::TransferStatus::WAITING) {
        ASSERT_TRUE(IsOk(engine_.GetTransferStatus(req, status)));
    }
    EXPECT_EQ(status, adxl::TransferStatus::FAILED);
    const auto begin = Clock::now();
    EXPECT_TRUE(IsError(kNotConnected, Transfer(adxl::WRITE, descs), {remote_.c_str()}));
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(30));
}

// A process that takes the name of one that has died is another engine: what the first one had
// registered is not reached there.
TEST_F(TransferTest, ALaterProcessOfTheSameNameHasItsOwnMemory) {
    const Registered mine(engine_, 16, 7);
    const std::vector<TransferOpDesc> descs = {{mine.At(0), device_, 16}};
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, descs)));
    KillOther();
    AdxlEngine later;
    ASSERT_TRUE(IsOk(later.Initialize(remote_.c_str(), {})));
    EXPECT_TRUE(IsError(kInvalid, Transfer(adxl::READ, descs), {"not registered"}));
}

TEST_F(TransferTest, AStoppedProcessIsATimeout) {
    const Registered mine(engine_, kCount, 7);
    const std::vector<TransferOpDesc> descs = {{mine.At(0), device_, mine.Bytes()}};
    ASSERT_TRUE(IsOk(static_cast<int>(engine_.Connect(remote_.c_str(), 60000))));
    other_->Stop();
    EXPECT_TRUE(IsError(kTimeout, Transfer(adxl::READ, descs, 50), {remote_.c_str(), "in time"}));
    // The connection is over, and a new one is not answered.
    EXPECT_TRUE(IsCode(kNotConnected, static_cast<int>(engine_.Disconnect(remote_.c_str()))));
    EXPECT_TRUE(IsCode(kTimeout, static_cast<int>(engine_.Connect(remote_.c_str(), 50))));
    ASSERT_EQ(kill(other_->Pid(), SIGCONT), 0);
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, descs)));
    EXPECT_EQ(mine.Values(), Numbers(kCount, kRemoteFirst));
}

// More connections than an engine serves are turned away with a code.
TEST_F(TransferTest, ConnectionsHaveALimit) {
    constexpr size_t kMost = 64;
    std::vector<std::unique_ptr<AdxlEngine>> engines;
    for (size_t i = 0; i < kMost; ++i) {
        engines.push_back(std::make_unique<AdxlEngine>());
        ASSERT_TRUE(IsOk(engines.back()->Initialize("127.0.0.1", {})));
        ASSERT_TRUE(IsOk(engines.back()->Connect(remote_.c_str(), 60000))) << i;
    }
    EXPECT_TRUE(IsCode(adxl::RESOURCE_EXHAUSTED,
                       static_cast<int>(engine_.Connect(remote_.c_str(), 60000))));
    // The place of one that has ended is free as soon as its thread has seen the end.
    engines.pop_back();
    int code = adxl::RESOURCE_EXHAUSTED;
    while (code == static_cast<int>(adxl::RESOURCE_EXHAUSTED)) {
        code = static_cast<int>(engine_.Connect(remote_.c_str(), 60000));
    }
    EXPECT_TRUE(IsOk(code));
}

TEST_F(TransferTest, TheEndOfAnEngineEndsItsConnections) {
    const Registered mine(engine_, 16, 7);
    const std::vector<TransferOpDesc> descs = {{mine.At(0), device_, 16}};
    ASSERT_TRUE(IsOk(Transfer(adxl::READ, descs)));
    other_->Run([](Words*) {
        TheServed().memory.reset();
        TheServed().engine.Finalize();
    });
    EXPECT_TRUE(IsCode(kNotConnected, Transfer(adxl::READ, descs)));
}

}  // namespace
}  // namespace transfer
