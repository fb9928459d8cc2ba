// SPDX-License-Identifier: Apache-2.0
// Bad arguments: the code, and a message with the argument, its value and what is expected.
#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>

#include "hccl/devices.h"
#include "support/threads.h"

namespace {

using namespace hccl_test;
using support::IsError;
using support::IsOk;

constexpr uint64_t kTooMany = uint64_t{1} << 60;

class HcclArgumentsTest : public DevicesTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(Begin(2));
        Use(0);
        comm_ = comms_[0];
        stream_ = ranks_[0]->stream();
        data_ = static_cast<char*>(ranks_[0]->Room(1024));
        out_ = static_cast<char*>(ranks_[0]->Room(1024));
    }

    HcclResult AllReduce(void* send, void* recv, uint64_t count, HcclDataType type = kFloat,
                         HcclReduceOp op = HCCL_REDUCE_SUM) {
        return HcclAllReduce(send, recv, count, type, op, comm_, stream_);
    }

    HcclComm comm_ = nullptr;
    aclrtStream stream_ = nullptr;
    char* data_ = nullptr;
    char* out_ = nullptr;
};

TEST_F(HcclArgumentsTest, AllReduceChecksAll) {
    EXPECT_TRUE(
        IsError(HCCL_E_PTR, AllReduce(nullptr, out_, 4), {"HcclAllReduce: sendBuf is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR, AllReduce(data_, nullptr, 4), {"recvBuf is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, AllReduce(data_, out_, 4, static_cast<HcclDataType>(13)),
                        {"dataType is 13"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, AllReduce(data_, out_, 4, HCCL_DATA_TYPE_UINT8),
                        {"HCCL_DATA_TYPE_UINT8", "expected INT8"}));
    EXPECT_TRUE(IsError(
        HCCL_E_PARA, AllReduce(data_, out_, 4, kFloat, static_cast<HcclReduceOp>(4)), {"op is 4"}));
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, AllReduce(data_, out_, kTooMany), {"count is 1152921504606846976"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, AllReduce(data_, out_, 300), {"sendBuf has 1200 bytes"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, AllReduce(data_, data_ + 4, 4), {"overlap"}));
    int onHost = 0;
    EXPECT_TRUE(IsError(HCCL_E_PARA, AllReduce(&onHost, out_, 1), {"sendBuf", "device memory"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR,
                        HcclAllReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, nullptr, stream_),
                        {"comm is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclAllReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, data_, stream_),
                        {"comm is no communicator"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR,
                        HcclAllReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, comm_, nullptr),
                        {"stream is null"}));
    EXPECT_TRUE(IsError(HCCL_E_RUNTIME,
                        HcclAllReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, comm_, data_),
                        {"stream"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclAllReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, comms_[1], stream_),
                        {"the current device is 0; expected 1"}));
    // Nothing of it has hurt the communicator.
    HcclResult error = HCCL_E_INTERNAL;
    ASSERT_TRUE(IsOk(HcclGetCommAsyncError(comm_, &error)));
    EXPECT_EQ(error, HCCL_SUCCESS);
}

TEST_F(HcclArgumentsTest, RootsAndRanksAreInside) {
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclBroadcast(data_, 4, kFloat, 2, comm_, stream_),
                        {"HcclBroadcast: root is 2; expected a rank less than 2"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclReduce(data_, out_, 4, kFloat, HCCL_REDUCE_SUM, 9, comm_, stream_),
                        {"root is 9"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclScatter(data_, out_, 4, kFloat, 2, comm_, stream_),
                        {"root is 2"}));
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclSend(data_, 4, kFloat, 2, comm_, stream_), {"destRank is 2"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclSend(data_, 4, kFloat, 0, comm_, stream_),
                        {"destRank is 0", "this rank"}));
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclRecv(data_, 4, kFloat, 0, comm_, stream_), {"srcRank is 0"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT,
                        HcclRecv(data_, 4, HCCL_DATA_TYPE_INT128, 1, comm_, stream_), {"INT128"}));
}

