// SPDX-License-Identifier: Apache-2.0
// Null arguments of the calls for memory and events that processes share, and of some that queue
// work.
#include <gtest/gtest.h>

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

class NullSharedArgumentTest : public support::DeviceTest,
                               public testing::WithParamInterface<RefusedCall> {};

TEST_P(NullSharedArgumentTest, IsRefused) { conformance::ExpectNullRefused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sharing, NullSharedArgumentTest, testing::ValuesIn(SharingCases()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Queues, NullSharedArgumentTest, testing::ValuesIn(QueueCases()),
                         support::CaseName());

}  // namespace
