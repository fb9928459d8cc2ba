// SPDX-License-Identifier: Apache-2.0
/// The methods of a mock, each of which is made when a test first names it. Part of mock_acl.h.
///
/// MOCK_METHOD puts a mocker for each method into the class, so a class with hundreds of methods
/// takes long to compile. The templates here do the same work as the code of MOCK_METHOD, and a
/// test file instantiates only the methods that it names in EXPECT_CALL or ON_CALL.
#ifndef ADVSTEP_ADVANCE_STEP_TESTING_MOCK_METHODS_H_
#define ADVSTEP_ADVANCE_STEP_TESTING_MOCK_METHODS_H_

#include <gmock/gmock.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace advance_step::testing {

/// A method of any signature. Its users know the signature and cast to Method.
class AnyMethod {
 public:
    AnyMethod() = default;
    AnyMethod(const AnyMethod&) = delete;
    AnyMethod& operator=(const AnyMethod&) = delete;
    virtual ~AnyMethod() = default;
};

template <typename Signature>
class Method;

/// A method as its callers see it.
template <typename Result, typename... Arguments>
class Method<Result(Arguments...)> : public AnyMethod {
 public:
    /// Performs the action of the expectation that matches the call, or else the default action.
    virtual Result Call(Arguments... arguments) = 0;
};

template <typename Signature>
class MockedMethod;

/// A method as EXPECT_CALL and ON_CALL see it.
template <typename Result, typename... Arguments>
class MockedMethod<Result(Arguments...)> final : public Method<Result(Arguments...)> {
 public:
    /// @param[in] owner  the mock object
    /// @param[in] name   the name of the C function
    /// @param[in] real   the default action
    MockedMethod(const void* owner, const char* name, Result (*real)(Arguments...))
        : owner_(owner), name_(name) {
        Expect(::testing::A<Arguments>()...)
            .InternalDefaultActionSetAt(__FILE__, __LINE__, "the mock", name)
            .WillByDefault(real);
    }
    Result Call(Arguments... arguments) override {
        mocker_.SetOwnerAndName(owner_, name_);
        return mocker_.Invoke(std::forward<Arguments>(arguments)...);
    }
    ::testing::internal::MockSpec<Result(Arguments...)> Expect(
        const ::testing::Matcher<Arguments>&... matchers) {
        mocker_.RegisterOwner(owner_);
        return mocker_.With(matchers...);
    }
    ::testing::internal::MockSpec<Result(Arguments...)> ExpectAny() {
        return Expect(::testing::A<Arguments>()...);
    }

 private:
    const void* const owner_;
    const char* const name_;
    ::testing::internal::FunctionMocker<Result(Arguments...)> mocker_;
};

/// The methods that one mock object has made so far. A method is published after its default action
/// is in place, and lives as long as the mock. So threads may call other functions while a test
/// names one. Expectations for a function come before its calls, as GoogleMock demands.
class MockMethods {
 public:
    /// A table without methods, for indexes below `count`.
    explicit MockMethods(size_t count) : count_(count), methods_(new Place[count]()) {}
    MockMethods(const MockMethods&) = delete;
    MockMethods& operator=(const MockMethods&) = delete;
    virtual ~MockMethods() { DestroyMethods(); }

    /// Returns nullptr if no test has named the method.
    AnyMethod* Find(size_t index) const { return methods_[index].load(std::memory_order_acquire); }

    /// Returns the method, and makes it if nobody has done so. `real` is its default action.
    template <typename Signature, typename Real>
    MockedMethod<Signature>& Get(size_t index, const void* owner, const char* name, Real* real) {
        AnyMethod* method = Find(index);
        if (method == nullptr) {
            auto made = std::make_unique<MockedMethod<Signature>>(owner, name, real);
            // If another thread was faster, `method` becomes the one that it has made.
            if (methods_[index].compare_exchange_strong(method, made.get(),
                                                        std::memory_order_acq_rel)) {
                method = made.release();
            }
        }
        return static_cast<MockedMethod<Signature>&>(*method);
    }

 protected:
    /// Verifies the expectations of all methods, and destroys them.
    void DestroyMethods() {
        for (size_t index = 0; index < count_; ++index) {
            delete methods_[index].exchange(nullptr, std::memory_order_acq_rel);
        }
    }

 private:
    using Place = std::atomic<AnyMethod*>;

    const size_t count_;
    const std::unique_ptr<Place[]> methods_;
};

}  // namespace advance_step::testing

#endif  // ADVSTEP_ADVANCE_STEP_TESTING_MOCK_METHODS_H_
