// SPDX-License-Identifier: Apache-2.0
// Compiled before each source of the library, it puts the controlled scheduler below the source.
//
// After this header the name std means controlled_std: the standard library except for the types of
// synchronisation, time and threads. So the sources themselves know nothing of schedules, code that
// is new is under control without any effort, and a normal build has the standard library and
// nothing else.
//
// Headers that are the standard library's own, or that add to namespace std, come first. One that
// is missing here does not compile.

#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/schedules/controlled.h"

namespace controlled_std {

using namespace ::std;
using ::schedules::atomic;
using ::schedules::condition_variable;
using ::schedules::mutex;
using ::schedules::shared_mutex;
using ::schedules::thread;

namespace chrono {
using namespace ::std::chrono;
using ::schedules::steady_clock;
}  // namespace chrono

namespace this_thread {
inline thread::id get_id() { return {::schedules::Self()}; }
using ::schedules::SleepFor;
template <typename Rep, typename Period>
void sleep_for(const ::std::chrono::duration<Rep, Period>& time) {
    SleepFor(time);
}
}  // namespace this_thread

}  // namespace controlled_std

// The calls for a thread of the operating system, of which all threads here are a part. Lookup
// finds them before those of the system.
namespace advstep {

inline pthread_t pthread_self() { return static_cast<pthread_t>(::schedules::Self()) + 1; }
template <typename... Arguments>
int pthread_setname_np(Arguments&&...) {
    return 0;
}
template <typename... Arguments>
int pthread_setcancelstate(Arguments&&...) {
    return 0;
}
template <typename... Arguments>
int pthread_sigmask(Arguments&&...) {
    return 0;
}
template <typename... Arguments>
int sched_setaffinity(Arguments&&...) {
    return 0;
}
template <typename... Arguments>
int prctl(Arguments&&...) {
    return 0;
}

}  // namespace advstep

#define std controlled_std
