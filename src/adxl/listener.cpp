// SPDX-License-Identifier: Apache-2.0
// Accepts connections and starts their threads.

#include "src/adxl/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "src/base/high_descriptor.h"
#include "src/base/library_thread.h"

namespace advstep::transfer {
namespace {

constexpr std::chrono::seconds kAdmission{10};        // a client proves itself in that time
constexpr std::chrono::milliseconds kPause{10};       // after a stranger, nobody is accepted
constexpr std::chrono::milliseconds kNoResource{50};  // without descriptors, for instance

// Takes the port of the name, as a program sees it that looks for a free one.
Outcome TakePort(const EngineName& name, Descriptor* port) {
    Descriptor opened(
        OpenHigh([&] { return socket(name.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0); }));
    if (!opened.Usable()) {
        return Fail(adxl::RESOURCE_EXHAUSTED, "the host has no descriptor ({})",
                    std::generic_category().message(errno));
    }
    if (bind(opened.Get(), reinterpret_cast<const sockaddr*>(&name.socket), name.bytes) != 0) {
        if (errno == EADDRNOTAVAIL) {
            return Fail(adxl::PARAM_INVALID,
                        "local_engine is {}, no address of this host; expected one", name.text);
        }
        return Fail(adxl::FAILED, "local_engine {}: the port cannot be taken ({})", name.text,
                    std::generic_category().message(errno));
    }
    *port = std::move(opened);
    return {};
}

// Waits, but not when the listener stops. Returns false then.
bool WaitUnlessWoken(int wake, std::chrono::milliseconds most) {
    pollfd polled{wake, POLLIN, 0};
    return poll(&polled, 1, static_cast<int>(most.count())) <= 0;
}

}  // namespace

Outcome Listener::Start(const EngineName& name, const ShareKey& secret) {
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(TakePort(name, &port_));
    wake_ = Descriptor(OpenHigh([] { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }));
    if (!wake_.Usable()) {
        return Fail(adxl::RESOURCE_EXHAUSTED, "the host has no descriptor ({})",
                    std::generic_category().message(errno));
    }
    secret_ = secret;
    ADVSTEP_TRANSFER_RETURN_IF_ERROR(Listen(name, secret, &socket_));
    try {
        acceptor_ = StartThread("advstep-adxl", [this] { Accept(); });
    } catch (const std::system_error& error) {
        return Fail(adxl::RESOURCE_EXHAUSTED, "the host has no thread ({})", error.what());
    }
    return {};
}

void Listener::Stop() noexcept {
    if (acceptor_.joinable()) {
        const uint64_t one = 1;
        (void)!write(wake_.Get(), &one, sizeof(one));
        acceptor_.join();
    }
    // The accepting thread is gone, so the list stays as it is.
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Connection& connection : connections_) {
            connection.channel.Shutdown();
        }
    }
    for (Connection& connection : connections_) {
        connection.thread.join();
    }
    connections_.clear();
    socket_.Close();
    port_.Close();
}

void Listener::Accept() {
    for (;;) {
        pollfd polled[] = {{socket_.Get(), POLLIN, 0}, {wake_.Get(), POLLIN, 0}};
        (void)poll(polled, 2, -1);
        if (polled[1].revents != 0) {
            return;
        }
        DropEnded();
        std::chrono::milliseconds pause{0};
        try {
            Descriptor socket(
                OpenHigh([&] { return accept4(socket_.Get(), nullptr, nullptr, SOCK_CLOEXEC); }));
            if (!socket.Usable()) {
                const bool isOver = errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
                pause = isOver ? pause : kNoResource;
            } else if (!Take(std::move(socket))) {
                pause = kPause;
            }
        } catch (const std::exception&) {  // no memory or no thread: the client sees an end
            pause = kNoResource;
        }
        if (pause.count() > 0 && !WaitUnlessWoken(wake_.Get(), pause)) {
            return;
        }
    }
}

bool Listener::Take(Descriptor socket) {
    if (!IsOfThisUser(socket.Get())) {
        return false;
    }
    Channel channel(std::move(socket));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (connections_.size() >= kMostConnections) {
        TurnAway(channel, adxl::RESOURCE_EXHAUSTED);
        return true;
    }
    connections_.emplace_back();
    Connection& connection = connections_.back();
    connection.channel = std::move(channel);
    try {
        connection.thread =
            StartThread("advstep-adxl-io", [this, &connection] { Serve(connection); });
    } catch (...) {
        connections_.pop_back();
        throw;
    }
    return true;
}

void Listener::Serve(Connection& connection) noexcept {
    const Deadline until = Clock::now() + kAdmission;
    try {
        if (Admit(connection.channel, secret_, until,
                  [&](const ClientId& client) { return EndEarlier(connection, client, until); })) {
            Service(connection.channel, memory_, inbox_).Run();
        }
    } catch (const std::exception&) {  // no memory: the client sees that the connection ends
    }
    connection.channel.Shutdown();
    const std::lock_guard<std::mutex> lock(mutex_);
    connection.ended = true;
    ended_.notify_all();
}

bool Listener::EndEarlier(Connection& connection, const ClientId& client, Deadline until) {
    std::unique_lock<std::mutex> lock(mutex_);
    connection.client = client;
    const auto endOthers = [&] {
        bool haveEnded = true;
        for (const Connection& other : connections_) {
            if (&other != &connection && other.client == client && !other.ended) {
                other.channel.Shutdown();
                haveEnded = false;
            }
        }
        return haveEnded;
    };
    return ended_.wait_until(lock, until, endOthers);
}

void Listener::DropEnded() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto connection = connections_.begin(); connection != connections_.end();) {
        if (connection->ended) {
            connection->thread.join();  // it has given the lock back
            connection = connections_.erase(connection);
        } else {
            ++connection;
        }
    }
}

}  // namespace advstep::transfer
