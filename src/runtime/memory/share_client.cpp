// SPDX-License-Identifier: Apache-2.0
// Connects to the exporting process and takes what it grants.

#include "src/runtime/memory/share_client.h"

#include <sys/time.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

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
                 std::generic_category().message(errno), kMostForAnAnswer.count() / 1000);
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
