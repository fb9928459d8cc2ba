// SPDX-License-Identifier: Apache-2.0
/// Codes and structures of the transfer engine (docs/transfer_engine.md).
///
/// Names and values are interface facts of Ascend CANN (docs/internals/provenance.md); text and
/// code are this project's.
#ifndef ADVSTEP_ADXL_ADXL_TYPES_H_
#define ADVSTEP_ADXL_ADXL_TYPES_H_

#include <cstddef>
#include <cstdint>

#include "graph/ascend_string.h"

#pragma push_macro("SUCCESS")
#pragma push_macro("FAILED")
#undef SUCCESS
#undef FAILED

namespace adxl {

/// The string of engines and options.
using AscendString = ge::AscendString;
/// Memory that an engine has registered.
using MemHandle = void*;
/// A transfer of TransferAsync.
using TransferReq = void*;

/// How a transfer of TransferAsync is. The type stands before the codes, which have its names.
enum class TransferStatus { WAITING, COMPLETED, TIMEOUT, FAILED };

/// A code; each call of adxl_engine.h says when it returns which.
using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status PARAM_INVALID = 103900;
constexpr Status TIMEOUT = 103901;
constexpr Status NOT_CONNECTED = 103902;
constexpr Status ALREADY_CONNECTED = 103903;
constexpr Status NOTIFY_FAILED = 103904;
constexpr Status UNSUPPORTED = 103905;
constexpr Status FAILED = 503900;
constexpr Status RESOURCE_EXHAUSTED = 203900;

/// A key of the options of Initialize.
constexpr const char* OPTION_BUFFER_POOL = "adxl.BufferPool";
constexpr const char* OPTION_RDMA_TRAFFIC_CLASS = "adxl.RdmaTrafficClass";
constexpr const char* OPTION_RDMA_SERVICE_LEVEL = "adxl.RdmaServiceLevel";
constexpr const char* OPTION_LOCAL_COMM_RES = "adxl.LocalCommRes";
constexpr const char* OPTION_AUTO_CONNECT = "AutoConnect";

/// Where memory is.
enum MemType { MEM_DEVICE, MEM_HOST };

/// The direction of a transfer.
enum TransferOp {
    READ, /* from the remote engine's memory to the local one's */
    WRITE /* from the local engine's memory to the remote one's */
};

/// What a program may ask GetCapability for.
enum class FeatureType : int32_t {
    AUTO_CONNECT = 0,      /* transfers connect by themselves */
    CLIENT_SERVER_COMM = 1 /* an engine without a port transfers from and to one with a port */
};

/// A range that is registered.
struct MemDesc {
    uintptr_t addr = 0;
    size_t len = 0;             /* bytes */
    uint8_t reserved[128] = {}; /* has no effect */
};

/// A range of a transfer.
struct TransferOpDesc {
    uintptr_t local_addr;
    uintptr_t remote_addr;
    size_t len; /* bytes */
};

/// Options of an asynchronous transfer, of which there are none.
struct TransferArgs {
    uint8_t reserved[128] = {}; /* has no effect */
};

/// A message.
struct NotifyDesc {
    AscendString name;
    AscendString notify_msg;
};

}  // namespace adxl

#pragma pop_macro("SUCCESS")
#pragma pop_macro("FAILED")

#endif  // ADVSTEP_ADXL_ADXL_TYPES_H_
