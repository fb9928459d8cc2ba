// SPDX-License-Identifier: Apache-2.0
// Registered memory of one action. It outlives resets of devices, and no other thread knows it.
#ifndef ADVANCE_STEP_TESTS_CHAOS_BUFFERS_H_
#define ADVANCE_STEP_TESTS_CHAOS_BUFFERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chaos/worker.h"

namespace chaos {

class Buffers {
 public:
    explicit Buffers(Worker* worker) : worker_(worker) {}
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;
    ~Buffers() { (void)Release(); }

    // The device address of a copy of the bytes, or NULL if they could not be registered.
    void* Add(const void* bytes, size_t size);
    // Unregisters all, which waits for the work that uses them. True: nothing uses them any longer,
    // so the thread may read them. Otherwise they are kept until the life ends.
    bool Release();
    const char* At(size_t index) const { return buffers_[index].data(); }

 private:
    Worker* worker_;
    std::vector<Bytes> buffers_;
    size_t registered_ = 0;
    bool released_ = false;
    bool readable_ = false;
};

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_BUFFERS_H_
