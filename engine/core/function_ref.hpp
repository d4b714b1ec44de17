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
  template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, FunctionRef> &&
           std::is_invocable_r_v<Result, Body&, Args...>) FunctionRef(Body&& body)
      : body_(const_cast<void*>(static_cast<const void*>(&body))),
        call_([](void* with, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Body>*>(with))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(body_, std::forward<Args>(args)...); }

 private:
  void* body_;
  Result (*call_)(void*, Args...);
};

}  // namespace sluice
