// SPDX-License-Identifier: Apache-2.0
// The protocol between processes, its server and its client.

#include "src/runtime/memory/memory_sharing.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/high_descriptor.h"
#include "src/base/library_thread.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {

// The protocol: an importing process connects to the socket of the key's place. The exporting one
// greets it with a nonce. The importer names the export and proves by the nonce that it has the
// key; the exporter answers with the file and proves the same, by the importer's nonce. Then the
// connection is over. A process that has taken the place of an exporter learns nothing that another
// exporter would accept, because each has its own nonces.

constexpr uint32_t kShareMagic = 0x41535332;  // "ASS2"; another protocol gets another number

struct ShareGreeting {
    uint32_t magic;
    int32_t code;  // not 0: the process is turned away
    uint64_t nonce[2];
};

struct ShareRequest {
    uint32_t magic;
    ShareKind kind;
    uint64_t name;  // NameOf the key
    uint64_t nonce[2];
    uint64_t proof;
};

/// The answer. The descriptor of the file comes with an answer of code 0.
struct ShareAnswer {
    uint32_t magic;
    int32_t code;
    uint64_t bytes;   // of the file
    uint64_t inner;   // where the shared object begins in the file
    uint64_t length;  // of the shared object
    int32_t device;   // that owns it in the exporting process
    uint32_t reserved;
    uint64_t proof;
};

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{10};  // after strangers, or if no descriptor was free
constexpr int kMostAtOnce = 256;                 // accepted before the next look at connections

uint64_t ProofOfRequest(const ShareKey& key, const uint64_t* greeting,
                        const ShareRequest& request) {
    return ProofOf(key, ShareProof::kImporter,
                   {greeting[0], greeting[1], request.nonce[0], request.nonce[1],
                    static_cast<uint64_t>(request.kind)});
}

uint64_t ProofOfAnswer(const ShareKey& key, const uint64_t* greeting, const ShareRequest& request,
                       const ShareAnswer& answer) {
    return ProofOf(
        key, ShareProof::kExporter,
        {greeting[0], greeting[1], request.nonce[0], request.nonce[1],
         static_cast<uint64_t>(request.kind), static_cast<uint64_t>(answer.code), answer.bytes,
         answer.inner, answer.length, static_cast<uint64_t>(answer.device)});
}

Status NoServer(const char* what) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "the host has no {} for sharing between processes ({}); expected fewer "
                 "descriptors and threads in the process",
                 what, std::generic_category().message(errno));
}

// Sends a message, with a descriptor if `file` is one. It waits for nothing. False: it is not sent.
bool Send(int socket, const void* message, size_t bytes, int file = -1) {
    iovec part{const_cast<void*>(message), bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (file >= 0) {
        header.msg_control = control;
        header.msg_controllen = sizeof(control);
        cmsghdr* const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &file, sizeof(file));
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes);
}

Status NoDescriptor(const char* argument) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "{}: the host has no descriptor for it ({}); expected fewer in the process",
                 argument, std::generic_category().message(errno));
}

Status Unknown(const char* argument, uint64_t name) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} is of the export {:#x}, which no live process has; expected an export whose "
                 "process lives and whose object has not been freed",
                 argument, name);
}

Status NoAnswer(const char* argument) {
    return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                 "{}: its process does not answer ({}); expected an answer within {} s", argument,
                 std::generic_category().message(errno), kAnswerTimeout.count() / 1000);
}

Status WrongAnswer(const char* argument, const SharePeer& peer, const char* what) {
    return Error(ACL_ERROR_RT_DRV_INTERNAL_ERROR,
                 "{}: process {} of user {} answers in place of its process: {}; expected the "
                 "process that made it",
                 argument, peer.pid, peer.user, what);
}