TEST_F(HcclArgumentsTest, ListsAreChecked) {
    const uint64_t counts[] = {4, 4};
    const uint64_t begins[] = {0, 3};
    const uint64_t apart[] = {0, 4};
    const uint64_t many[] = {kTooMany, 0};
    EXPECT_TRUE(IsError(HCCL_E_PTR,
                        HcclAllGatherV(data_, 4, out_, nullptr, begins, kFloat, comm_, stream_),
                        {"recvCounts is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclAllGatherV(data_, 4, out_, counts, begins, kFloat, comm_, stream_),
                        {"recvCounts and recvDispls overlap"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclAllGatherV(data_, 3, out_, counts, apart, kFloat, comm_, stream_),
                        {"sendCount is 3; expected recvCounts[0] = 4"}));
    EXPECT_TRUE(IsError(
        HCCL_E_PARA,
        HcclReduceScatterV(data_, many, apart, out_, 4, kFloat, HCCL_REDUCE_SUM, comm_, stream_),
        {"sendCounts[0] is"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT,
                        HcclReduceScatterV(data_, counts, apart, out_, 4, HCCL_DATA_TYPE_FP64,
                                           HCCL_REDUCE_SUM, comm_, stream_),
                        {"HCCL_DATA_TYPE_FP64"}));
    EXPECT_TRUE(IsError(
        HCCL_E_PARA, HcclAlltoAll(data_, 4, kFloat, out_, 4, HCCL_DATA_TYPE_INT8, comm_, stream_),
        {"recvCount is 4", "16 bytes"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclAlltoAll(data_, 4, kFloat, data_, 4, kFloat, comm_, stream_),
                        {"overlap"}));
    EXPECT_TRUE(IsError(
        HCCL_E_PTR,
        HcclAlltoAllV(data_, counts, nullptr, kFloat, out_, counts, apart, kFloat, comm_, stream_),
        {"sdispls is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR,
                        HcclAlltoAllVC(data_, nullptr, kFloat, out_, kFloat, comm_, stream_),
                        {"sendCountMatrix is null"}));
}

TEST_F(HcclArgumentsTest, ItemsAreChecked) {
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclBatchSendRecv(nullptr, 1, comm_, stream_),
                        {"sendRecvInfo is null"}));
    HcclSendRecvItem items[] = {{HCCL_SEND, data_, 4, kFloat, 1}, {HCCL_RECV, out_, 4, kFloat, 3}};
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclBatchSendRecv(items, 0, comm_, stream_), {"itemNum is 0"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclBatchSendRecv(items, 2, comm_, stream_),
                        {"sendRecvInfo[1].remoteRank is 3"}));
    items[1] = {static_cast<HcclSendRecvType>(2), out_, 4, kFloat, 1};
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclBatchSendRecv(items, 2, comm_, stream_),
                        {"sendRecvInfo[1].sendRecvType is 2"}));
    items[1] = {HCCL_RECV, nullptr, 4, kFloat, 1};
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclBatchSendRecv(items, 2, comm_, stream_),
                        {"sendRecvInfo[1].buf is null"}));
    items[1] = {HCCL_RECV, out_, 4, kFloat, 0};
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclBatchSendRecv(items, 2, comm_, stream_), {"sends to itself"}));
}

