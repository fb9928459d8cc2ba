// SPDX-License-Identifier: Apache-2.0
// Devices of one process as ranks: order, captures, sub-communicators, ends and aborts.
#include "hccl/devices.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hccl/operators.h"
#include "support/host_work.h"

namespace {

using namespace hccl_test;
using support::IsError;
using support::IsOk;

class HcclDevicesTest : public DevicesTest {
 protected:
    // Queues an AllReduce of the rank's values in place, and returns where they are.
    void* QueueAllReduce(Rank* rank, uint64_t count = 1000) {
        void* const data = rank->Device(ValuesOf(kFloat, rank->rank, count));
        HCCL_TEST_CHECK(HcclAllReduce(data, data, count, kFloat, HCCL_REDUCE_SUM, rank->comm(),
                                      rank->stream()));
        return data;
    }
    static Bytes Sum(uint32_t ranks, uint64_t count = 1000) {
        return Reduced(kFloat, HCCL_REDUCE_SUM, ValuesOfAll(kFloat, ranks, count));
    }
};

TEST_F(HcclDevicesTest, ThreadsRunEveryOperator) {
    ASSERT_NO_FATAL_FAILURE(Begin(4));
    InThreads([](Rank* rank) {
        CheckReductions(rank, HCCL_DATA_TYPE_FP16, HCCL_REDUCE_SUM, 20000);
        CheckReduceScatter(rank, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_PROD, 100);
        CheckReduceScatterV(rank, kFloat, HCCL_REDUCE_MIN, 10);
        CheckCopies(rank, HCCL_DATA_TYPE_UINT16, 50);
        CheckAllGatherV(rank, HCCL_DATA_TYPE_INT64, 4);
        CheckAllToAll(rank, kFloat, 10);
        CheckUnevenAllToAll(rank, HCCL_DATA_TYPE_UINT8, 10);
        CheckMessages(rank, HCCL_DATA_TYPE_FP64, 30000);
    });
}

// One thread queues for all: the calls do not wait.
TEST_F(HcclDevicesTest, OneThreadQueuesForAll) {
    ASSERT_NO_FATAL_FAILURE(Begin(8));
    std::vector<Bytes> values = ValuesOfAll(kFloat, 8, 5000);
    const Bytes expected = Reduced(kFloat, HCCL_REDUCE_SUM, values);
    const std::vector<Bytes> first = AllReduced(kFloat, HCCL_REDUCE_SUM, values);
    for (int i = 0; i < 20; ++i) {
        for (const Bytes& bytes : AllReduced(kFloat, HCCL_REDUCE_SUM, values)) {
            ASSERT_EQ(bytes, expected) << "the order of the ranks has changed";
        }
    }
    EXPECT_EQ(first[7], expected);
}

TEST_F(HcclDevicesTest, OneRankAloneIsAGroup) {
    ASSERT_NO_FATAL_FAILURE(Begin(1));
    ForEachRank([](Rank* rank) {
        CheckReductions(rank, kFloat, HCCL_REDUCE_SUM, 10000);
        CheckReduceScatter(rank, kFloat, HCCL_REDUCE_SUM, 10);
        CheckCopies(rank, kFloat, 10);
        CheckAllToAll(rank, kFloat, 10);
    });
}

// Work of the stream before an operator is done when it runs, and work behind it waits.
TEST_F(HcclDevicesTest, OperatorsKeepTheOrderOfTheStream) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    constexpr uint64_t kCount = 50000;
    std::vector<void*> copies;
    ForEachRank([&](Rank* rank) {
        const Bytes values = ValuesOf(kFloat, rank->rank, kCount);
        void* const from = rank->Device(values);
        void* const data = rank->Room(values.size());
        copies.push_back(rank->Room(values.size()));
        HCCL_TEST_CHECK(aclrtMemcpyAsync(data, values.size(), from, values.size(),
                                         ACL_MEMCPY_DEVICE_TO_DEVICE, rank->stream()));
        HCCL_TEST_CHECK(HcclAllReduce(data, data, kCount, kFloat, HCCL_REDUCE_SUM, rank->comm(),
                                      rank->stream()));
        HCCL_TEST_CHECK(aclrtMemcpyAsync(copies.back(), values.size(), data, values.size(),
                                         ACL_MEMCPY_DEVICE_TO_DEVICE, rank->stream()));
    });
    ForEachRank([&](Rank* rank) {
        rank->Synchronize();
        rank->Expect(copies[rank->rank], Sum(2, kCount), "the copy");
    });
}

