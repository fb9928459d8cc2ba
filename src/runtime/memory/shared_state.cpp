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
    if (mapped_ != nullptr) {
        ReleaseAddresses(mapped_, mappedBytes_);
    }
}

Status SharedState::Make(size_t bytes, std::unique_ptr<SharedState>* state) {
    auto made = std::make_unique<SharedState>();
    ADVSTEP_RETURN_IF_ERROR(TheMappedPages().Take(bytes, PagePool::kUnit, &made->pages_));
    made->begin_ = PagePool::Address(*made->pages_);
    std::memset(made->begin_, 0, bytes);
    *state = std::move(made);
    return {};
}

Status SharedState::Import(ShareKind kind, ShareKey key, const char* argument,
                           std::unique_ptr<SharedState>* state) {
    auto made = std::make_unique<SharedState>();
    ShareGrant grant;
    ADVSTEP_RETURN_IF_ERROR(FetchShared(kind, key, argument, &grant));
    made->mapped_ = ReserveAddresses(nullptr, grant.bytes, PagePool::kPage);
    if (made->mapped_ == nullptr) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "{} is of {} bytes; expected a range that the host has free", argument,
                     grant.bytes);
    }
    made->mappedBytes_ = grant.bytes;
    ADVSTEP_RETURN_IF_ERROR(
        PagePool::MapAt(made->mapped_, grant.bytes, grant.file.Get(), grant.offset));
    made->begin_ = static_cast<uint8_t*>(made->mapped_) + grant.inner;
    made->lease_ = std::move(grant.lease);
    *state = std::move(made);
    return {};
}

Status SharedState::Export(ShareKind kind, bool open, ShareKey* key) {
    if (key_ == 0) {
        ShareOffer offer;
        offer.kind = kind;
        offer.pool = &TheMappedPages();
        offer.pages = pages_;
        offer.length = pages_->bytes;
        offer.open = open;
        ADVSTEP_RETURN_IF_ERROR(TheShareServer().Publish(offer, &key_));
    }
    *key = key_;
    return {};
}

void SharedState::Withdraw() noexcept {
    if (key_ != 0) {
        TheShareServer().Withdraw(key_);
        key_ = 0;
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