TEST_F(HcclArgumentsTest, CommunicatorsAreChecked) {
    HcclComm comm = nullptr;
    HcclRootInfo root{};
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclGetRootInfo(nullptr), {"rootInfo is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitRootInfo(2, &root, 0, &comm),
                        {"rootInfo is not of HcclGetRootInfo"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclCommInitRootInfo(2, &root, 0, nullptr), {"comm is null"}));
    ASSERT_TRUE(IsOk(HcclGetRootInfo(&root)));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitRootInfo(0, &root, 0, &comm), {"nRanks is 0"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitRootInfo(2, &root, 2, &comm), {"rank is 2"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclCommInitRootInfoConfig(2, &root, 0, nullptr, &comm),
                        {"config is null"}));
    int32_t devices[] = {0, 0};
    HcclComm comms[2];
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitAll(0, devices, comms), {"ndev is 0"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitAll(2, devices, comms), {"devices[1] is 0"}));
    devices[1] = 7;
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitAll(2, devices, comms), {"devices[1] is 7"}));
    uint32_t ranks[] = {0, 1, 1};
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclCreateSubCommConfig(&comm_, 3, ranks, 0, 0, nullptr, &comm),
                        {"rankNum is 3"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclCreateSubCommConfig(&comm_, 2, ranks + 1, 0, 0, nullptr, &comm),
                        {"rankIds[1] is 1"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA,
                        HcclCreateSubCommConfig(&comm_, 2, ranks, 0, 1, nullptr, &comm),
                        {"subCommRankId is 1"}));
    HcclResult error = HCCL_SUCCESS;
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclGetCommAsyncError(comm_, nullptr), {"asyncError is null"}));
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclGetCommAsyncError(&comm, &error), {"comm"}));
    EXPECT_EQ(comm, nullptr);
}

// Sockets, files and the threads of a group are behind the calls.
TEST_F(HcclArgumentsTest, ACancelledThreadEndsAfterItsCalls) {
    support::OnACancelledThread([&] {
        HcclRootInfo root{};
        EXPECT_TRUE(IsOk(HcclGetRootInfo(&root)));
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        HcclComm comm = nullptr;
        EXPECT_TRUE(IsOk(HcclCommInitRootInfo(1, &root, 0, &comm)));
        EXPECT_TRUE(IsOk(HcclCommDestroy(comm)));
        EXPECT_TRUE(IsError(HCCL_E_OPEN_FILE_FAILURE, HcclCommInitClusterInfo("/no/file", 0, &comm),
                            {"/no/file"}));
    });
    support::OnACancelledThread([&] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_TRUE(IsOk(AllReduce(data_, out_, 16)));
        Use(1);
        void* const room = ranks_[1]->Room(1024);
        EXPECT_TRUE(IsOk(HcclAllReduce(room, room, 16, kFloat, HCCL_REDUCE_SUM, comms_[1],
                                       ranks_[1]->stream())));
    });
    ForEachRank([](Rank* rank) { rank->Synchronize(); });
}

TEST_F(HcclArgumentsTest, ConfigurationsAreChecked) {
    HcclRootInfo root{};
    ASSERT_TRUE(IsOk(HcclGetRootInfo(&root)));
    HcclComm comm = nullptr;
    HcclCommConfig config;
    const auto init = [&] { return HcclCommInitRootInfoConfig(1, &root, 0, &config, &comm); };
    std::memset(&config, 0, sizeof config);
    EXPECT_TRUE(IsError(HCCL_E_PARA, init(), {"head of config"}));
    HcclCommConfigInit(&config);
    config.hcclBufferSize = 0;
    EXPECT_TRUE(IsError(HCCL_E_PARA, init(), {"hcclBufferSize is 0"}));
    HcclCommConfigInit(&config);
    config.hcclExecTimeOut = -5;
    EXPECT_TRUE(IsError(HCCL_E_PARA, init(), {"hcclExecTimeOut is -5"}));
    HcclCommConfigInit(&config);
    std::memset(config.hcclCommName, 'x', sizeof config.hcclCommName);
    EXPECT_TRUE(IsError(HCCL_E_PARA, init(), {"hcclCommName"}));
    // A client with a shorter structure, behind which other bytes lie.
    std::memset(&config, 0xff, sizeof config);
    HcclCommConfig whole;
    HcclCommConfigInit(&whole);
    (void)std::strncpy(whole.hcclCommName, "short", COMM_NAME_MAX_LENGTH);
    const size_t size = offsetof(HcclCommConfig, hcclUdi);
    std::memcpy(whole.reserved, &size, sizeof size);
    std::memcpy(&config, &whole, size);
    ASSERT_TRUE(IsOk(init()));
    char name[COMM_NAME_MAX_LENGTH];
    ASSERT_TRUE(IsOk(HcclGetCommName(comm, name)));
    EXPECT_STREQ(name, "short");
    EXPECT_TRUE(IsOk(HcclCommDestroy(comm)));
}

