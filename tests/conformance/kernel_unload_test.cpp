// SPDX-License-Identifier: Apache-2.0
// Unloading while work is queued, captured or running; resets and ends of the runtime meanwhile; a
// load without room.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "conformance/kernel_fixture.h"
#include "support/threads.h"

namespace conformance {
namespace {

class KernelUnloadTest : public KernelTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(KernelTest::SetUp());
        const std::vector<char> bytes = BytesOf(kBinaryFile);
        ASSERT_TRUE(IsOk(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &own_)));
    }
    // The kernel writes the word when its binary is closed.
    void RunAtTheEnd(int64_t* word) const {
        ASSERT_TRUE(
            IsOk(LaunchWith(FunctionOf(own_, "at_the_end"), 1, RowArguments{word, 1, 0}, nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    }

    aclrtBinHandle own_ = nullptr;  // an object of its own
};

// The process may make no large files.
TEST_F(KernelUnloadTest, ALoadWithoutRoomForTheDataIsRefused) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit little{4096, before.rlim_max};
    void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
    aclrtBinHandle loaded = nullptr;
    const aclError refused = aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &loaded);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, refused,
                        {"aclrtBinaryLoadFromData: ", "cannot be kept"}));
    EXPECT_EQ(loaded, nullptr);
}

TEST_F(KernelUnloadTest, TheHandlesAreUnknownAtOnce) {
    const aclrtFuncHandle function = FunctionOf(own_, "add_rows");
    aclrtArgsHandle args = nullptr;
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function, &args)));
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args)));
    ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(own_)));
    char name[32];
    aclrtFuncHandle found = nullptr;
    EXPECT_TRUE(IsError(kUnknown, aclrtBinaryUnLoad(own_), {"binHandle"}));
    EXPECT_TRUE(IsError(kUnknown, aclrtBinaryGetFunction(own_, "add_rows", &found)));
    EXPECT_TRUE(IsError(kUnknown, aclrtBinaryGetFunctionByEntry(own_, 7, &found)));
    EXPECT_TRUE(IsError(kUnknown, aclrtGetFunctionName(function, 32, name), {"funcHandle"}));
    EXPECT_TRUE(IsError(kUnknown, aclrtKernelArgsInit(function, &args), {"funcHandle"}));
    EXPECT_TRUE(IsError(kUnknown,
                        aclrtLaunchKernelWithConfig(function, 1, nullptr, nullptr, args, nullptr)));
    EXPECT_TRUE(IsError(kUnknown, LaunchWith(function, 1, RowArguments{}, nullptr)));
}

// The launches that are queued run, and the object is closed by the first call after their end.
TEST_F(KernelUnloadTest, QueuedLaunchesKeepTheObject) {
    const Stream stream = MakeStream();
    const DeviceBuffer values(std::vector<int64_t>{1, 0});
    auto* const words = static_cast<int64_t*>(values.Get());
    const aclrtBinHandle other = LoadKernels();
    {
        const KernelGate gate(binary_, stream.Get());
        ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(own_, "at_the_end"), 1,
                                    RowArguments{words + 1, 1, 0}, stream.Get())));
        for (int i = 0; i < 10; ++i) {
            ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(own_, "double_and_add"), 1,
                                        RowArguments{words, 1, 0}, stream.Get())));
        }
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(own_)));
        ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(other)));
        EXPECT_EQ(__atomic_load_n(&words[1], __ATOMIC_SEQ_CST), 0) << "not closed before";
    }
    EXPECT_EQ(values.Download<int64_t>()[0], 1024);
    EXPECT_EQ(__atomic_load_n(&words[1], __ATOMIC_SEQ_CST), 0) << "closed by a call";
    LoadKernels();
    EXPECT_EQ(__atomic_load_n(&words[1], __ATOMIC_SEQ_CST), 1);
}

// The file of the binary is loaded again, which is an object that starts anew.
TEST_F(KernelUnloadTest, ALoadClosesTheObjectOfTheFileBefore) {
    const Stream stream = MakeStream();
    const PinnedArray<int64_t> ended(1);
    {
        const KernelGate gate(own_, stream.Get());
        ASSERT_TRUE(IsOk(
            LaunchWith(Function("at_the_end"), 1, RowArguments{ended.Get(), 1, 0}, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(binary_)));
    }
    EXPECT_EQ(ended[0], 0);
    LoadKernels();
    EXPECT_EQ(ended[0], 1);
}

TEST_F(KernelUnloadTest, AnIdleBinaryIsClosedAtOnce) {
    const DeviceBuffer values(std::vector<int64_t>{0});
    auto* const words = static_cast<int64_t*>(values.Get());
    RunAtTheEnd(words);
    ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(own_)));
    EXPECT_EQ(*words, 1);
}

// The binary has a destructor with a cancellation point.
TEST_F(KernelUnloadTest, ACancelledThreadClosesABinary) {
    const DeviceBuffer values(std::vector<int64_t>{0});
    auto* const words = static_cast<int64_t*>(values.Get());
    RunAtTheEnd(words);
    support::OnACancelledThread([&] { EXPECT_TRUE(IsOk(aclrtBinaryUnLoad(own_))); });
    EXPECT_EQ(*words, 1);
}

