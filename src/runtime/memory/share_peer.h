// SPDX-License-Identifier: Apache-2.0
// The process at the other end of a socket.

#pragma once

#include <cstdint>

namespace advstep {

/// A process as the system names it, not as it names itself.
struct SharePeer {
    int32_t pid = 0;  // 0: it is in another pid namespace
    uint32_t user = 0;

    /// Finds the process that connected to the socket, or that listens at the other end. False: the
    /// system does not tell.
    static bool Of(int socket, SharePeer* peer);

    bool IsThisProcess() const;
    bool IsRoot() const { return user == 0; }
    /// Returns whether the process is of this process's user. In a user namespace, all users that
    /// have no number there look like one. A process that seems to be of this one's is so only if
    /// this process may look into it.
    bool IsSameUser() const;
    /// Returns whether the process is of this process's user by its number alone, which a later
    /// process of the same pid cannot lend it.
    bool IsSameUserWithoutDoubt() const;
};

/// Returns whether this process's user has a number in its user namespace, or has that of all users
/// without one.
bool ThisUserHasANumber();

/// Returns when the process began, in ticks of the system's clock, which no later one of the same
/// number has. 0: there is no such process, or /proc does not show it.
uint64_t StartOf(int32_t pid);

}  // namespace advstep
