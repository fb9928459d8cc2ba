// SPDX-License-Identifier: Apache-2.0
// Transfers that run behind their caller.

#include <signal.h>

#include "adxl/engines.h"

namespace transfer {
namespace {

class AsyncTest : public TransferTest {
 protected:
    adxl::TransferStatus EndOf(adxl::TransferReq req) {
        adxl::TransferStatus status = adxl::TransferStatus::WAITING;
        while (status == adxl::TransferStatus::WAITING) {
            EXPECT_TRUE(IsOk(engine_.GetTransferStatus(req, status)));
        }
        return status;
    }
    int Begin(adxl::TransferOp operation, const std::vector<TransferOpDesc>& descs,
              adxl::TransferReq* req) {
        return static_cast<int>(engine_.TransferAsync(remote_.c_str(), operation, descs, {}, *req));
    }
};

// Those to one engine run in order: the last one is the one that is seen.
TEST_F(AsyncTest, TransfersRunInOrder) {
    constexpr int kTransfers = 20;
    std::vector<std::unique_ptr<Registered>> sources;
    std::vector<adxl::TransferReq> reqs(kTransfers);
    for (int i = 0; i < kTransfers; ++i) {
        sources.push_back(std::make_unique<Registered>(engine_, kCount, i));
        ASSERT_TRUE(IsOk(
            Begin(adxl::WRITE, {{sources[i]->At(0), device_, sources[i]->Bytes()}}, &reqs[i])));
    }
    EXPECT_EQ(EndOf(reqs.back()), adxl::TransferStatus::COMPLETED);
    EXPECT_EQ(other_->Run(&Sum).at[0], SumOf(Numbers(kCount, kTransfers - 1)));
    for (int i = 0; i < kTransfers - 1; ++i) {
        adxl::TransferStatus status{};
        EXPECT_TRUE(IsOk(engine_.GetTransferStatus(reqs[i], status)));
        EXPECT_EQ(status, adxl::TransferStatus::COMPLETED);
    }
    // An end is told once.
    adxl::TransferStatus status{};
    EXPECT_TRUE(IsError(kInvalid, engine_.GetTransferStatus(reqs[0], status), {"req"}));
    EXPECT_TRUE(IsCode(kInvalid, engine_.GetTransferStatus(nullptr, status)));
}

TEST_F(AsyncTest, RefusalsOfEitherSide) {
    const Registered mine(engine_, 16, 7);
    adxl::TransferReq req = nullptr;
    EXPECT_TRUE(IsError(kInvalid, Begin(adxl::READ, {}, &req), {"op_descs"}));
    EXPECT_TRUE(IsCode(kInvalid, Begin(adxl::READ, {{mine.At(1), device_, 64}}, &req)));
    EXPECT_TRUE(IsCode(kInvalid, engine_.TransferAsync("x", adxl::READ, {}, {}, req)));
    EXPECT_EQ(req, nullptr);
    ASSERT_TRUE(IsOk(Begin(adxl::READ, {{mine.At(0), device_ - 1, 8}}, &req)));
    EXPECT_EQ(EndOf(req), adxl::TransferStatus::FAILED);
}

TEST_F(AsyncTest, AStoppedProcessIsATimeout) {
    const Registered mine(engine_, kCount, 7);
    ASSERT_TRUE(IsOk(engine_.Connect(remote_.c_str(), 60000)));
    other_->Stop();
    adxl::TransferReq req = nullptr;
    ASSERT_TRUE(IsOk(Begin(adxl::READ, {{mine.At(0), device_, mine.Bytes()}}, &req)));
    EXPECT_EQ(EndOf(req), adxl::TransferStatus::TIMEOUT);
    ASSERT_EQ(kill(other_->Pid(), SIGCONT), 0);
}

// Ends that nobody asks for are kept up to a limit.
TEST_F(AsyncTest, EndsAreKeptUpToALimit) {
    const Registered mine(engine_, 16, 7);
    std::vector<adxl::TransferReq> reqs(4096);
    for (adxl::TransferReq& req : reqs) {
        ASSERT_TRUE(IsOk(Begin(adxl::READ, {{mine.At(0), device_, 16}}, &req)));
    }
    adxl::TransferReq more = nullptr;
    EXPECT_TRUE(IsError(adxl::RESOURCE_EXHAUSTED,
                        Begin(adxl::READ, {{mine.At(0), device_, 16}}, &more), {"4096"}));
    EXPECT_EQ(EndOf(reqs.front()), adxl::TransferStatus::COMPLETED);
    EXPECT_TRUE(IsOk(Begin(adxl::READ, {{mine.At(0), device_, 16}}, &more)));
    EXPECT_EQ(EndOf(more), adxl::TransferStatus::COMPLETED);
}

TEST_F(AsyncTest, FinalizeEndsWhatIsQueued) {
    const auto mine = std::make_unique<support::DeviceBuffer>(kCount * sizeof(int32_t));
    adxl::MemHandle handle = nullptr;
    ASSERT_TRUE(
        IsOk(engine_.RegisterMem(Described(mine->Get(), mine->Size()), adxl::MEM_DEVICE, handle)));
    ASSERT_TRUE(IsOk(engine_.Connect(remote_.c_str(), 60000)));
    other_->Stop();
    adxl::TransferReq req = nullptr;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(
            IsOk(Begin(adxl::READ, {{AddressOf(mine->Get()), device_, mine->Size()}}, &req)));
    }
    engine_.Finalize();  // the first one fails at once, and the others never begin
    ASSERT_EQ(kill(other_->Pid(), SIGCONT), 0);
}

}  // namespace
}  // namespace transfer
