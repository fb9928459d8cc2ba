// SPDX-License-Identifier: Apache-2.0
/// The transfer engine: memory that processes of one host read and write in each other
/// (docs/transfer_engine.md). libllm_datadist of the prefix like CANN's has it.
#ifndef ADVSTEP_ADXL_ADXL_ENGINE_H_
#define ADVSTEP_ADXL_ADXL_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "acl/acl.h"
#include "adxl/adxl_types.h"

#define ADVSTEP_ADXL_API __attribute__((visibility("default")))

namespace adxl {

/// An engine has a name, "ip:port" with an address of this host, and memory that it has registered.
/// Engines of one user read and write each other's registered memory. Calls may come from several
/// threads, except that the last one before the destructor has returned.
///
/// Codes that every call may return; aclGetRecentErrMsg has the words:
///   - PARAM_INVALID: an argument is not as the call says, and nothing has happened
///   - FAILED: the engine is not initialised, is finalised, or belongs to the parent of this
///     process; what the call says
///   - RESOURCE_EXHAUSTED: the host has no memory, descriptor or thread for the call
/// timeout_in_millis is at least 1 and limits the whole call.
class ADVSTEP_ADXL_API AdxlEngine {
 public:
    AdxlEngine();
    /// As Finalize.
    ~AdxlEngine();
    AdxlEngine(const AdxlEngine&) = delete;
    AdxlEngine& operator=(const AdxlEngine&) = delete;

    /// Gives the engine its name. With a port above 0 other engines can reach it, and the port is
    /// taken; with an address alone, or port 0, it only reaches others. IPv6 addresses stand in
    /// brackets.
    /// Options: AutoConnect "0" makes transfers require a Connect, "1" is the default. The adxl.*
    /// options and GlobalResourceConfig describe links that do not exist here and change nothing;
    /// those of the RDMA class and level must be numbers. A warning names other options.
    /// PARAM_INVALID: the name is none; the address is not this host's; an option's value
    /// FAILED: the engine has a name; another socket has the port; the host lets nothing listen
    Status Initialize(const AscendString& local_engine,
                      const std::map<AscendString, AscendString>& options);

    /// Ends connections, transfers (which fail) and registrations, and frees the port. The next
    /// Initialize begins anew.
    void Finalize();

    /// Lets engines that are connected read and write a range. It stays the caller's, who frees it
    /// after DeregisterMem or Finalize. Ranges may overlap.
    /// @param[out] mem_handle  for DeregisterMem
    /// PARAM_INVALID: the range is empty or ends behind the address space; type is MEM_DEVICE and
    ///     the range is not device memory as a whole, or MEM_HOST and it begins or ends in device
    ///     memory; type is unknown
    /// FAILED: type is MEM_DEVICE, and the thread has no context
    Status RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle);

    /// Ends a registration. No transfer touches the range afterwards; those in progress that need
    /// it fail. PARAM_INVALID: mem_handle is no registration of this engine
    Status DeregisterMem(MemHandle mem_handle);

    /// Connects to an engine of the same user on this host.
    /// ALREADY_CONNECTED: it is; NOT_CONNECTED: no engine of this user has the name;
    /// TIMEOUT: the engine does not answer; FAILED: it is not one of this library's and user's
    Status Connect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);

    /// Ends the connection. Its transfers in progress fail with NOT_CONNECTED.
    /// NOT_CONNECTED: there is none
    Status Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis = 1000);

    /// Moves the bytes of all ranges in their order, and returns when they are there. It connects
    /// if no connection stands. Each range lies inside one registration on either side; all are
    /// checked before a byte moves. A thread without a context has that of the local memory
    /// afterwards, if it is device memory. PARAM_INVALID: operation; no ranges, or more than
    /// 1048576; an empty range; a range that is
    ///     not registered there or here
    /// The following leave any part of the ranges written, and end the connection:
    /// NOT_CONNECTED: as of Connect; the other engine has ended, or the connection has;
    /// TIMEOUT: the bytes are not there in time; FAILED: memory was deregistered or freed meanwhile
    Status TransferSync(const AscendString& remote_engine, TransferOp operation,
                        const std::vector<TransferOpDesc>& op_descs,
                        int32_t timeout_in_millis = 1000);

    /// Queues a transfer. Transfers with one engine run in their order, each for at most 3 s and
    /// one more for each 256 MiB. The memory must stay registered until it has ended.
    /// @param[out] req  for GetTransferStatus
    /// PARAM_INVALID: as of TransferSync, for what this side knows
    /// RESOURCE_EXHAUSTED: 4096 transfers have not been asked for since their ends
    Status TransferAsync(const AscendString& remote_engine, TransferOp operation,
                         const std::vector<TransferOpDesc>& op_descs,
                         const TransferArgs& optional_args, TransferReq& req);

    /// Returns how a transfer is. Once it has returned another status than WAITING, req is no
    /// transfer any more. The log says why a transfer has failed.
    /// PARAM_INVALID: req is no transfer of this engine
    Status GetTransferStatus(const TransferReq& req, TransferStatus& status);

    /// Sends a message, which the other engine has when the call returns: after the bytes of
    /// transfers that have returned before. It connects if no connection stands. Name and message
    /// have at most 4096 bytes each.
    /// NOTIFY_FAILED: the other engine has 4096 messages that nobody has taken
    /// NOT_CONNECTED, TIMEOUT, FAILED: as of TransferSync
    Status SendNotify(const AscendString& remote_engine, const NotifyDesc& notify,
                      int32_t timeout_in_millis = 1000);

    /// Takes all messages that have come, in the order in which they came.
    Status GetNotifies(std::vector<NotifyDesc>& notifies);

    /// Allocates memory for FreeMem. Device memory is physical memory of the current device,
    /// mapped, whose size is rounded up to its granularity.
    /// PARAM_INVALID: type is unknown, size is 0 or ptr is null; FAILED: as the acl call says
    static Status MallocMem(MemType type, size_t size, void** ptr);
    /// PARAM_INVALID: ptr is not of MallocMem
    static Status FreeMem(void* ptr);
    /// Exports device memory of MallocMem for aclrtMemImportFromShareableHandleV2. Processes of the
    /// same user that have the handle may import it.
    /// PARAM_INVALID: ptr is not device memory of MallocMem; FAILED: as the acl call says
    static Status ExportToShareableHandle(void* ptr, aclrtMemFabricHandle& handle);

    /// Sets value to 1 for what is supported: both features.
    /// PARAM_INVALID: the feature is unknown
    static Status GetCapability(FeatureType feature, int32_t& value);

 private:
    class AdxlEngineImpl;
    std::unique_ptr<AdxlEngineImpl> impl_;
};

}  // namespace adxl

#endif  // ADVSTEP_ADXL_ADXL_ENGINE_H_
