// SPDX-License-Identifier: Apache-2.0
// What other programs measure: packages that make the same update (peers.py), torch's operators on
// the device (torch_operators.py), a decode loop in graph mode (graph_benchmark.cpp), and CANN's
// operators beside ATen's (operators_benchmark.cpp), all in tests/benchmark.
#include "tests/benchmark/dashboard/rows.h"

namespace bench {

Rows PeerRows() {
    constexpr double kOfTorch = 1.0 / 20;
    constexpr double kOfNumpy = 1.0 / 15;
    constexpr double kMicrosecond = 1e3;
    constexpr double kOfCpu = 1.1;
    constexpr double kOfEager = 0.5;
    constexpr double kOfAten = 1.05;
    constexpr double kOfHalf = 1.5;
    constexpr double kOfGathered = 1.3;
    constexpr double kOfLayer = 1.5;
    constexpr double kOfUnchecked = 3;
    return {
        {"peer_torch", "full call as one function of Python, N = 256", "torch", AtMost(kOfTorch),
         nullptr},
        {"peer_torch_ctypes", "full call as one function by ctypes, N = 256", "torch",
         AtMost(kOfTorch), nullptr},
        {"peer_torch_from_c", "full call from C, N = 256", "torch", AtMost(kOfTorch), nullptr},
        {"peer_numpy", "full call as one function of Python, N = 256", "numpy", AtMost(kOfNumpy),
         nullptr},
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
        {"torch_graph", "replay of 100 additions of 16 floats", "eager", AtMost(kOfEager), nullptr},
        {"torch_llama_layer", "decode step of a llama layer, 8 requests, 512 tokens", "cpu",
         AtMost(kOfLayer), nullptr},
        {"torch_llama_layer_bf16", "the same in bfloat16", "cpu", AtMost(kOfLayer), nullptr},
        {"torch_sanitized", "a training step under all checks of the sanitizer", "unchecked",
         AtMost(kOfUnchecked), nullptr},
        {"operator_small", "aclnnAdd of 16 floats: both phases and the synchronisation", "ATen",
         NanosecondsAbove(3 * kMicrosecond), nullptr},
        {"operator_matmul", "aclnnMatmul of 1024 x 1024", "ATen", AtMost(kOfAten), nullptr},
        {"operator_graph", "replay of 100 calls of aclnnAdd, 16 floats", "calls", AtMost(kOfEager),
         nullptr},
        {"operator_half", "aclnnMm, a row by a float16 matrix of 2048 x 2048", "float32 by ATen",
         AtMost(kOfHalf), nullptr},
        {"operator_paged_decode",
         "paged decode attention of 32 sequences, 1,024 tokens, 8 heads of 128", "ATen, gathered",
         AtMost(kOfGathered), nullptr},
        {"operator_paged_decode_half", "the same in float16", "ATen, gathered", AtMost(kOfGathered),
         nullptr}};
}

}  // namespace bench
