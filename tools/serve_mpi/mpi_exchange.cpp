// SPDX-License-Identifier: Apache-2.0
// Implements the exchanges of dispatcher, leaders and members.

#include "mpi_exchange.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace serve {
namespace {

Bytes Pack(const Grant& grant) { return Packer().Put(grant.until).Put(grant.requests).Take(); }

Grant UnpackGrant(const Bytes& bytes) {
    Unpacker unpacker(bytes);
    const auto until = unpacker.Get<int64_t>();
    return {until, unpacker.GetVector<Request>()};
}

// A leader's.
void PassOn(Link& link, const Grant& grant) {
    for (const int rank : link.GroupRanks()) {
        if (rank != link.Rank()) {
            link.Send(rank, Link::kGrant, Pack(grant));
        }
    }
}

class LeaderExchange : public TimedExchange {
 public:
    explicit LeaderExchange(Link& link) : link_(link) {}

 private:
    Grant Ask(const std::vector<FinishedRequest>& finished) override {
        link_.Send(0, Link::kReport, Packer().Put(finished).Take());
        Grant grant = UnpackGrant(link_.Receive(0, Link::kGrant, "requests"));
        PassOn(link_, grant);
        return grant;
    }

    Link& link_;
};

class MemberExchange : public TimedExchange {
 public:
    explicit MemberExchange(Link& link) : link_(link) {}

 private:
    Grant Ask(const std::vector<FinishedRequest>& /*finished*/) override {
        return UnpackGrant(link_.Receive(link_.GroupRanks().front(), Link::kGrant, "requests"));
    }

    Link& link_;
};

}  // namespace

Grant TimedExchange::Next(const std::vector<FinishedRequest>& finished) {
    const auto start = std::chrono::steady_clock::now();
    Grant grant = Ask(finished);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return grant;
}

DispatchingExchange::DispatchingExchange(Link& link, const std::vector<Request>& requests,
                                         int64_t window, std::function<void(int64_t)> progress)
    : link_(link),
      requests_(requests),
      dispatcher_(requests, link.Layout().dataParallel, window),
      progress_(std::move(progress)),
      placed_(requests.size(), -1) {}

void DispatchingExchange::Take(const std::vector<FinishedRequest>& finished) {
    for (const FinishedRequest& request : finished) {
        dispatcher_.Finished(request.replica, request.lastToken, request.TotalTokens());
        finished_.push_back(request);
    }
    progress_(static_cast<int64_t>(finished_.size()));
}

Grant DispatchingExchange::Ask(const std::vector<FinishedRequest>& finished) {
    const ClusterLayout& layout = link_.Layout();
    Take(finished);
    for (int replica = 1; replica < layout.dataParallel; ++replica) {
        const Bytes bytes = link_.Receive(layout.Leader(replica), Link::kReport, "a report");
        Take(Unpacker(bytes).GetVector<FinishedRequest>());
    }

    std::vector<Grant> grants(static_cast<size_t>(layout.dataParallel));
    for (const Placement& placement : dispatcher_.PlaceWindow()) {
        grants[static_cast<size_t>(placement.replica)].requests.push_back(*placement.request);
        placed_[static_cast<size_t>(placement.request - requests_.data())] = placement.replica;
    }
    ++windows_;
    for (int replica = 0; replica < layout.dataParallel; ++replica) {
        Grant& grant = grants[static_cast<size_t>(replica)];
        grant.until = dispatcher_.WindowBegin();
        if (replica > 0) {
            link_.Send(layout.Leader(replica), Link::kGrant, Pack(grant));
        }
    }
    PassOn(link_, grants[0]);
    return std::move(grants[0]);
}

std::unique_ptr<TimedExchange> MakeExchange(Link& link) {
    if (link.Rank() == link.GroupRanks().front()) {
        return std::make_unique<LeaderExchange>(link);
    }
    return std::make_unique<MemberExchange>(link);
}

}  // namespace serve
