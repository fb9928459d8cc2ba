// SPDX-License-Identifier: Apache-2.0
// The protocol between processes, its server and its client.

#include "src/runtime/memory/memory_sharing.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/library_thread.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"

namespace advstep {

// The protocol: an importing process connects to the socket of the exporting one and sends a
// request. The connection of a request that was granted stays open as the lease.

constexpr uint32_t kShareMagic = 0x41535331;  // "ASS1"; another protocol gets another number

struct ShareRequest {
    uint32_t magic;
    ShareKind kind;
    ShareKey key;
};

/// The answer. The descriptor of the file comes with an answer of code 0.
struct ShareAnswer {
    uint32_t magic;
    int32_t code;
    uint64_t offset;  // of the pages in the file
    uint64_t bytes;   // of the pages
    uint64_t inner;   // where the shared object begins in the pages
    uint64_t length;  // of the shared object
    int32_t device;   // that owns it in the exporting process
    uint32_t reserved;
};

namespace {

constexpr int kPauseMilliseconds = 10;  // before the next try, if no descriptor was free

Status NoServer(const char* what) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "the host has no {} for sharing between processes ({}); expected fewer "
                 "descriptors and threads in the process",
                 what, std::generic_category().message(errno));
}

uint32_t RandomName() {
    const NoCancellation noCancellation;
    uint32_t name = 0;
    if (getrandom(&name, sizeof(name), 0) != sizeof(name)) {
        name = static_cast<uint32_t>(getpid()) * 2654435761U;
    }
    return name != 0 ? name : 1;
}

void SendAnswer(int socket, const ShareAnswer& answer, int file) {
    iovec part{const_cast<ShareAnswer*>(&answer), sizeof(answer)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (file >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &file, sizeof(file));
    }
    (void)sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

using Clock = std::chrono::steady_clock;

Status NoDescriptor(const char* argument) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "{}: the host has no descriptor for it ({}); expected fewer in the process",
                 argument, std::generic_category().message(errno));
}

Status Unknown(const char* argument, ShareKey key) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is {:#x}, which no live process exports; expected an export whose process "
                 "lives and whose object has not been freed",
                 argument, key);
}

Status NoAnswer(const char* argument) {
    return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                 "{}: its process does not answer ({}); expected an answer within {} s", argument,
                 std::generic_category().message(errno), kAnswerTimeout.count() / 1000);
}

// Makes a call of the socket, and again after a signal, until the time is over. The time limit of
// a socket begins anew with each call.
template <class Call>
ssize_t Repeat(int socket, int option, Clock::time_point until, const Call& call) {
    for (;;) {
        const auto rest =
            std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now()).count();
        if (rest <= 0) {
            errno = EAGAIN;
            return -1;
        }
        const timeval most{rest / 1000000, rest % 1000000};
        (void)setsockopt(socket, SOL_SOCKET, option, &most, sizeof(most));
        const ssize_t result = call();
        if (result >= 0 || errno != EINTR) {
            return result;
        }
    }
}

Status Connect(ShareKey key, const char* argument, Clock::time_point until,
               Descriptor* connection) {
    *connection = Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!connection->Usable()) {
        return NoDescriptor(argument);
    }
    const ShareAddress address(ProcessOf(key));
    const ssize_t result = Repeat(connection->Get(), SO_SNDTIMEO, until, [&] {
        return connect(connection->Get(), address.Get(), address.bytes);
    });
    if (result == 0) {
        return {};
    }
    return errno == ECONNREFUSED ? Unknown(argument, key) : NoAnswer(argument);
}

// Receives an answer and the descriptor that came with it. Returns the number of bytes.
ssize_t Receive(int socket, Clock::time_point until, ShareAnswer* answer, Descriptor* file) {
    iovec part{answer, sizeof(*answer)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t got = Repeat(socket, SO_RCVTIMEO, until,
                               [&] { return recvmsg(socket, &message, MSG_CMSG_CLOEXEC); });
    const cmsghdr* const header = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(header), sizeof(number));
        *file = Descriptor(number);
    }
    return got;
}

}  // namespace

