// SPDX-License-Identifier: Apache-2.0
// Arguments that calls refuse.

#include <limits>

#include "adxl/engines.h"

namespace transfer {
namespace {

using EngineTest = support::DeviceTest;

TEST_F(EngineTest, Names) {
    for (const char* name : {"", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "host:1",
                             "::1:80", "[::1", "[::1]80", "127.0.0.1:8x", "[127.0.0.1]:80"}) {
        AdxlEngine engine;
        EXPECT_TRUE(IsError(kInvalid, engine.Initialize(name, {}), {"local_engine", "ip:port"}))
            << name;
    }
    AdxlEngine engine;
    EXPECT_TRUE(IsError(kInvalid, engine.Initialize("192.0.2.1:7000", {}),
                        {"192.0.2.1:7000", "no address of this host"}));
    ASSERT_TRUE(IsOk(engine.Initialize("127.0.0.1:0", {})));
    for (const char* name : {"127.0.0.1", "127.0.0.1:0"}) {
        EXPECT_TRUE(IsError(kInvalid, engine.Connect(name), {"remote_engine", "port"})) << name;
    }
    EXPECT_TRUE(IsError(kInvalid, engine.Connect("nowhere"), {"remote_engine", "nowhere"}));
}

TEST_F(EngineTest, AVersion6NameHasBrackets) {
    AdxlEngine server;
    const std::string name = "[::1]:" + std::to_string(FreePort());
    const int code = static_cast<int>(server.Initialize(name.c_str(), {}));
    if (code != 0) {
        GTEST_SKIP() << "no IPv6 here: " << support::TakeMessage();
    }
    AdxlEngine client;
    ASSERT_TRUE(IsOk(client.Initialize("[::1]", {})));
    EXPECT_TRUE(IsOk(client.Connect(name.c_str(), 60000)));
    // Another spelling of the address is the same engine.
    EXPECT_TRUE(IsCode(adxl::ALREADY_CONNECTED,
                       client.Connect(("[0:0::1]" + name.substr(5)).c_str(), 60000)));
}

TEST_F(EngineTest, InitializeTwiceAndBusyPorts) {
    AdxlEngine engine;
    const int port = InitializeAnywhere(&engine);
    ASSERT_NE(port, 0);
    EXPECT_TRUE(IsError(kFailed, engine.Initialize(NameOf(port).c_str(), {}), {"is initialised"}));
    AdxlEngine second;
    EXPECT_TRUE(IsError(kFailed, second.Initialize(NameOf(port).c_str(), {}), {"port"}));
    engine.Finalize();
    EXPECT_TRUE(IsOk(second.Initialize(NameOf(port).c_str(), {})));
}

TEST_F(EngineTest, Options) {
    struct Case {
        const char* key;
        const char* value;
        int code;
    } const cases[] = {
        {"AutoConnect", "1", 0},
        {"AutoConnect", "0", 0},
        {"AutoConnect", "yes", kInvalid},
        {"adxl.RdmaTrafficClass", "132", 0},
        {"adxl.RdmaTrafficClass", "", kInvalid},
        {"adxl.RdmaServiceLevel", "4x", kInvalid},
        {"adxl.RdmaServiceLevel", "4", 0},
        {"adxl.BufferPool", "4:8", 0},
        {"adxl.LocalCommRes", "{\"version\":\"1.3\"}", 0},
        {"Unknown", "1", 0},
    };
    for (const Case& option : cases) {
        AdxlEngine engine;
        EXPECT_TRUE(
            IsCode(option.code, engine.Initialize("127.0.0.1", {{option.key, option.value}})))
            << option.key << " " << option.value;
    }
}

TEST_F(EngineTest, CallsBeforeInitializeAndAfterFinalizeFail) {
    AdxlEngine engine;
    adxl::MemHandle handle = nullptr;
    adxl::TransferReq req = nullptr;
    adxl::TransferStatus status{};
    std::vector<adxl::NotifyDesc> notifies;
    for (int round = 0; round < 2; ++round) {
        const std::initializer_list<std::string> words = {"not initialised"};
        EXPECT_TRUE(IsError(kFailed, engine.RegisterMem({}, adxl::MEM_HOST, handle), words));
        EXPECT_TRUE(IsError(kFailed, engine.DeregisterMem(handle), words));
        EXPECT_TRUE(IsError(kFailed, engine.Connect("127.0.0.1:1"), words));
        EXPECT_TRUE(IsError(kFailed, engine.Disconnect("127.0.0.1:1"), words));
        EXPECT_TRUE(IsError(kFailed, engine.TransferSync("127.0.0.1:1", adxl::READ, {}), words));
        EXPECT_TRUE(
            IsError(kFailed, engine.TransferAsync("127.0.0.1:1", adxl::READ, {}, {}, req), words));
        EXPECT_TRUE(IsError(kFailed, engine.GetTransferStatus(req, status), words));
        EXPECT_TRUE(IsError(kFailed, engine.SendNotify("127.0.0.1:1", {}), words));
        EXPECT_TRUE(IsError(kFailed, engine.GetNotifies(notifies), words));
        ASSERT_TRUE(IsOk(engine.Initialize("127.0.0.1", {})));
        engine.Finalize();
        engine.Finalize();
    }
}

TEST_F(TransferTest, TransfersRefuseTheirArguments) {
    const Registered mine(engine_, 16, 7);
    const TransferOpDesc good = {mine.At(0), device_, 16};
    EXPECT_TRUE(IsError(kInvalid, Transfer(adxl::READ, {}), {"op_descs has 0", "1 to 1048576"}));
    EXPECT_TRUE(IsError(kInvalid,
                        Transfer(adxl::READ, std::vector<TransferOpDesc>((1 << 20) + 1, good)),
                        {"op_descs has 1048577"}));
    EXPECT_TRUE(IsCode(kInvalid, Transfer(adxl::READ, {good, {mine.At(0), device_, 0}})));
    EXPECT_TRUE(
        IsError(kInvalid, Transfer(static_cast<adxl::TransferOp>(2), {good}), {"operation is 2"}));
    for (const int32_t time : {0, -1, std::numeric_limits<int32_t>::min()}) {
        const std::initializer_list<std::string> words = {"timeout_in_millis", "at least 1"};
        const char* const remote = remote_.c_str();
        EXPECT_TRUE(IsError(kInvalid, Transfer(adxl::READ, {good}, time), words));
        EXPECT_TRUE(IsError(kInvalid, engine_.Connect(remote, time), words));
        EXPECT_TRUE(IsError(kInvalid, engine_.Disconnect(remote, time), words));
        EXPECT_TRUE(IsError(kInvalid, engine_.SendNotify(remote, {}, time), words));
    }
    // Many ranges; of host memory, because it is copied fastest.
    int32_t number = 0;
    adxl::MemHandle handle = nullptr;
    ASSERT_TRUE(IsOk(engine_.RegisterMem(Described(&number, 4), adxl::MEM_HOST, handle)));
    EXPECT_TRUE(IsOk(Transfer(
        adxl::READ, std::vector<TransferOpDesc>(1 << 15, {AddressOf(&number), host_, 4}))));
    EXPECT_EQ(number, -kRemoteFirst);
    EXPECT_TRUE(IsOk(engine_.DeregisterMem(handle)));
}

TEST_F(EngineTest, Capabilities) {
    for (const auto feature :
         {adxl::FeatureType::AUTO_CONNECT, adxl::FeatureType::CLIENT_SERVER_COMM}) {
        int32_t value = 0;
        EXPECT_TRUE(IsOk(AdxlEngine::GetCapability(feature, value)));
        EXPECT_EQ(value, 1);
    }
    int32_t value = 5;
    EXPECT_TRUE(IsError(kInvalid,
                        AdxlEngine::GetCapability(static_cast<adxl::FeatureType>(2), value),
                        {"feature"}));
    EXPECT_EQ(value, 5);
}

}  // namespace
}  // namespace transfer