Status NotListed(const char* argument, uint64_t name) {
    return Error(ACL_ERROR_RT_NO_PERMISSION,
                 "{} is of the export {:#x}, whose process has not listed this one, pid {} of user "
                 "{}; expected its pid in the white list, or an export of the same user without "
                 "one",
                 argument, name, getpid(), geteuid());
}

// Connects. The time limit of a socket begins anew with each call, so it is set anew after a
// signal.
Status Connect(const ShareKey& key, const char* argument, Clock::time_point until,
               Descriptor* connection) {
    *connection =
        Descriptor(OpenHigh([] { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); }));
    if (!connection->Usable()) {
        return NoDescriptor(argument);
    }
    const ShareAddress address(key.place);
    errno = EINTR;
    while (errno == EINTR) {
        const auto rest =
            std::chrono::duration_cast<std::chrono::microseconds>(until - Clock::now()).count();
        if (rest <= 0) {
            errno = EAGAIN;
            break;
        }
        const timeval most{rest / 1000000, rest % 1000000};
        (void)setsockopt(connection->Get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
        if (connect(connection->Get(), address.Get(), address.bytes) == 0) {
            return {};
        }
    }
    return errno == ECONNREFUSED ? Unknown(argument, NameOf(key)) : NoAnswer(argument);
}

// Waits until the socket can be read, or `until`.
bool AwaitMessage(int socket, Clock::time_point until) {
    for (;;) {
        const auto rest =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count() + 1;
        pollfd polled{socket, POLLIN, 0};
        const int ready = rest > 0 ? poll(&polled, 1, static_cast<int>(rest)) : 0;
        if (ready > 0) {
            return true;
        }
        if (ready == 0 || errno != EINTR) {
            errno = ready == 0 ? EAGAIN : errno;
            return false;
        }
    }
}

// Takes the first descriptor of a message, and closes all others.
void TakeDescriptors(msghdr* message, Descriptor* file) {
    for (cmsghdr* header = CMSG_FIRSTHDR(message); header != nullptr;
         header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
            if (!file->Usable()) {
                *file = Descriptor(StandardNumbersTaken::Raise(number));
            } else {
                (void)close(number);
            }
        }
    }
}

// Receives a message and the descriptor that came with it. Returns the number of bytes.
ssize_t Receive(int socket, Clock::time_point until, void* message, size_t bytes,
                Descriptor* file) {
    if (!AwaitMessage(socket, until)) {
        return -1;
    }
    iovec part{message, bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const StandardNumbersTaken taken;
    const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got > 0) {
        TakeDescriptors(&header, file);
    }
    return got;
}

// Checks the file of an answer by what the system knows of it. The answer's device is only looked
// up.
bool HoldsTheObject(int file, const ShareAnswer& answer) {
    constexpr int kSized = F_SEAL_SHRINK | F_SEAL_GROW;
    struct stat about {};
    struct statfs system {};  // large pages of hugetlbfs can be taken away
    const int seals = fcntl(file, F_GET_SEALS);
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && fstatfs(file, &system) == 0 &&
           system.f_type == TMPFS_MAGIC && seals >= 0 && (seals & kSized) == kSized &&
           about.st_size > 0 && static_cast<uint64_t>(about.st_size) == answer.bytes &&
           answer.bytes % PagePool::kPage == 0 && answer.inner <= answer.bytes &&
           answer.length > 0 && answer.length <= answer.bytes - answer.inner;
}

bool HasEnded(ssize_t got) { return got == 0 || errno == ECONNRESET || errno == EPIPE; }

}  // namespace

