// SPDX-License-Identifier: Apache-2.0
// An engine that is initialised.

#pragma once

#include <unistd.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "adxl/adxl_engine.h"
#include "src/adxl/async_transfers.h"
#include "src/adxl/listener.h"
#include "src/adxl/session.h"

namespace advstep::transfer {

using Options = std::map<adxl::AscendString, adxl::AscendString>;

/// An engine from Initialize to Finalize. Calls that run while it ends keep it by a shared_ptr.
class Engine {
 public:
    Engine() : listener_(memory_, inbox_) {}
    ~Engine() { Stop(); }
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// It is called once.
    Outcome Start(const adxl::AscendString& name, const Options& options);
    /// Lets all requests fail, and waits for the library's threads.
    void Stop() noexcept;
    /// False in the child of a fork, which has no threads of the engine, and in which no lock is
    /// sure to be free.
    bool IsOfThisProcess() const { return process_ == getpid(); }

    RegisteredMemory& memory() { return memory_; }
    Outcome Connect(const adxl::AscendString& remote, int32_t milliseconds);
    Outcome Disconnect(const adxl::AscendString& remote, int32_t milliseconds);
    Outcome Run(const adxl::AscendString& remote, adxl::TransferOp operation,
                const std::vector<adxl::TransferOpDesc>& descs, int32_t milliseconds);
    Outcome RunAsync(const adxl::AscendString& remote, adxl::TransferOp operation,
                     const std::vector<adxl::TransferOpDesc>& descs, adxl::TransferReq* req);
    Outcome StatusOf(adxl::TransferReq req, adxl::TransferStatus* status) {
        return async_.Status(req, status);
    }
    Outcome SendNotify(const adxl::AscendString& remote, const adxl::NotifyDesc& notify,
                       int32_t milliseconds);
    void GetNotifies(std::vector<adxl::NotifyDesc>* notifies);

 private:
    using SessionPointer = std::shared_ptr<Session>;

    Outcome ReadOptions(const Options& options);
    Outcome Check(adxl::TransferOp operation, const std::vector<adxl::TransferOpDesc>& descs,
                  Transfer* transfer);
    Outcome RunUntil(const EngineName& remote, const Transfer& transfer, Deadline until);
    // The session of a remote engine that lives, or null.
    SessionPointer Find(const EngineName& remote);
    Outcome FindOrConnect(const EngineName& remote, Deadline until, SessionPointer* session);
    // Finds the session, or connects and enters one. One thread at a time connects to an engine,
    // which serves the last connection.
    Outcome Open(const EngineName& remote, Deadline until, SessionPointer* session, bool* isNew);
    SessionPointer FindLocked(const std::string& key);

    const pid_t process_ = getpid();
    ShareKey secret_;
    ClientId id_;
    bool connectsByItself_ = true;
    RegisteredMemory memory_;
    Inbox inbox_;
    Listener listener_;
    AsyncTransfers async_;

    // Guards the sessions. It is not held during a request or while a connection is made; a
    // session's lock is taken under it.
    std::mutex mutex_;
    bool isStopped_ = false;
    std::map<std::string, SessionPointer> sessions_;  // by the words of a name
    std::condition_variable opened_;
    std::set<std::string> opening_;  // names to which a thread connects
};

}  // namespace advstep::transfer