// Two streams of a rank: the operators run as they were queued, although the first waits.
TEST_F(HcclDevicesTest, OperatorsOfSeveralStreamsKeepTheirOrder) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    std::unique_ptr<support::HostGate> gate;
    std::vector<void*> first;
    std::vector<void*> second;
    std::vector<aclrtStream> others(2);
    const support::Signal reached;  // the operator behind it would run now
    ForEachRank([&](Rank* rank) {
        HCCL_TEST_CHECK(aclrtCreateStream(&others[rank->rank]));
        if (rank->rank == 0) {
            gate = std::make_unique<support::HostGate>(rank->stream());
        }
        first.push_back(QueueAllReduce(rank));
        second.push_back(rank->Device(ValuesOf(kFloat, rank->rank, 10, 5)));
        HCCL_TEST_CHECK(support::Enqueue(others[rank->rank], [reached] { reached.Set(); }));
        HCCL_TEST_CHECK(HcclAllReduce(second.back(), second.back(), 10, kFloat, HCCL_REDUCE_MAX,
                                      rank->comm(), others[rank->rank]));
    });
    ASSERT_TRUE(reached.Wait());
    gate->Open();
    ForEachRank([&](Rank* rank) {
        rank->Synchronize();
        HCCL_TEST_CHECK(aclrtSynchronizeStream(others[rank->rank]));
        rank->Expect(first[rank->rank], Sum(2), "the first");
        rank->Expect(second[rank->rank],
                     Reduced(kFloat, HCCL_REDUCE_MAX, ValuesOfAll(kFloat, 2, 10, 5)), "the second");
        HCCL_TEST_CHECK(aclrtDestroyStream(others[rank->rank]));
    });
}

// Memory of two mappings side by side, as torch's expandable segments have it.
class Segment {
 public:
    static constexpr size_t kUnit = size_t{2} << 20;  // the granularity

    explicit Segment(int32_t device) {
        HCCL_TEST_CHECK(aclrtReserveMemAddress(&begin_, 2 * kUnit, 0, nullptr, 0));
        aclrtPhysicalMemProp property{};
        property.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
        property.memAttr = ACL_HBM_MEM_HUGE;
        property.location = {static_cast<uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
        for (int part = 0; part < 2; ++part) {
            HCCL_TEST_CHECK(aclrtMallocPhysical(&parts_[part], kUnit, &property, 0));
            HCCL_TEST_CHECK(aclrtMapMem(At(part * kUnit), kUnit, 0, parts_[part], 0));
        }
    }
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;
    ~Segment() {
        for (int part = 0; part < 2; ++part) {
            EXPECT_TRUE(IsOk(aclrtUnmapMem(At(part * kUnit))));
            EXPECT_TRUE(IsOk(aclrtFreePhysical(parts_[part])));
        }
        EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(begin_)));
    }

    char* At(size_t byte) const { return static_cast<char*>(begin_) + byte; }

 private:
    void* begin_ = nullptr;
    aclrtDrvMemHandle parts_[2] = {};
};

