// A non-owning reference to a callable. With it, code that is compiled once calls code that is compiled for
// every sampler or program. It holds two pointers and compiles in far less time than a std::function.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace sluice {

template <class Signature>
class FunctionRef;

/// Does not own the callable, which must outlive this reference.
template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class Callable>
  requires(!std::same_as<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_invocable_r_v<Result, Callable&, Args...>) FunctionRef(Callable&& callable)
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  Result (*call_)(void*, Args...);
};

}  // namespace sluice
