// SPDX-License-Identifier: Apache-2.0
// Objects and queries of clients: buffers, descriptions, versions, states of devices, options.
#include "acl/acl_mdl.h"
#include "faults/scene.h"

namespace faults {
namespace {

int32_t AbortStage(int32_t, aclrtDeviceTaskAbortStage, uint32_t, void*) { return 0; }

aclDataBuffer* Buffer(Scene& s) { return static_cast<aclDataBuffer*>(s.made); }
aclTensorDesc* Desc(Scene& s) { return static_cast<aclTensorDesc*>(s.made); }

int MakeBuffer(Scene& s) {
    s.made = aclCreateDataBuffer(s.device, kBytes);
    return s.made != nullptr ? 0 : ACL_ERROR_BAD_ALLOC;
}
int EndBuffer(Scene& s) { return aclDestroyDataBuffer(Buffer(s)); }

int MakeDesc(Scene& s) {
    const int64_t dims[] = {2, 3};
    s.made = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    return s.made != nullptr ? 0 : ACL_ERROR_BAD_ALLOC;
}
int EndDesc(Scene& s) {
    aclDestroyTensorDesc(Desc(s));
    return 0;
}
int SetDims(Scene& s, aclError (*set)(aclTensorDesc*, int, const int64_t*)) {
    const int64_t dims[] = {4, 5, 6};
    return set(Desc(s), 3, dims);
}
constexpr const char* kLongName = "a name that is too long to be kept inside of a string object";

int NamePackage(Scene& s, bool number) {
    char package[] = "runtime";
    char text[ACL_PKG_VERSION_MAX_SIZE];
    return number ? aclsysGetVersionNum(package, reinterpret_cast<int32_t*>(s.host))
                  : aclsysGetVersionStr(package, text);
}

// A question about an object, and its answer.
template <auto kAsk, auto kObject, auto kAnswer>
int Answers(Scene& s) {
    using Answer = decltype(kAsk(kObject(s)));
    return kAsk(kObject(s)) == static_cast<Answer>(kAnswer) ? 0 : -1;
}

std::vector<Call> ObjectCalls() {
    return {
        {"aclCreateDataBuffer", nullptr, &MakeBuffer, &EndBuffer},
        {"aclDestroyDataBuffer", &MakeBuffer, &EndBuffer, nullptr},
        {"aclUpdateDataBuffer", &MakeBuffer,
         [](Scene& s) -> int { return aclUpdateDataBuffer(Buffer(s), nullptr, 1); }, &EndBuffer},
        {"aclGetDataBufferAddr", &MakeBuffer,
         [](Scene& s) -> int { return aclGetDataBufferAddr(Buffer(s)) == s.device ? 0 : -1; },
         &EndBuffer},
        {"aclGetDataBufferSizeV2", &MakeBuffer, &Answers<aclGetDataBufferSizeV2, Buffer, kBytes>,
         &EndBuffer},
        {"aclGetDataBufferSize", &MakeBuffer, &Answers<aclGetDataBufferSize, Buffer, kBytes>,
         &EndBuffer},
        {"aclCreateTensorDesc", nullptr, &MakeDesc, &EndDesc},
        {"aclDestroyTensorDesc", &MakeDesc, &EndDesc, nullptr},
        {"aclGetTensorDescType", &MakeDesc, &Answers<aclGetTensorDescType, Desc, ACL_FLOAT>,
         &EndDesc},
        {"aclGetTensorDescFormat", &MakeDesc, &Answers<aclGetTensorDescFormat, Desc, ACL_FORMAT_ND>,
         &EndDesc},
        {"aclGetTensorDescSize", &MakeDesc, &Answers<aclGetTensorDescSize, Desc, 24>, &EndDesc},
        {"aclGetTensorDescElementCount", &MakeDesc, &Answers<aclGetTensorDescElementCount, Desc, 6>,
         &EndDesc},
        {"aclGetTensorDescNumDims", &MakeDesc, &Answers<aclGetTensorDescNumDims, Desc, 2>,
         &EndDesc},
        {"aclGetTensorDescDim", &MakeDesc,
         [](Scene& s) -> int { return aclGetTensorDescDim(Desc(s), 1) == 3 ? 0 : -1; }, &EndDesc},
        {"aclGetTensorDescDimV2", &MakeDesc,
         [](Scene& s) -> int {
             return aclGetTensorDescDimV2(Desc(s), 0, reinterpret_cast<int64_t*>(s.host));
         },
         &EndDesc},
        {"aclGetTensorDescName", &MakeDesc,
         [](Scene& s) -> int { return *aclGetTensorDescName(Desc(s)) == 0 ? 0 : -1; }, &EndDesc},
        {"aclSetTensorDescName", &MakeDesc,
         [](Scene& s) -> int {
             aclSetTensorDescName(Desc(s), kLongName);
             return *aclGetTensorDescName(Desc(s)) == 'a' ? 0 : ACL_ERROR_BAD_ALLOC;
         },
         &EndDesc},
        {"aclSetTensorFormat", &MakeDesc,
         [](Scene& s) -> int { return aclSetTensorFormat(Desc(s), ACL_FORMAT_NHWC); }, &EndDesc},
        {"aclSetTensorOriginFormat", &MakeDesc,
         [](Scene& s) -> int { return aclSetTensorOriginFormat(Desc(s), ACL_FORMAT_NHWC); },
         &EndDesc},
        {"aclSetTensorShape", &MakeDesc,
         [](Scene& s) -> int { return SetDims(s, &aclSetTensorShape); }, &EndDesc},
        {"aclSetTensorOriginShape", &MakeDesc,
         [](Scene& s) -> int { return SetDims(s, &aclSetTensorOriginShape); }, &EndDesc},
        {"aclSetTensorShapeRange", &MakeDesc,
         [](Scene& s) -> int {
             int64_t ranges[1][ACL_TENSOR_SHAPE_RANGE_NUM] = {{1, 2}};
             return aclSetTensorShapeRange(Desc(s), 1, ranges);
         },
         &EndDesc},
        {"aclSetTensorPlaceMent", &MakeDesc,
         [](Scene& s) -> int { return aclSetTensorPlaceMent(Desc(s), ACL_MEMTYPE_HOST); },
         &EndDesc},
        {"aclSetTensorConst", &MakeDesc,
         [](Scene& s) -> int { return aclSetTensorConst(Desc(s), s.host, sizeof(s.host)); },
         &EndDesc},
        {"aclSetTensorDynamicInput", &MakeDesc,
         [](Scene& s) -> int { return aclSetTensorDynamicInput(Desc(s), kLongName); }, &EndDesc},
        {"aclFloat16ToFloat", nullptr,
         [](Scene&) -> int { return aclFloat16ToFloat(0x3C00) == 1.0F ? 0 : -1; }, nullptr},
        {"aclFloatToFloat16", nullptr,
         [](Scene&) -> int { return aclFloatToFloat16(1.0F) == 0x3C00 ? 0 : -1; }, nullptr},
        {"aclAppLog", nullptr,
         [](Scene&) -> int {
             aclAppLog(ACL_DEBUG, "f", "file", 1, "%d", 1);
             return 0;
         },
         nullptr},
        {"aclsysGetVersionStr", nullptr, [](Scene& s) -> int { return NamePackage(s, false); },
         nullptr},
        {"aclsysGetVersionNum", nullptr, [](Scene& s) -> int { return NamePackage(s, true); },
         nullptr},
        {"aclsysGetCANNVersion", nullptr,
         [](Scene&) -> int {
             aclCANNPackageVersion version;
             return aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version);
         },
         nullptr},
        {"aclGetCannAttributeList", nullptr,
         [](Scene& s) -> int {
             const aclCannAttr* list = nullptr;
             return aclGetCannAttributeList(&list, reinterpret_cast<size_t*>(s.host));
         },
         nullptr},
        ADVSTEP_PLAIN(aclGetCannAttribute, ACL_CANN_ATTR_BF16, reinterpret_cast<int32_t*>(s.host)),
        ADVSTEP_PLAIN(aclGetDeviceCapability, 0, ACL_DEVICE_INFO_L2_SIZE,
                      reinterpret_cast<int64_t*>(s.host)),
    };
}

std::vector<Call> StatusCalls() {
    return {
        {"aclrtGetDeviceUtilizationRate", nullptr,
         [](Scene&) -> int {
             aclrtUtilizationInfo info = {0, 0, 0, 0, nullptr};
             return aclrtGetDeviceUtilizationRate(0, &info);
         },
         nullptr},
        {"aclrtGetMemUsageInfo", nullptr,
         [](Scene& s) -> int {
             aclrtMemUsageInfo use;
             return aclrtGetMemUsageInfo(0, &use, 1, reinterpret_cast<size_t*>(s.host));
         },
         nullptr},
        {"aclrtGetErrorVerbose", nullptr,
         [](Scene&) -> int {
             aclrtErrorInfo info;
             return aclrtGetErrorVerbose(0, &info);
         },
         nullptr},
        {"aclrtRepairError", nullptr,
         [](Scene&) -> int {
             const aclrtErrorInfo info{};
             return aclrtRepairError(0, &info);
         },
         nullptr},
        ADVSTEP_PLAIN(aclrtGetMemUceInfo, 0, nullptr, 0, reinterpret_cast<size_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtMemUceRepair, 0, nullptr, 0),
        ADVSTEP_PLAIN(aclrtDeviceTaskAbort, 0, 10000),
        {"aclrtSetDeviceTaskAbortCallback", nullptr,
         [](Scene&) -> int {
             return aclrtSetDeviceTaskAbortCallback(kLongName, &AbortStage, nullptr);
         },
         [](Scene&) -> int {
             return aclrtSetDeviceTaskAbortCallback(kLongName, nullptr, nullptr);
         }},
        ADVSTEP_PLAIN(aclrtGetSysParamOpt, ACL_OPT_DETERMINISTIC,
                      reinterpret_cast<int64_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtSetSysParamOpt, ACL_OPT_DETERMINISTIC, 0),
        ADVSTEP_PLAIN(aclrtCtxSetSysParamOpt, ACL_OPT_DETERMINISTIC, 0),
        {"aclrtCtxGetSysParamOpt",
         [](Scene&) -> int { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0); },
         [](Scene& s) -> int {
             return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC,
                                           reinterpret_cast<int64_t*>(s.host));
         },
         nullptr},
        ADVSTEP_PLAIN(aclrtSetDeviceSatMode, ACL_RT_OVERFLOW_MODE_INFNAN),
        ADVSTEP_PLAIN(aclrtGetOverflowStatus, s.device, 64, s.stream),
        ADVSTEP_PLAIN(aclrtGetFloatOverflowStatus, s.device, 64, s.stream),
        ADVSTEP_PLAIN(aclrtNpuGetFloatOverFlowStatus, s.device, 64, 0, s.stream),
        ADVSTEP_PLAIN(aclrtNpuClearFloatOverFlowStatus, 0, s.stream),
        ADVSTEP_PLAIN(aclrtCheckArchCompatibility, "Ascend910B3",
                      reinterpret_cast<int32_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtDevicePeerAccessStatus, 0, 1, reinterpret_cast<int32_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtDeviceL2CacheFlush, nullptr),
        ADVSTEP_PLAIN(aclrtDeviceGetPCIBusId, 0, s.host, sizeof(s.host)),
        ADVSTEP_PLAIN(aclrtDeviceGetByPCIBusId, "0000:01:00.0", reinterpret_cast<int32_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtCacheLastTaskOpInfo, s.host, 1),
        ADVSTEP_PLAIN(aclrtCacheLastTaskExtendInfo, s.host, 1),
        ADVSTEP_PLAIN(aclrtProfTrace, s.host, 1, s.stream),
        ADVSTEP_PLAIN(aclrtSetStreamOverflowSwitch, s.stream, 0),
        ADVSTEP_PLAIN(aclrtSetOpExecuteTimeOut, 0),
        ADVSTEP_PLAIN(aclrtSetOpExecuteTimeOutWithMs, 0),
        ADVSTEP_PLAIN(aclrtSetOpExecuteTimeOutV2, 0, reinterpret_cast<uint64_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtCmoAsync, s.device, 64, ACL_RT_CMO_TYPE_PREFETCH, s.stream),
        {"aclmdlInitDump", nullptr, [](Scene&) -> int { return aclmdlInitDump(); },
         [](Scene&) -> int { return aclmdlFinalizeDump(); }},
        {"aclmdlFinalizeDump", [](Scene&) -> int { return aclmdlInitDump(); },
         [](Scene&) -> int { return aclmdlFinalizeDump(); }, nullptr},
        {"aclmdlSetDump", [](Scene&) -> int { return aclmdlInitDump(); },
         [](Scene&) -> int {
             const aclError code = aclmdlSetDump("/no/such/file");
             return code == ACL_ERROR_INVALID_FILE ? 0 : code;
         },
         [](Scene&) -> int { return aclmdlFinalizeDump(); }},
    };
}

}  // namespace

std::vector<Call> ClientCalls() {
    std::vector<Call> calls = ObjectCalls();
    for (const Call& call : StatusCalls()) {
        calls.push_back(call);
    }
    return calls;
}

}  // namespace faults
