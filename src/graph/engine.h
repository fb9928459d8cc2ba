#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "src/graph/options.h"
#include "src/graph/outcome.h"
#include "src/graph/session_core.h"

namespace advstep::graph {

/// What GEInitialize starts: the options of the process, and its sessions.
class Engine {
 public:
    /// Never destroyed: sessions may leak and run while the process ends.
    static Engine& The();

    Outcome Initialize(const OptionMap& options);
    /// Ends the sessions outside the lock: callbacks that they wait for may come back here.
    void Finalize();

    /// The core of a session that is dead if the engine is not initialised or the options are bad.
    Outcome MakeSession(const OptionMap& options, std::shared_ptr<SessionCore>* core);

 private:
    std::mutex mutex_;  // guards what follows; a session's own lock is not taken inside
    bool isInitialized_ = false;
    Options options_;
    uint64_t lastId_ = 0;
    std::vector<std::weak_ptr<SessionCore>> sessions_;
};

}  // namespace advstep::graph
