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
#include <unordered_map>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/share_key.h"
#include "src/runtime/memory/share_peer.h"

struct pollfd;

namespace advstep {

struct ShareAnswer;
struct ShareRequest;

/// The kind of object that a key stands for.
enum class ShareKind : uint32_t { kPhysical = 1, kBlock = 2, kNotify = 3, kEvent = 4 };

/// The address of the socket of a place. The name is abstract, so no file has it, and it is gone
/// with the process. Every user can see the name, from which nobody finds the place.
struct ShareAddress {
    sockaddr_un name{};
    socklen_t bytes = 0;

    explicit ShareAddress(uint64_t place);
    const sockaddr* Get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

/// A file that this process offers to others. It holds what is shared, and pages of nothing else,
/// and its size cannot change (PagePool::MakeAlone).
struct ShareOffer {
    ShareKind kind = ShareKind::kPhysical;
    int file = -1;        // open until Withdraw
    uint64_t bytes = 0;   // of the file
    uint64_t inner = 0;   // where the object begins in the file
    uint64_t length = 0;  // of the object
    int32_t device = 0;
    bool open = false;  // to every process of the same user, and of root
};

/// The exports of this process, and the thread that serves them, which runs while there are
/// exports. A process that imports connects, proves that it has the key, and gets the file; then
/// the connection is over. The file lives until the last process has closed it.
///
/// The thread trusts nobody. Processes of other users, unless one of the two is root, are turned
/// away when they connect, and so are those of a user beside root that no white list has. At most
/// kMostConnections are open, kMostOfStranger of them by one process of another user, and none for
/// longer than an answer may take. After strangers have come the thread looks at its sockets again
/// only after a pause, so that those who connect in a loop cost little.
///
/// mutex_ guards everything. The locks of memory and of notifies may be held when it is taken; only
/// those of the fork records and of the standard descriptors are taken after it.
class ShareServer {
 public:
    static constexpr size_t kMostConnections = 64;
    static constexpr size_t kMostOfStranger = 8;

    ShareServer() = default;
    ShareServer(const ShareServer&) = delete;
    ShareServer& operator=(const ShareServer&) = delete;

    /// Publishes the offer. `brief`: the key is a short one. 207001: the host has no thread, socket
    /// or random bits for it.
    Status Publish(const ShareOffer& offer, bool brief, ShareKey* key);
    /// Returns the key of an export that stands, by its NameOf.
    ShareKey KeyOf(uint64_t name) const;
    /// Ends an export, by its NameOf. Processes that have the file keep it.
    void Withdraw(uint64_t name) noexcept;
    /// Lets processes import, which live now: a later process of the same number is not meant.
    /// `argument` is the name of the key. 107000: there is no such export of this process, or no
    /// such process.
    Status Allow(const ShareKey& key, ShareKind kind, const int32_t* pids, size_t count,
                 const char* argument);
    /// Returns whether the key is an export of this process that still stands.
    bool HasExport(const ShareKey& key, ShareKind kind) const;

 private:
    using Clock = std::chrono::steady_clock;

    struct Export {
        ShareOffer offer;
        ShareKey key;
        std::map<int32_t, uint64_t> listed;  // processes, with their starts
    };
    struct Listener {
        bool brief;  // its place is one short key
        Descriptor socket;
        uint64_t place;
        size_t exports;  // with keys of the place
    };
    struct Connection {
        Descriptor socket;
        SharePeer peer;
        uint64_t nonce[2];
        Clock::time_point until;
    };

    Status OpenPlaceLocked(bool brief, Listener** listener);
    Status StartLocked();
    void StartServing();
    void WakeLocked() noexcept;
    void ForgetListedLocked(const Export& ended) noexcept;
    void Serve();
    bool ServeOnce(std::vector<pollfd>* polled);
    bool ChoosePolledLocked(std::vector<pollfd>* polled, int* limit);
    void AcceptLocked(const Listener& listener);
    bool WelcomesLocked(const SharePeer& peer) const;
    bool TakeLocked(Descriptor* accepted);
    bool AnswerLocked(Connection* connection);
    int32_t GrantLocked(const ShareRequest& request, const Connection& connection,
                        const Export** granted) const;

    mutable std::mutex mutex_;
    std::map<uint64_t, Export> exports_;            // by NameOf
    std::unordered_map<int32_t, size_t> listedBy_;  // how many exports list a process
    std::vector<Listener> listeners_;               // only the thread removes one
    std::vector<Connection> connections_;           // only the thread changes it
    Descriptor wake_;
    bool running_ = false;
    Clock::time_point acceptsFrom_{};  // nobody is accepted before
};

/// Never destroyed; the child of a fork has a new one, without exports.
ShareServer& TheShareServer();

/// A file of an exporting process, which has been checked: it has `bytes` bytes for ever, and
/// `inner` and `length` lie inside. It stays valid when that process ends. Its contents are as that
/// process wants them.
struct ShareGrant {
    uint64_t name = 0;  // NameOf the key
    Descriptor file;
    size_t bytes = 0;
    uint64_t inner = 0;
    size_t length = 0;
    int32_t device = 0;
};

constexpr std::chrono::milliseconds kAnswerTimeout{10000};  // of a stopped process, for instance

/// Asks for the file of a key. `argument` is the name of the argument that has it. 107000: the
/// key is of no export that stands, or its process has ended, or another one has taken its place.
/// 207006: the exporting process has not listed this one, or one of the two is of another user.
/// 507899: that process does not answer, or not as one of this library does. 207001: no descriptor
/// is free.
Status FetchShared(ShareKind kind, const ShareKey& key, const char* argument, ShareGrant* grant,
                   std::chrono::milliseconds most = kAnswerTimeout);

}  // namespace advstep