ShareAddress::ShareAddress(uint32_t process) {
    name.sun_family = AF_UNIX;
    char* const text = name.sun_path + 1;
    const int length = std::snprintf(text, sizeof(name.sun_path) - 1, "advance_step.%08x", process);
    bytes =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

// The exporting side.

ShareServer::ShareServer() : process_(RandomName()) {}

Status ShareServer::Publish(const ShareOffer& offer, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(StartLocked());
    const ShareKey made = (ShareKey{process_} << 32) | ++lastNumber_;
    exports_.emplace(made, Export{offer, {}});
    *key = made;
    return {};
}

Status ShareServer::StartLocked() {
    if (running_) {
        return {};
    }
    Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener.Usable()) {
        return NoServer("socket");
    }
    // Another process may have drawn the same name. It can change now, because no earlier key is in
    // use: the thread would still run.
    while (bind(listener.Get(), ShareAddress(process_).Get(), ShareAddress(process_).bytes) != 0) {
        if (errno != EADDRINUSE) {
            return NoServer("name of a socket");
        }
        process_ = RandomName();
    }
    if (listen(listener.Get(), SOMAXCONN) != 0) {
        return NoServer("socket");
    }
    wake_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_.Usable()) {
        return NoServer("eventfd");
    }
    listener_ = std::move(listener);
    StartServing();
    if (!running_) {
        listener_.Close();
        return NoServer("thread");
    }
    return {};
}

void ShareServer::StartServing() {
    try {
        StartThread("advstep-share", [this] { Serve(); }).detach();
        running_ = true;
    } catch (const std::system_error& error) {
        errno = error.code().value();
    } catch (...) {
        listener_.Close();
        throw;
    }
}

void ShareServer::Withdraw(ShareKey key) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    exports_.erase(key);
    if (exports_.empty() && running_) {
        const NoCancellation noCancellation;
        const uint64_t one = 1;
        (void)!write(wake_.Get(), &one, sizeof(one));  // the thread may end
    }
}

Status ShareServer::Allow(ShareKey key, ShareKind kind, const int32_t* pids, size_t count,
                          const char* argument) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(key);
    if (found == exports_.end() || found->second.offer.kind != kind) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {:#x}, no export of this process; expected one that it has "
                     "exported and that is still allocated",
                     argument, key);
    }
    found->second.pids.insert(pids, pids + count);
    return {};
}

bool ShareServer::HasExport(ShareKey key, ShareKind kind) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(key);
    return found != exports_.end() && found->second.offer.kind == kind;
}

bool ShareServer::IsOwn(ShareKey key) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ProcessOf(key) == process_;
}

// No cancellation takes effect in the thread, as in all threads of StartThread.
void ShareServer::Serve() {
    std::vector<pollfd> polled;
    for (;;) {
        try {
            if (!ServeOnce(&polled)) {
                return;
            }
        } catch (const std::bad_alloc&) {
            (void)poll(nullptr, 0, kPauseMilliseconds);
        }
    }
}

// Answers once. False: there is nothing left to serve, and the next export starts a new thread.
bool ShareServer::ServeOnce(std::vector<pollfd>* polled) {
    int limit = -1;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (exports_.empty() && connections_.empty()) {
            listener_.Close();
            wake_.Close();
            running_ = false;
            return false;
        }
        polled->clear();
        polled->push_back({accepting_ ? listener_.Get() : -1, POLLIN, 0});
        limit = accepting_ ? -1 : kPauseMilliseconds;
        accepting_ = true;
        polled->push_back({wake_.Get(), POLLIN, 0});
        for (const Connection& connection : connections_) {
            polled->push_back({connection.socket.Get(), POLLIN, 0});
        }
    }
    if (poll(polled->data(), polled->size(), limit) < 0) {
        return true;  // interrupted
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t count = 0;
    (void)!read(wake_.Get(), &count, sizeof(count));
    // The loop begins with the last one, because an ended connection is removed. Only this thread
    // changes the list.
    for (size_t i = connections_.size(); i-- > 0;) {
        if ((*polled)[i + 2].revents == 0 || AnswerLocked(&connections_[i])) {
            continue;
        }
        if (connections_[i].pages != nullptr) {
            connections_[i].pool->GiveBack(connections_[i].pages);
        }
        connections_.erase(connections_.begin() + static_cast<ptrdiff_t>(i));
    }
    if ((*polled)[0].revents != 0) {
        AcceptLocked();
    }
    return true;
}

