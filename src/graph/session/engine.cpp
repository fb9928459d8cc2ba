// SPDX-License-Identifier: Apache-2.0
// Implements options, initialisation, finalisation and the list of sessions.

#include "src/graph/session/engine.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "acl/acl.h"
#include "ge/ge_api_types.h"
#include "src/base/never_destroyed.h"
#include "src/graph/ir/messages.h"

namespace advstep::graph {
namespace {

Outcome ParseInteger(const char* key, const char* text, int32_t* value) {
    const char* end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, *value);
    if (error != std::errc() || rest != end) {
        return Fail(kBadOption, "option {} is \"{}\"; expected an integer", key, text);
    }
    return {};
}

// Warns of a device that does not exist, which no later call reports.
void WarnIfMissing(const char* key, int32_t deviceId) {
    uint32_t count = 0;
    if (deviceId >= 0 && aclrtGetDeviceCount(&count) == ACL_SUCCESS &&
        static_cast<uint32_t>(deviceId) >= count) {
        ReportWarning(
            fmt::format("Unknown_Device(W10059): option {} is {}; there are {} devices, and "
                        "device 0 runs the graphs",
                        key, deviceId, count));
    }
}

}  // namespace

Outcome ParseOptions(const OptionMap& options, Options* parsed) {
    Options read;
    for (const auto& [key, value] : options) {
        if (key.GetLength() == 0) {
            return Fail(kBadOption, "the key of an option is empty; its value is \"{}\"",
                        value.GetString());
        }
        int32_t number = 0;
        if (key == ge::OPTION_GRAPH_RUN_MODE) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                ParseInteger(key.GetString(), value.GetString(), &number));
        } else if (key == ge::OPTION_EXEC_DEVICE_ID) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                ParseInteger(key.GetString(), value.GetString(), &number));
            if (number < -1) {
                return Fail(kBadOption, "option {} is {}; expected -1 or a device's number",
                            key.GetString(), number);
            }
            WarnIfMissing(key.GetString(), number);
            read.deviceId = number;
        } else if (key != ge::ir_option::SOC_VERSION && key != ge::ir_option::PRECISION_MODE) {
            ReportWarning(fmt::format("Unknown_Option(W10059): option {} is unknown and ignored",
                                      key.GetString()));
        }
    }
    *parsed = read;
    return {};
}

Engine& TheEngine() {
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

void Engine::Abandon(std::shared_ptr<SessionCore> core) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    SessionCore& added = *core;
    added.SetNextAbandoned(std::move(abandoned_));
    abandoned_ = std::move(core);
}

}  // namespace advstep::graph
