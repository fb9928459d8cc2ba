// SPDX-License-Identifier: Apache-2.0
// Kernels, their arguments and what processes share: calls with a handle that is none, and calls of
// a thread without a context. Nothing is written.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "conformance/refused_calls.h"
#include "support/table.h"

namespace {

using conformance::Given;
using conformance::RefusedCall;
using conformance::RefusedCalls;

RefusedCalls FunctionCalls() {
    return {
        {"GetFunctionName_funcHandle", "funcHandle",
         [](Given& g) { return aclrtGetFunctionName(g.At(), 64, g.Of<char>()); }},
        {"GetFunctionAddr_funcHandle", "funcHandle",
         [](Given& g) { return aclrtGetFunctionAddr(g.At(), g.Of<void*>(), g.Of<void*>() + 1); }},
        {"GetFunctionAttribute_funcHandle", "funcHandle",
         [](Given& g) {
             return aclrtGetFunctionAttribute(g.At(), ACL_FUNC_ATTR_KERNEL_TYPE, g.Of<int64_t>());
         }},
        {"KernelArgsInit_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsInit(g.At(), g.Of<void*>()); }},
        {"KernelArgsGetHandleMemSize_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsGetHandleMemSize(g.At(), g.Of<size_t>()); }},
        {"KernelArgsGetMemSize_funcHandle", "funcHandle",
         [](Given& g) { return aclrtKernelArgsGetMemSize(g.At(), 8, g.Of<size_t>()); }},
        {"KernelArgsFinalize_argsHandle", "argsHandle",
         [](Given& g) { return aclrtKernelArgsFinalize(g.At()); }},
        {"BinaryLoad_binary", "binary",
         [](Given& g) { return aclrtBinaryLoad(g.At(), g.Of<void*>()); }},
        {"BinaryGetFunction_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryGetFunction(g.At(), "kernel", g.Of<void*>()); }},
        {"BinaryGetFunctionByEntry_binHandle", "binHandle",
         [](Given& g) { return aclrtBinaryGetFunctionByEntry(g.At(), 0, g.Of<void*>()); }},
        {"LaunchKernel_stream", "stream",
         [](Given& g) { return aclrtLaunchKernel(g.At(), 1, g.At(), 8, g.At()); }},
        {"RICondHandleCreate_modelRI", "modelRI",
         [](Given& g) {
             return aclmdlRICondHandleCreate(g.At(), 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
                                             g.Of<void*>());
         }},
        {"IpcGetEventHandle_event", "event",
         [](Given& g) { return aclrtIpcGetEventHandle(g.At(), g.Of<aclrtIpcEventHandle>()); }},
        {"NotifyGetExportKey_notify", "notify",
         [](Given& g) { return aclrtNotifyGetExportKey(g.At(), g.Of<char>(), 65, 0); }},
        {"MemExportToShareableHandleV2_handle", "handle",
         [](Given& g) {
             return aclrtMemExportToShareableHandleV2(g.At(), 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      g.At());
         }},
        {"MemGetAllocationPropertiesFromHandle_handle", "handle",
         [](Given& g) {
             return aclrtMemGetAllocationPropertiesFromHandle(g.At(), g.Of<aclrtPhysicalMemProp>());
         }},
        {"RecordEventWithFlag_stream", "stream",
         [](Given& g) { return aclrtRecordEventWithFlag(g.At(), g.At(), 0); }},
        {"MemcpyAsyncWithOffset_stream", "stream",
         [](Given& g) {
             return aclrtMemcpyAsyncWithOffset(g.Of<void*>(), 8, 0, g.Of<const void*>(), 8, 0,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, g.At());
         }},
        {"ReduceAsync_stream", "stream",
         [](Given& g) {
             return aclrtReduceAsync(g.At(), g.At(), 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                                     g.At(), nullptr);
         }},
        {"SetStreamOverflowSwitch_stream", "stream",
         [](Given& g) { return aclrtSetStreamOverflowSwitch(g.At(), 1); }},
        {"ResetOverflowStatus_stream", "stream",
         [](Given& g) { return aclrtResetOverflowStatus(g.At()); }},
    };
}

class NoSuchHandleTest : public support::DeviceTest,
                         public testing::WithParamInterface<RefusedCall> {};

TEST_P(NoSuchHandleTest, IsRefused) {
    conformance::ExpectRefused(GetParam(), ACL_ERROR_RT_INVALID_HANDLE, GetParam().argument);
}

INSTANTIATE_TEST_SUITE_P(Table, NoSuchHandleTest, testing::ValuesIn(FunctionCalls()),
                         support::CaseName());

RefusedCalls ContextCalls() {
    return {
        {"BinaryLoadFromFile_", "",
         [](Given& g) { return aclrtBinaryLoadFromFile("none.o", nullptr, g.Of<void*>()); }},
        {"BinaryLoadFromData_", "",
         [](Given& g) { return aclrtBinaryLoadFromData(g.At(), 64, nullptr, g.Of<void*>()); }},
        {"BinaryLoad_", "", [](Given& g) { return aclrtBinaryLoad(g.At(), g.Of<void*>()); }},
        {"IpcMemGetExportKey_", "",
         [](Given& g) { return aclrtIpcMemGetExportKey(g.At(), 64, g.Of<char>(), 65, 0); }},
        {"IpcMemImportByKey_", "",
         [](Given& g) { return aclrtIpcMemImportByKey(g.Of<void*>(), "key", 0); }},
        {"IpcMemClose_", "", [](Given&) { return aclrtIpcMemClose("key"); }},
        {"IpcOpenEventHandle_", "",
         [](Given& g) { return aclrtIpcOpenEventHandle(aclrtIpcEventHandle{}, g.Of<void*>()); }},
        {"NotifyImportByKey_", "",
         [](Given& g) { return aclrtNotifyImportByKey(g.Of<void*>(), "key", 0); }},
        {"MemImportFromShareableHandleV2_", "",
         [](Given& g) {
             return aclrtMemImportFromShareableHandleV2(g.At(), ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                        0, g.Of<void*>());
         }},
        {"HostRegister_", "",
         [](Given& g) {
             return aclrtHostRegister(g.At(), 64, ACL_HOST_REGISTER_MAPPED, g.Of<void*>());
         }},
        {"LaunchKernel_", "",
         [](Given& g) { return aclrtLaunchKernel(g.At(), 1, g.At(), 8, nullptr); }},
        {"RecordEventWithFlag_", "",
         [](Given& g) { return aclrtRecordEventWithFlag(g.At(), nullptr, 0); }},
        {"StreamWaitEventWithFlag_", "",
         [](Given& g) { return aclrtStreamWaitEventWithFlag(nullptr, g.At(), 0, 0); }},
        {"MemcpyAsyncWithOffset_", "",
         [](Given& g) {
             return aclrtMemcpyAsyncWithOffset(g.Of<void*>(), 8, 0, g.Of<const void*>(), 8, 0,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
         }},
        {"ReduceAsync_", "",
         [](Given& g) {
             return aclrtReduceAsync(g.At(), g.At(), 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT,
                                     nullptr, nullptr);
         }},
        {"SetStreamOverflowSwitch_", "",
         [](Given&) { return aclrtSetStreamOverflowSwitch(nullptr, 1); }},
        {"ResetOverflowStatus_", "", [](Given&) { return aclrtResetOverflowStatus(nullptr); }},
        {"CtxGetSysParamOpt_", "",
         [](Given& g) { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, g.Of<int64_t>()); }},
    };
}

class NoContextCallTest : public support::DeviceTest,
                          public testing::WithParamInterface<RefusedCall> {};

TEST_P(NoContextCallTest, IsRefused) {
    std::thread([] {
        conformance::ExpectRefused(GetParam(), ACL_ERROR_RT_CONTEXT_NULL, "context");
    }).join();
}

INSTANTIATE_TEST_SUITE_P(Table, NoContextCallTest, testing::ValuesIn(ContextCalls()),
                         support::CaseName());

}  // namespace