TEST_F(HcclArgumentsTest, ValuesOfTheProcessAreKept) {
    HcclConfigValue value{};
    value.value = 1;
    EXPECT_TRUE(IsOk(HcclSetConfig(HCCL_DETERMINISTIC, value)));
    value.value = 9;
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclSetConfig(HCCL_DETERMINISTIC, value), {"is 9"}));
    EXPECT_TRUE(IsOk(HcclGetConfig(HCCL_DETERMINISTIC, &value)));
    EXPECT_EQ(value.value, 1);
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclSetConfig(static_cast<HcclConfig>(3), value), {"config is 3"}));
    EXPECT_STREQ(HcclGetErrorString(HCCL_E_REMOTE), "HCCL_E_REMOTE");
    EXPECT_STREQ(HcclGetErrorString(HCCL_E_IN_STATUS), "HCCL_E_IN_STATUS");
    EXPECT_STREQ(HcclGetErrorString(static_cast<HcclResult>(77)), "unknown code of HCCL");
    EXPECT_EQ(HcclGetCommConfigCapability(), 12u);
}

TEST_F(HcclArgumentsTest, RefusedCallsSayWhatToUse) {
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommSuspend(comm_),
                        {"HcclCommSuspend", "HcclCommDestroy"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommResume(comm_), {"HcclCommResume"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommSetMemoryRange(comm_, data_, 8, 0, 0),
                        {"HcclCommSetMemoryRange"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommUnsetMemoryRange(comm_, data_),
                        {"HcclCommUnsetMemoryRange"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT,
                        HcclCommActivateCommMemory(comm_, data_, 8, 0, nullptr, 0),
                        {"HcclCommActivateCommMemory"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommDeactivateCommMemory(comm_, data_),
                        {"HcclCommDeactivateCommMemory"}));
    EXPECT_TRUE(IsError(HCCL_E_NOT_SUPPORT, HcclCommWorkingDevNicSet(comm_, nullptr, nullptr, 0),
                        {"HcclCommWorkingDevNicSet"}));
}

TEST_F(HcclArgumentsTest, GroupsCheckTheirOperators) {
    EXPECT_TRUE(IsError(HCCL_E_PARA, HcclGroupEnd(), {"HcclGroupEnd: no group is open"}));
    ASSERT_TRUE(IsOk(HcclGroupStart()));
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclSend(nullptr, 4, kFloat, 1, comm_, stream_), {"sendBuf"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclSend(data_, 4, kFloat, 1, comm_, nullptr), {"stream"}));
    EXPECT_TRUE(IsOk(HcclGroupEnd()));
    ASSERT_TRUE(IsOk(HcclGroupStart()));
    ASSERT_TRUE(IsOk(HcclSend(data_, 4, kFloat, 1, comm_, stream_)));
    ASSERT_TRUE(IsOk(HcclCommDestroy(comm_)));
    EXPECT_TRUE(IsError(HCCL_E_UNAVAIL, HcclGroupEnd(), {"destroyed"}));
    comms_[0] = nullptr;
}

// An environment variable for the length of a scope.
struct Setting {
    const char* const name;
    Setting(const char* of, const char* value) : name(of) { setenv(name, value, 1); }
    ~Setting() { unsetenv(name); }
};

TEST_F(HcclArgumentsTest, SettingsAreChecked) {
    HcclRootInfo root{};
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"HCCL_CONNECT_TIMEOUT", "0"},
             {"HCCL_EXEC_TIMEOUT", "ten"},
             {"HCCL_EXEC_TIMEOUT", "-1"},
             {"HCCL_IF_BASE_PORT", "80"},
             {"HCCL_IF_IP", "localhost"},
             {"HCCL_SOCKET_IFNAME", "=none"}}) {
        const Setting setting(name, value);
        EXPECT_TRUE(
            IsError(HCCL_E_PARA, HcclGetRootInfo(&root), {name, std::string("\"") + value + "\""}));
    }
    const Setting loopback("HCCL_SOCKET_IFNAME", "=lo");
    EXPECT_TRUE(IsOk(HcclGetRootInfo(&root)));
}

