// SPDX-License-Identifier: Apache-2.0
// Allocators of the program.
#include "acl/acl_rt_allocator.h"
#include "faults/scene.h"

namespace faults {
namespace {

aclrtAllocatorBlock ProgramAlloc(aclrtAllocator, size_t) { return nullptr; }
void ProgramFree(aclrtAllocator, aclrtAllocatorBlock) {}
aclrtAllocatorBlock ProgramAdvise(aclrtAllocator, size_t, aclrtAllocatorAddr) { return nullptr; }
aclrtAllocatorAddr ProgramGetAddr(aclrtAllocatorBlock block) { return block; }

int MakeDescription(Scene& s) {
    s.made = aclrtAllocatorCreateDesc();
    return s.made != nullptr ? 0 : ACL_ERROR_BAD_ALLOC;
}
int EndDescription(Scene& s) { return aclrtAllocatorDestroyDesc(s.made); }
int MakeWholeDescription(Scene& s) {
    return First({MakeDescription(s), aclrtAllocatorSetObjToDesc(s.made, &s),
                  aclrtAllocatorSetAllocFuncToDesc(s.made, &ProgramAlloc),
                  aclrtAllocatorSetFreeFuncToDesc(s.made, &ProgramFree),
                  aclrtAllocatorSetGetAddrFromBlockFuncToDesc(s.made, &ProgramGetAddr)});
}
int RegisterAllocator(Scene& s) { return aclrtAllocatorRegister(s.stream, s.made); }
int UnregisterAllocator(Scene& s) { return aclrtAllocatorUnregister(s.stream); }

int GetAllocator(Scene& s) {
    auto* const parts = reinterpret_cast<void**>(s.host);
    aclrtAllocatorAllocFunc alloc = nullptr;
    aclrtAllocatorFreeFunc free = nullptr;
    aclrtAllocatorAllocAdviseFunc advise = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc getAddr = nullptr;
    return aclrtAllocatorGetByStream(s.stream, &parts[0], &parts[1], &alloc, &free, &advise,
                                     &getAddr);
}

}  // namespace

std::vector<Call> AllocatorCalls() {
    return {
        {"aclrtAllocatorCreateDesc", nullptr, &MakeDescription, &EndDescription},
        {"aclrtAllocatorDestroyDesc", &MakeDescription, &EndDescription, nullptr},
        {"aclrtAllocatorSetObjToDesc", &MakeDescription,
         [](Scene& s) -> int { return aclrtAllocatorSetObjToDesc(s.made, &s); }, &EndDescription},
        {"aclrtAllocatorSetAllocFuncToDesc", &MakeDescription,
         [](Scene& s) -> int { return aclrtAllocatorSetAllocFuncToDesc(s.made, &ProgramAlloc); },
         &EndDescription},
        {"aclrtAllocatorSetFreeFuncToDesc", &MakeDescription,
         [](Scene& s) -> int { return aclrtAllocatorSetFreeFuncToDesc(s.made, &ProgramFree); },
         &EndDescription},
        {"aclrtAllocatorSetAllocAdviseFuncToDesc", &MakeDescription,
         [](Scene& s) -> int {
             return aclrtAllocatorSetAllocAdviseFuncToDesc(s.made, &ProgramAdvise);
         },
         &EndDescription},
        {"aclrtAllocatorSetGetAddrFromBlockFuncToDesc", &MakeDescription,
         [](Scene& s) -> int {
             return aclrtAllocatorSetGetAddrFromBlockFuncToDesc(s.made, &ProgramGetAddr);
         },
         &EndDescription},
        {"aclrtAllocatorRegister", &MakeWholeDescription, &RegisterAllocator,
         &InTurn<UnregisterAllocator, EndDescription>},
        {"aclrtAllocatorUnregister", &InTurn<MakeWholeDescription, RegisterAllocator>,
         &UnregisterAllocator, &EndDescription},
        {"aclrtAllocatorGetByStream", &InTurn<MakeWholeDescription, RegisterAllocator>,
         &GetAllocator, &InTurn<UnregisterAllocator, EndDescription>},
    };
}

}  // namespace faults
