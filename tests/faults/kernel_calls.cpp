// SPDX-License-Identifier: Apache-2.0
// Device binaries, argument blocks and launches of kernels.
#include <cstdio>
#include <vector>

#include "faults/scene.h"
#include "support/kernel_arguments.h"

namespace faults {
namespace {

// s.made is the binary, s.more a function of it or its bytes.
int Load(Scene& s) { return aclrtBinaryLoadFromFile(ADVANCE_STEP_TEST_KERNELS, nullptr, &s.made); }
int Unload(Scene& s) { return aclrtBinaryUnLoad(s.made); }
int Find(Scene& s, const char* name) {
    return First({Load(s), aclrtBinaryGetFunction(s.made, name, &s.more)});
}
int FindAdd(Scene& s) { return Find(s, "add_rows"); }

// Read before the calls, whose own allocations are counted.
const std::vector<char> binaryBytes = [] {
    std::vector<char> read(size_t{1} << 24);
    std::FILE* const file = std::fopen(ADVANCE_STEP_TEST_KERNELS, "rb");
    read.resize(file != nullptr ? std::fread(read.data(), 1, read.size(), file) : 0);
    std::fclose(file);
    return read;
}();

int Describe(Scene& s) {
    s.more = aclrtCreateBinary(binaryBytes.data(), binaryBytes.size());
    return s.more != nullptr ? 0 : ACL_ERROR_BAD_ALLOC;
}
int LoadCpu(Scene& s) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = 2;
    const aclrtBinaryLoadOptions options{&option, 1};
    return aclrtBinaryLoadFromData(binaryBytes.data(), binaryBytes.size(), &options, &s.made);
}

std::vector<Call> BinaryCalls() {
    return {
        {"aclrtBinaryLoadFromFile", nullptr, &Load, &Unload},
        {"aclrtBinaryLoadFromData", nullptr,
         [](Scene& s) -> int {
             return aclrtBinaryLoadFromData(binaryBytes.data(), binaryBytes.size(), nullptr,
                                            &s.made);
         },
         &Unload},
        {"aclrtCreateBinary", nullptr, &Describe,
         [](Scene& s) -> int { return aclrtDestroyBinary(s.more); }},
        {"aclrtDestroyBinary", &Describe,
         [](Scene& s) -> int { return aclrtDestroyBinary(s.more); }, nullptr},
        {"aclrtBinaryLoad", &Describe,
         [](Scene& s) -> int { return aclrtBinaryLoad(s.more, &s.made); },
         [](Scene& s) -> int {
             return First({Unload(s), aclrtDestroyBinary(s.more)});
         }},
        {"aclrtBinaryUnLoad", &FindAdd, &Unload, nullptr},
        {"aclrtBinaryGetFunction", &Load,
         [](Scene& s) -> int { return aclrtBinaryGetFunction(s.made, "add_rows", &s.more); },
         &Unload},
        {"aclrtBinaryGetFunctionByEntry", &Load,
         [](Scene& s) -> int { return aclrtBinaryGetFunctionByEntry(s.made, 7, &s.more); },
         &Unload},
        {"aclrtRegisterCpuFunc", &LoadCpu,
         [](Scene& s) -> int {
             return aclrtRegisterCpuFunc(s.made, "cpu_store", "AnOperatorOfALongName", &s.more);
         },
         &Unload},
        {"aclrtGetFunctionName", &FindAdd,
         [](Scene& s) -> int { return aclrtGetFunctionName(s.more, sizeof(s.host), s.host); },
         &Unload},
        {"aclrtFunctionGetBinary", &FindAdd,
         [](Scene& s) -> int {
             return aclrtFunctionGetBinary(s.more, reinterpret_cast<void**>(s.host));
         },
         &Unload},
        {"aclrtGetFunctionAddr", &FindAdd,
         [](Scene& s) -> int {
             auto* const addresses = reinterpret_cast<void**>(s.host);
             return aclrtGetFunctionAddr(s.more, &addresses[0], &addresses[1]);
         },
         &Unload},
        {"aclrtGetFunctionAttribute", &FindAdd,
         [](Scene& s) -> int {
             return aclrtGetFunctionAttribute(s.more, ACL_FUNC_ATTR_KERNEL_TYPE,
                                              reinterpret_cast<int64_t*>(s.host));
         },
         &Unload},
    };
}

// In s.host: the block's handle, and two parameters.
aclrtArgsHandle& Args(Scene& s) { return reinterpret_cast<void**>(s.host)[0]; }
aclrtParamHandle& Place(Scene& s) { return reinterpret_cast<void**>(s.host)[1]; }
aclrtParamHandle& Number(Scene& s) { return reinterpret_cast<void**>(s.host)[2]; }

int InitArgs(Scene& s) { return First({FindAdd(s), aclrtKernelArgsInit(s.more, &Args(s))}); }
int InitWithParameters(Scene& s) {
    int64_t zero = 0;
    return First({InitArgs(s), aclrtKernelArgsAppendPlaceHolder(Args(s), &Place(s)),
                  aclrtKernelArgsAppend(Args(s), &zero, sizeof(zero), &Number(s))});
}
int GetBuffer(Scene& s) {
    void* buffer = nullptr;
    return aclrtKernelArgsGetPlaceHolderBuffer(Args(s), Place(s), 8, &buffer);
}
int FinishArgs(Scene& s) {
    return First({InitWithParameters(s), GetBuffer(s), aclrtKernelArgsFinalize(Args(s))});
}
alignas(16) char blockMemory[65536];

std::vector<Call> ArgsCalls() {
    return {
        {"aclrtKernelArgsInit", &FindAdd,
         [](Scene& s) -> int { return aclrtKernelArgsInit(s.more, &Args(s)); }, &Unload},
        {"aclrtKernelArgsInitByUserMem", &FindAdd,
         [](Scene& s) -> int {
             return aclrtKernelArgsInitByUserMem(s.more, blockMemory, s.pinned, kBytes);
         },
         &Unload},
        {"aclrtKernelArgsGetHandleMemSize", &FindAdd,
         [](Scene& s) -> int {
             return aclrtKernelArgsGetHandleMemSize(s.more, reinterpret_cast<size_t*>(s.host));
         },
         &Unload},
        {"aclrtKernelArgsGetMemSize", &FindAdd,
         [](Scene& s) -> int {
             return aclrtKernelArgsGetMemSize(s.more, 64, reinterpret_cast<size_t*>(s.host));
         },
         &Unload},
        {"aclrtKernelArgsAppend", &InitArgs,
         [](Scene& s) -> int {
             int64_t value = 1;
             return aclrtKernelArgsAppend(Args(s), &value, sizeof(value), &Number(s));
         },
         &Unload},
        {"aclrtKernelArgsAppendPlaceHolder", &InitArgs,
         [](Scene& s) -> int { return aclrtKernelArgsAppendPlaceHolder(Args(s), &Place(s)); },
         &Unload},
        {"aclrtKernelArgsGetPlaceHolderBuffer", &InitWithParameters, &GetBuffer, &Unload},
        {"aclrtKernelArgsParaUpdate", &InitWithParameters,
         [](Scene& s) -> int {
             int64_t value = 2;
             return aclrtKernelArgsParaUpdate(Args(s), Number(s), &value, sizeof(value));
         },
         &Unload},
        {"aclrtKernelArgsFinalize", &InTurn<InitWithParameters, GetBuffer>,
         [](Scene& s) -> int { return aclrtKernelArgsFinalize(Args(s)); }, &Unload},
    };
}

// The number of rows is 0: device memory of zeros are such arguments.
int FindAndClear(Scene& s) { return First({FindAdd(s), aclrtMemset(s.device, kBytes, 0, kBytes)}); }

std::vector<Call> LaunchCalls() {
    return {
        {"aclrtLaunchKernel", &FindAndClear,
         [](Scene& s) -> int {
             return aclrtLaunchKernel(s.more, 3, s.device, sizeof(RowArguments), s.stream);
         },
         &Unload},
        {"aclrtLaunchKernelV2", &FindAndClear,
         [](Scene& s) -> int {
             return aclrtLaunchKernelV2(s.more, 3, s.device, sizeof(RowArguments), nullptr,
                                        s.stream);
         },
         &Unload},
        {"aclrtLaunchKernelWithConfig", &FinishArgs,
         [](Scene& s) -> int {
             return aclrtLaunchKernelWithConfig(s.more, 1, s.stream, nullptr, Args(s), nullptr);
         },
         &Unload},
        {"aclrtLaunchKernelWithHostArgs", &FindAdd,
         [](Scene& s) -> int {
             RowArguments none{};
             aclrtPlaceHolderInfo place{0, 8};
             return aclrtLaunchKernelWithHostArgs(s.more, 3, s.stream, nullptr, &none, sizeof(none),
                                                  &place, 1);
         },
         &Unload},
    };
}

}  // namespace

std::vector<Call> KernelCalls() {
    std::vector<Call> all = BinaryCalls();
    for (const std::vector<Call>& more : {ArgsCalls(), LaunchCalls()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

}  // namespace faults