TEST_F(KernelUnloadTest, ACapturedLaunchIsRefusedInLaterReplays) {
    const Stream stream = MakeStream();
    const DeviceBuffer values(std::vector<int64_t>{1});
    const RowArguments arguments{static_cast<int64_t*>(values.Get()), 1, 1};
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(LaunchWith(Function("add_rows"), 1, arguments, stream.Get())));
        EXPECT_TRUE(IsOk(LaunchWith(FunctionOf(own_, "add_rows"), 1, arguments, stream.Get())));
    });
    {
        const KernelGate gate(binary_, stream.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(own_)));
    }
    EXPECT_EQ(values.Download<int64_t>()[0], 3) << "the replay was queued before";
    EXPECT_TRUE(IsError(kUnknown, aclmdlRIExecuteAsync(model.Get(), stream.Get()),
                        {"aclmdlRIExecuteAsync: ", "funcHandle"}));
    EXPECT_TRUE(IsError(kUnknown, aclmdlRIExecute(model.Get(), -1), {"funcHandle"}));
    EXPECT_EQ(values.Download<int64_t>()[0], 3) << "no part of the replay runs";
}

TEST_F(KernelUnloadTest, AResetKeepsBinariesAndTheEndOfTheRuntimeDoesNot) {
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const PinnedArray<int64_t> word(1);
    ASSERT_TRUE(
        IsOk(LaunchWith(FunctionOf(own_, "add_rows"), 1, RowArguments{word.Get(), 1, 4}, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(word[0], 4);
    int64_t ended = 0;
    ASSERT_TRUE(
        IsOk(LaunchWith(FunctionOf(own_, "at_the_end"), 1, RowArguments{&ended, 1, 0}, nullptr)));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(ended, 1);
    EXPECT_TRUE(IsError(kUnknown, aclrtBinaryUnLoad(own_)));
}

TEST_F(KernelUnloadTest, AnAbortLetsTheRunningKernelEnd) {
    const Stream stream = MakeStream();
    const PinnedArray<int64_t> word(1);
    const KernelGate gate(binary_, stream.Get());
    ASSERT_TRUE(
        IsOk(LaunchWith(Function("add_rows"), 1, RowArguments{word.Get(), 1, 1}, stream.Get())));
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(word[0], 0) << "what had not started is skipped";
}

// Threads launch, replay, look up and unload at will; each call works or refuses, and a launch that
// was accepted runs.
TEST_F(KernelUnloadTest, ThreadsLoadLaunchAndUnload) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 60;
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    std::atomic<aclrtBinHandle> shared{own_};
    std::atomic<int64_t> accepted{0};
    const PinnedArray<int64_t> words(kThreads);
    const aclrtContext context = support::CurrentContext();
    const auto body = [&](int number) {
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        const Stream stream = MakeStream();
        for (int round = 0; round < kRounds; ++round) {
            aclrtFuncHandle function = nullptr;
            const aclrtBinHandle binary = shared.load();
            const aclError found = aclrtBinaryGetFunction(binary, "add_rows", &function);
            aclError refused = found;
            if (found == ACL_SUCCESS) {
                const aclError launched =
                    LaunchWith(function, 1, RowArguments{&words[static_cast<size_t>(number)], 1, 1},
                               stream.Get());
                accepted += launched == ACL_SUCCESS ? 1 : 0;
                refused = launched;
            }
            if (refused != ACL_SUCCESS) {
                EXPECT_EQ(refused, kUnknown);
                EXPECT_NE(shared.load(), binary) << "only a binary that another thread unloads";
            }
            if (round % kThreads == number) {
                aclrtBinHandle fresh = nullptr;
                ASSERT_TRUE(
                    IsOk(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, &fresh)));
                EXPECT_TRUE(IsOk(aclrtBinaryUnLoad(shared.exchange(fresh))));
            }
        }
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    };
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
        threads.emplace_back(body, number);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::vector<int64_t> counts = words.Values();
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), accepted.load());
}

// One thread ends the runtime while another one launches.
TEST_F(KernelUnloadTest, TheRuntimeEndsDuringLaunches) {
    for (int round = 0; round < 10; ++round) {
        static int64_t word = 0;
        std::atomic<bool> started{false};
        std::thread launcher([&] {
            if (aclrtSetDevice(0) != ACL_SUCCESS) {
                return;
            }
            aclrtFuncHandle function = nullptr;
            while (aclrtBinaryGetFunction(binary_, "add_rows", &function) == ACL_SUCCESS &&
                   LaunchWith(function, 3, RowArguments{&word, 0, 1}, nullptr) == ACL_SUCCESS) {
                started = true;
            }
            started = true;
        });
        EXPECT_TRUE(support::Eventually([&] { return started.load(); }));
        EXPECT_TRUE(IsOk(aclFinalize()));
        launcher.join();
        ASSERT_NO_FATAL_FAILURE(RestartWith({}));
    }
}

}  // namespace
}  // namespace conformance
