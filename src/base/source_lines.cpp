// SPDX-License-Identifier: Apache-2.0
// Asks llvm-symbolizer or addr2line for the source lines of addresses, and keeps the answers.

#include "src/base/source_lines.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/base/at_load.h"
#include "src/base/child_output.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"

namespace advstep {
namespace {

using SourceClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMostTime(5);  // of all runs of a process
constexpr std::chrono::seconds kMostTimeOfRun(2);
constexpr size_t kMostAddresses = 256;  // of one run, since arguments have a limit

std::atomic<bool> lookUpSources{true};
const AtLoad readSourceSetting([] {
    const char* const text = secure_getenv("ADVANCE_STEP_SOURCE_LINES");
    lookUpSources.store(text == nullptr || std::strcmp(text, "off") != 0);
});

// A place in a file, as the tools take it.
struct FilePlace {
    std::string file;
    uint64_t address = 0;  // of the file, before it was loaded

    bool operator<(const FilePlace& other) const {
        return std::tie(file, address) < std::tie(other.file, other.address);
    }
};

// What is known. mutex guards everything, also while a tool runs. The child of a fork knows
// nothing.
struct Sources {
    std::mutex mutex;
    bool searched = false;          // the tool
    std::vector<std::string> tool;  // its path and options; empty: there is none
    SourceClock::duration spent{};
    std::map<FilePlace, SourcePlace> places;
    std::map<std::string, bool> useful;  // files, and whether the tool is worth asking about them
};

Sources& TheSources() {
    static NeverDestroyed<Sources> sources;
    return *sources;
}

// The files.

std::string ProgramFile() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

FilePlace FilePlaceOf(const void* address) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
        map == nullptr) {
        return {};
    }
    const bool isProgram = map->l_name == nullptr || *map->l_name == '\0';
    return {isProgram ? ProgramFile() : map->l_name,
            reinterpret_cast<uintptr_t>(address) - map->l_addr};
}

// Returns whether a file has a table of symbols. A stripped library has none, and the tools would
// only repeat the names of exported functions.
bool HasSymbols(const std::string& path) {
    const int file = OpenFile(path.c_str(), O_RDONLY);
    if (file < 0) {
        return false;
    }
    bool found = false;
    ElfW(Ehdr) head{};
    if (pread(file, &head, sizeof(head), 0) == static_cast<ssize_t>(sizeof(head)) &&
        std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0) {
        for (unsigned i = 0; i < head.e_shnum && !found; ++i) {
            ElfW(Shdr) section{};
            const auto at = static_cast<off_t>(head.e_shoff + i * sizeof(section));
            found = pread(file, &section, sizeof(section), at) ==
                        static_cast<ssize_t>(sizeof(section)) &&
                    section.sh_type == SHT_SYMTAB;
        }
    }
    (void)close(file);
    return found;
}

// The tool.

std::vector<std::string> FindTool() {
    const char* const path = secure_getenv("PATH");
    for (const std::vector<std::string>& tool :
         {std::vector<std::string>{"llvm-symbolizer", "--output-style=GNU", "--functions",
                                   "--demangle", "--inlines", "--addresses", "--exe"},
          std::vector<std::string>{"addr2line", "-f", "-C", "-i", "-a", "-e"}}) {
        std::istringstream folders(path != nullptr ? path : "");
        for (std::string folder; std::getline(folders, folder, ':');) {
            std::vector<std::string> found = tool;
            found[0] = folder + "/" + tool[0];
            if (!folder.empty() && folder[0] == '/' && access(found[0].c_str(), X_OK) == 0) {
                return found;
            }
        }
    }
    return {};
}

// The answer: "0xADDRESS", then for each function, the innermost first, its name and its place.

// Returns FILE:LINE without the folder in which the program runs, or "" if the line is unknown.
std::string SourceLineOf(std::string_view text, const std::string& folder) {
    text = text.substr(0, text.find(" (discriminator"));
    const size_t colon = text.rfind(':');
    const std::string_view number = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    if (number.empty() || number[0] < '1' || number[0] > '9') {
        return "";
    }
    if (!folder.empty() && text.substr(0, folder.size()) == folder) {
        text.remove_prefix(folder.size());
    }
    return std::string(text);
}

