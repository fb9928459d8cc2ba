// SPDX-License-Identifier: Apache-2.0
// The two sides of a meeting, and what they say to each other.

#include "src/hccl/rendezvous.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "src/hccl/quiet_thread.h"

namespace advstep::hccl {
namespace {

constexpr uint64_t kHelloMagic = 0x31304c4343485641u;
constexpr uint32_t kMostRanks = 32768;
constexpr uint32_t kAddressBytes = 64;
constexpr uint32_t kGraceSeconds = 5;  // the root's answer tells more than the rank's own limit

// The words of a meeting are plain bytes. Hosts of one communicator have the same byte order.
struct Hello {
    uint64_t magic;
    GroupKey key;
    uint32_t ranks;
    uint32_t rank;
    char name[COMM_NAME_MAX_LENGTH];
    char address[kAddressBytes];
    uint32_t port;
    uint32_t reserved;
};

struct Answer {
    uint64_t magic;
    int32_t code;
    uint32_t members;  // that many entries follow
    char message[512];
};

struct Member {
    char address[kAddressBytes];
    uint32_t port;
};

template <size_t kBytes>
void CopyText(char (&to)[kBytes], const std::string& from) {
    std::memset(to, 0, kBytes);
    std::memcpy(to, from.data(), std::min(from.size(), kBytes - 1));
}

// A connection to the root, until the meeting ends.
struct Guest {
    Socket socket;
    Hello hello{};
    size_t got = 0;  // bytes of hello

    bool HasSpoken() const { return got == sizeof hello; }
};

// The root's side. Only its own thread uses it.
class Meeting {
 public:
    Meeting(Socket listener, const GroupKey& key, uint32_t seconds)
        : listener_(std::move(listener)), key_(key), seconds_(seconds), deadline_(seconds * 10) {}

    void Run() noexcept {
        try {
            Answer answer{};
            while (!Ended(&answer)) {
                AwaitEvents();
                Admit();
                Listen();
            }
            AnswerAll(answer);
        } catch (...) {
            // Memory is short: the connections end, which the ranks report.
        }
    }

 private:
    void AwaitEvents() {
        std::vector<pollfd> waits{{listener_.descriptor(), POLLIN, 0}};
        for (const auto& guest : guests_) {
            waits.push_back({guest->socket.descriptor(), POLLIN, 0});
        }
        (void)poll(waits.data(), waits.size(), deadline_.Milliseconds());
    }

    void Admit() {
        Socket socket;
        while (Accept(listener_, &socket).ok() && socket.IsOpen()) {
            auto guest = std::make_unique<Guest>();
            guest->socket = std::exchange(socket, Socket());
            guests_.push_back(std::move(guest));
        }
    }

    // Reads what guests say. Strangers are turned away, and so is who leaves.
    void Listen() {
        for (size_t i = 0; i < guests_.size();) {
            const bool had = guests_[i]->HasSpoken();
            if (!Hear(guests_[i].get())) {
                if (had && left_.empty()) {
                    left_ = Text("rank ", guests_[i]->hello.rank,
                                 " has left before all ranks had come");
                }
                guests_.erase(guests_.begin() + static_cast<ptrdiff_t>(i));
                continue;
            }
            if (!had && guests_[i]->HasSpoken()) {
                deadline_ = spoken_++ == 0 ? Deadline(seconds_) : deadline_;
            }
            ++i;
        }
    }