ShareAddress::ShareAddress(uint64_t place) {
    name.sun_family = AF_UNIX;
    char* const text = name.sun_path + 1;
    const int length = std::snprintf(text, sizeof(name.sun_path) - 1, "advance_step.%016" PRIx64,
                                     ProofOf({place, {}}, ShareProof::kSocket, {}));
    bytes =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

// The exporting side.

Status ShareServer::Publish(const ShareOffer& offer, bool brief, ShareKey* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Listener* listener = nullptr;
    ADVSTEP_RETURN_IF_ERROR(OpenPlaceLocked(brief, &listener));
    ShareKey made{listener->place, {}};
    if (!brief && !DrawRandom(made.secret, 2)) {
        return NoServer("random bits");
    }
    ADVSTEP_RETURN_IF_ERROR(StartLocked());
    exports_.emplace(NameOf(made), Export{offer, made, {}});
    ++listener->exports;
    *key = made;
    return {};
}

// Opens a socket for a short key, or finds that of the long keys. The thread closes a listener
// without exports.
Status ShareServer::OpenPlaceLocked(bool brief, Listener** listener) {
    for (Listener& known : listeners_) {
        if (!brief && !known.brief) {
            *listener = &known;
            return {};
        }
    }
    const NoCancellation noCancellation;
    Descriptor socket(OpenHigh(
        [] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }));
    if (!socket.Usable()) {
        return NoServer("socket");
    }
    uint64_t place = 0;
    for (;;) {
        if (!DrawRandom(&place, 1)) {
            return NoServer("random bits");
        }
        place >>= brief ? 0 : 64 - kPlaceBits;
        const ShareAddress address(place);
        if (place != 0 && bind(socket.Get(), address.Get(), address.bytes) == 0) {
            break;
        }
        if (place != 0 && errno != EADDRINUSE) {  // the name of another process is drawn again
            return NoServer("name of a socket");
        }
    }
    if (listen(socket.Get(), SOMAXCONN) != 0) {
        return NoServer("socket");
    }
    listeners_.push_back({brief, std::move(socket), place, 0});
    *listener = &listeners_.back();
    WakeLocked();  // the thread polls it from now on
    return {};
}

Status ShareServer::StartLocked() {
    if (running_) {
        return {};
    }
    wake_ = Descriptor(OpenHigh([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }));
    if (wake_.Usable()) {
        StartServing();
    }
    if (running_) {
        return {};
    }
    const int wrong = errno;
    listeners_.clear();  // there are no exports
    errno = wrong;
    return NoServer(wake_.Usable() ? "thread" : "eventfd");
}

void ShareServer::StartServing() {
    try {
        StartThread("advstep-share", [this] { Serve(); }).detach();
        running_ = true;
    } catch (const std::system_error& error) {
        errno = error.code().value();
    }
}

void ShareServer::WakeLocked() noexcept {
    if (running_) {
        const NoCancellation noCancellation;
        const uint64_t one = 1;
        (void)!write(wake_.Get(), &one, sizeof(one));
    }
}

ShareKey ShareServer::KeyOf(uint64_t name) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return exports_.at(name).key;
}

void ShareServer::Withdraw(uint64_t name) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(name);
    if (found == exports_.end()) {
        return;
    }
    for (Listener& listener : listeners_) {
        listener.exports -= listener.place == found->second.key.place ? 1 : 0;
    }
    ForgetListedLocked(found->second);
    exports_.erase(found);
    WakeLocked();  // the thread closes what is left, and may end
}

void ShareServer::ForgetListedLocked(const Export& ended) noexcept {
    for (const auto& [pid, start] : ended.listed) {
        if (const auto known = listedBy_.find(pid); --known->second == 0) {
            listedBy_.erase(known);
        }
    }
}

Status ShareServer::Allow(const ShareKey& key, ShareKind kind, const int32_t* pids, size_t count,
                          const char* argument) {
    std::map<int32_t, uint64_t> starts;
    for (size_t i = 0; i < count; ++i) {
        const uint64_t start = StartOf(pids[i]);
        if (start == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "pid[{}] is {}, no process that this one can see; expected one that lives",
                         i, pids[i]);
        }
        starts[pids[i]] = start;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(NameOf(key));
    if (found == exports_.end() || !(found->second.key == key) ||
        found->second.offer.kind != kind) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is of the export {:#x}, which this process does not have; expected one "
                     "that it has exported and that is still allocated",
                     argument, NameOf(key));
    }
    std::map<int32_t, uint64_t>& listed = found->second.listed;
    for (const auto& [pid, start] : starts) {
        size_t& known = listedBy_[pid];
        try {
            known += listed.insert_or_assign(pid, start).second ? 1 : 0;
        } catch (...) {
            if (known == 0) {
                listedBy_.erase(pid);
            }
            throw;
        }
    }
    return {};
}

