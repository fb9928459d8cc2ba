// SPDX-License-Identifier: Apache-2.0
/// The types of HCCL, the communication library of CANN.
#ifndef ADVSTEP_HCCL_HCCL_TYPES_H_
#define ADVSTEP_HCCL_HCCL_TYPES_H_

#include <stdint.h>
#include <string.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The code of every call. HcclGetErrorString has the name of each.
typedef enum {
    HCCL_SUCCESS = 0,
    HCCL_E_PARA = 1,
    HCCL_E_PTR = 2,
    HCCL_E_MEMORY = 3,
    HCCL_E_INTERNAL = 4,
    HCCL_E_NOT_SUPPORT = 5,
    HCCL_E_NOT_FOUND = 6,
    HCCL_E_UNAVAIL = 7,
    HCCL_E_SYSCALL = 8,
    HCCL_E_TIMEOUT = 9,
    HCCL_E_OPEN_FILE_FAILURE = 10,
    HCCL_E_TCP_CONNECT = 11,
    HCCL_E_ROCE_CONNECT = 12,
    HCCL_E_TCP_TRANSFER = 13,
    HCCL_E_ROCE_TRANSFER = 14,
    HCCL_E_RUNTIME = 15,
    HCCL_E_DRV = 16,
    HCCL_E_PROFILING = 17,
    HCCL_E_CCE = 18,
    HCCL_E_NETWORK = 19,
    HCCL_E_AGAIN = 20,
    HCCL_E_REMOTE = 21,
    HCCL_E_SUSPENDING = 22,
    HCCL_E_OPRETRY_FAIL = 23,
    HCCL_E_OOM = 24,
    HCCL_E_IN_STATUS = 1041,
    HCCL_E_RESERVED
} HcclResult;

/// A communicator. It is a number, which is not used again.
typedef void* HcclComm;
/// No call here takes one.
typedef void* HcclConn;

/// An operation of a reduction.
typedef enum {
    HCCL_REDUCE_SUM = 0,
    HCCL_REDUCE_PROD = 1,
    HCCL_REDUCE_MAX = 2,
    HCCL_REDUCE_MIN = 3,
    HCCL_REDUCE_RESERVED = 255
} HcclReduceOp;

/// The type of the elements of a buffer.
typedef enum {
    HCCL_DATA_TYPE_INT8 = 0,
    HCCL_DATA_TYPE_INT16 = 1,
    HCCL_DATA_TYPE_INT32 = 2,
    HCCL_DATA_TYPE_FP16 = 3,
    HCCL_DATA_TYPE_FP32 = 4,
    HCCL_DATA_TYPE_INT64 = 5,
    HCCL_DATA_TYPE_UINT64 = 6,
    HCCL_DATA_TYPE_UINT8 = 7,
    HCCL_DATA_TYPE_UINT16 = 8,
    HCCL_DATA_TYPE_UINT32 = 9,
    HCCL_DATA_TYPE_FP64 = 10,
    HCCL_DATA_TYPE_BFP16 = 11,
    HCCL_DATA_TYPE_INT128 = 12,
    HCCL_DATA_TYPE_HIF8 = 14,
    HCCL_DATA_TYPE_FP8E4M3 = 15,
    HCCL_DATA_TYPE_FP8E5M2 = 16,
    HCCL_DATA_TYPE_FP8E8M0 = 17,
    HCCL_DATA_TYPE_RESERVED = 255
} HcclDataType;

/// A value of HcclSetConfig.
typedef enum { HCCL_DETERMINISTIC = 0, HCCL_CONFIG_RESERVED } HcclConfig;
/// The value.
union HcclConfigValue {
    int32_t value;
};

#define HCCL_ROOT_INFO_BYTES 4108
#define COMM_NAME_MAX_LENGTH 128

/// What the processes of a communicator must share to find each other. Plain bytes: any way of the
/// program brings them from one process to the others.
typedef struct HcclRootInfoDef {
    char internal[HCCL_ROOT_INFO_BYTES];
} HcclRootInfo;

/// The direction of a HcclSendRecvItem.
typedef enum { HCCL_SEND = 0, HCCL_RECV = 1, HCCL_SEND_RECV_RESERVED } HcclSendRecvType;

