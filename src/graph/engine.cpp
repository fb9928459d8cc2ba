// SPDX-License-Identifier: Apache-2.0
// Implements initialisation, finalisation and the list of sessions.

#include "src/graph/engine.h"

#include <algorithm>

#include "src/base/never_destroyed.h"

namespace advstep::graph {

Engine& Engine::The() {
    static NeverDestroyed<Engine> engine;
    return *engine;
}

Outcome Engine::Initialize(const OptionMap& options) {
    Options parsed;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(ParseOptions(options, &parsed));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!isInitialized_) {
        options_ = parsed;
        isInitialized_ = true;
    }
    return {};
}

void Engine::Finalize() {
    std::vector<std::weak_ptr<SessionCore>> sessions;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        isInitialized_ = false;
        sessions.swap(sessions_);
    }
    for (const std::weak_ptr<SessionCore>& session : sessions) {
        if (const std::shared_ptr<SessionCore> core = session.lock()) {
            core->End(false);
        }
    }
}

Outcome Engine::MakeSession(const OptionMap& options, std::shared_ptr<SessionCore>* core) {
    Options parsed;
    Outcome outcome = Catch([&] { return ParseOptions(options, &parsed); });
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool isAlive = isInitialized_ && outcome.ok();
    if (!parsed.deviceId) {
        parsed.deviceId = options_.deviceId;
    }
    *core = std::make_shared<SessionCore>(*this, ++lastId_, isAlive, parsed.deviceId);
    if (isAlive) {
        sessions_.erase(std::remove_if(sessions_.begin(), sessions_.end(),
                                       [](const auto& session) { return session.expired(); }),
                        sessions_.end());
        sessions_.push_back(*core);
    }
    if (outcome.ok() && !isInitialized_) {
        return Fail(kBadSession, "GEInitialize was not called; expected it before a session");
    }
    return outcome;
}

bool Engine::IsOwn(const std::shared_ptr<SessionCore>& core) const {
    return core != nullptr && core->engine() == this;
}

Outcome Engine::CheckOwn(const std::shared_ptr<SessionCore>& core) const {
    if (core == nullptr) {
        return Fail(kBadSession, "the session was made without memory; expected another");
    }
    return IsOwn(core)
               ? Outcome()
               : Fail(kBadSession,
                      "session {} was made in the parent of a fork; expected one of this process",
                      core->id());
}

void Engine::Keep(std::shared_ptr<SessionCore> core) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    SessionCore& added = *core;
    added.SetNextKept(std::move(kept_));
    kept_ = std::move(core);
}

}  // namespace advstep::graph