bool ShareServer::HasExport(const ShareKey& key, ShareKind kind) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = exports_.find(NameOf(key));
    return found != exports_.end() && found->second.key == key && found->second.offer.kind == kind;
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
            (void)poll(nullptr, 0, static_cast<int>(kPause.count()));
        }
    }
}

// Chooses what the thread waits for: to be woken, then the connections, then the listeners. False:
// there is nothing left to serve.
bool ShareServer::ChoosePolledLocked(std::vector<pollfd>* polled, int* limit) {
    const auto unused = [](const Listener& listener) { return listener.exports == 0; };
    listeners_.erase(std::remove_if(listeners_.begin(), listeners_.end(), unused),
                     listeners_.end());
    if (exports_.empty()) {
        connections_.clear();
        wake_.Close();
        running_ = false;
        return false;
    }
    const Clock::time_point now = Clock::now();
    const bool paused = now < acceptsFrom_;
    const bool accepting = !paused && connections_.size() < kMostConnections;
    Clock::time_point until = paused ? acceptsFrom_ : Clock::time_point::max();
    polled->clear();
    polled->push_back({wake_.Get(), POLLIN, 0});
    for (const Connection& connection : connections_) {
        polled->push_back({connection.socket.Get(), POLLIN, 0});
        until = std::min(until, connection.until);
    }
    for (const Listener& listener : listeners_) {
        polled->push_back({accepting ? listener.socket.Get() : -1, POLLIN, 0});
    }
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - now).count();
    *limit = until == Clock::time_point::max()
                 ? -1
                 : static_cast<int>(std::clamp<int64_t>(rest + 1, 0, kAnswerTimeout.count()));
    return true;
}

// Answers once. False: there is nothing left to serve, and the next export starts a new thread.
bool ShareServer::ServeOnce(std::vector<pollfd>* polled) {
    int limit = -1;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!ChoosePolledLocked(polled, &limit)) {
            return false;
        }
    }
    if (poll(polled->data(), polled->size(), limit) < 0) {
        return true;  // interrupted
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    uint64_t count = 0;
    (void)!read(wake_.Get(), &count, sizeof(count));
    const size_t before = connections_.size();
    const Clock::time_point now = Clock::now();
    // The loop begins with the last one, because an ended connection is removed.
    for (size_t i = before; i-- > 0;) {
        const bool silent = (*polled)[1 + i].revents == 0;
        if (silent ? connections_[i].until > now : AnswerLocked(&connections_[i])) {
            continue;
        }
        connections_.erase(connections_.begin() + static_cast<ptrdiff_t>(i));
    }
    // A listener that came meanwhile is behind the others.
    for (size_t i = 1 + before; i < polled->size(); ++i) {
        if ((*polled)[i].revents != 0) {
            AcceptLocked(listeners_[i - 1 - before]);
        }
    }
    return true;
}

