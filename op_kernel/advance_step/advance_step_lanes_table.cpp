#include "op_kernel/advance_step/advance_step_lanes.h"

namespace advstep {

// One per compilation of advance_step_lanes.cpp.
namespace baseline {
extern const AdvanceStepLanes kLanes[2][2][2][2];
}
#if defined(__x86_64__)
namespace avx2 {
extern const AdvanceStepLanes kLanes[2][2][2][2];
}
namespace avx512 {
extern const AdvanceStepLanes kLanes[2][2][2][2];
}
#endif

const AdvanceStepLanes& LanesFor(Isa isa, Fetch fetch, bool lengths32, bool slots32,
                                 bool tables32) {
    const auto of = [=](const AdvanceStepLanes(&lanes)[2][2][2][2]) -> const AdvanceStepLanes& {
        return lanes[static_cast<int>(fetch)][lengths32][slots32][tables32];
    };
#if defined(__x86_64__)
    if (isa == Isa::kAvx512) {
        return of(avx512::kLanes);
    }
    if (isa == Isa::kAvx2) {
        return of(avx2::kLanes);
    }
#endif
    (void)isa;
    return of(baseline::kLanes);
}

}  // namespace advstep
