#pragma once

namespace advstep {

/// What has to be forgotten in the child of a fork: threads that are not there any more may have
/// held any lock and been in the middle of anything, so there the library begins anew, and what the
/// parent had is left alone. Hooks are static objects, or parts of one.
class ForkHook {
 public:
    using Renew = void (*)(void* owner) noexcept;

    /// In a child `renew(owner)` is called, in the thread that forked, before fork returns.
    explicit ForkHook(Renew renew, void* owner = nullptr) noexcept;
    ForkHook(const ForkHook&) = delete;
    ForkHook& operator=(const ForkHook&) = delete;

 private:
    static void RenewAll() noexcept;

    const Renew renew_;
    void* const owner_;
    ForkHook* next_ = nullptr;  // in the list of all, which only grows
};

}  // namespace advstep
