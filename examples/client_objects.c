// SPDX-License-Identifier: Apache-2.0
/* What a framework asks a device and keeps beside its streams, with the functions of the CANN
 * documentation and nothing else: versions, capabilities, numbers and state of the device, tensor
 * descriptions and data buffers, half precision, host memory that kernels may use, options, use of
 * memory, and the abort of all work. Every result is checked; the exit status is 1 at the first
 * that is wrong. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "check.h"

static void AskTheDevice(void) {
    aclCANNPackageVersion version;
    aclrtUuid uuid;
    aclrtDeviceStatus status;
    int64_t cores = 0;
    int64_t cache = 0;
    int32_t number = -1;
    int i;
    CHECK(aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &version));
    CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &cores));
    CHECK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, &cache));
    CHECK(aclrtGetPhyDevIdByUserDevId(0, &number));
    CHECK(aclrtQueryDeviceStatus(0, &status));
    CHECK(aclrtDeviceGetUuid(0, &uuid));
    REQUIRE(number == 0 && status == ACL_RT_DEVICE_STATUS_NORMAL && cores > 0);
    printf("CANN %s, %s: %d vector cores, L2 %d MiB, uuid ", version.version, aclrtGetSocName(),
           (int)cores, (int)(cache >> 20));
    for (i = 0; i < 16; ++i) {
        printf("%02x", (unsigned)(unsigned char)uuid.bytes[i]);
    }
    printf("\n");
}

static void DescribeATensor(void) {
    const int64_t dims[] = {4, 8};
    uint16_t halves[32];
    aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT16, 2, dims, ACL_FORMAT_ND);
    aclDataBuffer* buffer = aclCreateDataBuffer(halves, sizeof(halves));
    size_t i;
    REQUIRE(desc != NULL && buffer != NULL);
    aclSetTensorDescName(desc, "scores");
    for (i = 0; i < aclGetTensorDescElementCount(desc); ++i) {
        halves[i] = aclFloatToFloat16((float)i / 8);
    }
    REQUIRE(aclGetTensorDescSize(desc) == aclGetDataBufferSizeV2(buffer));
    REQUIRE(aclFloat16ToFloat(((uint16_t*)aclGetDataBufferAddr(buffer))[12]) == 1.5F);
    printf("%s: %d x %d halves, %d bytes\n", aclGetTensorDescName(desc),
           (int)aclGetTensorDescDim(desc, 0), (int)aclGetTensorDescDim(desc, 1),
           (int)aclGetTensorDescSize(desc));
    CHECK(aclDestroyDataBuffer(buffer));
    aclDestroyTensorDesc(desc);
}

/* Swapped memory: a pinned block of which the device may use a part at its own address. */
static void SwapMemory(aclrtStream stream) {
    enum { kBytes = 8192 };
    void* block = NULL;
    void* onDevice = NULL;
    void* device = NULL;
    aclrtMemUsageInfo use;
    size_t count = 0;
    CHECK(aclrtMallocHostWithCfg(&block, kBytes, NULL));
    memset(block, 0, kBytes);
    CHECK(aclrtHostRegisterV2(block, kBytes / 2, ACL_HOST_REG_MAPPED));
    CHECK(aclrtHostGetDevicePointer(block, &onDevice, 0));
    CHECK(aclrtMallocWithCfg(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    CHECK(aclrtMemsetAsync(device, kBytes, 0x5a, kBytes, stream));
    CHECK(aclrtCmoAsync(device, kBytes, ACL_RT_CMO_TYPE_PREFETCH, stream));
    CHECK(aclrtMemcpyAsync(onDevice, kBytes / 2, device, kBytes / 2, ACL_MEMCPY_DEVICE_TO_DEVICE,
                           stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(((unsigned char*)block)[kBytes / 2 - 1] == 0x5a);
    CHECK(aclrtGetMemUsageInfo(0, &use, 1, &count));
    REQUIRE(count == 1 && use.curMemSize == kBytes);
    printf("%s uses %d bytes of device memory, at most %d so far\n", use.name, (int)use.curMemSize,
           (int)use.memPeakSize);
    CHECK(aclrtFree(device));
    CHECK(aclrtFreeHost(block)); /* ends the registration as well */
}

static void SetOptions(aclrtStream stream) {
    int64_t value = -1;
    uint64_t limit = 0;
    unsigned char overflow[64];
    void* status = NULL;
    CHECK(aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    CHECK(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    REQUIRE(value == 1);
    REQUIRE(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value) ==
            ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    printf("%s\n", aclGetRecentErrMsg());
    CHECK(aclrtSetOpExecuteTimeOutV2(5000000, &limit));
    CHECK(aclrtMalloc(&status, sizeof(overflow), ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtGetOverflowStatus(status, sizeof(overflow), stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(overflow, sizeof(overflow), status, sizeof(overflow),
                      ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(overflow[0] == 0);
    CHECK(aclrtFree(status));
    printf("operators may take %d ms, and nothing has overflowed\n", (int)(limit / 1000));
}

static int32_t Stage(int32_t deviceId, aclrtDeviceTaskAbortStage stage, uint32_t timeout,
                     void* args) {
    (void)timeout;
    printf("device %d, %s the abort\n", (int)deviceId,
           stage == ACL_RT_DEVICE_TASK_ABORT_PRE ? "before" : "after");
    ++*(int*)args;
    return 0;
}

int main(void) {
    aclrtStream stream = NULL;
    int stages = 0;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    ACL_APP_LOG(ACL_INFO, "a line of the program, for level %s", "info");
    AskTheDevice();
    DescribeATensor();
    SwapMemory(stream);
    SetOptions(stream);
    CHECK(aclrtSetDeviceTaskAbortCallback("example", &Stage, &stages));
    CHECK(aclrtDeviceTaskAbort(0, 10000));
    REQUIRE(stages == 2);
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    printf("all as expected\n");
    return EXIT_SUCCESS;
}
