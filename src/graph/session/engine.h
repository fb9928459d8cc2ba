// SPDX-License-Identifier: Apache-2.0
// The engine that GEInitialize starts: the options of the process and its sessions.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "graph/ascend_string.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/session/session_core.h"

namespace advstep::graph {

using OptionMap = std::map<ge::AscendString, ge::AscendString>;

struct Options {
    std::optional<int32_t> deviceId;
};

/// Reads options, and warns of unknown ones. *parsed is unchanged on failure.
Outcome ParseOptions(const OptionMap& options, Options* parsed);

/// The state that GEInitialize starts: the options of the process, and its sessions.
class Engine {
 public:
    Outcome Initialize(const OptionMap& options);
    /// Ends the sessions. It does so outside the lock, because callbacks that they wait for may
    /// call the engine.
    void Finalize();

    /// Makes the core of a session. All its calls fail if the engine is not initialised or the
    /// options are bad.
    Outcome MakeSession(const OptionMap& options, std::shared_ptr<SessionCore>* core);

    /// Returns whether the core is of this engine. It is not if it is null, because memory was
    /// short, and not in the child of a fork: threads of the parent may hold its locks, and its
    /// worker does not exist here.
    bool IsOwn(const std::shared_ptr<SessionCore>& core) const;
    /// Fails if the core is not of this engine.
    Outcome CheckOwn(const std::shared_ptr<SessionCore>& core) const;

    /// Takes a core of the parent of a fork, which cannot be destroyed here, and never destroys it.
    void Abandon(std::shared_ptr<SessionCore> core) noexcept;

 private:
    std::mutex mutex_;  // guards the members below; code that holds it takes no session's lock
    bool isInitialized_ = false;
    Options options_;
    uint64_t lastId_ = 0;
    std::vector<std::weak_ptr<SessionCore>> sessions_;
    std::shared_ptr<SessionCore> abandoned_;  // the first of a list
};

/// The engine is never destroyed, because sessions that were not destroyed may run while the
/// process ends. The child of a fork has a new one, without sessions.
Engine& TheEngine();

}  // namespace advstep::graph
