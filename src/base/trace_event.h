// SPDX-License-Identifier: Apache-2.0
// Events of the Trace Event Format, which chrome://tracing and Perfetto read, as JSON text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace advstep {

/// The row in which an event is drawn.
struct TraceTrack {
    int32_t process = 0;
    int32_t thread = 0;
};

/// Appends `text` as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string* json);

/// The details of an event besides its name and time, which are the members of its object "args".
class TraceArgs {
 public:
    void Add(std::string_view key, int64_t value);
    void Add(std::string_view key, std::string_view value);

    /// Returns the whole object.
    std::string Json() const { return "{" + members_ + "}"; }

 private:
    void AddKey(std::string_view key);

    std::string members_;
};

// All times here are in nanoseconds since the start of the trace. The format has microseconds.

struct TraceSlice {
    std::string_view name;
    std::string_view category;
    int64_t begin = 0;
    int64_t end = 0;  // not before `begin`
};

std::string SliceEvent(const TraceTrack& track, const TraceSlice& slice, const TraceArgs& args);

/// Returns a slice of a lane that has a name in place of a number.
std::string LaneEvent(int32_t process, std::string_view lane, const TraceSlice& slice,
                      const TraceArgs& args);

/// Returns an event without a duration.
std::string InstantEvent(const TraceTrack& track, std::string_view name, std::string_view category,
                         int64_t time, const TraceArgs& args);

/// These functions return events that name the track's process or thread. Both are drawn in the
/// order of their numbers.
std::string ProcessNameEvent(const TraceTrack& track, std::string_view name);
std::string ThreadNameEvent(const TraceTrack& track, std::string_view name);

/// One end of an arrow. It is drawn at the slice of the track at that time.
struct ArrowEnd {
    TraceTrack track;
    int64_t time = 0;
};

/// Returns both ends of an arrow as two events. Each arrow needs an `id` of its own.
std::string ArrowEvents(uint64_t id, std::string_view name, const ArrowEnd& from,
                        const ArrowEnd& to);

/// The text between two events of a file.
inline constexpr std::string_view kTraceSeparator = ",\n";

}  // namespace advstep
