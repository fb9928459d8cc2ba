// SPDX-License-Identifier: Apache-2.0
// Reads the memory of the host and the limits of control groups.

#include "src/base/host_memory.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <sstream>

#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// Returns the number after `key` in a file of lines "key number"; without a key, the number that is
// the file. "max" is no number.
uint64_t ReadNumber(const std::string& path, const std::string& key, uint64_t otherwise) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string word;
        uint64_t number = 0;
        if ((key.empty() || (words >> word && word == key)) && words >> number) {
            return number;
        }
    }
    return otherwise;
}

struct GroupFiles {
    const char* mount;
    const char* limit;
    const char* use;
    const char* cache;  // the line of memory.stat that counts what the system drops when it must
};

constexpr GroupFiles kVersion1 = {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes",
                                  "/memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2 = {"/sys/fs/cgroup", "/memory.max", "/memory.current",
                                  "inactive_file"};

// Applies the limits of a group and of those around it. Inside a container the path of the group
// may be one of the host, which is not there: the mounted folder itself is the container's group
// then.
void LimitByGroups(const std::string& root, const GroupFiles& files, std::string group,
                   HostMemory* memory) {
    for (;;) {
        const std::string folder = root + files.mount + group;
        const uint64_t limit = ReadNumber(folder + files.limit, "", kUnlimited);
        if (limit < memory->capacity) {
            memory->capacity = limit;
        }
        if (limit != kUnlimited) {
            const uint64_t use = ReadNumber(folder + files.use, "", 0);
            const uint64_t cache = ReadNumber(folder + "/memory.stat", files.cache, 0);
            const uint64_t held = use - std::min(use, cache);
            memory->available = std::min(memory->available, limit - std::min(limit, held));
        }
        if (group.empty()) {
            return;
        }
        group.erase(group.find_last_of('/'));
    }
}

// Calls `visit(files, path)` for the groups of the process that limit memory. Lines of
// /proc/self/cgroup are "number:controllers:path"; version 2 has number 0 and no controllers.
template <typename Visit>
void ForEachGroup(const std::string& root, const Visit& visit) {
    std::ifstream file(root + "/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        const size_t first = line.find(':');
        const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string path = line.substr(second + 1);
        if (path.empty() || path.front() != '/' || path == "/") {
            path.clear();
        }
        if (controllers == ",,") {
            visit(kVersion2, path);
        } else if (controllers.find(",memory,") != std::string::npos) {
            visit(kVersion1, path);
        }
    }
}

// The first look, 0 before it. It is the only one, because every look finds another number: a
// program that ends the runtime and starts it again expects the devices that it had. Threads that
// look at the same time agree on one of the numbers.
std::atomic<uint64_t> firstCapacity{0};
std::atomic<uint64_t> firstShare{0};

uint64_t KeepFirst(std::atomic<uint64_t>* number, uint64_t found) {
    uint64_t known = 0;
    found = std::max<uint64_t>(found, 1);
    return number->compare_exchange_strong(known, found) ? found : known;
}

}  // namespace

HostMemory ReadHostMemory(const std::string& root) {
    const NoCancellation noCancellation;  // files are opened and read
    constexpr uint64_t kKiB = 1024;
    const std::string path = root + "/proc/meminfo";
    const auto read = [&](const char* key, uint64_t otherwise) {
        const uint64_t number = ReadNumber(path, key, otherwise);
        return number > kUnlimited / kKiB ? kUnlimited : number * kKiB;
    };
    const uint64_t total = read("MemTotal:", kUnlimited);
    const uint64_t swap = read("SwapTotal:", 0);
    HostMemory memory;
    memory.capacity = total > kUnlimited - swap ? kUnlimited : total + swap;
    memory.available = std::min(read("MemAvailable:", total), total);
    ForEachGroup(root, [&](const GroupFiles& files, const std::string& group) {
        LimitByGroups(root, files, group, &memory);
    });
    return memory;
}

uint64_t HostCapacity() {
    const uint64_t known = firstCapacity.load(std::memory_order_relaxed);
    return known != 0 ? known : KeepFirst(&firstCapacity, ReadHostMemory().capacity);
}

uint64_t HostShareOfDevices() {
    const uint64_t known = firstShare.load(std::memory_order_relaxed);
    return known != 0 ? known : KeepFirst(&firstShare, ReadHostMemory().available / 8 * 7);
}

}  // namespace advstep