void ShareServer::AcceptLocked() {
    Descriptor accepted(accept4(listener_.Get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    ucred peer{};
    socklen_t bytes = sizeof(peer);
    if (accepted.Get() < 0 && errno != EAGAIN) {
        accepting_ = false;  // it would fail again at once
    }
    if (!accepted.Usable() ||
        getsockopt(accepted.Get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
        return;  // the other side sees its connection end
    }
    connections_.push_back({std::move(accepted), peer.pid, peer.uid, nullptr, nullptr});
}

// Answers a request. False: the connection is over.
bool ShareServer::AnswerLocked(Connection* connection) {
    ShareRequest request{};
    const ssize_t got = recv(connection->socket.Get(), &request, sizeof(request), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (got != sizeof(request) || request.magic != kShareMagic || connection->pages != nullptr) {
        return false;
    }
    ShareAnswer answer{};
    answer.magic = kShareMagic;
    answer.code = GrantLocked(request, connection, &answer);
    const bool granted = answer.code == ACL_SUCCESS;
    SendAnswer(connection->socket.Get(), answer,
               granted ? PagePool::FileOf(*connection->pages) : -1);
    return granted;
}

int32_t ShareServer::GrantLocked(const ShareRequest& request, Connection* connection,
                                 ShareAnswer* answer) {
    const auto found = exports_.find(request.key);
    if (found == exports_.end() || found->second.offer.kind != request.kind) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const ShareOffer& offer = found->second.offer;
    // Keys are no secrets, and any process of the host can connect: a key without a white list is
    // for those that could look into this process anyway.
    const bool open = offer.open && (connection->user == geteuid() || connection->user == 0);
    if (!open && connection->pid != getpid() && found->second.pids.count(connection->pid) == 0) {
        return ACL_ERROR_RT_NO_PERMISSION;
    }
    offer.pool->Share(offer.pages);
    connection->pool = offer.pool;
    connection->pages = offer.pages;
    const uint64_t before = offer.pages->offset % PagePool::kPage;  // of a small range in its page
    answer->offset = offer.pages->offset - before;
    answer->bytes =
        (before + offer.pages->bytes + PagePool::kPage - 1) / PagePool::kPage * PagePool::kPage;
    answer->inner = before + offer.inner;
    answer->length = offer.length;
    answer->device = offer.device;
    return ACL_SUCCESS;
}

ShareServer& TheShareServer() {
    static NeverDestroyed<ShareServer> server;
    return *server;
}

// The importing side.

Status FetchShared(ShareKind kind, ShareKey key, const char* argument, ShareGrant* grant,
                   std::chrono::milliseconds most) {
    const NoCancellation noCancellation;
    const Clock::time_point until = Clock::now() + most;
    Descriptor connection;
    ADVSTEP_RETURN_IF_ERROR(Connect(key, argument, until, &connection));
    const ShareRequest request{kShareMagic, kind, key};
    ShareAnswer answer{};
    Descriptor file;
    const ssize_t sent = Repeat(connection.Get(), SO_SNDTIMEO, until, [&] {
        return send(connection.Get(), &request, sizeof(request), MSG_NOSIGNAL);
    });
    const ssize_t got =
        sent == sizeof(request) ? Receive(connection.Get(), until, &answer, &file) : ssize_t{-1};
    if (got == 0 || (got < 0 && (errno == ECONNRESET || errno == EPIPE))) {
        return Unknown(argument, key);  // the process, or its last export, has just ended
    }
    if (got != sizeof(answer) || answer.magic != kShareMagic) {
        return NoAnswer(argument);
    }
    if (answer.code == ACL_ERROR_RT_NO_PERMISSION) {
        return Error(ACL_ERROR_RT_NO_PERMISSION,
                     "{} is {:#x}, whose process has not listed this one, pid {} of user {}; "
                     "expected its pid in the white list, or an export of the same user without "
                     "one",
                     argument, key, getpid(), geteuid());
    }
    if (answer.code != ACL_SUCCESS) {
        return Unknown(argument, key);
    }
    if (!file.Usable()) {
        return NoDescriptor(argument);
    }
    grant->key = key;
    grant->file = std::move(file);
    grant->lease = std::move(connection);
    grant->offset = answer.offset;
    grant->bytes = answer.bytes;
    grant->inner = answer.inner;
    grant->length = answer.length;
    grant->device = answer.device;
    return {};
}

}  // namespace advstep
