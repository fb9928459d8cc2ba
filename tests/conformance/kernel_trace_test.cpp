// SPDX-License-Identifier: Apache-2.0
// Kernels of a program in the trace.
#include <string>
#include <vector>

#include "conformance/binary_fixture.h"
#include "conformance/traced_runtime.h"

namespace conformance {
namespace {

TEST_F(TraceTest, AKernelOfTheProgramHasItsName) {
    const Stream stream = MakeStream();
    const std::string track = TrackOf(stream.Get());
    const PinnedArray<int64_t> values(100);
    const aclrtBinHandle binary = LoadKernels();
    ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "add_rows"), 100,
                                RowArguments{values.Get(), 100, 1}, stream.Get())));
    ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "same_row"), 2, RowArguments{values.Get(), 1, 1},
                                stream.Get())));
    EXPECT_EQ(aclrtSynchronizeStream(stream.Get()), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(binary)));
    const DeviceTrace trace = Finish();
    EXPECT_EQ(trace.On(track), (std::vector<std::string>{"add_rows", "same_row"}));
    const DeviceTrace::Slice kernel = trace.One("add_rows", track);
    EXPECT_EQ(kernel.category, "kernel");
    EXPECT_EQ(kernel.Arg("blocks"), 100);
    EXPECT_EQ(kernel.Arg("cores"), 40);
    EXPECT_EQ(trace.One("same_row", track).Arg("code"), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
}

TEST_F(TraceTest, TheNameOfAKernelMayBeNoUtf8) {
    const Stream stream = MakeStream();
    const std::string track = TrackOf(stream.Get());
    aclrtBinaryLoadOption option = CpuMode(2);
    aclrtBinaryLoadOptions options = OneOption(&option);
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    aclrtBinHandle binary = nullptr;
    ASSERT_TRUE(IsOk(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary)));
    aclrtFuncHandle function = nullptr;
    ASSERT_TRUE(IsOk(aclrtRegisterCpuFunc(binary, "cpu_store", "no \xff", &function)));
    const PinnedArray<int32_t> out(1);
    struct {
        int32_t* out;
        int64_t number;
    } const arguments{out.Get(), 5};
    ASSERT_TRUE(IsOk(LaunchWith(function, 1, arguments, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(binary)));
    EXPECT_EQ(Finish().On(track), (std::vector<std::string>{"no \xef\xbf\xbd"}));
}

}  // namespace
}  // namespace conformance
