// SPDX-License-Identifier: Apache-2.0
// Argument blocks: layout, placeholders, updates, and the order of the calls.
#include <thread>

#include "conformance/kernel_fixture.h"
#include "support/threads.h"

namespace conformance {
namespace {

constexpr int kLate = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

class KernelArgsTest : public KernelTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(KernelTest::SetUp());
        function_ = Function("sum_data");
        ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
    }

    template <class T>
    aclrtParamHandle Append(T value) {
        aclrtParamHandle parameter = nullptr;
        EXPECT_TRUE(IsOk(aclrtKernelArgsAppend(args_, &value, sizeof(value), &parameter)));
        return parameter;
    }
    aclrtParamHandle AppendPlace() {
        aclrtParamHandle parameter = nullptr;
        EXPECT_TRUE(IsOk(aclrtKernelArgsAppendPlaceHolder(args_, &parameter)));
        return parameter;
    }
    int32_t* Buffer(aclrtParamHandle place, size_t bytes) {
        void* buffer = nullptr;
        EXPECT_TRUE(IsOk(aclrtKernelArgsGetPlaceHolderBuffer(args_, place, bytes, &buffer)));
        return static_cast<int32_t*>(buffer);
    }
    aclError Launch(aclrtStream stream = nullptr) {
        return aclrtLaunchKernelWithConfig(function_, 1, stream, nullptr, args_, nullptr);
    }
    // The sum of `numbers` by sum_data, with the numbers in a placeholder.
    void BuildSum(const DeviceBuffer& out, const std::vector<int32_t>& numbers) {
        Append(out.Get());
        const aclrtParamHandle place = AppendPlace();
        Append(static_cast<int64_t>(numbers.size()));
        int32_t* const buffer = Buffer(place, numbers.size() * sizeof(int32_t));
        std::copy(numbers.begin(), numbers.end(), buffer);
        EXPECT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    }

    aclrtFuncHandle function_ = nullptr;
    aclrtArgsHandle args_ = nullptr;
};

TEST_F(KernelArgsTest, APlaceholderHoldsTheAddressOfItsData) {
    const DeviceBuffer out(std::vector<int64_t>{0});
    BuildSum(out, {1, 20, 300});
    ASSERT_TRUE(IsOk(Launch()));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out.Download<int64_t>()[0], 321);
}

TEST_F(KernelArgsTest, ALaunchHasACopy) {
    const DeviceBuffer out(std::vector<int64_t>{0});
    const DeviceBuffer other(std::vector<int64_t>{0});
    const Stream stream = MakeStream();
    {
        const KernelGate gate(binary_, stream.Get());
        BuildSum(out, {1, 2, 3});
        ASSERT_TRUE(IsOk(Launch(stream.Get())));
        ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
        BuildSum(other, {50, 60});
        ASSERT_TRUE(IsOk(Launch(stream.Get())));
    }
    EXPECT_EQ(out.Download<int64_t>()[0], 6);
    EXPECT_EQ(other.Download<int64_t>()[0], 110);
}

TEST_F(KernelArgsTest, ACapturedLaunchFindsItsDataInEachReplay) {
    const DeviceBuffer out(std::vector<int64_t>{0});
    const Stream stream = MakeStream();
    const Model model = Capture(stream.Get(), [&] {
        BuildSum(out, {7, 8});
        EXPECT_TRUE(IsOk(Launch(stream.Get())));
    });
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
    for (int replay = 0; replay < 3; ++replay) {
        out.Upload(std::vector<int64_t>{0});
        EXPECT_TRUE(IsOk(Replay(model, stream)));
        EXPECT_EQ(out.Download<int64_t>()[0], 15);
    }
}

TEST_F(KernelArgsTest, ParametersBeginAtMultiplesOfEightOfAnAlignedBlock) {
    const DeviceBuffer out(std::vector<int64_t>{-1});
    const aclrtFuncHandle alignment = Function("alignment");
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(alignment, &args_)));
    Append(out.Get());
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    ASSERT_TRUE(IsOk(aclrtLaunchKernelWithConfig(alignment, 1, nullptr, nullptr, args_, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(out.Download<int64_t>()[0], 0);

    // add_rows: a pointer, 8 bytes after a parameter of one byte would be elsewhere without gaps.
    const DeviceBuffer values(std::vector<int64_t>{4});
    const aclrtFuncHandle add = Function("add_rows");
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(add, &args_)));
    Append(values.Get());
    Append(char{1});
    Append(int64_t{9});
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    ASSERT_TRUE(IsOk(aclrtLaunchKernelWithConfig(add, 1, nullptr, nullptr, args_, nullptr)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values.Download<int64_t>()[0], 13);
}

TEST_F(KernelArgsTest, AnUpdateNeedsAnotherFinalize) {
    const DeviceBuffer values(std::vector<int64_t>{0});
    function_ = Function("add_rows");
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
    Append(values.Get());
    Append(int64_t{1});
    const aclrtParamHandle number = Append(int64_t{5});
    EXPECT_TRUE(IsError(kInvalid, Launch(), {"not finalized"}));
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    ASSERT_TRUE(IsOk(Launch()));
    int64_t updated = 100;
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsParaUpdate(args_, number, &updated, 4),
                        {"paramSize is 4"}, {8}));
    ASSERT_TRUE(IsOk(aclrtKernelArgsParaUpdate(args_, number, &updated, 8)));
    EXPECT_TRUE(IsError(kInvalid, Launch(), {"not finalized"}));
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    ASSERT_TRUE(IsOk(Launch()));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(values.Download<int64_t>()[0], 105);
}

