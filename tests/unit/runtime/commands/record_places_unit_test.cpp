// SPDX-License-Identifier: Apache-2.0
// Which events without a use are no mistake.
#include "src/runtime/commands/record_places.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "unit/runtime/stream/stream_bench.h"

namespace advstep {
namespace {

// Stacks of one place of the test differ by their script only.
CallStack StackOf(const char* line) {
    CallStack stack{};
    stack.script = line;
    return stack;
}

class RecordPlacesTest : public testing::Test {
 protected:
    static constexpr Handle kStream = 7;
    static constexpr const char* kCall = "record";
    static constexpr const char* kOther = "record elsewhere";

    RecordPlaces::Place Enter(uint64_t sequence) {
        return places_.Enter({&streams_[0], sequence}, CapturePlace());
    }
    void Use(const RecordPlaces::Place& place, const char* call = kOther, Handle stream = kStream) {
        places_.Use(place, StackOf(call), stream);
    }
    // Ends an event that had no use. Returns the events that are told then.
    std::vector<Handle> End(RecordPlaces::Place* place, Handle event) {
        const UnusedEvent unused{event, kStream, StackOf(kCall)};
        std::vector<Handle> told;
        for (const UnusedEvent& one : places_.Leave(std::move(*place), &unused)) {
            told.push_back(one.event);
        }
        return told;
    }
    size_t Leave(RecordPlaces::Place* place) {
        return places_.Leave(std::move(*place), nullptr).size();
    }

    Stream streams_[2];
    RecordPlaces places_;
};

using Handles = std::vector<Handle>;

TEST_F(RecordPlacesTest, AnEventAloneIsToldAtItsEnd) {
    RecordPlaces::Place place = Enter(4);
    EXPECT_EQ(End(&place, 1), Handles{1});
}

TEST_F(RecordPlacesTest, TheUseOfItsNeighbourExcusesIt) {
    RecordPlaces::Place work = Enter(4);
    RecordPlaces::Place future = Enter(5);
    Use(work);
    EXPECT_EQ(End(&future, 1), Handles{});
    EXPECT_EQ(Leave(&work), 0U);
}

TEST_F(RecordPlacesTest, ItsNeighbourMayBeUsedLater) {
    RecordPlaces::Place work = Enter(4);
    RecordPlaces::Place future = Enter(5);
    EXPECT_EQ(End(&future, 1), Handles{});
    Use(work);
    EXPECT_EQ(Leave(&work), 0U);
}

TEST_F(RecordPlacesTest, NeighboursWithoutAUseAreToldTogether) {
    RecordPlaces::Place first = Enter(4);
    RecordPlaces::Place second = Enter(5);
    RecordPlaces::Place third = Enter(6);
    EXPECT_EQ(End(&second, 2), Handles{});
    EXPECT_EQ(End(&first, 1), Handles{});
    EXPECT_EQ(End(&third, 3), (Handles{2, 1, 3}));
}

TEST_F(RecordPlacesTest, AnEventThatIsRecordedElsewhereLeavesItsNeighbourAlone) {
    RecordPlaces::Place work = Enter(4);
    RecordPlaces::Place future = Enter(5);
    EXPECT_EQ(End(&future, 1), Handles{});
    EXPECT_EQ(Leave(&work), 1U);
}

TEST_F(RecordPlacesTest, WorkBetweenMakesThemStandForOtherWork) {
    RecordPlaces::Place before = Enter(4);
    RecordPlaces::Place after = Enter(6);
    Use(before);
    EXPECT_EQ(End(&after, 1), Handles{1});
}

TEST_F(RecordPlacesTest, EachStreamHasItsPlaces) {
    RecordPlaces::Place here = Enter(4);
    RecordPlaces::Place there = places_.Enter({&streams_[1], 5}, CapturePlace());
    Use(here);
    EXPECT_EQ(End(&there, 1), Handles{1});
}

TEST_F(RecordPlacesTest, APlaceThatAllHaveLeftIsForgotten) {
    RecordPlaces::Place used = Enter(4);
    Use(used);
    EXPECT_EQ(Leave(&used), 0U);
    RecordPlaces::Place next = Enter(5);
    EXPECT_EQ(End(&next, 1), Handles{1});
}

TEST_F(RecordPlacesTest, AUseOfTheSameCallOnTheStreamExcusesIt) {
    RecordPlaces::Place used = Enter(4);
    Use(used, kCall);
    RecordPlaces::Place last = Enter(8);
    EXPECT_EQ(End(&last, 1), Handles{});
    RecordPlaces::Place again = Enter(12);
    EXPECT_EQ(End(&again, 2), Handles{});
}

TEST_F(RecordPlacesTest, AUseOnAnotherStreamExcusesNothing) {
    RecordPlaces::Place used = Enter(4);
    Use(used, kCall, kStream + 1);
    RecordPlaces::Place last = Enter(8);
    EXPECT_EQ(End(&last, 1), Handles{1});
}

class Capture : public Recorder {
 public:
    bool Over() const override { return false; }
    bool Captures() const override { return true; }
    Status CheckActive() const override { return {}; }
    Status Record(int32_t, const Work&, const RecordFill&, bool*) override { return {}; }
    Status RecordWait(int32_t, const CapturePlace&, int64_t) override { return {}; }
    Status Join(const JoiningStream&, const CapturePlace&, int64_t, int32_t*) override {
        return {};
    }
};

TEST_F(RecordPlacesTest, ARecordOfACaptureIsNoTask) {
    const auto capture = std::make_shared<Capture>();
    const auto other = std::make_shared<Capture>();
    const auto enter = [&](const std::shared_ptr<Capture>& in, int32_t branch, size_t position) {
        return places_.Enter({}, {in, branch, position});
    };
    RecordPlaces::Place work = enter(capture, 1, 3);
    RecordPlaces::Place elsewhere = enter(capture, 0, 3);
    RecordPlaces::Place foreign = enter(other, 1, 3);
    RecordPlaces::Place future = enter(capture, 1, 3);
    RecordPlaces::Place later = enter(capture, 1, 4);
    Use(work);
    EXPECT_EQ(End(&future, 1), Handles{});
    EXPECT_EQ(End(&elsewhere, 2), Handles{2});
    EXPECT_EQ(End(&foreign, 3), Handles{3});
    EXPECT_EQ(End(&later, 4), Handles{4});
}

TEST_F(RecordPlacesTest, ManyPlacesOfEndedCapturesAreForgotten) {
    RecordPlaces::Place work = Enter(4);
    for (int i = 0; i < 1000; ++i) {
        const auto capture = std::make_shared<Capture>();
        RecordPlaces::Place place = places_.Enter({}, {capture, i, 0});
        EXPECT_EQ(End(&place, 9), Handles{9});
    }
    RecordPlaces::Place future = Enter(5);
    Use(work);
    EXPECT_EQ(End(&future, 1), Handles{});
}

}  // namespace
}  // namespace advstep
