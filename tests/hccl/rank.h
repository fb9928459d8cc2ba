// SPDX-License-Identifier: Apache-2.0
// One rank: its device, stream and memory, and the comparison of its results.
#ifndef ADVANCE_STEP_TESTS_HCCL_RANK_H_
#define ADVANCE_STEP_TESTS_HCCL_RANK_H_

#include <cstdint>
#include <cstring>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/reference.h"

namespace hccl_test {

// What went wrong in a rank, with the library's message.
inline std::runtime_error Wrong(const std::string& what) {
    const char* const message = aclGetRecentErrMsg();
    return std::runtime_error(what + ": " + (message != nullptr ? message : "no message"));
}

inline void Check(int code, const char* what) {
    if (code != 0) {
        throw Wrong(std::string(what) + " returned " + std::to_string(code));
    }
}
#define HCCL_TEST_CHECK(call) ::hccl_test::Check(static_cast<int>(call), #call)

// A rank of a communicator with a stream of its own. It is used by one thread.
class Rank {
 public:
    Rank(HcclComm comm, int32_t device) : comm_(comm) {
        HCCL_TEST_CHECK(aclrtSetDevice(device));
        HCCL_TEST_CHECK(aclrtCreateStream(&stream_));
        HCCL_TEST_CHECK(HcclGetRankId(comm, &rank));
        HCCL_TEST_CHECK(HcclGetRankSize(comm, &size));
    }
    ~Rank() {
        (void)aclrtDestroyStream(stream_);
        for (void* const memory : memory_) {
            (void)aclrtFree(memory);
        }
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    uint32_t rank = 0;
    uint32_t size = 0;
    HcclComm comm() const { return comm_; }
    aclrtStream stream() const { return stream_; }

    // Device memory with these bytes, until the rank ends or Forget.
    void* Device(const Bytes& bytes) {
        void* memory = nullptr;
        HCCL_TEST_CHECK(aclrtMalloc(&memory, bytes.size() + 1, ACL_MEM_MALLOC_NORMAL_ONLY));
        memory_.push_back(memory);
        if (!bytes.empty()) {
            HCCL_TEST_CHECK(aclrtMemcpy(memory, bytes.size(), bytes.data(), bytes.size(),
                                        ACL_MEMCPY_HOST_TO_DEVICE));
        }
        return memory;
    }
    void* Room(size_t bytes) { return Device(Bytes(bytes, 0xab)); }

    void Forget() {
        for (void* const memory : memory_) {
            HCCL_TEST_CHECK(aclrtFree(memory));
        }
        memory_.clear();
    }

    void Synchronize() { HCCL_TEST_CHECK(aclrtSynchronizeStream(stream_)); }

    Bytes Read(const void* memory, size_t bytes) {
        Bytes read(bytes);
        if (bytes > 0) {
            HCCL_TEST_CHECK(
                aclrtMemcpy(read.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
        }
        return read;
    }

    void Expect(const void* memory, const Bytes& expected, const std::string& what) {
        const Bytes got = Read(memory, expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
            if (got[i] != expected[i]) {
                throw std::runtime_error("rank " + std::to_string(rank) + ", " + what + ": byte " +
                                         std::to_string(i) + " is " + std::to_string(got[i]) +
                                         "; expected " + std::to_string(expected[i]));
            }
        }
    }

 private:
    HcclComm comm_;
    aclrtStream stream_ = nullptr;
    std::list<void*> memory_;
};

}  // namespace hccl_test

#endif  // ADVANCE_STEP_TESTS_HCCL_RANK_H_