/// A send or a receive of HcclBatchSendRecv.
typedef struct HcclSendRecvItemDef {
    HcclSendRecvType sendRecvType;
    void* buf;
    uint64_t count;
    HcclDataType dataType;
    uint32_t remoteRank;
} HcclSendRecvItem;

/// The numbers of the fields of HcclCommConfig.
typedef enum {
    HCCL_COMM_CONFIG_BUFFER_SIZE = 0,
    HCCL_COMM_CONFIG_DETERMINISTIC = 1,
    HCCL_COMM_CONFIG_COMM_NAME = 2,
    HCCL_COMM_CONFIG_OP_EXPANSION_MODE = 3,
    HCCL_COMM_CONFIG_SUPPORT_INIT_BY_ENV = 4,
    HCCL_COMM_CONFIG_WORLD_RANKID = 5,
    HCCL_COMM_CONFIG_JOBID = 6,
    HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE = 7,
    HCCL_COMM_CONFIG_EXEC_TIMEOUT = 8,
    HCCL_COMM_CONFIG_ALGO = 9,
    HCCL_COMM_CONFIG_RETRY = 10,
    HCCL_COMM_CONFIG_BUFFER_NAME = 11,
    HCCL_COMM_CONFIG_RESERVED = 12
} HcclCommConfigCapability;

#define HCCL_COMM_CONFIG_INFO_BYTES 24
#define HCCL_COMM_CONFIG_MAGIC_WORD 0xf0f0f0f0u
#define HCCL_COMM_CONFIG_VERSION 10
#define HCCL_COMM_CONFIG_NOT_SET 0xffffffffu
#define HCCL_COMM_DEFAULT_BUFFER_SIZE 200u

/// The configuration of one communicator, which HcclCommConfigInit fills in. A client may pass a
/// shorter one: the head says how long it is. In effect are hcclCommName and hcclExecTimeOut; the
/// others are checked, and have no effect.
typedef struct HcclCommConfigDef {
    char reserved[HCCL_COMM_CONFIG_INFO_BYTES]; /* the head: size, magic word, version, 0 */
    uint32_t hcclBufferSize;                    /* MB; at least 1 */
    uint32_t hcclDeterministic;                 /* 0 to 2; reductions always are */
    char hcclCommName[COMM_NAME_MAX_LENGTH];    /* "": one is made; the same on every rank */
    char hcclUdi[COMM_NAME_MAX_LENGTH];
    uint32_t hcclOpExpansionMode;
    uint32_t hcclRdmaTrafficClass;
    uint32_t hcclRdmaServiceLevel;
    uint32_t hcclWorldRankID;
    uint64_t hcclJobID;
    uint8_t aclGraphZeroCopyEnable;
    int32_t hcclExecTimeOut; /* seconds, in place of HCCL_EXEC_TIMEOUT */
    char hcclAlgo[1600];
    char hcclRetryEnable[50];
    char hcclRetryParams[128];
    char hcclBufferName[128];
    uint32_t hcclQos;
    uint64_t hcclSymWinMaxMemSizePerRank;
} HcclCommConfig;

/// Fills in the head and the defaults.
static inline void HcclCommConfigInit(HcclCommConfig* config) {
    struct {
        size_t size;
        uint32_t magic;
        uint32_t version;
        uint64_t reserved;
    } head;
    if (config == NULL) {
        return;
    }
    memset(config, 0, sizeof(*config));
    head.size = sizeof(*config);
    head.magic = HCCL_COMM_CONFIG_MAGIC_WORD;
    head.version = HCCL_COMM_CONFIG_VERSION;
    head.reserved = 0;
    memcpy(config->reserved, &head, sizeof(head));
    config->hcclBufferSize = HCCL_COMM_CONFIG_NOT_SET;
    config->hcclDeterministic = HCCL_COMM_CONFIG_NOT_SET;
    config->hcclRdmaTrafficClass = HCCL_COMM_CONFIG_NOT_SET;
    config->hcclRdmaServiceLevel = HCCL_COMM_CONFIG_NOT_SET;
    config->hcclExecTimeOut = (int32_t)HCCL_COMM_CONFIG_NOT_SET;
    config->hcclQos = HCCL_COMM_CONFIG_NOT_SET;
    config->hcclSymWinMaxMemSizePerRank = 16;
}

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_HCCL_HCCL_TYPES_H_ */