TEST_F(KernelArgsTest, TheOrderOfTheCalls) {
    aclrtParamHandle made = this;
    void* buffer = this;
    int64_t value = 0;
    const aclrtParamHandle number = Append(value);
    const aclrtParamHandle place = AppendPlace();
    const aclrtParamHandle empty = AppendPlace();
    const auto bufferOf = [&](aclrtParamHandle parameter, size_t bytes) {
        return aclrtKernelArgsGetPlaceHolderBuffer(args_, parameter, bytes, &buffer);
    };
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsFinalize(args_), {"parameter 1"}));
    EXPECT_TRUE(IsError(
        kInvalid, bufferOf(number, 8),
        {"paramHandle is an ordinary parameter; expected a placeholder that has no buffer"}));
    EXPECT_TRUE(IsError(kInvalid, bufferOf(place, 0), {"dataSize is 0"}));
    EXPECT_TRUE(IsError(kInvalid, bufferOf(place, 65536), {"65536"}));
    EXPECT_EQ(buffer, this);
    Buffer(place, 4);
    EXPECT_TRUE(IsError(kInvalid, bufferOf(place, 4), {"a buffer"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsParaUpdate(args_, place, &value, 8)));
    EXPECT_TRUE(IsError(kLate, aclrtKernelArgsAppend(args_, &value, 8, &made), {"buffer"}));
    EXPECT_TRUE(IsError(kLate, aclrtKernelArgsAppendPlaceHolder(args_, &made), {"buffer"}));
    Buffer(empty, 4);
    ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
    EXPECT_TRUE(IsError(kLate, aclrtKernelArgsAppend(args_, &value, 8, &made), {"finalized"}));
    EXPECT_TRUE(IsError(kLate, bufferOf(empty, 4), {"finalized"}));
    EXPECT_EQ(made, this);
}

TEST_F(KernelArgsTest, ABlockHas128ParametersAnd65536Bytes) {
    aclrtParamHandle made = nullptr;
    std::vector<char> bytes(65536);
    for (int i = 0; i < 128; ++i) {
        Append(char{0});
    }
    EXPECT_TRUE(
        IsError(kInvalid, aclrtKernelArgsAppend(args_, bytes.data(), 1, &made), {}, {129, 128}));
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsAppend(args_, bytes.data(), 65537, &made)));
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsAppend(args_, bytes.data(), 0, &made)));
    EXPECT_TRUE(IsOk(aclrtKernelArgsAppend(args_, bytes.data(), 65536, &made)));
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsAppend(args_, bytes.data(), 1, &made)));
}

TEST_F(KernelArgsTest, AHandleEndsWithItsThreadOrItsSuccessor) {
    const aclrtArgsHandle before = args_;
    const aclrtParamHandle parameter = Append(int64_t{1});
    ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function_, &args_)));
    Append(int64_t{1});
    int64_t value = 0;
    EXPECT_TRUE(IsError(kUnknown, aclrtKernelArgsFinalize(before), {"argsHandle"}));
    EXPECT_TRUE(
        IsError(kUnknown, aclrtKernelArgsParaUpdate(args_, parameter, &value, 8), {"paramHandle"}));
    aclrtArgsHandle others = nullptr;
    std::thread([&] {
        EXPECT_TRUE(IsOk(aclrtKernelArgsInit(function_, &others)));
        EXPECT_TRUE(IsOk(aclrtKernelArgsFinalize(args_))) << "any thread may use it";
    }).join();
    EXPECT_NE(others, args_);
    EXPECT_TRUE(IsError(kUnknown, aclrtKernelArgsFinalize(others), {"argsHandle"}));
    EXPECT_TRUE(IsError(kUnknown, aclrtKernelArgsFinalize(function_), {"argsHandle"}));
    EXPECT_TRUE(IsError(
        kInvalid,
        aclrtLaunchKernelWithConfig(Function("add_rows"), 1, nullptr, nullptr, args_, nullptr),
        {"made for function"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchKernelWithConfig(function_, 0, nullptr, nullptr, args_, nullptr),
                        {"numBlocks is 0"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchKernelWithConfig(function_, 1, nullptr, nullptr, args_, this),
                        {"reserve"}));
}

TEST_F(KernelArgsTest, ABlockInMemoryOfTheProgram) {
    size_t handleBytes = 0;
    size_t argsBytes = 0;
    ASSERT_TRUE(IsOk(aclrtKernelArgsGetHandleMemSize(function_, &handleBytes)));
    ASSERT_TRUE(IsOk(aclrtKernelArgsGetMemSize(function_, 64, &argsBytes)));
    EXPECT_EQ(argsBytes, 64U + 64U + 128U * 8U);
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsGetMemSize(function_, 65537, &argsBytes)));
    std::vector<char> handle(handleBytes + 1);
    std::vector<char> memory(argsBytes);
    args_ = handle.data() + 1;  // of any alignment
    EXPECT_TRUE(IsError(kUnknown, aclrtKernelArgsFinalize(args_), {"argsHandle"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsInitByUserMem(function_, args_, memory.data(), 0),
                        {"is 0"}));
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(
            IsOk(aclrtKernelArgsInitByUserMem(function_, args_, memory.data(), memory.size())));
        const DeviceBuffer out(std::vector<int64_t>{0});
        BuildSum(out, {round, 5});
        ASSERT_TRUE(IsOk(Launch()));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        EXPECT_EQ(out.Download<int64_t>()[0], round + 5);
    }
    ASSERT_TRUE(IsOk(aclrtKernelArgsInitByUserMem(function_, args_, memory.data(), 16)));
    Append(int64_t{1});
    Append(int64_t{2});
    aclrtParamHandle made = nullptr;
    EXPECT_TRUE(IsError(kInvalid, aclrtKernelArgsAppendPlaceHolder(args_, &made), {}, {8, 16}));
}

}  // namespace
}  // namespace conformance
