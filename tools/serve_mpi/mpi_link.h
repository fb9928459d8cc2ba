// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, with a limit to every wait and the name of the rank that is waited for.

#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster_layout.h"
#include "wire.h"

namespace serve {

/// Ends the run. what() names the rank.
class ClusterError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// One thread of each rank has a link and makes all of MPI's calls, so there are no locks here.
///
/// Every wait polls. A rank that has waited for the limit asks those it waits for where they are; a
/// rank answers from its own waits and once an iteration. One that does not answer is named, and so
/// ends the run; one that answers is given more time as long as it gets on.
class Link {
 public:
    enum Tag : int { kReport, kGrant, kFinal, kServed, kEnd };

    /// @throws ClusterError  a call of MPI failed
    Link(const ClusterLayout& layout, double timeoutSeconds);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    const ClusterLayout& Layout() const { return layout_; }
    int Rank() const { return rank_; }
    /// The ranks of this rank's replica, by member.
    MPI_Comm Group() const { return group_; }
    const std::vector<int>& GroupRanks() const { return groupRanks_; }

    /// Does not wait.
    void Send(int to, Tag tag, Bytes bytes);
    /// @param what       the message, for whoever asks
    /// @param isLimited  whether a sender that does not answer ends the run: not while it waits for
    ///                   files
    /// @throws ClusterError
    Bytes Receive(int from, Tag tag, const char* what, bool isLimited = true);
    /// Waits for an operation that needs these ranks.
    /// @throws ClusterError
    void Wait(MPI_Request* request, const std::vector<int>& from, const char* what);
    /// Waits until every message is on its way.
    void Flush();

    /// Once an iteration: says where this rank is, and looks for questions and for the end.
    /// @throws ClusterError  another rank told rank 0 of its failure; or EndTerminated
    void Poll(int64_t step);

    /// After a signal came: ends the process, but at rank 0.
    /// @throws ClusterError  at rank 0; names the ranks that are gone, or the signal
    [[noreturn]] void EndTerminated();

    /// Tells rank 0 why this rank fails. Rank 0 then ends the run; if it does not, this does.
    [[noreturn]] void Fail(const std::string& why);

    /// @throws ClusterError
    static void Must(int code, const char* call);

 private:
    enum ControlTag : int { kWhere, kHere, kFailure };

    struct Place {
        int64_t step;
        char what[32];
    };
    struct Sent {
        Bytes bytes;
        MPI_Request request;
    };
    using Clock = std::chrono::steady_clock;

    template <typename Done>
    void WaitUntil(const Done& done, const std::vector<int>& from, const char* what,
                   bool isLimited = true);
    void AnswerControl();
    void DropSent();
    void LookForSignal();
    /// @return whether somebody got on since the last time
    bool AskWhere(const std::vector<int>& ranks);
    void SendControl(int to, ControlTag tag, const void* data, size_t size);

    ClusterLayout layout_;
    std::chrono::duration<double> timeout_;
    int rank_ = 0;
    MPI_Comm data_ = MPI_COMM_NULL;
    MPI_Comm control_ = MPI_COMM_NULL;
    MPI_Comm group_ = MPI_COMM_NULL;
    std::vector<int> groupRanks_;
    std::list<Sent> sent_;  // bytes stay where they are until MPI has taken them
    Place place_{};
    std::vector<Place> places_;   // by rank, as last heard
    std::vector<bool> answered_;  // by rank, since the last question
    std::vector<int> localPids_;  // by rank; 0: on another host
};

}  // namespace serve
