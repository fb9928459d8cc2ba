// SPDX-License-Identifier: Apache-2.0
// Reads the processor's name and the load of other programs.

#include "tests/benchmark/dashboard/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>

namespace bench {
namespace {

double Now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double Seconds(const timeval& time) {
    constexpr double kMicroseconds = 1e6;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kMicroseconds;
}

// Core seconds that all programs, less this one, and the host have taken. /proc/stat begins with
// "cpu" and the times, in ticks, of user, nice, system, idle, iowait, irq, softirq and steal.
double OthersSeconds() {
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softIrq = 0, steal = 0;
    if (!(file >> name >> user >> nice >> system >> idle >> wait >> irq >> softIrq >> steal)) {
        return 0;
    }
    const double all =
        (user + nice + system + irq + softIrq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    return all - Seconds(own.ru_utime) - Seconds(own.ru_stime);
}

}  // namespace

std::string CpuModel() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) == 0) {
            return line.substr(std::min(line.find(": ") + 2, line.size()));
        }
    }
    return "unknown";
}

OtherLoad::OtherLoad() : begin_(Now()), others_(OthersSeconds()) {}

double OtherLoad::Cores() const {
    const double seconds = Now() - begin_;
    return seconds > 0 ? std::max(0.0, OthersSeconds() - others_) / seconds : 0;
}

}  // namespace bench
