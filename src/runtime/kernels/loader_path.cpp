// SPDX-License-Identifier: Apache-2.0
// Makes paths for the dynamic linker, and keeps those of files that it has opened.

#include "src/runtime/kernels/loader_path.h"

#include <atomic>
#include <climits>
#include <cstdint>
#include <map>
#include <mutex>

#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

struct OpenedFile {
    struct stat state;
    std::string loaded;
};

struct OpenedFiles {
    std::mutex mutex;  // guards the map
    std::map<std::string, OpenedFile> byPath;
};

OpenedFiles& TheOpenedFiles() {
    static NeverDestroyed<OpenedFiles> files;
    return *files;
}

// A replaced file has another inode. One that is renamed or changed has another time.
bool IsSameFile(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
           a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

}  // namespace

std::string NewLoaderPath(const std::string& path) {
    static std::atomic<uint64_t> calls{0};  // goes on in the child of a fork, as the linker's paths
    std::string result = "/";
    for (uint64_t rest = calls.fetch_add(1) + 2; rest > 1; rest /= 2) {
        result += (rest & 1) != 0 ? "/" : "./";
    }
    result.append(path, 1, std::string::npos);
    return result.size() < PATH_MAX ? result : path;
}

std::string LoaderPathOf(const std::string& path, const struct stat& file) {
    OpenedFiles& files = TheOpenedFiles();
    const std::lock_guard<std::mutex> lock(files.mutex);
    const auto found = files.byPath.find(path);
    return found != files.byPath.end() && IsSameFile(found->second.state, file)
               ? found->second.loaded
               : NewLoaderPath(path);
}

void NoteLoaderPath(const std::string& path, const struct stat& file, const std::string& loaded) {
    struct stat now {};
    const bool same = stat(path.c_str(), &now) == 0 && IsSameFile(now, file);
    OpenedFiles& files = TheOpenedFiles();
    const std::lock_guard<std::mutex> lock(files.mutex);
    const auto found = files.byPath.find(path);
    if (same) {
        files.byPath.insert_or_assign(path, OpenedFile{file, loaded});
    } else if (found != files.byPath.end() && found->second.loaded == loaded) {
        files.byPath.erase(found);
    }
}

}  // namespace advstep