TEST_F(HcclDevicesTest, ABufferMayLieInMappingsSideBySide) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    constexpr uint64_t kCount = 1000;
    std::vector<std::unique_ptr<Segment>> segments;
    std::vector<aclmdlRI> models(2);
    const auto data = [&](const Rank& rank) {
        return segments[rank.rank]->At(Segment::kUnit - 4 * (kCount / 2));
    };
    ForEachRank([&](Rank* rank) {
        segments.push_back(std::make_unique<Segment>(static_cast<int32_t>(rank->rank)));
        HCCL_TEST_CHECK(
            aclmdlRICaptureBegin(rank->stream(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
        HCCL_TEST_CHECK(HcclAllReduce(data(*rank), data(*rank), kCount, kFloat, HCCL_REDUCE_SUM,
                                      rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(aclmdlRICaptureEnd(rank->stream(), &models[rank->rank]));
    });
    ForEachRank([&](Rank* rank) {
        const Bytes values = ValuesOf(kFloat, rank->rank, kCount);
        HCCL_TEST_CHECK(aclrtMemcpy(data(*rank), values.size(), values.data(), values.size(),
                                    ACL_MEMCPY_HOST_TO_DEVICE));
        HCCL_TEST_CHECK(aclmdlRIExecuteAsync(models[rank->rank], rank->stream()));
    });
    ForEachRank([&](Rank* rank) {
        rank->Synchronize();
        EXPECT_EQ(rank->Read(data(*rank), 4 * kCount), Sum(2, kCount));
        HCCL_TEST_CHECK(aclmdlRIDestroy(models[rank->rank]));
        EXPECT_EQ(HcclAllReduce(segments[rank->rank]->At(Segment::kUnit), rank->Room(8),
                                Segment::kUnit / 4 + 1, kFloat, HCCL_REDUCE_SUM, rank->comm(),
                                rank->stream()),
                  HCCL_E_PARA);  // beyond the last mapping
    });
    ForEachRank([&](Rank* rank) { segments[rank->rank].reset(); });
}

TEST_F(HcclDevicesTest, ACaptureIsReplayed) {
    ASSERT_NO_FATAL_FAILURE(Begin(3));
    std::vector<aclmdlRI> models(3);
    std::vector<void*> ins(3);
    std::vector<void*> outs(3);
    ForEachRank([&](Rank* rank) {
        ins[rank->rank] = rank->Room(4000);
        outs[rank->rank] = rank->Room(4000);
        HCCL_TEST_CHECK(
            aclmdlRICaptureBegin(rank->stream(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
        HCCL_TEST_CHECK(HcclAllReduce(ins[rank->rank], outs[rank->rank], 1000, kFloat,
                                      HCCL_REDUCE_SUM, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(
            HcclBroadcast(outs[rank->rank], 10, kFloat, 1, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(aclmdlRICaptureEnd(rank->stream(), &models[rank->rank]));
    });
    for (uint64_t seed = 0; seed < 5; ++seed) {
        ForEachRank([&](Rank* rank) {
            const Bytes values = ValuesOf(kFloat, rank->rank, 1000, seed);
            HCCL_TEST_CHECK(
                aclrtMemcpy(ins[rank->rank], 4000, values.data(), 4000, ACL_MEMCPY_HOST_TO_DEVICE));
            HCCL_TEST_CHECK(aclmdlRIExecuteAsync(models[rank->rank], rank->stream()));
        });
        ForEachRank([&](Rank* rank) {
            rank->Synchronize();
            rank->Expect(outs[rank->rank],
                         Reduced(kFloat, HCCL_REDUCE_SUM, ValuesOfAll(kFloat, 3, 1000, seed)),
                         "replay " + std::to_string(seed));
        });
    }
    ASSERT_TRUE(IsOk(HcclCommDestroy(comms_[0])));
    comms_[0] = nullptr;
    Use(0);
    EXPECT_TRUE(IsOk(aclmdlRIExecuteAsync(models[0], ranks_[0]->stream())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(ranks_[0]->stream()),
                        {"HcclAllReduce", "HCCL_E_UNAVAIL", "destroyed"}));
    ForEachRank([&](Rank* rank) { HCCL_TEST_CHECK(aclmdlRIDestroy(models[rank->rank])); });
}

TEST_F(HcclDevicesTest, SubCommunicatorsWorkBesideTheirParent) {
    ASSERT_NO_FATAL_FAILURE(Begin(4));
    InThreads([](Rank* rank) {
        // Ranks 0 and 2, and 1 and 3, the other way round.
        std::vector<uint32_t> members =
            rank->rank % 2 == 0 ? std::vector<uint32_t>{0, 2} : std::vector<uint32_t>{3, 1};
        const uint32_t own = members[0] == rank->rank ? 0 : 1;
        HcclComm parent = rank->comm();
        HcclCommConfig config;
        HcclCommConfigInit(&config);
        (void)std::strncpy(config.hcclCommName, rank->rank % 2 == 0 ? "even" : "odd",
                           COMM_NAME_MAX_LENGTH - 1);
        for (uint64_t number = 0; number < 2; ++number) {
            HcclComm comm = nullptr;
            HCCL_TEST_CHECK(
                HcclCreateSubCommConfig(&parent, 2, members.data(), number, own, &config, &comm));
            char name[COMM_NAME_MAX_LENGTH];
            HCCL_TEST_CHECK(HcclGetCommName(comm, name));
            EXPECT_STREQ(name, config.hcclCommName);
            {
                Rank sub(comm, static_cast<int32_t>(rank->rank));
                EXPECT_EQ(sub.rank, own);
                EXPECT_EQ(sub.size, 2u);
                CheckReductions(&sub, kFloat, HCCL_REDUCE_SUM, 100);
                CheckMessages(&sub, kFloat, 100);
            }
            CheckReductions(rank, kFloat, HCCL_REDUCE_SUM, 100);
            HCCL_TEST_CHECK(HcclCommDestroy(comm));
        }
    });
}

// More bytes than a connection holds: one behind another, both ranks would wait in their sends. One
// thread queues for both devices.
TEST_F(HcclDevicesTest, AGroupSendsAndReceivesAtATime) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    constexpr uint64_t kCount = 4 << 20;
    std::vector<void*> received(2);
    std::vector<void*> sums(2);
    ASSERT_TRUE(IsOk(HcclGroupStart()));
    ASSERT_TRUE(IsOk(HcclGroupStart()));
    ForEachRank([&](Rank* rank) {
        const uint32_t other = 1 - rank->rank;
        received[rank->rank] = rank->Room(kCount * 4);
        sums[rank->rank] = rank->Device(ValuesOf(kFloat, rank->rank, 10));
        HCCL_TEST_CHECK(HcclSend(rank->Device(ValuesOf(kFloat, rank->rank, kCount)), kCount, kFloat,
                                 other, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(HcclAllReduce(sums[rank->rank], sums[rank->rank], 10, kFloat,
                                      HCCL_REDUCE_SUM, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(
            HcclRecv(received[rank->rank], kCount, kFloat, other, rank->comm(), rank->stream()));
    });
    ASSERT_TRUE(IsOk(HcclGroupEnd()));
    Use(0);
    EXPECT_EQ(ranks_[0]->Read(received[0], 4), Bytes(4, 0xab)) << "the inner end queued operators";
    ASSERT_TRUE(IsOk(HcclGroupEnd()));
    ForEachRank([&](Rank* rank) {
        rank->Synchronize();
        rank->Expect(received[rank->rank], ValuesOf(kFloat, 1 - rank->rank, kCount), "the message");
        rank->Expect(sums[rank->rank], Sum(2, 10), "the sum");
    });
}

TEST_F(HcclDevicesTest, NamesFindTheirCommunicators) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    char names[2][COMM_NAME_MAX_LENGTH];
    ASSERT_TRUE(IsOk(HcclGetCommName(comms_[0], names[0])));
    ASSERT_TRUE(IsOk(HcclGetCommName(comms_[1], names[1])));
    EXPECT_STREQ(names[0], names[1]);
    HcclComm found = nullptr;
    ASSERT_TRUE(IsOk(HcclCommGetHandleWithName(names[0], &found)));
    EXPECT_TRUE(found == comms_[0] || found == comms_[1]);
    EXPECT_TRUE(IsError(HCCL_E_NOT_FOUND, HcclCommGetHandleWithName("none", &found), {"\"none\""}));
}

// The ranks of one operator run different ones.
TEST_F(HcclDevicesTest, DifferentOperatorsAreAnError) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    Use(0);
    void* const data = ranks_[0]->Room(4000);
    ASSERT_TRUE(IsOk(
        HcclAllReduce(data, data, 1000, kFloat, HCCL_REDUCE_SUM, comms_[0], ranks_[0]->stream())));
    Use(1);
    void* const other = ranks_[1]->Room(4000);
    ASSERT_TRUE(IsOk(
        HcclAllReduce(other, other, 999, kFloat, HCCL_REDUCE_SUM, comms_[1], ranks_[1]->stream())));
    Use(0);
    EXPECT_EQ(aclrtSynchronizeStream(ranks_[0]->stream()), ACL_ERROR_RT_INTERNAL_ERROR);
    const std::string message = support::TakeMessage();
    EXPECT_NE(message.find("count 999"), std::string::npos) << message;
    EXPECT_NE(message.find("count 1000"), std::string::npos) << message;
    HcclResult error = HCCL_SUCCESS;
    ASSERT_TRUE(IsOk(HcclGetCommAsyncError(comms_[0], &error)));
    EXPECT_TRUE(error == HCCL_E_PARA || error == HCCL_E_REMOTE);
    Use(1);
    EXPECT_EQ(aclrtSynchronizeStream(ranks_[1]->stream()), ACL_ERROR_RT_INTERNAL_ERROR);
}

// A message that is received as another one.
TEST_F(HcclDevicesTest, DifferentMessagesAreAnError) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    Use(0);
    ASSERT_TRUE(IsOk(HcclSend(ranks_[0]->Room(40), 10, kFloat, 1, comms_[0], ranks_[0]->stream())));
    Use(1);
    ASSERT_TRUE(IsOk(HcclRecv(ranks_[1]->Room(40), 9, kFloat, 0, comms_[1], ranks_[1]->stream())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(ranks_[1]->stream()),
                        {"HcclRecv: HCCL_E_PARA", "rank 0 has a message of 10 elements",
                         "expected a message of 9 elements"}));
}

class HcclEndsTest : public HcclDevicesTest {
 protected:
    // Rank 0 waits in an operator for rank 1, which has got its part and does not answer.
    void BeginToWait() {
        ASSERT_NO_FATAL_FAILURE(Begin(2));
        Use(0);
        HcclSendRecvItem items[] = {{HCCL_SEND, ranks_[0]->Room(4), 1, kFloat, 1},
                                    {HCCL_RECV, ranks_[0]->Room(4), 1, kFloat, 1}};
        ASSERT_TRUE(IsOk(HcclBatchSendRecv(items, 2, comms_[0], ranks_[0]->stream())));
        Use(1);
        ASSERT_TRUE(
            IsOk(HcclRecv(ranks_[1]->Room(4), 1, kFloat, 0, comms_[1], ranks_[1]->stream())));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(ranks_[1]->stream())));
        Use(0);
    }
};

TEST_F(HcclEndsTest, ADestroyEndsAWait) {
    ASSERT_NO_FATAL_FAILURE(BeginToWait());
    ASSERT_TRUE(IsOk(HcclCommDestroy(comms_[0])));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(ranks_[0]->stream()),
                        {"HCCL_E_UNAVAIL", "destroyed"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommDestroy(comms_[0]), {"comm"}));
    comms_[0] = nullptr;
}

TEST_F(HcclEndsTest, AnAbortOfTheDeviceEndsAWait) {
    ASSERT_NO_FATAL_FAILURE(BeginToWait());
    ASSERT_TRUE(IsOk(aclrtDeviceTaskAbort(0, 0)));
    HcclResult error = HCCL_SUCCESS;
    ASSERT_TRUE(IsOk(HcclGetCommAsyncError(comms_[0], &error)));
    EXPECT_EQ(error, HCCL_E_SUSPENDING);
    Use(1);
    EXPECT_TRUE(IsError(HCCL_E_REMOTE, HcclBarrier(comms_[1], ranks_[1]->stream()) == HCCL_SUCCESS
                                           ? [&] {
                                                 (void)aclrtSynchronizeStream(ranks_[1]->stream());
                                                 HcclResult other = HCCL_SUCCESS;
                                                 (void)HcclGetCommAsyncError(comms_[1], &other);
                                                 return other;
                                             }()
                                           : HCCL_SUCCESS,
                        {"rank 0", "HCCL_E_SUSPENDING"}));
}

// The operator has not begun when its stream is aborted, so the ranks do not agree any more.
TEST_F(HcclEndsTest, AnAbortOfTheStreamSkipsAnOperatorAndSaysSo) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    Use(0);
    support::HostGate gate(ranks_[0]->stream());
    (void)QueueAllReduce(ranks_[0].get());
    ASSERT_TRUE(IsOk(aclrtStreamAbort(ranks_[0]->stream())));
    gate.Open();
    (void)aclrtSynchronizeStream(ranks_[0]->stream());
    HcclResult error = HCCL_SUCCESS;
    EXPECT_TRUE(support::Eventually([&] {
        (void)HcclGetCommAsyncError(comms_[0], &error);
        return error != HCCL_SUCCESS;
    }));
    EXPECT_EQ(error, HCCL_E_SUSPENDING);
    EXPECT_NE(support::TakeMessage().find("did not run"), std::string::npos);
}

TEST_F(HcclEndsTest, ALimitOfTheCommunicatorEndsAWait) {
    ASSERT_NO_FATAL_FAILURE(Begin(2));
    InThreads([](Rank* rank) {
        HcclComm parent = rank->comm();
        HcclCommConfig config;
        HcclCommConfigInit(&config);
        config.hcclExecTimeOut = 1;
        uint32_t members[] = {0, 1};
        HcclComm comm = nullptr;
        HCCL_TEST_CHECK(
            HcclCreateSubCommConfig(&parent, 2, members, 0, rank->rank, &config, &comm));
        if (rank->rank == 0) {
            HCCL_TEST_CHECK(HcclRecv(rank->Room(4), 1, kFloat, 1, comm, rank->stream()));
            EXPECT_TRUE(IsError(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(rank->stream()),
                                {"HcclRecv: HCCL_E_TIMEOUT: rank 1 ", "within 1 s"}));
        } else {
            HcclResult error = HCCL_SUCCESS;
            EXPECT_TRUE(support::Eventually([&] {
                (void)HcclGetCommAsyncError(comm, &error);
                return error != HCCL_SUCCESS;
            }));
            EXPECT_EQ(error, HCCL_E_REMOTE);
        }
        HCCL_TEST_CHECK(HcclCommDestroy(comm));
    });
}

// Devices are reset while ranks are in the middle of operators: every call ends, and nothing
// crashes.
TEST_F(HcclEndsTest, ResetsAndDestroysMeetOperators) {
    for (int round = 0; round < 5; ++round) {
        SCOPED_TRACE(round);
        ASSERT_NO_FATAL_FAILURE(Begin(2));
        std::atomic<bool> begun{false};
        std::thread ender([&] {
            while (!begun.load()) {
                std::this_thread::yield();
            }
            (void)HcclCommDestroy(comms_[static_cast<size_t>(round % 2)]);
            (void)aclrtResetDevice(round % 2);
        });
        for (int i = 0; i < 50; ++i) {
            for (const auto& rank : ranks_) {
                if (aclrtSetDevice(static_cast<int32_t>(rank->rank)) != ACL_SUCCESS) {
                    continue;
                }
                void* data = nullptr;
                if (aclrtMalloc(&data, 4000, ACL_MEM_MALLOC_NORMAL_ONLY) == ACL_SUCCESS) {
                    (void)HcclAllReduce(data, data, 1000, kFloat, HCCL_REDUCE_SUM, rank->comm(),
                                        rank->stream());
                }
                begun.store(true);
            }
        }
        ender.join();
        TearDown();
    }
}

}  // namespace
