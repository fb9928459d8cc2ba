// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of an engine's calls, and keeps its sessions.

#include "src/adxl/engine.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "src/adxl/user_secret.h"

namespace advstep::transfer {
namespace {

constexpr const char* kGlobalResource = "GlobalResourceConfig";
constexpr std::chrono::milliseconds kAsyncTime{3000};        // of a transfer, and
constexpr uint64_t kBytesPerMoreSecond = uint64_t{1} << 28;  // one second more for each of these

std::string TextOf(const adxl::AscendString& text) { return {text.GetString(), text.GetLength()}; }

std::string KeyOf(const EngineName& name) {
    return {reinterpret_cast<const char*>(name.words), sizeof(name.words)};
}

Outcome ReadRemote(const adxl::AscendString& text, EngineName* name) {
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(EngineName::Read("remote_engine", TextOf(text), name));
    if (!name->HasPort()) {
        return Fail(adxl::PARAM_INVALID, "remote_engine is \"{}\"; expected a port above 0",
                    name->text);
    }
    return {};
}

Outcome ReadTime(int32_t milliseconds, Deadline* until) {
    if (milliseconds < 1) {
        return Fail(adxl::PARAM_INVALID, "timeout_in_millis is {}; expected at least 1",
                    milliseconds);
    }
    *until = Clock::now() + std::chrono::milliseconds(milliseconds);
    return {};
}

Outcome RequireNumber(const char* key, const std::string& value) {
    uint32_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || rest != end) {
        return Fail(adxl::PARAM_INVALID, "option {} is \"{}\"; expected a number", key, value);
    }
    return {};
}

}  // namespace

Outcome Engine::ReadOptions(const Options& options) {
    for (const auto& [keyText, valueText] : options) {
        const std::string key = TextOf(keyText);
        const std::string value = TextOf(valueText);
        if (key == adxl::OPTION_AUTO_CONNECT) {
            if (value != "0" && value != "1") {
                return Fail(adxl::PARAM_INVALID, "option {} is \"{}\"; expected \"0\" or \"1\"",
                            key, value);
            }
            connectsByItself_ = value == "1";
        } else if (key == adxl::OPTION_RDMA_TRAFFIC_CLASS ||
                   key == adxl::OPTION_RDMA_SERVICE_LEVEL) {
            ADVSTEP_TRANSFER_RETURN_IF_ERROR(RequireNumber(key.c_str(), value));
        } else if (key != adxl::OPTION_BUFFER_POOL && key != adxl::OPTION_LOCAL_COMM_RES &&
                   key != kGlobalResource) {
            aclAppLog(ACL_WARNING, "AdxlEngine::Initialize", "libllm_datadist", 0,
                      "option %s is unknown and ignored", key.c_str());
        }
    }
    return {};
}

Outcome Engine::Start(const adxl::AscendString& name, const Options& options) {
    EngineName own;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(EngineName::Read("local_engine", TextOf(name), &own));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadOptions(options));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadUserSecret(&secret_));
    if (!DrawRandom(id_.words, 2)) {
        return Fail(adxl::FAILED, "the host has no random bits for an engine");
    }
    return own.HasPort() ? listener_.Start(own, secret_) : Outcome();
}

void Engine::Stop() noexcept {
    if (!IsOfThisProcess()) {
        return;
    }
    std::map<std::string, SessionPointer> sessions;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        isStopped_ = true;
        sessions.swap(sessions_);
    }
    for (const auto& entry : sessions) {
        entry.second->End();
    }
    async_.Stop();
    listener_.Stop();
    memory_.Clear();
}

Engine::SessionPointer Engine::FindLocked(const std::string& key) {
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) {
        return nullptr;
    }
    if (!found->second->IsAlive()) {
        sessions_.erase(found);
        return nullptr;
    }
    return found->second;
}

Engine::SessionPointer Engine::Find(const EngineName& remote) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return FindLocked(KeyOf(remote));
}

Outcome Engine::Open(const EngineName& remote, Deadline until, SessionPointer* session,
                     bool* isNew) {
    const std::string key = KeyOf(remote);
    std::unique_lock<std::mutex> lock(mutex_);
    if (!opened_.wait_until(lock, until, [&] { return opening_.count(key) == 0; })) {
        return Fail(adxl::TIMEOUT, "engine {} did not answer another thread in time", remote.text);
    }
    *session = FindLocked(key);
    *isNew = *session == nullptr;
    if (!*isNew) {
        return {};
    }
    opening_.insert(key);
    // Ends with the lock held, whatever happens.
    struct Leave {
        ~Leave() {
            if (!lock.owns_lock()) {
                lock.lock();
            }
            engine.opening_.erase(key);
            engine.opened_.notify_all();
        }
        Engine& engine;
        std::unique_lock<std::mutex>& lock;
        const std::string& key;
    } const leave{*this, lock, key};
    lock.unlock();
    Channel channel;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ConnectTo(remote, secret_, id_, until, &channel));
    auto opened = std::make_shared<Session>(remote, std::move(channel));
    lock.lock();
    if (isStopped_) {
        return Fail(adxl::FAILED, "the engine has ended");
    }
    sessions_[key] = opened;
    *session = std::move(opened);
    return {};
}

