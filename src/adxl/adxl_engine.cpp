// SPDX-License-Identifier: Apache-2.0
// The public calls of the transfer engine.

#include "adxl/adxl_engine.h"

#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "src/advstep/client_failure.h"
#include "src/adxl/engine.h"
#include "src/adxl/shared_blocks.h"
#include "src/base/no_cancellation.h"

namespace adxl {
namespace {

using advstep::transfer::Engine;
using advstep::transfer::Fail;
using advstep::transfer::Outcome;

// Runs `body`, which returns an Outcome, and records its failure or exception for `call`. All that
// the calls of this library wait for is inside, so pthread_cancel takes effect behind them.
template <typename Body>
Status Boundary(const char* call, Body&& body) noexcept {
    const advstep::NoCancellation noCancellation;
    try {
        const Outcome outcome = std::forward<Body>(body)();
        if (!outcome.Ok()) {
            (void)advstepRecordFailure(call, static_cast<aclError>(outcome.status),
                                       outcome.text.c_str());
        }
        return outcome.status;
    } catch (const std::bad_alloc&) {
        (void)advstepRecordFailure(call, RESOURCE_EXHAUSTED, "the host is out of memory");
        return RESOURCE_EXHAUSTED;
    } catch (const std::exception& error) {
        (void)advstepRecordFailure(call, FAILED, error.what());
        return FAILED;
    }
}

}  // namespace

static_assert(sizeof(AdxlEngine) == sizeof(void*), "CANN's class has one std::unique_ptr");
static_assert(sizeof(MemDesc) == 144 && sizeof(TransferArgs) == 128 && sizeof(NotifyDesc) == 32);

class AdxlEngine::AdxlEngineImpl {
 public:
    ~AdxlEngineImpl() { Finalize(); }

    Outcome Initialize(const AscendString& name, const advstep::transfer::Options& options) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (engine_ != nullptr) {
            return Fail(FAILED, "the engine is initialised; expected a Finalize before");
        }
        auto engine = std::make_shared<Engine>();
        const Outcome started = engine->Start(name, options);
        if (started.Ok()) {
            engine_ = std::move(engine);
        }
        return started;
    }

    void Finalize() noexcept {
        std::shared_ptr<Engine> engine;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            engine.swap(engine_);
        }
        if (engine == nullptr) {
            return;
        }
        const advstep::NoCancellation noCancellation;
        engine->Stop();
        if (!engine->IsOfThisProcess()) {
            // The engine of a fork's parent is left as it is: its threads do not exist here.
            (void)new (std::nothrow) std::shared_ptr<Engine>(std::move(engine));
        }
    }

    // Runs body(engine), which returns an Outcome.
    template <typename Body>
    Status Call(const char* call, Body&& body) {
        return Boundary(call, [&]() -> Outcome {
            std::shared_ptr<Engine> engine;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                engine = engine_;
            }
            if (engine == nullptr) {
                return Fail(FAILED, "the engine is not initialised; expected Initialize before");
            }
            if (!engine->IsOfThisProcess()) {
                return Fail(FAILED,
                            "the engine belongs to the parent of this process; expected one that "
                            "this process has made");
            }
            return body(*engine);
        });
    }

 private:
    std::mutex mutex_;  // guards the pointer; no lock is taken under it, except by Initialize
    std::shared_ptr<Engine> engine_;  // null before Initialize and after Finalize
};

AdxlEngine::AdxlEngine() : impl_(std::make_unique<AdxlEngineImpl>()) {}

AdxlEngine::~AdxlEngine() = default;

Status AdxlEngine::Initialize(const AscendString& local_engine,
                              const std::map<AscendString, AscendString>& options) {
    return Boundary("AdxlEngine::Initialize",
                    [&] { return impl_->Initialize(local_engine, options); });
}

void AdxlEngine::Finalize() { impl_->Finalize(); }

