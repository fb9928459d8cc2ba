// SPDX-License-Identifier: Apache-2.0
// Reads the environment variables of HCCL.

#include "src/hccl/settings.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "src/hccl/socket.h"

namespace advstep::hccl {
namespace {

Outcome ReadNumber(const char* name, uint64_t least, uint64_t most, uint64_t* value) {
    const char* const text = secure_getenv(name);
    if (text == nullptr || *text == '\0') {
        return {};
    }
    uint64_t number = 0;
    bool valid = std::strlen(text) <= 10;
    for (const char* at = text; *at != '\0' && valid; ++at) {
        valid = *at >= '0' && *at <= '9';
        number = number * 10 + static_cast<uint64_t>(*at - '0');
    }
    if (!valid || number < least || number > most) {
        return Error(HCCL_E_PARA, name, " is \"", text, "\"; expected a number in [", least, ", ",
                     most, "]");
    }
    *value = number;
    return {};
}

bool IsAddress(const char* text) {
    in6_addr room{};
    return inet_pton(AF_INET, text, &room) == 1 || inet_pton(AF_INET6, text, &room) == 1;
}

std::string AddressOf(const sockaddr& address) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.sa_family == AF_INET) {
        (void)inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text,
                        sizeof text);
    }
    return text;
}

// HCCL_SOCKET_IFNAME: names or beginnings of names of interfaces, "=eth0" for the whole name.
Outcome AddressOfInterface(const char* names, std::string* address) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) {
        return Error(HCCL_E_SYSCALL, "getifaddrs failed: ", ErrorText(errno));
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, &freeifaddrs);
    const bool whole = names[0] == '=';
    const std::string list = Text(whole ? names + 1 : names, ",");
    for (size_t begin = 0, end; (end = list.find(',', begin)) != std::string::npos;
         begin = end + 1) {
        const std::string name = list.substr(begin, end - begin);
        for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
            if (name.empty() || each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) {
                continue;
            }
            const std::string own = each->ifa_name;
            const std::string found = AddressOf(*each->ifa_addr);
            if (!found.empty() && (whole ? own == name : own.compare(0, name.size(), name) == 0)) {
                *address = found;
                return {};
            }
        }
    }
    return Error(HCCL_E_PARA, "HCCL_SOCKET_IFNAME is \"", names,
                 "\"; expected interfaces of this host that are up and have an address of IPv4");
}

Outcome ReadAddress(std::string* address) {
    const char* const ip = secure_getenv("HCCL_IF_IP");
    if (ip != nullptr && *ip != '\0') {
        *address = ip;
        return IsAddress(ip) ? Outcome{}
                             : Error(HCCL_E_PARA, "HCCL_IF_IP is \"", ip,
                                     "\"; expected an address of IPv4 or IPv6");
    }
    const char* const names = secure_getenv("HCCL_SOCKET_IFNAME");
    return names == nullptr || *names == '\0' ? Outcome{} : AddressOfInterface(names, address);
}

}  // namespace

Outcome ReadSettings(Settings* settings) {
    uint64_t connect = settings->connectSeconds;
    uint64_t execute = settings->executeSeconds;
    uint64_t port = settings->basePort;
    ADVSTEP_HCCL_TRY(ReadNumber("HCCL_CONNECT_TIMEOUT", 1, 7200, &connect));
    ADVSTEP_HCCL_TRY(ReadNumber("HCCL_EXEC_TIMEOUT", 0, 2147483647, &execute));
    ADVSTEP_HCCL_TRY(ReadNumber("HCCL_IF_BASE_PORT", 1024, 65520, &port));
    settings->connectSeconds = static_cast<uint32_t>(connect);
    settings->executeSeconds = static_cast<uint32_t>(execute);
    settings->basePort = static_cast<uint16_t>(port);
    return ReadAddress(&settings->address);
}

}  // namespace advstep::hccl
