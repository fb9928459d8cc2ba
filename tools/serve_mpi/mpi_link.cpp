// SPDX-License-Identifier: Apache-2.0
// Implements messages with timeouts, questions to late ranks and the end after a failure.

#include "mpi_link.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "interrupt.h"

namespace serve {
namespace {

// How long a rank may take to say where it is, once it is asked. It answers once an iteration.
constexpr std::chrono::seconds kAnswerTime(2);
// Questions in a row to which everybody answered and nobody had got on.
constexpr int kMostStandstills = 3;
// How long rank 0 may take to end the run after another rank has failed.
constexpr std::chrono::seconds kEndTime(5);
// mpirun follows SIGTERM with SIGKILL after a second.
constexpr std::chrono::milliseconds kTermTime(600);

}  // namespace

void Link::Must(int code, const char* call) {
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, text, &length);
        throw ClusterError(fmt::format("{} failed: {}", call, text));
    }
}

Link::Link(const ClusterLayout& layout, double timeoutSeconds)
    : layout_(layout),
      timeout_(timeoutSeconds),
      places_(static_cast<size_t>(layout.Ranks())),
      answered_(static_cast<size_t>(layout.Ranks())),
      localPids_(static_cast<size_t>(layout.Ranks())) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    // Failures come back as codes; the communicators made from it inherit that.
    Must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    Must(MPI_Comm_dup(MPI_COMM_WORLD, &data_), "MPI_Comm_dup");
    Must(MPI_Comm_dup(MPI_COMM_WORLD, &control_), "MPI_Comm_dup");
    Must(MPI_Comm_split(MPI_COMM_WORLD, layout.Replica(rank_), rank_, &group_), "MPI_Comm_split");
    const int leader = layout.Leader(layout.Replica(rank_));
    for (int member = 0; member < layout.tensorParallel; ++member) {
        groupRanks_.push_back(leader + member);
    }

    struct Process {
        int pid;
        char host[MPI_MAX_PROCESSOR_NAME];
    };
    Process own{static_cast<int>(getpid()), ""};
    int length = 0;
    Must(MPI_Get_processor_name(own.host, &length), "MPI_Get_processor_name");
    std::vector<Process> all(static_cast<size_t>(layout.Ranks()));
    const int size = sizeof own;
    Must(MPI_Allgather(&own, size, MPI_BYTE, all.data(), size, MPI_BYTE, data_), "MPI_Allgather");
    for (size_t rank = 0; rank < all.size(); ++rank) {
        localPids_[rank] = std::strcmp(all[rank].host, own.host) == 0 ? all[rank].pid : 0;
    }
}

Link::~Link() {
    MPI_Comm_free(&group_);
    MPI_Comm_free(&control_);
    MPI_Comm_free(&data_);
}

void Link::Send(int to, Tag tag, Bytes bytes) {
    DropSent();
    sent_.push_back({std::move(bytes), MPI_REQUEST_NULL});
    Sent& sent = sent_.back();
    Must(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to, tag, data_,
                   &sent.request),
         "MPI_Isend");
}

