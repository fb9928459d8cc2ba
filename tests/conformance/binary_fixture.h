// SPDX-License-Identifier: Apache-2.0
// Loads of device binaries with options, and calls of their functions.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_

#include <cstdint>
#include <vector>

#include "conformance/kernel_fixture.h"

namespace conformance {

inline aclrtBinaryLoadOptions OneOption(aclrtBinaryLoadOption* option) { return {option, 1}; }

inline aclrtBinaryLoadOption CpuMode(int32_t mode) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = mode;
    return option;
}

class BinaryTest : public KernelTest {
 protected:
    static aclError LoadBytes(const std::vector<char>& bytes, aclrtBinHandle* binary) {
        return aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, binary);
    }
    // Adds 1 to a value by add_rows of the binary.
    static int64_t AddOneBy(aclrtBinHandle binary) {
        const DeviceBuffer values(std::vector<int64_t>{41});
        const RowArguments arguments{static_cast<int64_t*>(values.Get()), 1, 1};
        EXPECT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "add_rows"), 1, arguments, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return values.Download<int64_t>()[0];
    }
    static int64_t Attribute(aclrtFuncHandle function, aclrtFuncAttribute type) {
        int64_t value = -1;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAttribute(function, type, &value)));
        return value;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_
