// SPDX-License-Identifier: Apache-2.0
// The file of ADVANCE_STEP_TRACE, read back: slices, instants and arrows by track.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_DEVICE_TRACE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_DEVICE_TRACE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace support {

class DeviceTrace {
 public:
    struct Slice {
        std::string process;
        std::string track;
        std::string name;
        std::string category;
        int64_t begin = 0;  // nanoseconds
        int64_t end = 0;
        nlohmann::json args;

        int64_t Arg(const char* key) const { return args.value(key, int64_t{-1}); }
        bool Within(const Slice& other) const { return begin >= other.begin && end <= other.end; }
    };
    struct Arrow {
        Slice from;
        Slice to;
    };

    // Fails the test if the file is not a trace in which every event has its place.
    explicit DeviceTrace(const std::string& path) {
        std::ifstream file(path);
        nlohmann::json root = nlohmann::json::parse(file, nullptr, false);
        if (!root.is_object() || !root.contains("traceEvents")) {
            ADD_FAILURE() << path << " is no trace";
            return;
        }
        events_ = std::move(root["traceEvents"]);
        ReadNames();
        ReadSlices();
        ReadArrows();
        ExpectNesting();
    }

    const std::vector<Slice>& Slices() const { return slices_; }
    const std::vector<Slice>& Instants() const { return instants_; }
    const std::vector<Arrow>& Arrows() const { return arrows_; }
    const std::set<std::string>& Processes() const { return processNames_; }

    std::vector<Slice> Named(const std::string& name, const std::string& track = "") const {
        std::vector<Slice> found;
        for (const Slice& slice : slices_) {
            if (slice.name == name && (track.empty() || slice.track == track)) {
                found.push_back(slice);
            }
        }
        return found;
    }
    // The only one of that name there.
    Slice One(const std::string& name, const std::string& track) const {
        const std::vector<Slice> found = Named(name, track);
        EXPECT_EQ(found.size(), 1U) << name << " on " << track;
        return found.empty() ? Slice{} : found.front();
    }
    // Names on a track, in order of time.
    std::vector<std::string> On(const std::string& track) const {
        std::vector<Slice> there;
        std::copy_if(slices_.begin(), slices_.end(), std::back_inserter(there),
                     [&](const Slice& slice) { return slice.track == track; });
        std::sort(there.begin(), there.end(),
                  [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
        std::vector<std::string> names;
        for (const Slice& slice : there) {
            names.push_back(slice.name);
        }
        return names;
    }
    std::set<std::string> Tracks() const {
        std::set<std::string> tracks;
        for (const Slice& slice : slices_) {
            tracks.insert(slice.track);
        }
        return tracks;
    }

 private:
    using Place = std::pair<int64_t, int64_t>;  // process and thread

    static Place PlaceOf(const nlohmann::json& event) { return {event["pid"], event["tid"]}; }
    static int64_t Nanoseconds(const nlohmann::json& microseconds) {
        return std::llround(microseconds.get<double>() * 1000);
    }

    void ReadNames() {
        for (const nlohmann::json& event : events_) {
            if (event["ph"] != "M") {
                continue;
            }
            if (event["name"] == "process_name") {
                const std::string name = event["args"]["name"];
                EXPECT_TRUE(processes_.emplace(event["pid"].get<int64_t>(), name).second) << event;
                EXPECT_TRUE(processNames_.insert(name).second) << event;
            } else if (event["name"] == "thread_name") {
                EXPECT_TRUE(tracks_.emplace(PlaceOf(event), event["args"]["name"]).second) << event;
            }
        }
    }

    void ReadSlices() {
        for (const nlohmann::json& event : events_) {
            if (event["ph"] != "X" && event["ph"] != "i") {
                continue;
            }
            Slice slice;
            EXPECT_EQ(processes_.count(event["pid"].get<int64_t>()), 1U) << event;
            EXPECT_EQ(tracks_.count(PlaceOf(event)), 1U) << event;
            slice.process = processes_[event["pid"].get<int64_t>()];
            slice.track = tracks_[PlaceOf(event)];
            slice.name = event["name"];
            slice.category = event["cat"];
            slice.begin = Nanoseconds(event["ts"]);
            slice.end = slice.begin;
            slice.args = event["args"];
            if (event["ph"] == "i") {
                instants_.push_back(std::move(slice));
            } else {
                slice.end += Nanoseconds(event["dur"]);
                byPlace_[PlaceOf(event)].push_back(slice);
                slices_.push_back(std::move(slice));
            }
        }
    }

    Slice SliceAt(const nlohmann::json& event) {
        const int64_t time = Nanoseconds(event["ts"]);
        for (const Slice& slice : byPlace_[PlaceOf(event)]) {
            if (slice.begin <= time && (time < slice.end || slice.begin == slice.end)) {
                return slice;
            }
        }
        ADD_FAILURE() << "no slice at " << event;
        return {};
    }

    void ReadArrows() {
        std::map<int64_t, nlohmann::json> starts;
        std::map<int64_t, nlohmann::json> ends;
        for (const nlohmann::json& event : events_) {
            if (event["ph"] == "s") {
                EXPECT_TRUE(starts.emplace(event["id"].get<int64_t>(), event).second) << event;
            } else if (event["ph"] == "f") {
                EXPECT_TRUE(ends.emplace(event["id"].get<int64_t>(), event).second) << event;
            }
        }
        EXPECT_EQ(starts.size(), ends.size());
        for (const auto& [id, start] : starts) {
            ASSERT_EQ(ends.count(id), 1U) << start;
            const nlohmann::json& end = ends[id];
            EXPECT_EQ(start["name"], end["name"]);
            EXPECT_EQ(start["cat"], end["cat"]);
            EXPECT_EQ(end["bp"], "e");
            EXPECT_LE(Nanoseconds(start["ts"]), Nanoseconds(end["ts"])) << start << end;
            arrows_.push_back({SliceAt(start), SliceAt(end)});
        }
    }

    // Here nothing runs inside anything else: one ends before the next begins.
    void ExpectNesting() {
        for (auto& [place, slices] : byPlace_) {
            std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
                return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
            for (size_t i = 1; i < slices.size(); ++i) {
                EXPECT_GE(slices[i].begin, slices[i - 1].end)
                    << slices[i - 1].name << " and " << slices[i].name << " on " << slices[i].track;
            }
        }
    }

    nlohmann::json events_ = nlohmann::json::array();
    std::map<int64_t, std::string> processes_;
    std::set<std::string> processNames_;
    std::map<Place, std::string> tracks_;
    std::map<Place, std::vector<Slice>> byPlace_;
    std::vector<Slice> slices_;
    std::vector<Slice> instants_;
    std::vector<Arrow> arrows_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_DEVICE_TRACE_H_
