// SPDX-License-Identifier: Apache-2.0
// The memory of hosts and of control groups, as their files say it.
#include "src/base/host_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "support/threads.h"

namespace advstep {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// Files below a folder of their own, by their paths.
class HostMemoryTest : public testing::Test {
 protected:
    void SetUp() override {
        root_ = testing::TempDir() + "host_memory_" +
                testing::UnitTest::GetInstance()->current_test_info()->name() +
                std::to_string(getpid());
        Write("/proc/meminfo",
              "MemTotal:       16777216 kB\nMemFree: 5 kB\nMemAvailable:   8388608 kB\n"
              "SwapTotal:       2097152 kB\nSwapFree: 0 kB\n");
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void Write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text;
    }
    void Expect(uint64_t capacity, uint64_t available) const {
        const HostMemory memory = ReadHostMemory(root_);
        EXPECT_EQ(memory.capacity, capacity);
        EXPECT_EQ(memory.available, available);
    }

    std::string root_;
};

TEST_F(HostMemoryTest, WithoutGroupsItIsTheHosts) { Expect(18 * kGiB, 8 * kGiB); }

TEST_F(HostMemoryTest, AGroupOfVersion2LimitsIt) {
    Write("/proc/self/cgroup", "0::/user/job\n");
    Write("/sys/fs/cgroup/user/job/memory.max", "max\n");
    Write("/sys/fs/cgroup/user/memory.max", "4294967296\n");
    Write("/sys/fs/cgroup/user/memory.current", "3221225472\n");
    Write("/sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 1073741824\n");
    Expect(4 * kGiB, 2 * kGiB);
}

// Inside a container the path is often that of the host.
TEST_F(HostMemoryTest, TheGroupOfAContainerIsTheMountedOne) {
    Write("/proc/self/cgroup", "0::/docker/0123\n");
    Write("/sys/fs/cgroup/memory.max", "4294967296\n");
    Write("/sys/fs/cgroup/memory.current", "1073741824\n");
    Expect(4 * kGiB, 3 * kGiB);
}

TEST_F(HostMemoryTest, AGroupOfVersion1LimitsIt) {
    Write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b\n0::/\n");
    Write("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "4294967296\n");
    Write("/sys/fs/cgroup/memory/b/memory.usage_in_bytes", "5368709120\n");
    Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    Expect(4 * kGiB, 0);
}

TEST_F(HostMemoryTest, WhatCannotBeReadLimitsNothing) {
    Write("/proc/meminfo", "nothing\n");
    Expect(UINT64_MAX, UINT64_MAX);
}

// A cancellation takes effect where a thread opens or reads a file.
TEST_F(HostMemoryTest, ACancelledThreadEndsAfterTheLook) {
    Write("/proc/self/cgroup", "0::/user\n");
    support::OnACancelledThread([this] { Expect(18 * kGiB, 8 * kGiB); });
}

TEST_F(HostMemoryTest, DevicesShareLessThanTheHostHas) {
    EXPECT_GT(HostShareOfDevices(), 0U);
    EXPECT_LT(HostShareOfDevices(), HostCapacity());
    EXPECT_EQ(HostShareOfDevices(), HostShareOfDevices());
}

}  // namespace
}  // namespace advstep