Outcome Engine::FindOrConnect(const EngineName& remote, Deadline until, SessionPointer* session) {
    *session = Find(remote);
    if (*session != nullptr) {
        return {};
    }
    if (!connectsByItself_) {
        return Fail(adxl::NOT_CONNECTED,
                    "remote_engine {} is not connected; expected a Connect, or the option "
                    "AutoConnect 1",
                    remote.text);
    }
    bool isNew = false;
    return Open(remote, until, session, &isNew);
}

Outcome Engine::Connect(const adxl::AscendString& remote, int32_t milliseconds) {
    EngineName name;
    Deadline until;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadRemote(remote, &name));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadTime(milliseconds, &until));
    bool isNew = false;
    SessionPointer session;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(Open(name, until, &session, &isNew));
    if (!isNew) {
        return Fail(adxl::ALREADY_CONNECTED, "remote_engine {} is connected", name.text);
    }
    return {};
}

Outcome Engine::Disconnect(const adxl::AscendString& remote, int32_t milliseconds) {
    EngineName name;
    Deadline until;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadRemote(remote, &name));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadTime(milliseconds, &until));
    const SessionPointer session = Find(name);
    if (session == nullptr) {
        return Fail(adxl::NOT_CONNECTED, "remote_engine {} is not connected", name.text);
    }
    session->End();
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sessions_.find(KeyOf(name));
    if (found != sessions_.end() && found->second == session) {
        sessions_.erase(found);
    }
    return {};
}

Outcome Engine::Check(adxl::TransferOp operation, const std::vector<adxl::TransferOpDesc>& descs,
                      Transfer* transfer) {
    if (operation != adxl::READ && operation != adxl::WRITE) {
        return Fail(adxl::PARAM_INVALID, "operation is {}; expected READ or WRITE",
                    static_cast<int>(operation));
    }
    if (descs.empty() || descs.size() > kMostRanges) {
        return Fail(adxl::PARAM_INVALID, "op_descs has {} ranges; expected 1 to {}", descs.size(),
                    kMostRanges);
    }
    transfer->kind = operation == adxl::READ ? RequestKind::kRead : RequestKind::kWrite;
    transfer->local.reserve(descs.size());
    transfer->remote.reserve(descs.size());
    for (size_t i = 0; i < descs.size(); ++i) {
        const Range local{descs[i].local_addr, descs[i].len};
        if (!memory_.Holds(local)) {
            return Fail(adxl::PARAM_INVALID,
                        "op_descs[{}] has {} bytes from local_addr {:#x}, which this engine has "
                        "not registered; expected a range inside one registration",
                        i, local.bytes, local.address);
        }
        if (__builtin_add_overflow(transfer->bytes, local.bytes, &transfer->bytes)) {
            return Fail(adxl::PARAM_INVALID, "op_descs have more bytes than 64 bits count");
        }
        transfer->local.push_back(local);
        transfer->remote.push_back({descs[i].remote_addr, descs[i].len});
    }
    return {};
}

Outcome Engine::RunUntil(const EngineName& remote, const Transfer& transfer, Deadline until) {
    SessionPointer session;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(FindOrConnect(remote, until, &session));
    return session->Run(transfer, memory_, until);
}

Outcome Engine::Run(const adxl::AscendString& remote, adxl::TransferOp operation,
                    const std::vector<adxl::TransferOpDesc>& descs, int32_t milliseconds) {
    EngineName name;
    Deadline until;
    Transfer transfer;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadRemote(remote, &name));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadTime(milliseconds, &until));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(Check(operation, descs, &transfer));
    return RunUntil(name, transfer, until);
}

Outcome Engine::RunAsync(const adxl::AscendString& remote, adxl::TransferOp operation,
                         const std::vector<adxl::TransferOpDesc>& descs, adxl::TransferReq* req) {
    EngineName name;
    Transfer transfer;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadRemote(remote, &name));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(Check(operation, descs, &transfer));
    // Stop waits for the jobs, so the engine outlives them.
    return async_.Submit(
        KeyOf(name),
        [this, name, transfer = std::move(transfer)] {
            const auto more = std::chrono::seconds(transfer.bytes / kBytesPerMoreSecond);
            return RunUntil(name, transfer, Clock::now() + kAsyncTime + more);
        },
        req);
}

Outcome Engine::SendNotify(const adxl::AscendString& remote, const adxl::NotifyDesc& notify,
                           int32_t milliseconds) {
    EngineName name;
    Deadline until;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadRemote(remote, &name));
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(ReadTime(milliseconds, &until));
    const Notify message{TextOf(notify.name), TextOf(notify.notify_msg)};
    for (const std::string& part : {message.name, message.message}) {
        if (part.size() > kMostNotifyBytes) {
            return Fail(adxl::PARAM_INVALID,
                        "notify has a text of {} bytes; expected at most {} each", part.size(),
                        kMostNotifyBytes);
        }
    }
    SessionPointer session;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(FindOrConnect(name, until, &session));
    return session->Send(message, until);
}

void Engine::GetNotifies(std::vector<adxl::NotifyDesc>* notifies) {
    std::vector<adxl::NotifyDesc> taken;
    for (const Notify& notify : inbox_.Take()) {
        taken.push_back({{notify.name.data(), notify.name.size()},
                         {notify.message.data(), notify.message.size()}});
    }
    notifies->swap(taken);
}

}  // namespace advstep::transfer
