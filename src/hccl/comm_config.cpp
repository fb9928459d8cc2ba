// SPDX-License-Identifier: Apache-2.0
// Reads configurations of clients that were compiled with other versions of the structure.

#include "src/hccl/comm_config.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace advstep::hccl {
namespace {

// The head of a configuration, as HcclCommConfigInit writes it.
struct ConfigHead {
    size_t size;
    uint32_t magic;
    uint32_t version;
    uint64_t reserved;
};
static_assert(sizeof(ConfigHead) == HCCL_COMM_CONFIG_INFO_BYTES);

// The shortest configuration that a client has: the head and hcclBufferSize.
constexpr size_t kLeastBytes = offsetof(HcclCommConfig, hcclDeterministic);

bool Ends(const char* text, size_t bytes) { return std::memchr(text, 0, bytes) != nullptr; }

Outcome CheckFields(const HcclCommConfig& config) {
    if (config.hcclBufferSize == 0) {
        return Error(HCCL_E_PARA, "config->hcclBufferSize is 0; expected at least 1 MB");
    }
    if (config.hcclDeterministic != HCCL_COMM_CONFIG_NOT_SET && config.hcclDeterministic > 2) {
        return Error(HCCL_E_PARA, "config->hcclDeterministic is ", config.hcclDeterministic,
                     "; expected 0 to 2");
    }
    if (!Ends(config.hcclCommName, sizeof config.hcclCommName)) {
        return Error(HCCL_E_PARA, "config->hcclCommName has no end; expected at most ",
                     COMM_NAME_MAX_LENGTH - 1, " characters");
    }
    const auto notSet = static_cast<int32_t>(HCCL_COMM_CONFIG_NOT_SET);
    if (config.hcclExecTimeOut < 0 && config.hcclExecTimeOut != notSet) {
        return Error(HCCL_E_PARA, "config->hcclExecTimeOut is ", config.hcclExecTimeOut,
                     "; expected seconds, at least 0");
    }
    return {};
}

}  // namespace

Outcome ReadCommConfig(const HcclCommConfig& config, CommConfig* read) {
    ConfigHead head{};
    std::memcpy(&head, config.reserved, sizeof head);
    if (head.magic != HCCL_COMM_CONFIG_MAGIC_WORD || head.size < kLeastBytes) {
        return Error(HCCL_E_PARA, "the head of config has size ", head.size, " and magic word ",
                     head.magic, "; expected one of HcclCommConfigInit");
    }
    HcclCommConfig whole;
    HcclCommConfigInit(&whole);
    std::memcpy(&whole, &config, std::min(head.size, sizeof whole));
    ADVSTEP_HCCL_TRY(CheckFields(whole));
    read->name = whole.hcclCommName;
    read->hasTimeout = whole.hcclExecTimeOut != static_cast<int32_t>(HCCL_COMM_CONFIG_NOT_SET);
    read->executeSeconds = read->hasTimeout ? static_cast<uint32_t>(whole.hcclExecTimeOut) : 0;
    return {};
}

}  // namespace advstep::hccl
