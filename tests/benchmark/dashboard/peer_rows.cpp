// SPDX-License-Identifier: Apache-2.0
// What other programs measure: packages that make the same update (peers.py), torch's operators on
// the device (torch_operators.py), and a decode loop in graph mode (graph_benchmark.cpp), all in
// tests/benchmark.
#include "tests/benchmark/dashboard/rows.h"

namespace bench {

Rows PeerRows() {
    constexpr double kOfTorch = 1.0 / 20;
    constexpr double kOfNumpy = 1.0 / 15;
    constexpr double kMicrosecond = 1e3;
    constexpr double kOfCpu = 1.1;
    constexpr double kOfEager = 0.5;
    return {{"peer_torch", "full call as one function of Python, N = 256", "torch",
             AtMost(kOfTorch), nullptr},
            {"peer_torch_ctypes", "full call as one function by ctypes, N = 256", "torch",
             AtMost(kOfTorch), nullptr},
            {"peer_torch_from_c", "full call from C, N = 256", "torch", AtMost(kOfTorch), nullptr},
            {"peer_numpy", "full call as one function of Python, N = 256", "numpy",
             AtMost(kOfNumpy), nullptr},
            {"peer_numpy_ctypes", "full call as one function by ctypes, N = 256", "numpy",
             AtMost(kOfNumpy), nullptr},
            {"peer_numpy_from_c", "full call from C, N = 256", "numpy", AtMost(kOfNumpy), nullptr},
            {"graph_loop_8", "a step of a decode loop as a graph on a stream, N = 8", "calls",
             NanosecondsAbove(2 * kMicrosecond), nullptr},
            {"graph_loop_256", "a step of a decode loop as a graph on a stream, N = 256", "calls",
             NanosecondsAbove(2 * kMicrosecond), nullptr},
            {"torch_elementwise", "a + b of 16 floats and the synchronisation", "cpu",
             NanosecondsAbove(30 * kMicrosecond), nullptr},
            {"torch_elementwise_caller", "the same, queued, on the caller's thread", "cpu",
             NanosecondsAbove(10 * kMicrosecond), nullptr},
            {"torch_matmul", "matmul of 1024 x 1024 and the synchronisation", "cpu", AtMost(kOfCpu),
             nullptr},
            {"torch_graph", "replay of 100 additions of 16 floats", "eager", AtMost(kOfEager),
             nullptr}};
}

}  // namespace bench
