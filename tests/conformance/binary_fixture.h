// SPDX-License-Identifier: Apache-2.0
// Loads of device binaries with options, and calls of their functions.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "conformance/kernel_fixture.h"
#include "support/settings.h"

namespace conformance {

inline aclrtBinaryLoadOptions OneOption(aclrtBinaryLoadOption* option) { return {option, 1}; }

inline aclrtBinaryLoadOption CpuMode(int32_t mode) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = mode;
    return option;
}

// A file with a build of the kernels. Another build is another file, which gets its name.
class BinaryBuild {
 public:
    BinaryBuild() { Replace('1'); }
    const char* Path() const { return file_.Path(); }
    void Replace(char number) const {
        const std::vector<char> bytes = BytesOf(kBinaryFile);
        std::string text(bytes.begin(), bytes.end());
        const size_t at = text.find("build 1 of the kernels");
        ASSERT_NE(at, std::string::npos);
        text[at + 6] = number;
        ReplaceBy(text);
    }
    void ReplaceBy(const std::string& text) const {
        const std::string next = std::string(Path()) + ".next";
        std::ofstream(next, std::ios::binary) << text;
        ASSERT_EQ(std::rename(next.c_str(), Path()), 0);
    }

 private:
    support::TempFile file_{""};
};

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
    static aclrtBinHandle Load(const BinaryBuild& build) {
        aclrtBinHandle binary = nullptr;
        EXPECT_TRUE(IsOk(aclrtBinaryLoadFromFile(build.Path(), nullptr, &binary)));
        return binary;
    }
    static int64_t BuildOf(aclrtBinHandle binary) {
        const PinnedArray<int64_t> number(1);
        EXPECT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "build_number"), 1,
                                    RowArguments{number.Get(), 1, 0}, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return number[0];
    }
    static void* AddressIn(aclrtBinHandle binary) {
        void* aic = nullptr;
        void* aiv = nullptr;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAddr(FunctionOf(binary, "add_rows"), &aic, &aiv)));
        return aic;
    }
    static int64_t Attribute(aclrtFuncHandle function, aclrtFuncAttribute type) {
        int64_t value = -1;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAttribute(function, type, &value)));
        return value;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_BINARY_FIXTURE_H_
