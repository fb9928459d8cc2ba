// SPDX-License-Identifier: Apache-2.0
// Makes, maps, exports and retires shared states.

#include "src/runtime/memory/shared_state.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/memory_sharing.h"

namespace advstep {

SharedState::~SharedState() {
    Withdraw();
    if (pages_ != nullptr) {
        TheMappedPages().GiveBack(pages_);
    }
    ForgetForkRecord(forkRange_);
    if (mapped_ != nullptr) {
        ReleaseAddresses(mapped_, mappedBytes_);
    }
}

Status SharedState::Make(size_t bytes, std::unique_ptr<SharedState>* state) {
    auto made = std::make_unique<SharedState>();
    ADVSTEP_RETURN_IF_ERROR(TheMappedPages().Take(PagePool::kPage, PagePool::kPage, &made->pages_));
    made->bytes_ = bytes;
    made->begin_ = PagePool::Address(*made->pages_);
    std::memset(made->begin_, 0, bytes);
    *state = std::move(made);
    return {};
}

Status SharedState::Import(ShareKind kind, const ShareKey& key, const char* argument, size_t bytes,
                           std::unique_ptr<SharedState>* state) {
    auto made = std::make_unique<SharedState>();
    ShareGrant grant;
    ADVSTEP_RETURN_IF_ERROR(FetchShared(kind, key, argument, &grant));
    if (grant.inner != 0 || grant.length != bytes) {
        return Error(
            ACL_ERROR_RT_DRV_INTERNAL_ERROR,
            "{} is of {} bytes at offset {}; expected {} at 0, from a process with the same "
            "version of this library",
            argument, grant.length, grant.inner, bytes);
    }
    made->mapped_ = ReserveAddresses(nullptr, grant.bytes, PagePool::kPage);
    if (made->mapped_ == nullptr) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "{} is of {} bytes; expected a range that the host has free", argument,
                     grant.bytes);
    }
    made->mappedBytes_ = grant.bytes;
    made->bytes_ = bytes;
    ADVSTEP_RETURN_IF_ERROR(PagePool::MapAt(made->mapped_, grant.bytes, grant.file.Get(), 0));
    made->forkRange_ = EnterForkRange(made->mapped_, grant.bytes, grant.file.Get(), 0);
    made->begin_ = made->mapped_;
    made->file_ = std::move(grant.file);
    *state = std::move(made);
    return {};
}

Status SharedState::Export(ShareKind kind, bool open, ShareKey* key) {
    if (name_ != 0) {
        *key = TheShareServer().KeyOf(name_);
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(TheMappedPages().MakeAlone(pages_, bytes_, {}));
    ShareOffer offer;
    offer.kind = kind;
    offer.file = PagePool::FileOf(*pages_);
    offer.bytes = pages_->bytes;
    offer.length = bytes_;
    offer.open = open;
    ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, false, key));
    name_ = NameOf(*key);
    return {};
}

Status SharedState::Allow(ShareKind kind, const int32_t* pids, size_t count,
                          const char* argument) const {
    return TheShareServer().Allow(TheShareServer().KeyOf(name_), kind, pids, count, argument);
}

void SharedState::Withdraw() noexcept {
    if (name_ != 0) {
        TheShareServer().Withdraw(name_);
        name_ = 0;
    }
}

void RetiredStates::Add(std::unique_ptr<SharedState>* state, std::vector<Ticket>&& pending) {
    const std::lock_guard<std::mutex> lock(mutex_);
    retired_.emplace_back();
    (*state)->Withdraw();
    retired_.back() = {std::move(*state), std::move(pending)};
    ReclaimLocked();  // now, so that a state that no work uses is freed at once
}

void RetiredStates::Reclaim() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
}

void RetiredStates::ReclaimLocked() noexcept {
    const auto over = [](const Retired& old) {
        return std::all_of(old.pending.begin(), old.pending.end(), Reached);
    };
    retired_.erase(std::remove_if(retired_.begin(), retired_.end(), over), retired_.end());
}

}  // namespace advstep
