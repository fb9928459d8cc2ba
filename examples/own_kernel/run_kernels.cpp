// SPDX-License-Identifier: Apache-2.0
// Launches the two kernels on a stream, compares with a plain loop, and shows a data fault.
//
//   run_kernels own_kernels.so
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "logits_arguments.h"

namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kTokens = 300;
constexpr uint32_t kBlocks = 3;

void Check(int code, const char* call) {
    if (code != ACL_SUCCESS) {
        std::fprintf(stderr, "%s returned %d: %s\n", call, code, aclGetRecentErrMsg());
        std::exit(1);
    }
}
#define CHECK(call) Check(call, #call)

float* Upload(const std::vector<float>& values) {
    void* memory = nullptr;
    const size_t bytes = values.size() * sizeof(float);
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return static_cast<float*>(memory);
}

// [launch]
// The parameters in the order of LogitsArguments. The launch has a copy when it returns.
void Launch(aclrtFuncHandle kernel, LogitsArguments a, aclrtStream stream) {
    aclrtArgsHandle args = nullptr;
    aclrtParamHandle parameter = nullptr;
    CHECK(aclrtKernelArgsInit(kernel, &args));
    CHECK(aclrtKernelArgsAppend(args, &a.logits, sizeof(a.logits), &parameter));
    CHECK(aclrtKernelArgsAppend(args, &a.temperatures, sizeof(a.temperatures), &parameter));
    CHECK(aclrtKernelArgsAppend(args, &a.rows, sizeof(a.rows), &parameter));
    CHECK(aclrtKernelArgsAppend(args, &a.tokens, sizeof(a.tokens), &parameter));
    CHECK(aclrtKernelArgsFinalize(args));
    CHECK(aclrtLaunchKernelWithConfig(kernel, kBlocks, stream, nullptr, args, nullptr));
}
// [/launch]

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s own_kernels.so\n", argv[0]);
        return 2;
    }
    std::vector<float> logits(kRows * kTokens);
    std::vector<float> temperatures = {1.0F, 0.5F, 2.0F, 0.7F, 1.5F};
    for (size_t i = 0; i < logits.size(); ++i) {
        logits[i] = static_cast<float>(i % 97) - 48;
    }
    // [load]
    aclrtStream stream = nullptr;
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle scale = nullptr;
    aclrtFuncHandle mask = nullptr;
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    CHECK(aclrtBinaryLoadFromFile(argv[1], nullptr, &binary));
    CHECK(aclrtBinaryGetFunction(binary, "scale_logits", &scale));
    CHECK(aclrtBinaryGetFunction(binary, "mask_tokens", &mask));
    // [/load]
    const LogitsArguments a = {Upload(logits), Upload(temperatures), kRows, kTokens};
    Launch(scale, a, stream);
    Launch(mask, a, stream);
    CHECK(aclrtSynchronizeStream(stream));
    std::vector<float> got(logits.size());
    CHECK(aclrtMemcpy(got.data(), got.size() * sizeof(float), a.logits, got.size() * sizeof(float),
                      ACL_MEMCPY_DEVICE_TO_HOST));
    int wrong = 0;
    for (int64_t i = 0; i < kRows * kTokens; ++i) {
        const bool last = i % kTokens == kTokens - 1;
        const auto at = static_cast<size_t>(i);
        const float expected =
            last ? -INFINITY : logits[at] / temperatures[static_cast<size_t>(i / kTokens)];
        wrong += got[at] != expected ? 1 : 0;
    }
    std::printf("%d of %d logits are wrong\n", wrong, static_cast<int>(kRows * kTokens));

    // [fault]
    const float bad = -0.25F;
    CHECK(aclrtMemcpy(const_cast<float*>(a.temperatures) + 3, sizeof(bad), &bad, sizeof(bad),
                      ACL_MEMCPY_HOST_TO_DEVICE));
    Launch(scale, a, stream);
    const int code = aclrtSynchronizeStream(stream);
    std::printf("a bad temperature gives %d: %s\n", code, aclGetRecentErrMsg());
    // [/fault]

    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtFree(a.logits));
    CHECK(aclrtFree(const_cast<float*>(a.temperatures)));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 && code == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION ? 0 : 1;
}
