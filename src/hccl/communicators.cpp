// SPDX-License-Identifier: Apache-2.0
// The table of communicators, which each process has for itself.

#include "src/hccl/communicators.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace advstep::hccl {
namespace {

// The mutex guards the table; it is not held while a communicator does anything. The table is never
// destroyed. The child of a fork has an empty one, and keeps that of its parent: a thread of the
// parent may have held the mutex.
struct Table {
    std::mutex mutex;
    std::map<uintptr_t, std::shared_ptr<Communicator>> all;
    Table* const parents;

    explicit Table(Table* before) : parents(before) {}
};

std::atomic<Table*> theTable{nullptr};
// Handles are numbers that no pointer has, and that no child shares with its parent's later ones.
std::atomic<uintptr_t> lastHandle{0x4843434c00000000u};

// Neither a program nor a child can continue without memory at its start.
void MakeTable() {
    auto* const made = new (std::nothrow) Table(theTable.load(std::memory_order_relaxed));
    if (made == nullptr) {
        std::abort();
    }
    theTable.store(made, std::memory_order_release);
}
[[maybe_unused]] const int tableMade = (MakeTable(), pthread_atfork(nullptr, nullptr, &MakeTable));

Table& TheTable() { return *theTable.load(std::memory_order_acquire); }

// Finds the communicator of a handle, and takes it out of the table if it is to leave.
Outcome Find(HcclComm comm, std::shared_ptr<Communicator>* communicator, bool leaves) {
    if (comm == nullptr) {
        return Null("comm");
    }
    Table& table = TheTable();
    const std::lock_guard<std::mutex> lock(table.mutex);
    const auto found = table.all.find(reinterpret_cast<uintptr_t>(comm));
    if (found == table.all.end()) {
        return Error(
            HCCL_E_PARA,
            "comm is no communicator of this process; expected one that was not destroyed");
    }
    *communicator = found->second;
    if (leaves) {
        table.all.erase(found);
    }
    return {};
}

// Operators end before the abort waits for them. Exceptions must not leave it.
int32_t EndWorkOf(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t, void*) {
    if (stage != ACL_RT_DEVICE_TASK_ABORT_PRE) {
        return 0;
    }
    std::vector<std::shared_ptr<Communicator>> ofDevice;
    try {
        Table& table = TheTable();
        const std::lock_guard<std::mutex> lock(table.mutex);
        for (const auto& [handle, communicator] : table.all) {
            if (communicator->origin().device == device) {
                ofDevice.push_back(communicator);
            }
        }
    } catch (const std::bad_alloc&) {
        return HCCL_E_MEMORY;
    }
    for (const auto& communicator : ofDevice) {
        communicator->AbortWork();
    }
    return 0;
}

}  // namespace

HcclComm AddCommunicator(std::shared_ptr<Communicator> communicator) {
    const uintptr_t handle = lastHandle.fetch_add(1) + 1;
    Table& table = TheTable();
    const std::lock_guard<std::mutex> lock(table.mutex);
    table.all.emplace(handle, std::move(communicator));
    return reinterpret_cast<HcclComm>(handle);
}

Outcome FindCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator) {
    return Find(comm, communicator, false);
}

Outcome FindCommunicator(const std::string& name, HcclComm* comm) {
    Table& table = TheTable();
    const std::lock_guard<std::mutex> lock(table.mutex);
    for (const auto& [handle, communicator] : table.all) {
        if (communicator->group().name == name) {
            *comm = reinterpret_cast<HcclComm>(handle);
            return {};
        }
    }
    return Error(HCCL_E_NOT_FOUND, "commName is \"", name,
                 "\"; expected that of a communicator of this process");
}

Outcome RemoveCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator) {
    return Find(comm, communicator, true);
}

void HookAborts() { (void)aclrtSetDeviceTaskAbortCallback("libhccl", &EndWorkOf, nullptr); }

}  // namespace advstep::hccl
