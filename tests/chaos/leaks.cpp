// SPDX-License-Identifier: Apache-2.0
// Counts files, threads, device memory and streams.
#include "chaos/leaks.h"

#include <dirent.h>
#include <unistd.h>

#include <vector>

#include "acl/acl.h"

namespace chaos {
namespace {

// Each of the library's two pools of pages keeps its last file.
constexpr size_t kKeptFiles = 2;

std::vector<std::string> EntriesOf(const char* folder) {
    std::vector<std::string> names;
    if (DIR* const entries = opendir(folder)) {
        while (const dirent* entry = readdir(entries)) {
            names.emplace_back(entry->d_name);
        }
        closedir(entries);
    }
    return names;
}

// What the process's open files are.
std::vector<std::string> OpenFiles() {
    std::vector<std::string> files;
    for (const std::string& name : EntriesOf("/proc/self/fd")) {
        char target[200] = {};
        if (readlink(("/proc/self/fd/" + name).c_str(), target, sizeof(target) - 1) > 0) {
            files.emplace_back(target);
        }
    }
    return files;
}

bool IsMemory(const std::string& file) { return file.rfind("/memfd:", 0) == 0; }

}  // namespace

Belongings TakeStock() {
    Belongings stock;
    size_t free = 0;
    size_t total = 0;
    (void)aclInit(nullptr);
    (void)aclrtSetDevice(0);
    (void)aclrtGetMemInfo(ACL_HBM_MEM, &free, &total);
    (void)aclrtGetStreamAvailableNum(&stock.streams);
    stock.usedMemory = total - free;
    (void)aclFinalize();
    for (const std::string& file : OpenFiles()) {
        ++(IsMemory(file) ? stock.memoryFiles : stock.files);
    }
    stock.threads = EntriesOf("/proc/self/task").size();
    return stock;
}

std::string Lost(const Belongings& before, const Belongings& after) {
    std::string text;
    const auto compare = [&text](const char* what, uint64_t was, uint64_t is) {
        if (was != is) {
            text += std::string(text.empty() ? "" : ", ") + what + " were " + std::to_string(was) +
                    " and are " + std::to_string(is);
        }
    };
    compare("open files", before.files, after.files);
    if (!text.empty()) {
        for (const std::string& file : OpenFiles()) {
            text += "\n    " + file;
        }
        text += "\n";
    }
    compare("threads", before.threads, after.threads);
    compare("bytes of device memory in use", before.usedMemory, after.usedMemory);
    compare("streams that can be made", before.streams, after.streams);
    if (after.memoryFiles > kKeptFiles) {
        text += (text.empty() ? "" : ", ") + std::to_string(after.memoryFiles) +
                " files in memory are open";
    }
    return text;
}

}  // namespace chaos
