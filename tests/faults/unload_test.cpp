// SPDX-License-Identifier: Apache-2.0
// dlclose of the libraries while their threads sleep: the process goes on, and so does the library.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "support/table.h"
#include "support/watchdog.h"

namespace {

// This program is not linked with the libraries.
struct Library {
    const char* name;
    const char* path;
};

class UnloadTest : public testing::TestWithParam<Library> {
 protected:
    static void* Open() {
        void* const library = dlopen(GetParam().path, RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library, nullptr) << dlerror();
        return library;
    }

 private:
    support::Watchdog watchdog_{std::chrono::seconds(60)};
};

template <typename Function>
Function* Find(void* library, const char* name) {
    auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
    EXPECT_NE(function, nullptr) << name;
    return function;
}

// A task that nobody waits for, so that the library's threads run it and then nap.
void RunATask(decltype(aclrtLaunchHostFunc)* launch) {
    std::atomic<bool> ran{false};
    ASSERT_EQ(launch(
                  nullptr, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &ran),
              0);
    const auto end = std::chrono::steady_clock::now() + support::kPatience;
    while (!ran && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    ASSERT_TRUE(ran);
}

TEST_P(UnloadTest, TheLibraryStays) {
    for (int round = 0; round < 3; ++round) {
        void* const library = Open();
        ASSERT_NE(library, nullptr);
        auto* const setDevice = Find<decltype(aclrtSetDevice)>(library, "aclrtSetDevice");
        auto* const launch = Find<decltype(aclrtLaunchHostFunc)>(library, "aclrtLaunchHostFunc");
        auto* const synchronize =
            Find<decltype(aclrtSynchronizeStream)>(library, "aclrtSynchronizeStream");
        ASSERT_TRUE(setDevice != nullptr && launch != nullptr && synchronize != nullptr);
        ASSERT_EQ(setDevice(0), 0);
        ASSERT_NO_FATAL_FAILURE(RunATask(launch));
        ASSERT_EQ(dlclose(library), 0);
        // The code is where it was, and so is its state.
        void* const still = dlopen(GetParam().path, RTLD_NOW | RTLD_NOLOAD);
        ASSERT_NE(still, nullptr) << "unloaded under its threads";
        ASSERT_EQ(dlclose(still), 0);
        ASSERT_NO_FATAL_FAILURE(RunATask(launch));
        ASSERT_EQ(synchronize(nullptr), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Libraries, UnloadTest,
                         testing::Values(Library{"Library", ADVANCE_STEP_LIBRARY_FILE},
                                         Library{"GraphMode", ADVANCE_STEP_GRAPH_LIBRARY_FILE}),
                         support::CaseName());

}  // namespace
