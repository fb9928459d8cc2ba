// SPDX-License-Identifier: Apache-2.0
// Tells other threads that their work may be dropped or their memory may end.
#ifndef ADVANCE_STEP_TESTS_CHAOS_DISTURB_H_
#define ADVANCE_STEP_TESTS_CHAOS_DISTURB_H_

#include "chaos/world.h"

namespace chaos {

// Around a call that disturbs others.
class Disturbs {
 public:
    explicit Disturbs(World* world) : disturbance_(&world->disturbance) {
        disturbance_->begun += 1;
    }
    Disturbs(const Disturbs&) = delete;
    Disturbs& operator=(const Disturbs&) = delete;
    ~Disturbs() { disturbance_->done += 1; }

 private:
    Disturbance* disturbance_;
};

// Whether anything has disturbed since this was made.
class Quiet {
 public:
    explicit Quiet(const World& world)
        : disturbance_(&world.disturbance), done_(disturbance_->done) {}
    bool Lasts() const { return disturbance_->begun == done_; }

 private:
    const Disturbance* disturbance_;
    uint64_t done_;
};

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_DISTURB_H_
