// SPDX-License-Identifier: Apache-2.0
/* An operator by its name, as older clients call it. The libraries of the prefix like CANN's have
 * these calls: options, attributes and descriptions work, and the execution is refused with a code
 * and a message that names the operator. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"

static void Require(int holds, const char* what) {
    if (!holds) {
        const char* message = aclGetRecentErrMsg();
        fprintf(stderr, "not so: %s; %s\n", what, message != NULL ? message : "no message");
        exit(1);
    }
}
#define CHECK(call) Require((call) == ACL_SUCCESS, #call)

int main(void) {
    enum { kBytes = 16 };
    const int64_t dims[] = {2, 2};
    char option[32];
    aclrtStream stream = NULL;
    void* memory = NULL;
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(memory, kBytes, 7, kBytes));

    CHECK(aclSetCompileopt(ACL_PRECISION_MODE, "allow_fp32_to_fp16"));
    Require(aclGetCompileoptSize(ACL_PRECISION_MODE) <= sizeof(option), "the size of an option");
    CHECK(aclGetCompileopt(ACL_PRECISION_MODE, option, sizeof(option)));
    printf("ACL_PRECISION_MODE is %s\n", option);

    aclTensorDesc* const tensor = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);
    aclDataBuffer* const data = aclCreateDataBuffer(memory, kBytes);
    aclopAttr* const attributes = aclopCreateAttr();
    CHECK(aclopSetAttrInt(attributes, "axis", 1));
    const aclTensorDesc* const tensors[] = {tensor};
    const aclDataBuffer* const inputs[] = {data};
    aclDataBuffer* const outputs[] = {data};
    const aclError code =
        aclopCompileAndExecute("SoftmaxV2", 1, tensors, inputs, 1, tensors, outputs, attributes,
                               ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, stream);
    const char* const message = aclGetRecentErrMsg();
    printf("aclopCompileAndExecute returned %d:\n%s\n", code, message != NULL ? message : "");
    Require(code == ACL_ERROR_API_NOT_SUPPORT, "the refusal");
    Require(message != NULL && strstr(message, "SoftmaxV2") != NULL, "a message with the name");

    /* Nothing has been queued, and nothing is written. */
    unsigned char bytes[kBytes];
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(bytes, kBytes, memory, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < kBytes; ++i) {
        Require(bytes[i] == 7, "the memory is as it was");
    }
    aclopDestroyAttr(attributes);
    CHECK(aclDestroyDataBuffer(data));
    aclDestroyTensorDesc(tensor);
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    return 0;
}
