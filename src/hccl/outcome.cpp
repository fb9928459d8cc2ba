// SPDX-License-Identifier: Apache-2.0
// The names of codes, and the record of a failure.

#include "src/hccl/outcome.h"

#include "src/advstep/client_failure.h"

namespace advstep::hccl {
namespace {

constexpr const char* kResultNames[] = {"HCCL_SUCCESS",
                                        "HCCL_E_PARA",
                                        "HCCL_E_PTR",
                                        "HCCL_E_MEMORY",
                                        "HCCL_E_INTERNAL",
                                        "HCCL_E_NOT_SUPPORT",
                                        "HCCL_E_NOT_FOUND",
                                        "HCCL_E_UNAVAIL",
                                        "HCCL_E_SYSCALL",
                                        "HCCL_E_TIMEOUT",
                                        "HCCL_E_OPEN_FILE_FAILURE",
                                        "HCCL_E_TCP_CONNECT",
                                        "HCCL_E_ROCE_CONNECT",
                                        "HCCL_E_TCP_TRANSFER",
                                        "HCCL_E_ROCE_TRANSFER",
                                        "HCCL_E_RUNTIME",
                                        "HCCL_E_DRV",
                                        "HCCL_E_PROFILING",
                                        "HCCL_E_CCE",
                                        "HCCL_E_NETWORK",
                                        "HCCL_E_AGAIN",
                                        "HCCL_E_REMOTE",
                                        "HCCL_E_SUSPENDING",
                                        "HCCL_E_OPRETRY_FAIL",
                                        "HCCL_E_OOM"};
constexpr int kResults = sizeof kResultNames / sizeof kResultNames[0];

}  // namespace

const char* NameOf(HcclResult code) noexcept {
    const int number = static_cast<int>(code);
    if (number >= 0 && number < kResults) {
        return kResultNames[number];
    }
    return number == HCCL_E_IN_STATUS ? "HCCL_E_IN_STATUS" : "unknown code of HCCL";
}

HcclResult RecordOutcome(const char* call, HcclResult code, const char* message) noexcept {
    (void)advstepRecordFailure(call, static_cast<aclError>(code), message);
    return code;
}

}  // namespace advstep::hccl
