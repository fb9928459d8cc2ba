// SPDX-License-Identifier: Apache-2.0
// Reads rank tables.

#include "src/hccl/rank_table.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace advstep::hccl {
namespace {

using Json = nlohmann::json;

constexpr std::streamsize kMostBytes = std::streamsize{64} << 20;

Outcome Wrong(const char* path, const std::string& what) {
    return Error(HCCL_E_PARA, "clusterInfo \"", path, "\" ", what,
                 "; expected {\"server_list\": [{\"server_id\": address, \"device\": "
                 "[{\"device_id\": number, \"rank_id\": number}, ...]}, ...]}");
}

// A number, or a text of digits.
bool NumberOf(const Json& object, const char* key, uint32_t* number) {
    const auto found = object.find(key);
    if (found == object.end()) {
        return false;
    }
    if (found->is_number_unsigned()) {
        const auto value = found->get<uint64_t>();
        *number = static_cast<uint32_t>(value);
        return value < 65536;
    }
    if (!found->is_string()) {
        return false;
    }
    const auto text = found->get<std::string>();
    if (text.empty() || text.size() > 5 ||
        text.find_first_not_of("0123456789") != std::string::npos) {
        return false;
    }
    *number = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
    return true;
}

Outcome ReadFile(const char* path, std::string* text) {
    std::ifstream file(path, std::ios::binary);
    if (file) {
        text->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return file && !text->empty() && static_cast<std::streamsize>(text->size()) <= kMostBytes
               ? Outcome{}
               : Error(HCCL_E_OPEN_FILE_FAILURE, "clusterInfo \"", path,
                       "\" cannot be read, or is empty; expected a rank table");
}

// What is known while the entries are read.
struct Entries {
    std::set<uint32_t> ranks;
    std::string rootServer;
    uint32_t rootDevice = 0;
};

Outcome ReadServer(const char* path, const Json& server, Entries* entries) {
    const auto devices = server.find("device");
    const auto id = server.find("server_id");
    if (!server.is_object() || devices == server.end() || !devices->is_array() ||
        id == server.end() || !id->is_string()) {
        return Wrong(path, "has a server without device or server_id");
    }
    for (const Json& device : *devices) {
        uint32_t rank = 0;
        uint32_t number = 0;
        if (!device.is_object() || !NumberOf(device, "rank_id", &rank) ||
            !NumberOf(device, "device_id", &number)) {
            return Wrong(path, "has a device without rank_id or device_id");
        }
        if (!entries->ranks.insert(rank).second) {
            return Wrong(path, Text("has rank_id ", rank, " twice"));
        }
        if (rank == 0) {
            entries->rootServer = id->get<std::string>();
            entries->rootDevice = number;
        }
    }
    return {};
}

}  // namespace

Outcome ReadRankTable(const char* path, const Settings& settings, RankTable* table) {
    std::string text;
    ADVSTEP_HCCL_TRY(ReadFile(path, &text));
    const Json whole = Json::parse(text, nullptr, false);
    if (!whole.is_object()) {
        return Wrong(path, "is no JSON object");
    }
    const auto servers = whole.find("server_list");
    if (servers == whole.end() || !servers->is_array() || servers->empty()) {
        return Wrong(path, "has no server_list");
    }
    Entries entries;
    for (const Json& server : *servers) {
        ADVSTEP_HCCL_TRY(ReadServer(path, server, &entries));
    }
    if (entries.ranks.empty() || *entries.ranks.rbegin() != entries.ranks.size() - 1) {
        return Wrong(path, Text("has ", entries.ranks.size(), " ranks, which are not 0 and up"));
    }
    table->ranks = static_cast<uint32_t>(entries.ranks.size());
    table->place.endpoint.address = servers->size() == 1 ? "127.0.0.1" : entries.rootServer;
    table->place.endpoint.port =
        static_cast<uint16_t>((settings.basePort + entries.rootDevice) % 65536);
    table->place.key = DeriveKey({}, text.data(), text.size());
    return {};
}

}  // namespace advstep::hccl
