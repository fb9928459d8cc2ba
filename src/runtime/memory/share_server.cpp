// SPDX-License-Identifier: Apache-2.0
// Keeps the exports, and answers processes that import.

#include "src/runtime/memory/share_server.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/library_thread.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/memory/memory_block.h"

namespace advstep {
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

}  // namespace

ShareServer& TheShareServer() {
    static NeverDestroyed<ShareServer> server;
    return *server;
}

ShareServer::ShareServer() : process_(RandomName()) {}

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

Status ShareServer::Publish(const ShareOffer& offer, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(StartLocked());
    const ShareKey made = (ShareKey{process_} << 32) | ++lastNumber_;
    exports_.emplace(made, Export{offer, {}});
    *key = made;
    return {};
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

bool ShareServer::Knows(ShareKey key, ShareKind kind) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(key);
    return found != exports_.end() && found->second.offer.kind == kind;
}

bool ShareServer::Mine(ShareKey key) const {
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
               granted ? PagePool::Descriptor(*connection->pages) : -1);
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
    const uint64_t before = offer.pages->offset % kSharedBlock;  // of a small range in its page
    answer->offset = offer.pages->offset - before;
    answer->bytes = (before + offer.pages->bytes + kSharedBlock - 1) / kSharedBlock * kSharedBlock;
    answer->inner = before + offer.inner;
    answer->length = offer.length;
    answer->device = offer.device;
    return ACL_SUCCESS;
}

}  // namespace advstep