void Link::DropSent() {
    sent_.remove_if([](Sent& sent) {
        int done = 0;
        Must(MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
    });
}

Bytes Link::Receive(int from, Tag tag, const char* what, bool isLimited) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    WaitUntil(
        [&] {
            Must(MPI_Improbe(from, tag, data_, &found, &message, &status), "MPI_Improbe");
            return found != 0;
        },
        {from}, what, isLimited);
    int size = 0;
    Must(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    Bytes bytes(static_cast<size_t>(size));
    MPI_Request request = MPI_REQUEST_NULL;
    Must(MPI_Imrecv(bytes.data(), size, MPI_BYTE, &message, &request), "MPI_Imrecv");
    Wait(&request, {from}, what);
    return bytes;
}

void Link::Wait(MPI_Request* request, const std::vector<int>& from, const char* what) {
    WaitUntil(
        [request] {
            int done = 0;
            Must(MPI_Test(request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            return done != 0;
        },
        from, what);
}

void Link::Flush() {
    std::vector<int> all;
    for (int rank = 0; rank < layout_.Ranks(); ++rank) {
        all.push_back(rank);
    }
    WaitUntil(
        [this] {
            DropSent();
            return sent_.empty();
        },
        all, "sending");
}

template <typename Done>
void Link::WaitUntil(const Done& done, const std::vector<int>& from, const char* what,
                     bool isLimited) {
    constexpr int kBusyTurns = 16;
    constexpr int kTurnsPerLook = 64;
    if (done()) {
        return;
    }
    std::snprintf(place_.what, sizeof place_.what, "%s", what);
    Clock::time_point start = Clock::now();
    int standstills = 0;
    for (int turn = 1; !done(); ++turn) {
        if (turn > kBusyTurns) {
            sched_yield();  // there may be more ranks than cores
        }
        if (turn % kTurnsPerLook != 0) {
            continue;
        }
        AnswerControl();
        DropSent();
        if (!isLimited || Clock::now() - start < timeout_) {
            continue;
        }
        standstills = AskWhere(from) ? 0 : standstills + 1;
        if (standstills >= kMostStandstills && !done()) {
            std::string others;
            for (const int rank : from) {
                const Place& place = places_[static_cast<size_t>(rank)];
                others += fmt::format("; {} is at step {} and waits for {}", layout_.Name(rank),
                                      place.step, place.what);
            }
            throw ClusterError(fmt::format("{} waits for {} at step {} in vain{}",
                                           layout_.Name(rank_), what, place_.step, others));
        }
        start = Clock::now();
    }
    place_.what[0] = '\0';
}

bool Link::AskWhere(const std::vector<int>& ranks) {
    bool gotOn = false;
    std::vector<int64_t> before;
    for (const int rank : ranks) {
        const auto index = static_cast<size_t>(rank);
        before.push_back(places_[index].step);
        answered_[index] = rank == rank_;
        if (rank != rank_) {
            SendControl(rank, kWhere, nullptr, 0);
        }
    }
    const auto silent = [&] {
        return std::find_if(ranks.begin(), ranks.end(),
                            [&](int rank) { return !answered_[static_cast<size_t>(rank)]; });
    };
    for (const auto end = Clock::now() + kAnswerTime; silent() != ranks.end();) {
        AnswerControl();
        if (Clock::now() > end) {
            throw ClusterError(fmt::format(
                "{} does not answer; {} has waited for it for {:.0f} s, at step {} for {}",
                layout_.Name(*silent()), layout_.Name(rank_), timeout_.count(), place_.step,
                place_.what));
        }
        sched_yield();
    }
    for (size_t i = 0; i < ranks.size(); ++i) {
        gotOn = gotOn || places_[static_cast<size_t>(ranks[i])].step != before[i];
    }
    return gotOn;
}

void Link::SendControl(int to, ControlTag tag, const void* data, size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    sent_.push_back({Bytes(bytes, bytes + size), MPI_REQUEST_NULL});
    Sent& sent = sent_.back();
    Must(MPI_Isend(sent.bytes.data(), static_cast<int>(size), MPI_BYTE, to, tag, control_,
                   &sent.request),
         "MPI_Isend");
}

void Link::AnswerControl() {
    LookForSignal();
    for (;;) {
        int found = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        Must(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &found, &message, &status),
             "MPI_Improbe");
        if (found == 0) {
            return;
        }
        int size = 0;
        Must(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
        Bytes bytes(static_cast<size_t>(size));
        // These are short: MPI has them here already.
        Must(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
        const auto from = static_cast<size_t>(status.MPI_SOURCE);
        if (status.MPI_TAG == kWhere) {
            SendControl(status.MPI_SOURCE, kHere, &place_, sizeof place_);
        } else if (status.MPI_TAG == kHere) {
            std::memcpy(&places_[from], bytes.data(), sizeof(Place));
            answered_[from] = true;
        } else {
            throw ClusterError(std::string(bytes.begin(), bytes.end()));
        }
    }
}

void Link::Poll(int64_t step) {
    place_.step = step;
    AnswerControl();
}

void Link::LookForSignal() {
    if (Terminated()) {
        EndTerminated();
    }
}

void Link::EndTerminated() {
    if (rank_ != 0) {
        // Rank 0 looks who is gone, and must not take this rank for the cause.
        std::this_thread::sleep_for(kTermTime);
        _exit(128 + SIGTERM);
    }
    std::string gone;
    for (int rank = 1; rank < layout_.Ranks(); ++rank) {
        const int pid = localPids_[static_cast<size_t>(rank)];
        if (pid != 0 && kill(pid, 0) != 0) {
            gone +=
                fmt::format("{}{}, process {}", gone.empty() ? "" : "; ", layout_.Name(rank), pid);
        }
    }
    throw ClusterError(gone.empty() ? fmt::format("{} at step {}", SignalName(), place_.step)
                                    : fmt::format("{} was killed", gone));
}

void Link::Fail(const std::string& why) {
    constexpr size_t kMostText = 1024;  // MPI takes that much without the receiver
    SendControl(0, kFailure, why.data(), std::min(why.size(), kMostText));
    for (const auto end = Clock::now() + kEndTime; Clock::now() < end && !Terminated();) {
        DropSent();
        sched_yield();
    }
    if (!Terminated()) {
        std::fprintf(stderr, "serve_mpi: %s; rank 0 does not react\n", why.c_str());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    std::this_thread::sleep_for(kTermTime);
    _exit(EXIT_FAILURE);
}

}  // namespace serve
