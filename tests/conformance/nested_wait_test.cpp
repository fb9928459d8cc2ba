// SPDX-License-Identifier: Apache-2.0
// Host functions that wait for host functions of other streams, and so on, deeper than any stack.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/watchdog.h"

namespace {

using support::IsOk;

class NestedWaitTest : public support::DeviceTest {
 protected:
    // Its end waits for the work of all streams.
    support::Watchdog watchdog_{std::chrono::seconds(120)};
};

// Each link queues the next one on a stream of its own and waits for it.
struct Chain {
    std::vector<support::Stream> streams;
    aclrtContext context = nullptr;
    std::atomic<size_t> ran{0};
    std::atomic<int> failures{0};
    std::atomic<bool> inOrder{true};
};

struct Link {
    Chain* chain;
    size_t index;
};

std::vector<Link> links;

void RunLink(void* args) {
    const Link& link = *static_cast<Link*>(args);
    Chain& chain = *link.chain;
    const size_t next = link.index + 1;
    if (next < links.size()) {
        aclrtStream const stream = chain.streams[next].Get();
        chain.failures +=
            aclrtLaunchHostFunc(stream, &RunLink, &links[next]) != ACL_SUCCESS ? 1 : 0;
        chain.failures += aclrtSynchronizeStream(stream) != ACL_SUCCESS ? 1 : 0;
        chain.inOrder = chain.inOrder && chain.ran == links.size() - next;
    }
    ++chain.ran;
}

void* RunChain(void* args) {
    auto& chain = *static_cast<Chain*>(args);
    EXPECT_TRUE(IsOk(aclrtSetCurrentContext(chain.context)));
    EXPECT_TRUE(IsOk(aclrtLaunchHostFunc(chain.streams[0].Get(), &RunLink, &links[0])));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(chain.streams[0].Get())));
    return nullptr;
}

TEST_F(NestedWaitTest, AChainOfHostFunctionsNeedsNoDeepStack) {
    constexpr size_t kLinks = 3000;
    constexpr size_t kStackBytes = size_t{2} << 20;
    Chain chain;
    chain.context = support::CurrentContext();
    links.clear();
    for (size_t index = 0; index < kLinks; ++index) {
        chain.streams.push_back(support::MakeStream());
        links.push_back({&chain, index});
    }
    pthread_attr_t attributes;
    ASSERT_EQ(pthread_attr_init(&attributes), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
    pthread_t thread{};
    ASSERT_EQ(pthread_create(&thread, &attributes, &RunChain, &chain), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
    EXPECT_EQ(chain.ran, kLinks);
    EXPECT_EQ(chain.failures, 0);
    EXPECT_TRUE(chain.inOrder);
}

}  // namespace