    bool Hear(Guest* guest) const {
        char extra = 0;
        char* const to =
            guest->HasSpoken() ? &extra : reinterpret_cast<char*>(&guest->hello) + guest->got;
        const size_t room = guest->HasSpoken() ? 1 : sizeof guest->hello - guest->got;
        const ssize_t got = recv(guest->socket.descriptor(), to, room, 0);
        if (got < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        if (got == 0 || guest->HasSpoken()) {
            return false;
        }
        guest->got += static_cast<size_t>(got);
        guest->hello.name[sizeof guest->hello.name - 1] = '\0';
        guest->hello.address[sizeof guest->hello.address - 1] = '\0';
        const Hello& hello = guest->hello;
        return !guest->HasSpoken() || (hello.magic == kHelloMagic && hello.key == key_ &&
                                       hello.ranks <= kMostRanks && hello.rank < hello.ranks);
    }

    std::vector<const Hello*> Spoken() const {
        std::vector<const Hello*> hellos;
        for (const auto& guest : guests_) {
            if (guest->HasSpoken()) {
                hellos.push_back(&guest->hello);
            }
        }
        return hellos;
    }

    bool Ended(Answer* answer) const {
        const std::vector<const Hello*> hellos = Spoken();
        answer->magic = kHelloMagic;
        const auto end = [answer](HcclResult code, const std::string& message) {
            answer->code = code;
            CopyText(answer->message, message);
            return true;
        };
        if (const std::string contradiction = Contradiction(hellos); !contradiction.empty()) {
            return end(HCCL_E_PARA, contradiction);
        }
        if (!left_.empty()) {
            return end(HCCL_E_REMOTE, left_);
        }
        if (!hellos.empty() && hellos.size() == hellos[0]->ranks) {
            answer->members = hellos[0]->ranks;
            return end(HCCL_SUCCESS, "");
        }
        return deadline_.Passed() && end(HCCL_E_TIMEOUT, Missing(hellos));
    }

    static std::string Contradiction(const std::vector<const Hello*>& hellos) {
        for (size_t i = 1; i < hellos.size(); ++i) {
            const Hello& one = *hellos[0];
            const Hello& other = *hellos[i];
            if (one.ranks != other.ranks) {
                return Text("nRanks is ", one.ranks, " in rank ", one.rank, " and ", other.ranks,
                            " in rank ", other.rank, "; expected the same in all");
            }
            if (std::strcmp(one.name, other.name) != 0) {
                return Text("hcclCommName is \"", one.name, "\" in rank ", one.rank, " and \"",
                            other.name, "\" in rank ", other.rank, "; expected the same in all");
            }
            for (size_t j = 0; j < i; ++j) {
                if (hellos[j]->rank == other.rank) {
                    return Text("rank ", other.rank, " has come twice; expected each rank once");
                }
            }
        }
        return "";
    }

    std::string Missing(const std::vector<const Hello*>& hellos) const {
        std::string list;
        const uint32_t ranks = hellos.empty() ? 0 : hellos[0]->ranks;
        for (uint32_t rank = 0; rank < ranks && list.size() < 200; ++rank) {
            if (std::none_of(hellos.begin(), hellos.end(),
                             [rank](const Hello* hello) { return hello->rank == rank; })) {
                list += Text(list.empty() ? "" : ", ", rank);
            }
        }
        return Text("rank ", list, " of ", ranks, " has not come within ", seconds_,
                    " s (HCCL_CONNECT_TIMEOUT)");
    }

    // A rank that has heard that the meeting is over cannot reach it any more.
    void AnswerAll(const Answer& answer) {
        listener_.Close();
        std::vector<char> bytes(sizeof answer + answer.members * sizeof(Member));
        std::memcpy(bytes.data(), &answer, sizeof answer);
        for (const auto& guest : guests_) {
            if (answer.members != 0 && guest->HasSpoken()) {
                Member member{};
                std::memcpy(member.address, guest->hello.address, sizeof member.address);
                member.port = guest->hello.port;
                std::memcpy(bytes.data() + sizeof answer + guest->hello.rank * sizeof member,
                            &member, sizeof member);
            }
        }
        const Deadline limit(kGraceSeconds);
        for (const auto& guest : guests_) {
            if (guest->HasSpoken()) {
                (void)SendAll(guest->socket, bytes.data(), bytes.size(), "the rank", limit);
            }
        }
    }

    Socket listener_;
    const GroupKey key_;
    const uint32_t seconds_;
    Deadline deadline_;  // ten times as long before the first rank has come
    std::vector<std::unique_ptr<Guest>> guests_;
    std::string left_;   // what was said of a rank that has left
    size_t spoken_ = 0;  // ranks that have come
};

// Nobody waits for the end of the thread.
Outcome StartMeeting(std::unique_ptr<Meeting> meeting) {
    std::thread thread;
    ADVSTEP_HCCL_TRY(StartQuietThread([own = std::move(meeting)] { own->Run(); }, &thread));
    thread.detach();
    return {};
}

Outcome ReadMembers(const Socket& root, const Newcomer& newcomer, const Deadline& deadline,
                    Group* group) {
    Answer answer{};
    Outcome outcome = ReceiveAll(root, &answer, sizeof answer, "the root", deadline);
    if (!outcome.ok()) {
        outcome.message += "; expected the answer that all ranks have come";
        return outcome;
    }
    answer.message[sizeof answer.message - 1] = '\0';
    if (answer.code != HCCL_SUCCESS) {
        return Error(static_cast<HcclResult>(answer.code), answer.message);
    }
    if (answer.magic != kHelloMagic || answer.members != newcomer.ranks) {
        return Error(HCCL_E_TCP_TRANSFER, "the root does not speak as this library does");
    }
    std::vector<Member> members(answer.members);
    ADVSTEP_HCCL_TRY(
        ReceiveAll(root, members.data(), members.size() * sizeof(Member), "the root", deadline));
    for (Member& member : members) {
        member.address[sizeof member.address - 1] = '\0';
        group->members.push_back({member.address, static_cast<uint16_t>(member.port)});
    }
    return {};
}

}  // namespace

Outcome OpenMeeting(const Settings& settings, MeetingPlace* place) {
    Socket listener;
    ADVSTEP_HCCL_TRY(Listen(&place->endpoint, &listener));
    return StartMeeting(
        std::make_unique<Meeting>(std::move(listener), place->key, settings.connectSeconds));
}

Outcome Join(const Settings& settings, const MeetingPlace& place, const Newcomer& newcomer,
             Group* group, Socket* listener) {
    if (newcomer.ranks == 0 || newcomer.ranks > kMostRanks) {
        return Error(HCCL_E_PARA, "nRanks is ", newcomer.ranks,
                     "; expected 1 <= nRanks <= ", kMostRanks);
    }
    if (newcomer.rank >= newcomer.ranks) {
        return Error(HCCL_E_PARA, "rank is ", newcomer.rank,
                     "; expected 0 <= rank < nRanks = ", newcomer.ranks);
    }
    const Deadline deadline(settings.connectSeconds + kGraceSeconds);
    Socket root;
    ADVSTEP_HCCL_TRY(Connect(place.endpoint, "the root of the communicator",
                             newcomer.waitForRoot ? Deadline(settings.connectSeconds) : deadline,
                             newcomer.waitForRoot, &root));
    Endpoint own{settings.address.empty() ? OwnAddress(root) : settings.address, 0};
    ADVSTEP_HCCL_TRY(Listen(&own, listener));
    Hello hello{};
    hello.magic = kHelloMagic;
    hello.key = place.key;
    hello.ranks = newcomer.ranks;
    hello.rank = newcomer.rank;
    hello.port = own.port;
    CopyText(hello.name, newcomer.name);
    CopyText(hello.address, own.address);
    ADVSTEP_HCCL_TRY(SendAll(root, &hello, sizeof hello, "the root", deadline));
    group->key = place.key;
    group->rank = newcomer.rank;
    group->name = newcomer.name;
    return ReadMembers(root, newcomer, deadline, group);
}

}  // namespace advstep::hccl
