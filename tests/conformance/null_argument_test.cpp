// SPDX-License-Identifier: Apache-2.0
// Null arguments of the calls for what processes share, for queued work, and for kernels.
#include <gtest/gtest.h>

#include <string>

#include "acl/acl.h"
#include "conformance/refused_calls.h"
#include "support/table.h"

namespace {

using conformance::Given;
using conformance::RefusedCall;
using conformance::RefusedCalls;

RefusedCalls SharingCases() {
    return {
        {"IpcMemGetExportKey_devPtr", "devPtr",
         [](Given& g) { return aclrtIpcMemGetExportKey(nullptr, 64, g.Of<char>(), 65, 0); }},
        {"IpcMemGetExportKey_key", "key",
         [](Given& g) { return aclrtIpcMemGetExportKey(g.At(), 64, nullptr, 65, 0); }},
        {"IpcMemImportByKey_devPtr", "devPtr",
         [](Given& g) { return aclrtIpcMemImportByKey(nullptr, g.Of<char>(), 0); }},
        {"IpcMemImportByKey_key", "key",
         [](Given& g) { return aclrtIpcMemImportByKey(g.Of<void*>(), nullptr, 0); }},
        {"IpcMemClose_key", "key", [](Given&) { return aclrtIpcMemClose(nullptr); }},
        {"IpcMemSetImportPid_key", "key",
         [](Given& g) { return aclrtIpcMemSetImportPid(nullptr, g.Of<int32_t>(), 1); }},
        {"IpcMemSetImportPid_pid", "pid",
         [](Given& g) { return aclrtIpcMemSetImportPid(g.Of<char>(), nullptr, 1); }},
        {"MemExportToShareableHandleV2_handle", "handle",
         [](Given& g) {
             return aclrtMemExportToShareableHandleV2(nullptr, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      g.At());
         }},
        {"MemExportToShareableHandleV2_shareableHandle", "shareableHandle",
         [](Given& g) {
             return aclrtMemExportToShareableHandleV2(g.At(), 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      nullptr);
         }},
        {"MemImportFromShareableHandle_handle", "handle",
         [](Given&) { return aclrtMemImportFromShareableHandle(1, 0, nullptr); }},
        {"MemImportFromShareableHandleV2_shareableHandle", "shareableHandle",
         [](Given& g) {
             return aclrtMemImportFromShareableHandleV2(nullptr, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                        0, g.Of<void*>());
         }},
        {"MemImportFromShareableHandleV2_handle", "handle",
         [](Given& g) {
             return aclrtMemImportFromShareableHandleV2(g.At(), ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                        0, nullptr);
         }},
        {"MemSetPidToShareableHandleV2_shareableHandle", "shareableHandle",
         [](Given& g) {
             return aclrtMemSetPidToShareableHandleV2(nullptr, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      g.Of<int32_t>(), 1);
         }},
        {"MemGetAccess_virPtr", "virPtr",
         [](Given& g) {
             return aclrtMemGetAccess(nullptr, g.Of<aclrtMemLocation>(), g.Of<uint64_t>());
         }},
        {"MemGetAccess_location", "location",
         [](Given& g) { return aclrtMemGetAccess(g.At(), nullptr, g.Of<uint64_t>()); }},
        {"MemGetAccess_flag", "flag",
         [](Given& g) { return aclrtMemGetAccess(g.At(), g.Of<aclrtMemLocation>(), nullptr); }},
        {"MemRetainAllocationHandle_virPtr", "virPtr",
         [](Given& g) { return aclrtMemRetainAllocationHandle(nullptr, g.Of<void*>()); }},
        {"MemRetainAllocationHandle_handle", "handle",
         [](Given& g) { return aclrtMemRetainAllocationHandle(g.At(), nullptr); }},
        {"MemGetAllocationPropertiesFromHandle_handle", "handle",
         [](Given& g) {
             return aclrtMemGetAllocationPropertiesFromHandle(nullptr,
                                                              g.Of<aclrtPhysicalMemProp>());
         }},
        {"MemGetAllocationPropertiesFromHandle_prop", "prop",
         [](Given& g) { return aclrtMemGetAllocationPropertiesFromHandle(g.At(), nullptr); }},
        {"MemGetAddressRange_ptr", "ptr",
         [](Given& g) {
             return aclrtMemGetAddressRange(nullptr, g.Of<void*>(), g.Of<size_t>() + 1);
         }},
        {"IpcGetEventHandle_event", "event",
         [](Given& g) { return aclrtIpcGetEventHandle(nullptr, g.Of<aclrtIpcEventHandle>()); }},
        {"IpcGetEventHandle_handle", "handle",
         [](Given& g) { return aclrtIpcGetEventHandle(g.At(), nullptr); }},
        {"IpcOpenEventHandle_event", "event",
         [](Given&) { return aclrtIpcOpenEventHandle(aclrtIpcEventHandle{}, nullptr); }},
        {"NotifyGetExportKey_notify", "notify",
         [](Given& g) { return aclrtNotifyGetExportKey(nullptr, g.Of<char>(), 65, 0); }},
        {"NotifyGetExportKey_key", "key",
         [](Given& g) { return aclrtNotifyGetExportKey(g.At(), nullptr, 65, 0); }},
        {"NotifyImportByKey_notify", "notify",
         [](Given& g) { return aclrtNotifyImportByKey(nullptr, g.Of<char>(), 0); }},
        {"NotifyImportByKey_key", "key",
         [](Given& g) { return aclrtNotifyImportByKey(g.Of<void*>(), nullptr, 0); }},
        {"NotifySetImportPid_notify", "notify",
         [](Given& g) { return aclrtNotifySetImportPid(nullptr, g.Of<int32_t>(), 1); }},
        {"NotifySetImportPid_pid", "pid",
         [](Given& g) { return aclrtNotifySetImportPid(g.At(), nullptr, 1); }},
    };
}

RefusedCalls QueueCases() {
    return {
        {"MemcpyAsyncWithOffset_dst", "dst",
         [](Given& g) {
             return aclrtMemcpyAsyncWithOffset(nullptr, 8, 0, g.Of<const void*>(), 8, 0,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
         }},
        {"MemcpyAsyncWithOffset_src", "src",
         [](Given& g) {
             return aclrtMemcpyAsyncWithOffset(g.Of<void*>(), 8, 0, nullptr, 8, 0,
                                               ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr);
         }},
        {"RecordEventWithFlag_event", "event",
         [](Given&) { return aclrtRecordEventWithFlag(nullptr, nullptr, 0); }},
        {"StreamWaitEventWithFlag_event", "event",
         [](Given&) { return aclrtStreamWaitEventWithFlag(nullptr, nullptr, 0, 0); }},
        {"RICondHandleCreate_modelRI", "modelRI",
         [](Given& g) {
             return aclmdlRICondHandleCreate(nullptr, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
                                             g.Of<void*>());
         }},
        {"RICondHandleCreate_handle", "handle",
         [](Given& g) {
             return aclmdlRICondHandleCreate(g.At(), 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT,
                                             nullptr);
         }},
        {"RICondHandleGetCondPtr_handle", "handle",
         [](Given& g) { return aclmdlRICondHandleGetCondPtr(nullptr, g.Of<uint64_t*>()); }},
        {"RICondHandleGetCondPtr_ptr", "ptr",
         [](Given& g) { return aclmdlRICondHandleGetCondPtr(g.At(), nullptr); }},
        {"RIAddCondTask_stream", "stream",
         [](Given& g) {
             aclmdlRICondTaskParams params{};
             params.handle = g.At();
             params.modelRIArray = g.Of<void*>();
             params.size = 1;
             return aclmdlRIAddCondTask(params, nullptr, 0);
         }},
        {"RIAddCondTask_paramsHandle", "params.handle",
         [](Given& g) {
             aclmdlRICondTaskParams params{};
             params.modelRIArray = g.Of<void*>();
             params.size = 1;
             return aclmdlRIAddCondTask(params, g.At(), 0);
         }},
        {"RIAddCondTask_paramsModelRIArray", "params.modelRIArray",
         [](Given& g) {
             aclmdlRICondTaskParams params{};
             params.handle = g.At();
             params.size = 1;
             return aclmdlRIAddCondTask(params, g.At(), 0);
         }},
        {"CtxGetSysParamOpt_value", "value",
         [](Given&) { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr); }},
        {"GetSysParamOpt_value", "value",
         [](Given&) { return aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr); }},
    };
}

class NullArgumentsTest : public support::DeviceTest,
                          public testing::WithParamInterface<RefusedCall> {};

TEST_P(NullArgumentsTest, IsRefused) { conformance::ExpectNullRefused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sharing, NullArgumentsTest, testing::ValuesIn(SharingCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Queues, NullArgumentsTest, testing::ValuesIn(QueueCases()),
                         support::CaseName());

// Null arguments of the calls for binaries, kernels and their arguments.

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

INSTANTIATE_TEST_SUITE_P(Binary, NullArgumentsTest, testing::ValuesIn(BinaryCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Arguments, NullArgumentsTest, testing::ValuesIn(ArgumentCases()),
                         support::CaseName());

// This call has no code to return.
using CreateBinaryTest = support::DeviceTest;

TEST_F(CreateBinaryTest, NullDataMakesNone) {
    EXPECT_EQ(aclrtCreateBinary(nullptr, 64), nullptr);
    EXPECT_NE(std::string(aclGetRecentErrMsg()).find("data is null"), std::string::npos);
}

}  // namespace
