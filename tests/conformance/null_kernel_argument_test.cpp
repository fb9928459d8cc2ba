// SPDX-License-Identifier: Apache-2.0
// Null arguments of the calls for binaries, kernels and their arguments.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "conformance/refused_calls.h"
#include "support/table.h"

namespace {

using conformance::Given;
using conformance::RefusedCall;
using conformance::RefusedCalls;

RefusedCalls BinaryCases() {
    return {
        {"BinaryLoadFromFile_binPath", "binPath",
         [](Given& g) { return aclrtBinaryLoadFromFile(nullptr, nullptr, g.Of<void*>()); }},
        {"BinaryLoadFromFile_binHandle", "binHandle",
         [](Given&) { return aclrtBinaryLoadFromFile("none.o", nullptr, nullptr); }},
        {"BinaryLoadFromData_data", "data",
         [](Given& g) { return aclrtBinaryLoadFromData(nullptr, 64, nullptr, g.Of<void*>()); }},
        {"BinaryLoadFromData_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryLoadFromData(g.At(), 64, nullptr, nullptr); }},
        {"DestroyBinary_binary", "binary", [](Given&) { return aclrtDestroyBinary(nullptr); }},
        {"BinaryLoad_binary", "binary",
         [](Given& g) { return aclrtBinaryLoad(nullptr, g.Of<void*>()); }},
        {"BinaryLoad_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryLoad(g.At(), nullptr); }},
        {"BinaryUnLoad_binHandle", "binHandle", [](Given&) { return aclrtBinaryUnLoad(nullptr); }},
        {"BinaryGetFunction_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryGetFunction(nullptr, "kernel", g.Of<void*>()); }},
        {"BinaryGetFunction_kernelName", "kernelName",
         [](Given& g) { return aclrtBinaryGetFunction(g.At(), nullptr, g.Of<void*>()); }},
        {"BinaryGetFunction_funcHandle", "funcHandle",
         [](Given& g) { return aclrtBinaryGetFunction(g.At(), "kernel", nullptr); }},
        {"BinaryGetFunctionByEntry_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryGetFunctionByEntry(nullptr, 0, g.Of<void*>()); }},
        {"BinaryGetFunctionByEntry_funcHandle", "funcHandle",
         [](Given& g) { return aclrtBinaryGetFunctionByEntry(g.At(), 0, nullptr); }},
        {"RegisterCpuFunc_handle", "handle",
         [](Given& g) { return aclrtRegisterCpuFunc(nullptr, "f", "k", g.Of<void*>()); }},
        {"RegisterCpuFunc_funcName", "funcName",
         [](Given& g) { return aclrtRegisterCpuFunc(g.At(), nullptr, "k", g.Of<void*>()); }},
        {"RegisterCpuFunc_kernelName", "kernelName",
         [](Given& g) { return aclrtRegisterCpuFunc(g.At(), "f", nullptr, g.Of<void*>()); }},
        {"RegisterCpuFunc_funcHandle", "funcHandle",
         [](Given& g) { return aclrtRegisterCpuFunc(g.At(), "f", "k", nullptr); }},
        {"GetFunctionName_funcHandle", "funcHandle",
         [](Given& g) { return aclrtGetFunctionName(nullptr, 64, g.Of<char>()); }},
        {"GetFunctionName_name", "name",
         [](Given& g) { return aclrtGetFunctionName(g.At(), 64, nullptr); }},
        {"GetFunctionAddr_funcHandle", "funcHandle",
         [](Given& g) { return aclrtGetFunctionAddr(nullptr, g.Of<void*>(), g.Of<void*>() + 1); }},
        {"GetFunctionAddr_aicAddr", "aicAddr",
         [](Given& g) { return aclrtGetFunctionAddr(g.At(), nullptr, g.Of<void*>()); }},
        {"GetFunctionAddr_aivAddr", "aivAddr",
         [](Given& g) { return aclrtGetFunctionAddr(g.At(), g.Of<void*>(), nullptr); }},
        {"GetFunctionAttribute_funcHandle", "funcHandle",
         [](Given& g) {
             return aclrtGetFunctionAttribute(nullptr, ACL_FUNC_ATTR_KERNEL_TYPE, g.Of<int64_t>());
         }},
        {"GetFunctionAttribute_attrValue", "attrValue",
         [](Given& g) {
             return aclrtGetFunctionAttribute(g.At(), ACL_FUNC_ATTR_KERNEL_TYPE, nullptr);
         }},
    };
}

RefusedCalls ArgumentCases() {
    return {
        {"KernelArgsInit_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsInit(nullptr, g.Of<void*>()); }},
        {"KernelArgsInit_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsInit(g.At(), nullptr); }},
        {"KernelArgsInitByUserMem_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsInitByUserMem(nullptr, g.At(), g.At(), 64); }},
        {"KernelArgsInitByUserMem_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsInitByUserMem(g.At(), nullptr, g.At(), 64); }},
        {"KernelArgsInitByUserMem_userHostMem", "userHostMem",
         [](Given& g) { return aclrtKernelArgsInitByUserMem(g.At(), g.At(), nullptr, 64); }},
        {"KernelArgsGetHandleMemSize_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsGetHandleMemSize(nullptr, g.Of<size_t>()); }},
        {"KernelArgsGetHandleMemSize_memSize", "memSize",
         [](Given& g) { return aclrtKernelArgsGetHandleMemSize(g.At(), nullptr); }},
        {"KernelArgsGetMemSize_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsGetMemSize(nullptr, 8, g.Of<size_t>()); }},
        {"KernelArgsGetMemSize_actualArgsSize", "actualArgsSize",
         [](Given& g) { return aclrtKernelArgsGetMemSize(g.At(), 8, nullptr); }},
        {"KernelArgsAppend_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsAppend(nullptr, g.At(), 8, g.Of<void*>()); }},
        {"KernelArgsAppend_param", "param",
         [](Given& g) { return aclrtKernelArgsAppend(g.At(), nullptr, 8, g.Of<void*>()); }},
        {"KernelArgsAppend_paramHandle", "paramHandle",
         [](Given& g) { return aclrtKernelArgsAppend(g.At(), g.At(), 8, nullptr); }},
        {"KernelArgsAppendPlaceHolder_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsAppendPlaceHolder(nullptr, g.Of<void*>()); }},
        {"KernelArgsAppendPlaceHolder_paramHandle", "paramHandle",
         [](Given& g) { return aclrtKernelArgsAppendPlaceHolder(g.At(), nullptr); }},
        {"KernelArgsGetPlaceHolderBuffer_argsHandle", "argsHandle",
         [](Given& g) {
             return aclrtKernelArgsGetPlaceHolderBuffer(nullptr, g.At(), 8, g.Of<void*>());
         }},
        {"KernelArgsGetPlaceHolderBuffer_paramHandle", "paramHandle",
         [](Given& g) {
             return aclrtKernelArgsGetPlaceHolderBuffer(g.At(), nullptr, 8, g.Of<void*>());
         }},
        {"KernelArgsGetPlaceHolderBuffer_bufferAddr", "bufferAddr",
         [](Given& g) { return aclrtKernelArgsGetPlaceHolderBuffer(g.At(), g.At(), 8, nullptr); }},
        {"KernelArgsParaUpdate_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsParaUpdate(nullptr, g.At(), g.At(), 8); }},
        {"KernelArgsParaUpdate_paramHandle", "paramHandle",
         [](Given& g) { return aclrtKernelArgsParaUpdate(g.At(), nullptr, g.At(), 8); }},
        {"KernelArgsParaUpdate_param", "param",
         [](Given& g) { return aclrtKernelArgsParaUpdate(g.At(), g.At(), nullptr, 8); }},
        {"KernelArgsFinalize_argsHandle", "argsHandle",
         [](Given&) { return aclrtKernelArgsFinalize(nullptr); }},
        {"LaunchKernel_funcHandle", "funcHandle",
         [](Given& g) { return aclrtLaunchKernel(nullptr, 1, g.At(), 8, nullptr); }},
        {"LaunchKernel_argsData", "argsData",
         [](Given& g) { return aclrtLaunchKernel(g.At(), 1, nullptr, 8, nullptr); }},
        {"LaunchKernelWithConfig_funcHandle", "funcHandle",
         [](Given& g) {
             return aclrtLaunchKernelWithConfig(nullptr, 1, nullptr, nullptr, g.At(), nullptr);
         }},
        {"LaunchKernelWithConfig_argsHandle", "argsHandle",
         [](Given& g) {
             return aclrtLaunchKernelWithConfig(g.At(), 1, nullptr, nullptr, nullptr, nullptr);
         }},
        {"LaunchKernelWithHostArgs_funcHandle", "funcHandle",
         [](Given& g) {
             return aclrtLaunchKernelWithHostArgs(nullptr, 1, nullptr, nullptr, g.At(), 8, nullptr,
                                                  0);
         }},
        {"LaunchKernelWithHostArgs_hostArgs", "hostArgs",
         [](Given& g) {
             return aclrtLaunchKernelWithHostArgs(g.At(), 1, nullptr, nullptr, nullptr, 8, nullptr,
                                                  0);
         }},
    };
}

class NullKernelArgumentTest : public support::DeviceTest,
                               public testing::WithParamInterface<RefusedCall> {};

TEST_P(NullKernelArgumentTest, IsRefused) { conformance::ExpectNullRefused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Binary, NullKernelArgumentTest, testing::ValuesIn(BinaryCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Arguments, NullKernelArgumentTest, testing::ValuesIn(ArgumentCases()),
                         support::CaseName());

// This call has no code to return.
using CreateBinaryTest = support::DeviceTest;

TEST_F(CreateBinaryTest, NullDataMakesNone) {
    EXPECT_EQ(aclrtCreateBinary(nullptr, 64), nullptr);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("data is null"), std::string::npos);
}

}  // namespace