Status AdxlEngine::RegisterMem(const MemDesc& mem, MemType type, MemHandle& mem_handle) {
    return impl_->Call("AdxlEngine::RegisterMem", [&](Engine& engine) {
        return engine.memory().Register(mem, type, &mem_handle);
    });
}

Status AdxlEngine::DeregisterMem(MemHandle mem_handle) {
    return impl_->Call("AdxlEngine::DeregisterMem",
                       [&](Engine& engine) { return engine.memory().Deregister(mem_handle); });
}

Status AdxlEngine::Connect(const AscendString& remote_engine, int32_t timeout_in_millis) {
    return impl_->Call("AdxlEngine::Connect", [&](Engine& engine) {
        return engine.Connect(remote_engine, timeout_in_millis);
    });
}

Status AdxlEngine::Disconnect(const AscendString& remote_engine, int32_t timeout_in_millis) {
    return impl_->Call("AdxlEngine::Disconnect", [&](Engine& engine) {
        return engine.Disconnect(remote_engine, timeout_in_millis);
    });
}

Status AdxlEngine::TransferSync(const AscendString& remote_engine, TransferOp operation,
                                const std::vector<TransferOpDesc>& op_descs,
                                int32_t timeout_in_millis) {
    return impl_->Call("AdxlEngine::TransferSync", [&](Engine& engine) {
        return engine.Run(remote_engine, operation, op_descs, timeout_in_millis);
    });
}

Status AdxlEngine::TransferAsync(const AscendString& remote_engine, TransferOp operation,
                                 const std::vector<TransferOpDesc>& op_descs, const TransferArgs&,
                                 TransferReq& req) {
    return impl_->Call("AdxlEngine::TransferAsync", [&](Engine& engine) {
        return engine.RunAsync(remote_engine, operation, op_descs, &req);
    });
}

Status AdxlEngine::GetTransferStatus(const TransferReq& req, TransferStatus& status) {
    return impl_->Call("AdxlEngine::GetTransferStatus",
                       [&](Engine& engine) { return engine.StatusOf(req, &status); });
}

Status AdxlEngine::SendNotify(const AscendString& remote_engine, const NotifyDesc& notify,
                              int32_t timeout_in_millis) {
    return impl_->Call("AdxlEngine::SendNotify", [&](Engine& engine) {
        return engine.SendNotify(remote_engine, notify, timeout_in_millis);
    });
}

Status AdxlEngine::GetNotifies(std::vector<NotifyDesc>& notifies) {
    return impl_->Call("AdxlEngine::GetNotifies", [&](Engine& engine) {
        engine.GetNotifies(&notifies);
        return Outcome();
    });
}

Status AdxlEngine::MallocMem(MemType type, size_t size, void** ptr) {
    return Boundary("AdxlEngine::MallocMem",
                    [&] { return advstep::transfer::TheSharedBlocks().Allocate(type, size, ptr); });
}

Status AdxlEngine::FreeMem(void* ptr) {
    return Boundary("AdxlEngine::FreeMem",
                    [&] { return advstep::transfer::TheSharedBlocks().Free(ptr); });
}

Status AdxlEngine::ExportToShareableHandle(void* ptr, aclrtMemFabricHandle& handle) {
    return Boundary("AdxlEngine::ExportToShareableHandle",
                    [&] { return advstep::transfer::TheSharedBlocks().Export(ptr, &handle); });
}

Status AdxlEngine::GetCapability(FeatureType feature, int32_t& value) {
    return Boundary("AdxlEngine::GetCapability", [&]() -> Outcome {
        if (feature != FeatureType::AUTO_CONNECT && feature != FeatureType::CLIENT_SERVER_COMM) {
            return Fail(PARAM_INVALID,
                        "feature is {}; expected AUTO_CONNECT = 0 or CLIENT_SERVER_COMM = 1",
                        static_cast<int32_t>(feature));
        }
        value = 1;
        return {};
    });
}

}  // namespace adxl
