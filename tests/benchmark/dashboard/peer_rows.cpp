// SPDX-License-Identifier: Apache-2.0
// Python packages making the same update. tests/benchmark/peers.py measures them.
#include "tests/benchmark/dashboard/rows.h"

namespace bench {

Rows PeerRows() {
    constexpr double kOfTorch = 1.0 / 20;
    constexpr double kOfNumpy = 1.0 / 15;
    return {{"peer_torch", "full call through ctypes, N = 256", "torch", AtMost(kOfTorch), nullptr},
            {"peer_torch_from_c", "full call from C, N = 256", "torch", AtMost(kOfTorch), nullptr},
            {"peer_numpy", "full call through ctypes, N = 256", "numpy", AtMost(kOfNumpy), nullptr},
            {"peer_numpy_from_c", "full call from C, N = 256", "numpy", AtMost(kOfNumpy), nullptr}};
}

}  // namespace bench
