// Python packages making the same update. tests/benchmark/peers.py measures them.
#include "tests/benchmark/dashboard/rows.h"

namespace bench {

Rows PeerRows() {
    return {{"peer_torch_256", "call from Python, N = 256", "torch", AtMost(1.0 / 20), nullptr},
            {"peer_numpy_256", "call from Python, N = 256", "numpy", AtMost(1.0 / 15), nullptr}};
}

}  // namespace bench
