// SPDX-License-Identifier: Apache-2.0
// Reads the names of engines.

#include "src/adxl/engine_name.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>
#include <string_view>

namespace advstep::transfer {
namespace {

// The parts of "ip:port". False: the text has another form.
bool Split(std::string_view text, std::string_view* address, std::string_view* port) {
    if (!text.empty() && text.front() == '[') {
        const size_t end = text.find(']');
        if (end == std::string_view::npos) {
            return false;
        }
        *address = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        *port = text.empty() ? text : text.substr(1);
        return text.empty() || (text.front() == ':' && !port->empty());
    }
    const size_t colon = text.find(':');
    *address = text.substr(0, colon);
    *port = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    return colon == std::string_view::npos || !port->empty();
}

bool ReadPort(std::string_view text, uint16_t* port) {
    if (text.empty()) {
        *port = 0;
        return true;
    }
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, *port);
    return error == std::errc() && rest == end;
}

// Writes the address as a socket and as the words of a name. False: it is no address.
bool ReadAddress(const std::string& text, bool isVersion6, uint16_t port, EngineName* name) {
    in6_addr common{};
    if (isVersion6) {
        sockaddr_in6 socket{};
        if (inet_pton(AF_INET6, text.c_str(), &socket.sin6_addr) != 1) {
            return false;
        }
        socket.sin6_family = AF_INET6;
        socket.sin6_port = htons(port);
        common = socket.sin6_addr;
        std::memcpy(&name->socket, &socket, sizeof(socket));
        name->bytes = sizeof(socket);
    } else {
        sockaddr_in socket{};
        if (inet_pton(AF_INET, text.c_str(), &socket.sin_addr) != 1) {
            return false;
        }
        socket.sin_family = AF_INET;
        socket.sin_port = htons(port);
        common.s6_addr[10] = common.s6_addr[11] = 0xFF;
        std::memcpy(common.s6_addr + 12, &socket.sin_addr, sizeof(socket.sin_addr));
        std::memcpy(&name->socket, &socket, sizeof(socket));
        name->bytes = sizeof(socket);
    }
    std::memcpy(name->words, &common, sizeof(common));
    name->words[2] = port;
    return true;
}

}  // namespace

Outcome EngineName::Read(const char* argument, const std::string& text, EngineName* name) {
    std::string_view address;
    std::string_view port;
    uint16_t number = 0;
    EngineName read{};
    read.text = text;
    const bool isVersion6 = !text.empty() && text.front() == '[';
    if (!Split(text, &address, &port) || !ReadPort(port, &number) ||
        !ReadAddress(std::string(address), isVersion6, number, &read)) {
        return Fail(adxl::PARAM_INVALID,
                    "{} is \"{}\"; expected \"ip:port\" or \"ip\" with an address in numbers, IPv6 "
                    "in brackets, and a port below 65536",
                    argument, text);
    }
    *name = read;
    return {};
}

}  // namespace advstep::transfer
