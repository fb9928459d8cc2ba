// SPDX-License-Identifier: Apache-2.0
// Sharing of pages between processes: exports, the thread that serves them, and imports.

#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/page_pool.h"

struct pollfd;

namespace advstep {

struct ShareAnswer;
struct ShareRequest;

/// The kind of object that a key stands for.
enum class ShareKind : uint32_t { kPhysical = 1, kBlock = 2, kNotify = 3, kEvent = 4 };

/// A key: the random name of the exporting process, and a number that it gives once.
using ShareKey = uint64_t;
inline uint32_t ProcessOf(ShareKey key) { return static_cast<uint32_t>(key >> 32); }

/// The address of a process's socket. The name is abstract, so no file has it, and it is gone with
/// the process.
struct ShareAddress {
    sockaddr_un name{};
    socklen_t bytes = 0;

    explicit ShareAddress(uint32_t process);
    const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

/// Pages that this process offers to others.
struct ShareOffer {
    ShareKind kind = ShareKind::kPhysical;
    PagePool* pool = nullptr;
    PageRange* pages = nullptr;  // alive until Withdraw
    uint64_t inner = 0;          // where the object begins in the pages
    uint64_t length = 0;         // of the object
    int32_t device = 0;
    bool open = false;  // to every process of the same user, and of root
};

/// The exports of this process, and the thread that serves them. A process that imports keeps its
/// connection, the lease, for as long as it has the pages: the system closes it when that process
/// ends, however it ends. Each lease is a use of the page range, so a range that was freed here is
/// reused only after the last lease. The thread runs while there are exports or leases.
///
/// mutex_ guards everything. The locks of memory and of notifies may be held when it is taken; only
/// the pools' locks and those of the fork records are taken after it.
class ShareServer {
 public:
    ShareServer();
    ShareServer(const ShareServer&) = delete;
    ShareServer& operator=(const ShareServer&) = delete;

    /// Publishes the offer. 207001: the host has no thread or socket for it.
    Status Publish(const ShareOffer& offer, ShareKey* key);
    /// Ends an export. Leases go on.
    void Withdraw(ShareKey key) noexcept;
    /// Lets processes import. `argument` is the name of the key. 107000: there is no such export of
    /// this process.
    Status Allow(ShareKey key, ShareKind kind, const int32_t* pids, size_t count,
                 const char* argument);
    /// Returns whether the key is an export of this process that still stands.
    bool HasExport(ShareKey key, ShareKind kind) const;
    /// Returns whether the key is of this process.
    bool IsOwn(ShareKey key) const;

 private:
    struct Export {
        ShareOffer offer;
        std::set<int32_t> pids;
    };
    struct Connection {
        Descriptor socket;
        int32_t pid = 0;
        uint32_t user = 0;
        PagePool* pool = nullptr;
        PageRange* pages = nullptr;  // null: nothing granted yet
    };

    Status StartLocked();
    void StartServing();
    void Serve();
    bool ServeOnce(std::vector<pollfd>* polled);
    void AcceptLocked();
    bool AnswerLocked(Connection* connection);
    int32_t GrantLocked(const ShareRequest& request, Connection* connection, ShareAnswer* answer);

    mutable std::mutex mutex_;
    std::map<ShareKey, Export> exports_;
    std::vector<Connection> connections_;
    Descriptor listener_;
    Descriptor wake_;
    uint32_t process_ = 0;
    uint32_t lastNumber_ = 0;
    bool running_ = false;
    bool accepting_ = true;  // false for a moment after no descriptor was free
};

/// Never destroyed; the child of a fork has a new one, without exports.
ShareServer& TheShareServer();

/// Pages of an exporting process. They stay valid when that process ends.
struct ShareGrant {
    ShareKey key = 0;
    Descriptor file;
    Descriptor lease;  // closed after the last use of the pages
    uint64_t offset = 0;
    size_t bytes = 0;
    uint64_t inner = 0;
    size_t length = 0;
    int32_t device = 0;
};

constexpr std::chrono::milliseconds kAnswerTimeout{10000};  // of a stopped process, for instance

/// Asks for the pages of a key. `argument` is the name of the argument that has it. 107000: the
/// key is of no export that stands, or its process has ended. 207006: the exporting process has
/// not listed this one. 507899: that process does not answer. 207001: no descriptor is free.
Status FetchShared(ShareKind kind, ShareKey key, const char* argument, ShareGrant* grant,
                   std::chrono::milliseconds most = kAnswerTimeout);

}  // namespace advstep
