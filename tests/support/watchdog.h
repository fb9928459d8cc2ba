// SPDX-License-Identifier: Apache-2.0
// Ends the process when a test takes too long, so that a hang shows as a failure with a name.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_WATCHDOG_H_
#define ADVANCE_STEP_TESTS_SUPPORT_WATCHDOG_H_

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace support {

// The longest a test waits for one thing that must happen.
inline constexpr std::chrono::seconds kPatience{30};

class Watchdog {
 public:
    explicit Watchdog(std::chrono::seconds limit) : limit_(limit) {
        const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
        if (test != nullptr) {
            name_ = std::string(test->test_suite_name()) + "." + test->name();
        }
        thread_ = std::thread([this] { Watch(); });
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    ~Watchdog() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            over_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

 private:
    void Watch() {
        std::unique_lock<std::mutex> lock(mutex_);
        if (!changed_.wait_for(lock, limit_, [this] { return over_; })) {
            std::fprintf(stderr, "[  HANG  ] %s ran for more than %lld s\n", name_.c_str(),
                         static_cast<long long>(limit_.count()));
            std::abort();
        }
    }

    std::chrono::seconds limit_;
    std::string name_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::thread thread_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_WATCHDOG_H_
