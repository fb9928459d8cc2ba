// SPDX-License-Identifier: Apache-2.0
// Eight ranks as processes: results, and ranks that end or stop.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "hccl/operators.h"
#include "hccl/processes.h"
#include "support/watchdog.h"

namespace {

using namespace hccl_test;
using support::Words;

class HcclRanksTest : public testing::Test {
 private:
    support::Watchdog watchdog_{std::chrono::seconds(300)};
};

void Destroy(Words* words) {
    Guarded(words, [&] { HCCL_TEST_CHECK(HcclCommDestroy(theComm)); });
}

TEST_F(HcclRanksTest, EveryOperatorComputesWhatPlainLoopsDo) {
    const RootFile root;
    Processes ranks(8);
    ranks.Run(&InitByRoot);
    ranks.Run([](Words* words) {
        Guarded(words, [&] {
            Rank rank(theComm, 0);
            EXPECT_EQ(rank.rank, words->at[0]);
            CheckEverything(&rank);
            CheckSizes(&rank);
        });
    });
    ranks.Run(&Destroy);
}

// More than a block of 16 MiB, of which the last one is short.
TEST_F(HcclRanksTest, LargeBuffersGoInBlocks) {
    const RootFile root;
    Processes ranks(3);
    ranks.Run(&InitByRoot);
    ranks.Run([](Words* words) {
        Guarded(words, [&] {
            Rank rank(theComm, 0);
            CheckReductions(&rank, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_SUM, (2 << 20) + 5);
            CheckReduceScatter(&rank, HCCL_DATA_TYPE_INT64, HCCL_REDUCE_MAX, 700001);
        });
    });
}

// In a rank: an AllReduce that must fail with the code, and name that rank.
void ExpectFailure(Words* words, HcclResult code, const std::string& named) {
    Guarded(words, [&] {
        Rank rank(theComm, 0);
        void* const data = rank.Device(ValuesOf(HCCL_DATA_TYPE_FP32, rank.rank, 100000));
        const HcclResult queued = HcclAllReduce(data, data, 100000, HCCL_DATA_TYPE_FP32,
                                                HCCL_REDUCE_SUM, theComm, rank.stream());
        std::string text;
        if (queued == HCCL_SUCCESS) {
            if (aclrtSynchronizeStream(rank.stream()) != ACL_ERROR_RT_INTERNAL_ERROR) {
                throw Wrong("the synchronisation did not return ACL_ERROR_RT_INTERNAL_ERROR");
            }
            text = support::TakeMessage();
        }
        HcclResult error = HCCL_SUCCESS;
        HCCL_TEST_CHECK(HcclGetCommAsyncError(theComm, &error));
        text += support::TakeMessage();
        if (error != code || text.find(named) == std::string::npos) {
            throw std::runtime_error("error " + std::to_string(error) + ", message: " + text);
        }
        if (HcclBarrier(theComm, rank.stream()) != code) {
            throw std::runtime_error("the communicator takes operators after its failure");
        }
        HCCL_TEST_CHECK(HcclCommDestroy(theComm));
    });
}

TEST_F(HcclRanksTest, AKilledRankIsNamed) {
    const RootFile root;
    Processes ranks(4);
    ranks.Run(&InitByRoot);
    ranks[2].Kill();
    for (const uint32_t rank : {0, 1, 3}) {
        ranks[rank].Start([](Words* words) { ExpectFailure(words, HCCL_E_REMOTE, "rank 2"); });
    }
    for (const uint32_t rank : {0, 1, 3}) {
        const Words words = ranks[rank].Result();
        EXPECT_EQ(words.code, 0) << "rank " << rank << ": " << words.text;
    }
}

TEST_F(HcclRanksTest, ARankThatIsKilledInAnOperatorIsNamed) {
    const RootFile root;
    Processes ranks(3);
    ranks.Run(&InitByRoot);
    for (const uint32_t rank : {0, 2}) {
        ranks[rank].Start([](Words* words) { ExpectFailure(words, HCCL_E_REMOTE, "rank 1"); });
    }
    ranks[1].Start([](Words* words) {
        Guarded(words, [&] {
            Rank rank(theComm, 0);
            HCCL_TEST_CHECK(HcclBarrier(theComm, rank.stream()));
            (void)aclrtSynchronizeStream(rank.stream());
        });
    });
    ranks[1].Kill();
    for (const uint32_t rank : {0, 2}) {
        // Rank 1 ran another operator, so its message may have come before its end.
        const Words words = ranks[rank].Result();
        EXPECT_TRUE(words.code == 0 ||
                    std::string(words.text).find("HcclBarrier") != std::string::npos ||
                    std::string(words.text).find("rank 1") != std::string::npos)
            << "rank " << rank << ": " << words.text;
    }
}

TEST_F(HcclRanksTest, AStoppedRankIsATimeoutThatNamesIt) {
    const Variable limit("HCCL_EXEC_TIMEOUT", "2");
    const RootFile root;
    Processes ranks(3);
    ranks.Run(&InitByRoot);
    ranks[1].Stop();
    const auto begin = std::chrono::steady_clock::now();
    // The first rank to notice tells the others, which have it as the failure of that rank.
    const auto expectTimeout = [](Words* words) {
        Words copy = *words;
        ExpectFailure(&copy, HCCL_E_TIMEOUT, "rank 1 ");
        if (copy.code != 0 && std::string(copy.text).find("error 21") != std::string::npos &&
            std::string(copy.text).find("rank 1 has not done") != std::string::npos) {
            copy.code = 0;
        }
        words->code = copy.code;
        std::memcpy(words->text, copy.text, sizeof copy.text);
    };
    ranks[0].Start(expectTimeout);
    ranks[2].Start(expectTimeout);
    for (const uint32_t rank : {0, 2}) {
        const Words words = ranks[rank].Result();
        EXPECT_EQ(words.code, 0) << "rank " << rank << ": " << words.text;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
    ASSERT_EQ(kill(ranks[1].Pid(), SIGCONT), 0);
    ranks[1].Start([](Words* words) {
        Guarded(words, [&] {
            HcclResult error = HCCL_SUCCESS;
            HCCL_TEST_CHECK(HcclGetCommAsyncError(theComm, &error));
            if (error != HCCL_E_REMOTE) {
                throw std::runtime_error("the stopped rank has error " + std::to_string(error));
            }
        });
    });
    EXPECT_EQ(ranks[1].Result().code, 0);
}

// Without an operator, too.
TEST_F(HcclRanksTest, TheEndOfAProcessIsAnAsyncError) {
    const RootFile root;
    Processes ranks(2);
    ranks.Run(&InitByRoot);
    const auto expect = [](Words* words) {
        Guarded(words, [&] {
            HcclResult error = HCCL_SUCCESS;
            HCCL_TEST_CHECK(HcclGetCommAsyncError(theComm, &error));
            const auto expected = static_cast<HcclResult>(words->at[2]);
            if (error != expected) {
                throw std::runtime_error("the error is " + std::to_string(error));
            }
        });
    };
    ranks.Run(expect, HCCL_SUCCESS);
    ranks[1].Kill();
    const Words words = ranks[0].Run(expect, {0, 2, HCCL_E_REMOTE});
    EXPECT_EQ(words.code, 0) << words.text;
}

// A rank that leaves in order is no error until an operator needs it.
TEST_F(HcclRanksTest, ARankThatLeavesIsNoError) {
    const RootFile root;
    Processes ranks(2);
    ranks.Run(&InitByRoot);
    EXPECT_EQ(ranks[1].Run(&Destroy).code, 0);
    const Words words = ranks[0].Run([](Words* own) {
        Guarded(own, [&] {
            HcclResult error = HCCL_E_INTERNAL;
            HCCL_TEST_CHECK(HcclGetCommAsyncError(theComm, &error));
            HCCL_TEST_CHECK(error);
        });
        if (own->code == 0) {
            ExpectFailure(own, HCCL_E_REMOTE, "rank 1 has destroyed its communicator");
        }
    });
    EXPECT_EQ(words.code, 0) << words.text;
}

// The connections of a rank end with its process, though a child of it lives on.
TEST_F(HcclRanksTest, AChildOfARankKeepsNoConnection) {
    const Variable limit("HCCL_EXEC_TIMEOUT", "20");
    const RootFile root;
    Processes ranks(2);
    ranks.Run(&InitByRoot);
    const Words forked = ranks[1].Run([](Words* words) {
        const pid_t child = support::Fork();
        if (child == 0) {
            uint32_t size = 0;
            const bool refused = HcclGetRankSize(theComm, &size) == HCCL_E_PARA;
            alarm(60);
            if (refused) {
                (void)pause();
            }
            _exit(1);
        }
        words->at[3] = static_cast<uint64_t>(child);
    });
    ASSERT_GT(forked.at[3], 0u);
    ranks[1].Kill();
    const Words words =
        ranks[0].Run([](Words* own) { ExpectFailure(own, HCCL_E_REMOTE, "rank 1"); });
    EXPECT_EQ(words.code, 0) << words.text;
    EXPECT_EQ(kill(static_cast<pid_t>(forked.at[3]), SIGKILL), 0) << "the child has not lived on";
}

// Two network namespaces with a cable between them, which only root may make: in each process of
// its own, so the host's network stays as it is.
class HcclNamespacesTest : public HcclRanksTest {
 protected:
    static void Enter(Words* words) { words->code = unshare(CLONE_NEWNET) == 0 ? 0 : errno; }

    // Word 3: the process at the other end.
    static void LayCable(Words* words) {
        const std::string other = std::to_string(words->at[3]);
        words->code = std::system(("ip link add v0 type veth peer name v1 netns " + other +
                                   " && ip address add 10.77.0.1/24 dev v0 && ip link set v0 up"
                                   " && ip link set lo up")
                                      .c_str());
    }
    static void FastenCable(Words* words) {
        words->code = std::system(
            "ip address add 10.77.0.2/24 dev v1 && ip link set v1 up && ip link set lo up");
    }

    static void OpenRoot(Words* words) {
        Guarded(words, [&] {
            setenv("HCCL_SOCKET_IFNAME", "v0", 1);
            HCCL_TEST_CHECK(aclInit(nullptr));
            HcclRootInfo root;
            HCCL_TEST_CHECK(HcclGetRootInfo(&root));
            std::ofstream(getenv(kRootFile), std::ios::binary)
                .write(root.internal, sizeof root.internal);
        });
    }

    static void Meet(Words* words) {
        Guarded(words, [&] {
            const aclError code = aclInit(nullptr);
            if (code != ACL_SUCCESS && code != ACL_ERROR_REPEAT_INITIALIZE) {
                throw Wrong("aclInit");
            }
            HCCL_TEST_CHECK(aclrtSetDevice(0));
            const HcclRootInfo root = RootFile::Read();
            HCCL_TEST_CHECK(
                HcclCommInitRootInfo(2, &root, static_cast<uint32_t>(words->at[0]), &theComm));
            Rank rank(theComm, 0);
            CheckReductions(&rank, kFloat, HCCL_REDUCE_SUM, 100000);
        });
    }

    // False: this machine does not let the test.
    static bool MakeNetwork(Processes* ranks) {
        if ((*ranks)[0].Run(&Enter).code != 0 || (*ranks)[1].Run(&Enter).code != 0) {
            return false;
        }
        const auto other = static_cast<uint64_t>((*ranks)[1].Pid());
        return (*ranks)[0].Run(&LayCable, {0, 2, 0, other}).code == 0 &&
               (*ranks)[1].Run(&FastenCable).code == 0;
    }
};

TEST_F(HcclNamespacesTest, RanksMeetOverANetworkAndNoticeItsEnd) {
    const RootFile root;  // its contents are replaced
    const Variable limit("HCCL_EXEC_TIMEOUT", "2");
    Processes ranks(2);
    if (!MakeNetwork(&ranks)) {
        GTEST_SKIP() << "no network namespaces: expected root, unshare and ip";
    }
    const Words opened = ranks[0].Run(&OpenRoot);
    ASSERT_EQ(opened.code, 0) << opened.text;
    ranks.Run(&Meet);
    EXPECT_EQ(
        ranks[0].Run([](Words* words) { words->code = std::system("ip link set v0 down"); }).code,
        0);
    const Words words =
        ranks[0].Run([](Words* own) { ExpectFailure(own, HCCL_E_TIMEOUT, "rank 1 has not done"); });
    EXPECT_EQ(words.code, 0) << words.text;
}

std::string TableText(uint32_t ranks) {
    std::string devices;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const std::string number = std::to_string(rank);
        devices += std::string(rank == 0 ? "" : ", ") + R"({"device_id": ")" + number +
                   R"(", "device_ip": "192.168.100.1)" + number + R"(", "rank_id": ")" + number +
                   R"("})";
    }
    return R"({"version": "1.0", "status": "completed", "server_count": "1", "server_list": [)"
           R"({"server_id": "10.0.0.9", "device": [)" +
           devices + "]}]}";
}

void InitByTable(Words* words) {
    Guarded(words, [&] {
        HCCL_TEST_CHECK(aclInit(nullptr));
        HCCL_TEST_CHECK(aclrtSetDevice(0));
        HCCL_TEST_CHECK(HcclCommInitClusterInfo(getenv("HCCL_TEST_TABLE"),
                                                static_cast<uint32_t>(words->at[0]), &theComm));
        Rank rank(theComm, 0);
        CheckReductions(&rank, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, 100);
    });
}

TEST_F(HcclRanksTest, ARankTableBringsRanksTogether) {
    const std::string path = testing::TempDir() + "rank_table_" + std::to_string(getpid());
    std::ofstream(path) << TableText(3);
    const Variable table("HCCL_TEST_TABLE", path);
    // Below the ports that the host gives to connections.
    const Variable port("HCCL_IF_BASE_PORT", std::to_string(20000 + getpid() % 12000));
    Processes ranks(3);
    // Rank 0, at whose port all meet, comes last.
    ranks[2].Start(&InitByTable, {2});
    ranks[1].Start(&InitByTable, {1});
    ranks[0].Start(&InitByTable, {0});
    ranks.ExpectGood();
    (void)std::remove(path.c_str());
}

}  // namespace
