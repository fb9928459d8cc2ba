// SPDX-License-Identifier: Apache-2.0
// Engines of this process and of another one, with memory that holds numbers.
#ifndef ADVANCE_STEP_TESTS_ADXL_ENGINES_H_
#define ADVANCE_STEP_TESTS_ADXL_ENGINES_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "adxl/adxl_engine.h"
#include "support/child_process.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/status.h"

namespace transfer {

using adxl::AdxlEngine;
using adxl::TransferOpDesc;
using Options = std::map<adxl::AscendString, adxl::AscendString>;
using support::ChildProcess;
using support::IsCode;
using support::IsError;
using support::IsOk;
using support::Keep;
using support::Words;

inline uintptr_t AddressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// A port that was free a moment ago.
inline int FreePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    const bool bound = bind(socket, reinterpret_cast<sockaddr*>(&address), bytes) == 0 &&
                       getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes) == 0;
    close(socket);
    return bound ? ntohs(address.sin_port) : -1;
}

inline std::string NameOf(int port) { return "127.0.0.1:" + std::to_string(port); }

// Gives the engine a name that no other one has, and returns the port; 0: it does not get one.
inline int InitializeAnywhere(AdxlEngine* engine) {
    for (int tries = 0; tries < 100; ++tries) {
        const int port = FreePort();
        if (engine->Initialize(NameOf(port).c_str(), {}) == adxl::SUCCESS) {
            return port;
        }
    }
    return 0;
}

inline adxl::MemDesc Described(const void* address, size_t bytes) {
    adxl::MemDesc mem;
    mem.addr = AddressOf(address);
    mem.len = bytes;
    return mem;
}

inline std::vector<int32_t> Numbers(size_t count, int32_t first) {
    std::vector<int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

// Device memory that an engine has registered, with numbers from `first` on.
class Registered {
 public:
    Registered(AdxlEngine& engine, size_t count, int32_t first)
        : engine_(engine), buffer_(Numbers(count, first)) {
        EXPECT_TRUE(IsOk(engine_.RegisterMem(Described(buffer_.Get(), buffer_.Size()),
                                             adxl::MEM_DEVICE, handle_)));
    }
    ~Registered() { EXPECT_TRUE(IsOk(engine_.DeregisterMem(handle_))); }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;

    uintptr_t At(size_t number) const {
        return AddressOf(buffer_.Get()) + number * sizeof(int32_t);
    }
    size_t Bytes() const { return buffer_.Size(); }
    std::vector<int32_t> Values() const { return buffer_.Download<int32_t>(); }

 private:
    AdxlEngine& engine_;
    const support::DeviceBuffer buffer_;
    adxl::MemHandle handle_ = nullptr;
};

// The engine of the other process and what it has registered.
struct Served {
    AdxlEngine engine;
    std::unique_ptr<Registered> memory;
    std::vector<int32_t> host;
    adxl::MemHandle hostHandle = nullptr;
    std::unique_ptr<Registered> second;
};
inline Served& TheServed() {
    static auto* const served = new Served;
    return *served;
}

constexpr size_t kCount = 300000;  // numbers of the other process: some pieces and a rest
constexpr int32_t kRemoteFirst = 1000000;

// at[0] becomes the port, at[1] the address of kCount numbers on the device, at[2] of as many on
// the host.
inline void Serve(Words* words) {
    if (!Keep(words, aclInit(nullptr)) || !Keep(words, aclrtSetDevice(0))) {
        return;
    }
    Served& served = TheServed();
    words->at[0] = static_cast<uint64_t>(InitializeAnywhere(&served.engine));
    served.memory = std::make_unique<Registered>(served.engine, kCount, kRemoteFirst);
    served.host = Numbers(kCount, -kRemoteFirst);
    Keep(words, static_cast<int>(served.engine.RegisterMem(
                    Described(served.host.data(), kCount * sizeof(int32_t)), adxl::MEM_HOST,
                    served.hostHandle)));
    words->at[1] = served.memory->At(0);
    words->at[2] = AddressOf(served.host.data());
}

// The sum of the numbers on the device (at[0]) and on the host (at[1]).
inline void Sum(Words* words) {
    const std::vector<int32_t> device = TheServed().memory->Values();
    const std::vector<int32_t>& host = TheServed().host;
    words->at[0] = static_cast<uint64_t>(std::accumulate(device.begin(), device.end(), int64_t{0}));
    words->at[1] = static_cast<uint64_t>(std::accumulate(host.begin(), host.end(), int64_t{0}));
}

inline void Leave(Words*) {
    Served& served = TheServed();
    served.memory.reset();
    served.engine.Finalize();
    (void)aclrtResetDevice(0);
    (void)aclFinalize();
}

inline uint64_t SumOf(const std::vector<int32_t>& numbers) {
    return static_cast<uint64_t>(std::accumulate(numbers.begin(), numbers.end(), int64_t{0}));
}

// An engine here without a port, and one in another process.
class TransferTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(support::DeviceTest::SetUp());
        other_ = std::make_unique<ChildProcess>();
        const Words served = other_->Run(&Serve);
        ASSERT_EQ(served.code, 0) << served.text;
        ASSERT_NE(served.at[0], 0u);
        remote_ = NameOf(static_cast<int>(served.at[0]));
        device_ = served.at[1];
        host_ = served.at[2];
        ASSERT_TRUE(IsOk(engine_.Initialize("127.0.0.1", {})));
    }
    void TearDown() override {
        if (other_ != nullptr && isAlive_) {
            other_->Run(&Leave);
        }
        engine_.Finalize();
        other_.reset();
    }

    void KillOther() {
        other_->Kill();
        isAlive_ = false;
    }

    int Transfer(adxl::TransferOp operation, const std::vector<TransferOpDesc>& descs,
                 int32_t milliseconds = 60000) {
        return static_cast<int>(
            engine_.TransferSync(remote_.c_str(), operation, descs, milliseconds));
    }

    std::unique_ptr<ChildProcess> other_;
    bool isAlive_ = true;
    std::string remote_;
    uintptr_t device_ = 0;  // of kCount numbers in the other process
    uintptr_t host_ = 0;
    AdxlEngine engine_;
};

constexpr int kInvalid = adxl::PARAM_INVALID;
constexpr int kNotConnected = adxl::NOT_CONNECTED;
constexpr int kTimeout = adxl::TIMEOUT;
constexpr int kFailed = adxl::FAILED;

}  // namespace transfer

#endif  // ADVANCE_STEP_TESTS_ADXL_ENGINES_H_
