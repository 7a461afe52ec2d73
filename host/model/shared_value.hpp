// A value that many objects share.
#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace espalier {

// A value or none like std::optional, but copies share the value, so that a copy costs as much as a
// pointer. Compares by value.
template <class Value>
class SharedValue {
 public:
  SharedValue() = default;
  // Converts implicitly, like std::optional.
  SharedValue(std::nullopt_t /*none*/) {}
  SharedValue(Value value) : value_(std::make_shared<Value>(std::move(value))) {}

  explicit operator bool() const { return value_ != nullptr; }
  bool has_value() const { return value_ != nullptr; }
  // Returns the value; requires that there is one.
  const Value& operator*() const { return *value_; }
  const Value* operator->() const { return value_.get(); }

  void reset() { value_.reset(); }
  // Returns the value for changes, which copies do not see; default-made when there is none.
  Value& Mutable() {
    if (value_ == nullptr) {
      value_ = std::make_shared<Value>();
    } else if (value_.use_count() > 1) {
      value_ = std::make_shared<Value>(*value_);
    }
    return *value_;
  }

  bool operator==(const SharedValue& other) const {
    if (value_ == other.value_) return true;
    return value_ != nullptr && other.value_ != nullptr && *value_ == *other.value_;
  }

 private:
  std::shared_ptr<Value> value_;  // never written through while it is shared
};

}  // namespace espalier