std::string CurrentFolder() {
    char folder[PATH_MAX];
    return getcwd(folder, sizeof(folder)) != nullptr ? std::string(folder) + "/" : std::string();
}

bool IsAddress(const std::string& line) { return line.compare(0, 2, "0x") == 0; }

void KeepAnswers(const std::string& output, const std::string& file, Sources* sources) {
    const std::string folder = CurrentFolder();
    std::istringstream lines(output);
    SourcePlace* place = nullptr;
    std::string innermost;
    for (std::string first; std::getline(lines, first);) {
        if (IsAddress(first)) {
            const FilePlace asked{file, std::strtoull(first.c_str(), nullptr, 16)};
            const auto known = sources->places.find(asked);
            place = known != sources->places.end() ? &known->second : nullptr;
            innermost.clear();
            continue;
        }
        std::string second;
        if (!std::getline(lines, second) || place == nullptr) {
            continue;
        }
        const std::string line = SourceLineOf(second, folder);
        place->function = first.compare(0, 2, "??") == 0 ? std::string() : first;
        place->line = innermost.empty() || line.empty() ? line : line + ", in " + innermost;
        innermost = innermost.empty() ? line : innermost;
    }
}

void AskTool(const std::string& file, const std::vector<uint64_t>& addresses, Sources* sources) {
    std::vector<std::string> arguments = sources->tool;
    arguments.push_back(file);
    for (const uint64_t address : addresses) {
        arguments.push_back(fmt::format("{:#x}", address));
    }
    const SourceClock::time_point begin = SourceClock::now();
    const SourceClock::duration left =
        std::min<SourceClock::duration>(kMostTimeOfRun, kMostTime - sources->spent);
    std::string output;
    if (ReadOutputOf(arguments, begin + left, &output)) {
        KeepAnswers(output, file, sources);
    } else {
        sources->useful[file] = false;
    }
    sources->spent += SourceClock::now() - begin;
}

bool IsUseful(const std::string& file, Sources* sources) {
    const auto known = sources->useful.find(file);
    return known != sources->useful.end()
               ? known->second
               : (sources->useful[file] = !file.empty() && HasSymbols(file));
}

// Asks about the places that are not known yet.
void AskAbout(const std::vector<FilePlace>& places, Sources* sources) {
    std::map<std::string, std::vector<uint64_t>> questions;
    for (const FilePlace& place : places) {
        if (IsUseful(place.file, sources) && sources->places.try_emplace(place).second) {
            questions[place.file].push_back(place.address);
        }
    }
    for (const auto& [file, addresses] : questions) {
        for (size_t begin = 0; begin < addresses.size(); begin += kMostAddresses) {
            if (sources->spent < kMostTime && sources->useful[file]) {
                const size_t end = std::min(addresses.size(), begin + kMostAddresses);
                AskTool(file, {addresses.data() + begin, addresses.data() + end}, sources);
            }
        }
    }
}

}  // namespace

void SetSourceLines(bool on) noexcept { lookUpSources.store(on); }

std::vector<SourcePlace> FindSourcePlaces(const std::vector<const void*>& addresses) {
    std::vector<SourcePlace> found(addresses.size());
    if (!lookUpSources.load()) {
        return found;
    }
    const NoCancellation noCancellation;
    std::vector<FilePlace> places;
    places.reserve(addresses.size());
    for (const void* const address : addresses) {
        places.push_back(FilePlaceOf(address));
    }
    Sources& sources = TheSources();
    const std::lock_guard<std::mutex> lock(sources.mutex);
    if (!sources.searched) {
        sources.searched = true;
        sources.tool = FindTool();
    }
    if (sources.tool.empty()) {
        return found;
    }
    AskAbout(places, &sources);
    for (size_t i = 0; i < places.size(); ++i) {
        const auto known = sources.places.find(places[i]);
        if (known != sources.places.end()) {
            found[i] = known->second;
        }
    }
    return found;
}

}  // namespace advstep