TEST_F(HcclArgumentsTest, RanksThatDisagreeAreNamed) {
    HcclRootInfo root{};
    ASSERT_TRUE(IsOk(HcclGetRootInfo(&root)));
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < 2; ++i) {
        threads.emplace_back([&root, i] {
            EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(i)), ACL_SUCCESS);
            HcclComm comm = nullptr;
            EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitRootInfo(3 + i, &root, i, &comm),
                                {"nRanks is", "in rank 0", "in rank 1"}));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    // The meeting is over.
    HcclComm comm = nullptr;
    EXPECT_TRUE(IsError(HCCL_E_TCP_CONNECT, HcclCommInitRootInfo(1, &root, 0, &comm), {"root"}));
}

TEST_F(HcclArgumentsTest, AMissingRankIsNamed) {
    const Setting limit("HCCL_CONNECT_TIMEOUT", "1");
    HcclRootInfo root{};
    ASSERT_TRUE(IsOk(HcclGetRootInfo(&root)));
    HcclComm comm = nullptr;
    EXPECT_TRUE(IsError(HCCL_E_TIMEOUT, HcclCommInitRootInfo(3, &root, 1, &comm),
                        {"rank 0, 2 of 3", "within 1 s"}));
    uint32_t ranks[] = {0, 1};
    EXPECT_TRUE(IsError(HCCL_E_TIMEOUT,
                        HcclCreateSubCommConfig(&comm_, 2, ranks, 0, 0, nullptr, &comm),
                        {"rank 1"}));
}

TEST_F(HcclArgumentsTest, RankTablesAreChecked) {
    const std::string path = testing::TempDir() + "bad_table_" + std::to_string(getpid());
    HcclComm comm = nullptr;
    EXPECT_TRUE(IsError(HCCL_E_OPEN_FILE_FAILURE, HcclCommInitClusterInfo("/no/file", 0, &comm),
                        {"/no/file"}));
    EXPECT_TRUE(IsError(HCCL_E_PTR, HcclCommInitClusterInfo(nullptr, 0, &comm), {"clusterInfo"}));
    for (
        const char* const text :
        {"[1]", "{\"server_list\": []}", "{\"server_list\": [{}]}", "not json",
         R"({"server_list": [{"server_id": "1", "device": [{"device_id": "0"}]}]})",
         R"({"server_list": [{"server_id": "1", "device": [{"device_id": "0", "rank_id": "1"}]}]})",
         R"({"server_list": [{"server_id": "1", "device": [{"device_id": 0, "rank_id": -1}]}]})"}) {
        std::ofstream(path) << text;
        EXPECT_TRUE(IsError(HCCL_E_PARA, HcclCommInitClusterInfo(path.c_str(), 0, &comm),
                            {path, "server_list"}))
            << text;
    }
    std::ofstream(path)
        << R"({"server_list": [{"server_id": "1", "device": [{"device_id": 0, "rank_id": 0}]}]})";
    EXPECT_TRUE(
        IsError(HCCL_E_PARA, HcclCommInitClusterInfo(path.c_str(), 1, &comm), {"rank is 1"}));
    (void)std::remove(path.c_str());
}

}  // namespace
