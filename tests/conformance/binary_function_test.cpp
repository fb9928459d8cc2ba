// SPDX-License-Identifier: Apache-2.0
// Functions of device binaries: look-ups, names, addresses, attributes, those for the CPU.
#include <cstring>
#include <vector>

#include "conformance/binary_fixture.h"

namespace conformance {
namespace {

aclrtBinaryLoadOption Magic(uint32_t magic) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = magic;
    return option;
}

TEST_F(BinaryTest, LookUpsFindOwnFunctionsOnly) {
    const aclrtFuncHandle function = Function("add_rows");
    EXPECT_EQ(Function("add_rows"), function) << "the same again";
    aclrtFuncHandle found = nullptr;
    EXPECT_TRUE(IsOk(aclrtBinaryGetFunctionByEntry(binary_, 7, &found)));
    EXPECT_EQ(found, function);
    found = this;
    for (const char* name : {"no_such_kernel", "exportedNumber", "memcpy", "aclrtMalloc"}) {
        EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunction(binary_, name, &found),
                            {"aclrtBinaryGetFunction: kernelName is ", name}));
    }
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunctionByEntry(binary_, 9, &found), {"9"}));
    EXPECT_TRUE(IsError(
        kInvalid, aclrtBinaryGetFunctionByEntry(binary_, 8, &found),
        {"aclrtBinaryGetFunctionByEntry: funcEntry is 8, whose function not_there the binary"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclrtBinaryGetFunction(function, "add_rows", &found), {"binHandle"}));
    EXPECT_EQ(found, this);
}

TEST_F(BinaryTest, NameAddressAndAttributesOfAFunction) {
    const aclrtFuncHandle function = Function("add_rows");
    char name[16] = "untouched";
    EXPECT_TRUE(IsError(kInvalid, aclrtGetFunctionName(function, 8, name), {"maxLen is 8"}, {9}));
    EXPECT_STREQ(name, "untouched");
    EXPECT_TRUE(IsOk(aclrtGetFunctionName(function, 9, name)));
    EXPECT_STREQ(name, "add_rows");
    aclrtBinHandle owner = nullptr;
    EXPECT_TRUE(IsOk(aclrtFunctionGetBinary(function, &owner)));
    EXPECT_EQ(owner, binary_);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtFunctionGetBinary(binary_, &owner),
                        {"aclrtFunctionGetBinary: funcHandle"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtFunctionGetBinary(function, nullptr), {"binHandle"}));
    struct {
        uint32_t magic;
        int64_t type;
        uint16_t ratio[2];  // vector, cube
    } const cases[] = {{0, ACL_KERNEL_TYPE_AICORE, {1, 1}},
                       {ACL_RT_BINARY_MAGIC_ELF_AICORE, ACL_KERNEL_TYPE_AICORE, {1, 1}},
                       {ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, ACL_KERNEL_TYPE_VECTOR, {1, 0}},
                       {ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE, ACL_KERNEL_TYPE_CUBE, {0, 1}}};
    for (const auto& one : cases) {
        aclrtBinaryLoadOption option = Magic(one.magic);
        aclrtBinaryLoadOptions options = OneOption(&option);
        aclrtBinHandle binary = nullptr;
        ASSERT_TRUE(IsOk(aclrtBinaryLoadFromFile(kBinaryFile, &options, &binary)));
        const aclrtFuncHandle its = FunctionOf(binary, "add_rows");
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_TYPE), one.type);
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_SCHED_MODE), 0);
        int64_t ratio = 0;
        std::memcpy(&ratio, one.ratio, sizeof(one.ratio));
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_RATIO), ratio);
        void* aic = nullptr;
        void* aiv = this;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAddr(its, &aic, &aiv)));
        EXPECT_NE(aic, nullptr);
        EXPECT_EQ(aiv, one.type == ACL_KERNEL_TYPE_VECTOR ? aic : nullptr);
    }
    int64_t value = 77;
    EXPECT_TRUE(IsError(
        kInvalid, aclrtGetFunctionAttribute(function, static_cast<aclrtFuncAttribute>(4), &value),
        {"attrType is 4"}));
    EXPECT_EQ(value, 77);
}

TEST_F(BinaryTest, CpuKernels) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    aclrtBinaryLoadOption option = CpuMode(2);
    aclrtBinaryLoadOptions options = OneOption(&option);
    aclrtBinHandle binary = nullptr;
    ASSERT_TRUE(IsOk(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary)));
    aclrtFuncHandle function = nullptr;
    const auto add = [&](aclrtBinHandle to, const char* symbol, const char* name) {
        return aclrtRegisterCpuFunc(to, symbol, name, &function);
    };
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunction(binary, "cpu_store", &function)));
    EXPECT_TRUE(IsError(kInvalid, add(binary_, "cpu_store", "Store"), {"handle"}));
    EXPECT_TRUE(IsError(kInvalid, add(binary, "cpu_stor", "Store"), {"funcName is cpu_stor"}));
    EXPECT_EQ(function, nullptr);
    ASSERT_TRUE(IsOk(add(binary, "cpu_store", "Store")));
    const aclrtFuncHandle store = function;
    ASSERT_TRUE(IsOk(add(binary, "cpu_store", "Store")));
    EXPECT_EQ(function, store);
    EXPECT_TRUE(IsError(kInvalid, add(binary, "add_rows", "Store"), {"kernelName is Store"}));
    EXPECT_EQ(Attribute(store, ACL_FUNC_ATTR_KERNEL_TYPE), ACL_KERNEL_TYPE_AICPU);
    void* aic = nullptr;
    void* aiv = nullptr;
    EXPECT_TRUE(IsError(kInvalid, aclrtGetFunctionAddr(store, &aic, &aiv), {"Store"}));

    const DeviceBuffer out(std::vector<int32_t>{0});
    for (const int32_t number : {5, -5}) {
        aclrtArgsHandle args = nullptr;
        aclrtParamHandle parameter = nullptr;
        void* address = out.Get();
        int32_t value = number;
        ASSERT_TRUE(IsOk(aclrtKernelArgsInit(store, &args)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsAppend(args, &address, sizeof(address), &parameter)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsAppend(args, &value, sizeof(value), &parameter)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args)));
        ASSERT_TRUE(IsOk(aclrtLaunchKernelWithConfig(store, 1, nullptr, nullptr, args, nullptr)));
        const aclError ended = aclrtSynchronizeStream(nullptr);
        EXPECT_TRUE(number > 0 ? IsOk(ended)
                               : IsError(ACL_ERROR_RT_AICPU_EXCEPTION, ended,
                                         {"Store: block 0 of 1 returned 17"}));
        EXPECT_EQ(out.Download<int32_t>()[0], number);
    }
}

}  // namespace
}  // namespace conformance
