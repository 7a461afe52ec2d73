// Memory that is worth keeping from one use to the next.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace espalier {

// Lends objects as their last user left them. There come to be as many as were ever in use at a
// time, whatever the number of threads that use one now and then. Thread-safe; must outlive what it
// lends.
template <class T>
class Reused {
 public:
  // One object, which goes back when this ends.
  class Lent {
   public:
    Lent(Reused& owner, std::unique_ptr<T> object) : owner_(owner), object_(std::move(object)) {}
    ~Lent() { owner_.Take(std::move(object_)); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    T* operator->() const { return object_.get(); }
    T& operator*() const { return *object_; }

   private:
    Reused& owner_;
    std::unique_ptr<T> object_;
  };

  // Lends the object that came back last, or a new one where all are in use.
  Lent Lend() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<T> object = std::move(free_.back());
        free_.pop_back();
        return Lent(*this, std::move(object));
      }
    }
    auto object = std::make_unique<T>();
    const std::lock_guard lock(mutex_);
    free_.reserve(made_ + 1);
    ++made_;
    return Lent(*this, std::move(object));
  }

 private:
  // Needs no memory: there is room for all that were made.
  void Take(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(object));
  }

  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<T>> free_;
  std::size_t made_ = 0;
};

}  // namespace espalier