void ShareServer::AcceptLocked(const Listener& listener) {
    for (int i = 0; i < kMostAtOnce && connections_.size() < kMostConnections; ++i) {
        Descriptor accepted(OpenHigh([&] {
            return accept4(listener.socket.Get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        }));
        if (!accepted.Usable()) {
            if (errno != EAGAIN && errno != ECONNABORTED) {
                acceptsFrom_ = Clock::now() + kPause;  // it would fail again at once
            }
            return;
        }
        if (!TakeLocked(&accepted)) {
            acceptsFrom_ = Clock::now() + kPause;
        }
    }
}

// Greets a process that has connected. False: it is a stranger, or has left.
bool ShareServer::TakeLocked(Descriptor* accepted) {
    Connection connection;
    if (!SharePeer::Of(accepted->Get(), &connection.peer)) {
        return false;
    }
    ShareGreeting greeting{kShareMagic, ACL_SUCCESS, {}};
    if (!WelcomesLocked(connection.peer)) {
        greeting.code = ACL_ERROR_RT_NO_PERMISSION;
        (void)Send(accepted->Get(), &greeting, sizeof(greeting));
        return false;
    }
    if (!DrawRandom(greeting.nonce, 2) || !Send(accepted->Get(), &greeting, sizeof(greeting))) {
        return false;
    }
    std::copy(greeting.nonce, greeting.nonce + 2, connection.nonce);
    connection.until = Clock::now() + kAnswerTimeout;
    connection.socket = std::move(*accepted);
    connections_.push_back(std::move(connection));
    return true;
}

// Returns whether there may be an export for the process. Only root shares with other users, and
// only with the processes of theirs that it has listed.
bool ShareServer::WelcomesLocked(const SharePeer& peer) const {
    if (peer.IsThisProcess() || peer.IsRoot() || peer.IsSameUser()) {
        return true;
    }
    const auto ofStranger = [&](const Connection& other) { return other.peer.pid == peer.pid; };
    return geteuid() == 0 && peer.pid != 0 && listedBy_.count(peer.pid) != 0 &&
           static_cast<size_t>(std::count_if(connections_.begin(), connections_.end(),
                                             ofStranger)) < kMostOfStranger;
}

// Answers a request. False: the connection is over.
bool ShareServer::AnswerLocked(Connection* connection) {
    ShareRequest request{};
    const ssize_t got = recv(connection->socket.Get(), &request, sizeof(request), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (got != sizeof(request) || request.magic != kShareMagic) {
        return false;
    }
    ShareAnswer answer{};
    answer.magic = kShareMagic;
    const Export* granted = nullptr;
    answer.code = GrantLocked(request, *connection, &granted);
    if (answer.code == ACL_SUCCESS) {
        const ShareOffer& offer = granted->offer;
        answer.bytes = offer.bytes;
        answer.inner = offer.inner;
        answer.length = offer.length;
        answer.device = offer.device;
        answer.proof = ProofOfAnswer(granted->key, connection->nonce, request, answer);
        if (Send(connection->socket.Get(), &answer, sizeof(answer), offer.file)) {
            return false;
        }
        answer = {kShareMagic, ACL_ERROR_RT_MEMORY_ALLOCATION, 0, 0, 0, 0, 0, 0};
    }
    (void)Send(connection->socket.Get(), &answer, sizeof(answer));
    return false;
}

// The process has passed WelcomesLocked: it is of this user or of root, or is listed somewhere.
int32_t ShareServer::GrantLocked(const ShareRequest& request, const Connection& connection,
                                 const Export** granted) const {
    const auto found = exports_.find(request.name);
    if (found == exports_.end() || found->second.offer.kind != request.kind ||
        request.proof != ProofOfRequest(found->second.key, connection.nonce, request)) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    const Export& wanted = found->second;
    const SharePeer& peer = connection.peer;
    const bool open = wanted.offer.open && (peer.IsRoot() || peer.IsSameUser());
    if (!open && !peer.IsThisProcess()) {
        const auto listed = wanted.listed.find(peer.pid);
        if (listed == wanted.listed.end() || StartOf(peer.pid) != listed->second) {
            return ACL_ERROR_RT_NO_PERMISSION;
        }
    }
    *granted = &wanted;
    return ACL_SUCCESS;
}

ShareServer& TheShareServer() {
    static NeverDestroyed<ShareServer> server;
    return *server;
}

// The importing side.

namespace {

// Turns an answer without a file into a code.
Status CheckAnswer(const char* argument, const ShareKey& key, const ShareAnswer& answer) {
    switch (answer.code) {
        case ACL_SUCCESS:
            return {};
        case ACL_ERROR_RT_NO_PERMISSION:
            return NotListed(argument, NameOf(key));
        case ACL_ERROR_RT_MEMORY_ALLOCATION:
            return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "{}: the host passes no descriptor between processes now; expected fewer "
                         "on their way",
                         argument);
        default:
            return Unknown(argument, NameOf(key));
    }
}

// Waits for the greeting. A server of another user is not even told what is wanted, unless one of
// the two is root.
Status AwaitGreeting(int socket, const char* argument, const ShareKey& key, Clock::time_point until,
                     SharePeer* peer, ShareGreeting* greeting) {
    if (!SharePeer::Of(socket, peer)) {
        return NoAnswer(argument);
    }
    if (!peer->IsThisProcess() && !peer->IsSameUser() && !peer->IsRoot() && geteuid() != 0) {
        return Error(ACL_ERROR_RT_NO_PERMISSION,
                     "{}: at its place is process {} of user {}; expected one of user {} or of "
                     "root",
                     argument, peer->pid, peer->user, geteuid());
    }
    Descriptor none;
    const ssize_t got = Receive(socket, until, greeting, sizeof(*greeting), &none);
    if (got <= 0 && HasEnded(got)) {
        return Unknown(argument, NameOf(key));  // the process, or its last export, has just ended
    }
    if (got < 0) {
        return NoAnswer(argument);
    }
    if (got != sizeof(*greeting) || greeting->magic != kShareMagic) {
        return WrongAnswer(argument, *peer, "its greeting is not this library's");
    }
    return greeting->code == ACL_SUCCESS ? Status() : NotListed(argument, NameOf(key));
}

}  // namespace

Status FetchShared(ShareKind kind, const ShareKey& key, const char* argument, ShareGrant* grant,
                   std::chrono::milliseconds most) {
    const NoCancellation noCancellation;
    const Clock::time_point until = Clock::now() + most;
    Descriptor connection;
    SharePeer peer;
    ShareGreeting greeting{};
    ADVSTEP_RETURN_IF_ERROR(Connect(key, argument, until, &connection));
    ADVSTEP_RETURN_IF_ERROR(
        AwaitGreeting(connection.Get(), argument, key, until, &peer, &greeting));
    ShareRequest request{kShareMagic, kind, NameOf(key), {}, 0};
    if (!DrawRandom(request.nonce, 2)) {
        return NoServer("random bits");
    }
    request.proof = ProofOfRequest(key, greeting.nonce, request);
    ShareAnswer answer{};
    Descriptor file;
    const ssize_t got = Send(connection.Get(), &request, sizeof(request))
                            ? Receive(connection.Get(), until, &answer, sizeof(answer), &file)
                            : ssize_t{-1};
    if (got <= 0 && HasEnded(got)) {
        return Unknown(argument, NameOf(key));
    }
    if (got < 0) {
        return NoAnswer(argument);
    }
    if (got != sizeof(answer) || answer.magic != kShareMagic) {
        return WrongAnswer(argument, peer, "its answer is not this library's");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckAnswer(argument, key, answer));
    if (answer.proof != ProofOfAnswer(key, greeting.nonce, request, answer)) {
        return WrongAnswer(argument, peer, "it does not prove that it has the key");
    }
    if (!file.Usable()) {
        return NoDescriptor(argument);
    }
    if (!HoldsTheObject(file.Get(), answer)) {
        return WrongAnswer(argument, peer, "its file does not hold what it says");
    }
    grant->name = NameOf(key);
    grant->file = std::move(file);
    grant->bytes = answer.bytes;
    grant->inner = answer.inner;
    grant->length = answer.length;
    grant->device = answer.device;
    return {};
}

}  // namespace advstep
