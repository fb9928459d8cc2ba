// SPDX-License-Identifier: Apache-2.0
// A runtime with the binary of tests/kernels loaded.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/kernel_arguments.h"
#include "support/runtime_test.h"

namespace conformance {

using support::DeviceBuffer;
using support::IsError;
using support::IsOk;
using support::MakeStream;
using support::PinnedArray;
using support::Stream;

inline constexpr int kInvalid = ACL_ERROR_RT_PARAM_INVALID;
inline constexpr int kUnknown = ACL_ERROR_RT_INVALID_HANDLE;

inline constexpr char kBinaryFile[] = ADVANCE_STEP_TEST_KERNELS;

inline aclrtBinHandle LoadKernels() {
    aclrtBinHandle binary = nullptr;
    EXPECT_TRUE(IsOk(aclrtBinaryLoadFromFile(kBinaryFile, nullptr, &binary)));
    return binary;
}

inline aclrtFuncHandle FunctionOf(aclrtBinHandle binary, const char* name) {
    aclrtFuncHandle function = nullptr;
    EXPECT_TRUE(IsOk(aclrtBinaryGetFunction(binary, name, &function))) << name;
    return function;
}

inline std::vector<char> BytesOf(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Arguments>
aclError LaunchWith(aclrtFuncHandle function, uint32_t blocks, Arguments arguments,
                    aclrtStream stream, aclrtLaunchKernelCfg* config = nullptr) {
    return aclrtLaunchKernelWithHostArgs(function, blocks, stream, config, &arguments,
                                         sizeof(arguments), nullptr, 0);
}

// Loaded twice in a runtime: the binary's end is seen when both are unloaded.
class KernelTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(support::DeviceTest::SetUp());
        binary_ = LoadKernels();
    }
    aclrtFuncHandle Function(const char* name) const { return FunctionOf(binary_, name); }

    // Starts the runtime anew and loads the binary again.
    void RestartWith(const support::Settings& settings) {
        ASSERT_NO_FATAL_FAILURE(Restart(settings));
        binary_ = LoadKernels();
    }

    aclrtBinHandle binary_ = nullptr;
};

// A kernel that runs until it is opened, at the latest at the end of the scope.
class KernelGate {
 public:
    KernelGate(aclrtBinHandle binary, aclrtStream stream) {
        EXPECT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "gate"), 1, Arguments(), stream)));
    }
    KernelGate(const KernelGate&) = delete;
    KernelGate& operator=(const KernelGate&) = delete;
    ~KernelGate() {
        Open();
        EXPECT_TRUE(WaitEntered()) << "the words must live until the kernel has ended";
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    }
    void Open() const { __atomic_store_n(&words_[1], int64_t{1}, __ATOMIC_SEQ_CST); }
    [[nodiscard]] bool WaitEntered() const {
        return support::Eventually(
            [this] { return __atomic_load_n(&words_[0], __ATOMIC_SEQ_CST) != 0; });
    }
    GateArguments Arguments() const { return {&words_[0], &words_[1]}; }

 private:
    PinnedArray<int64_t> words_{2};
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_FIXTURE_H_
