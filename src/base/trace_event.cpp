// SPDX-License-Identifier: Apache-2.0
// Writes slices, instants, arrows and names as JSON.

#include "src/base/trace_event.h"

#include <fmt/core.h>

#include <iterator>

namespace advstep {
namespace {

constexpr int64_t kNanosecondsPerMicrosecond = 1000;

std::string Microseconds(int64_t nanoseconds) {
    return fmt::format("{}.{:03}", nanoseconds / kNanosecondsPerMicrosecond,
                       nanoseconds % kNanosecondsPerMicrosecond);
}

// Returns the members with which all events begin; the caller closes the object.
std::string Head(char phase, const TraceTrack& track, std::string_view name) {
    std::string json = "{\"name\":";
    AppendJsonString(name, &json);
    fmt::format_to(std::back_inserter(json), R"(,"ph":"{}","pid":{},"tid":{})", phase,
                   track.process, track.thread);
    return json;
}

std::string HeadAt(char phase, const TraceTrack& track, std::string_view name,
                   std::string_view category, int64_t time) {
    std::string json = Head(phase, track, name);
    json += ",\"cat\":";
    AppendJsonString(category, &json);
    json += ",\"ts\":" + Microseconds(time);
    return json;
}

std::string NameEvent(const TraceTrack& track, std::string_view kind, std::string_view name) {
    TraceArgs args;
    args.Add("name", name);
    return Head('M', track, kind) + ",\"args\":" + args.Json() + "}";
}

std::string OrderEvent(const TraceTrack& track, std::string_view kind, int32_t order) {
    TraceArgs args;
    args.Add("sort_index", order);
    return Head('M', track, kind) + ",\"args\":" + args.Json() + "}";
}

// Returns how many bytes the first character of `text`, which is not empty, has in UTF-8. 0: there
// is none.
size_t CharacterBytes(std::string_view text) {
    const auto byte = [text](size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    const size_t count = first < 0x80   ? 1
                         : first < 0xC2 ? 0
                         : first < 0xE0 ? 2
                         : first < 0xF0 ? 3
                         : first < 0xF5 ? 4
                                        : 0;
    if (count > text.size()) {
        return 0;
    }
    for (size_t at = 1; at < count; ++at) {
        if ((byte(at) & 0xC0) != 0x80) {
            return 0;
        }
    }
    // No longer form of another character, no half of a pair, nothing beyond U+10FFFF.
    const bool isWrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                         (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
    return isWrong ? 0 : count;
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* json) {
    constexpr unsigned char kFirstPrintable = 0x20;
    *json += '"';
    while (!text.empty()) {
        const char c = text.front();
        const size_t count = CharacterBytes(text);
        if (count == 0) {
            *json += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            *json += '\\';
            *json += c;
        } else if (static_cast<unsigned char>(c) < kFirstPrintable) {
            fmt::format_to(std::back_inserter(*json), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            *json += text.substr(0, count);
        }
        text.remove_prefix(count == 0 ? 1 : count);
    }
    *json += '"';
}

void TraceArgs::AddKey(std::string_view key) {
    if (!members_.empty()) {
        members_ += ',';
    }
    AppendJsonString(key, &members_);
    members_ += ':';
}

void TraceArgs::Add(std::string_view key, int64_t value) {
    AddKey(key);
    fmt::format_to(std::back_inserter(members_), "{}", value);
}

void TraceArgs::Add(std::string_view key, std::string_view value) {
    AddKey(key);
    AppendJsonString(value, &members_);
}

std::string SliceEvent(const TraceTrack& track, const TraceSlice& slice, const TraceArgs& args) {
    return HeadAt('X', track, slice.name, slice.category, slice.begin) +
           ",\"dur\":" + Microseconds(slice.end - slice.begin) + ",\"args\":" + args.Json() + "}";
}

std::string LaneEvent(int32_t process, std::string_view lane, const TraceSlice& slice,
                      const TraceArgs& args) {
    std::string json = "{\"name\":";
    AppendJsonString(slice.name, &json);
    fmt::format_to(std::back_inserter(json), R"(,"ph":"X","pid":{},"tid":)", process);
    AppendJsonString(lane, &json);
    json += ",\"cat\":";
    AppendJsonString(slice.category, &json);
    return json + ",\"ts\":" + Microseconds(slice.begin) +
           ",\"dur\":" + Microseconds(slice.end - slice.begin) + ",\"args\":" + args.Json() + "}";
}

std::string InstantEvent(const TraceTrack& track, std::string_view name, std::string_view category,
                         int64_t time, const TraceArgs& args) {
    return HeadAt('i', track, name, category, time) + ",\"s\":\"t\",\"args\":" + args.Json() + "}";
}

std::string ProcessNameEvent(const TraceTrack& track, std::string_view name) {
    return NameEvent(track, "process_name", name) + std::string(kTraceSeparator) +
           OrderEvent(track, "process_sort_index", track.process);
}

std::string ThreadNameEvent(const TraceTrack& track, std::string_view name) {
    return NameEvent(track, "thread_name", name) + std::string(kTraceSeparator) +
           OrderEvent(track, "thread_sort_index", track.thread);
}

std::string ArrowEvents(uint64_t id, std::string_view name, const ArrowEnd& from,
                        const ArrowEnd& to) {
    const std::string_view category = "arrow";
    return HeadAt('s', from.track, name, category, from.time) + fmt::format(",\"id\":{}}}", id) +
           std::string(kTraceSeparator) + HeadAt('f', to.track, name, category, to.time) +
           fmt::format(",\"bp\":\"e\",\"id\":{}}}", id);
}

}  // namespace advstep
