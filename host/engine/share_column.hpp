// The shares of many answers, in memory of their own or in memory that a back end lends.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "host/packing/flavor_state.hpp"

namespace espalier {

class ShareColumn {
 public:
  ShareColumn() = default;
  ShareColumn(std::initializer_list<LeafShare> shares) : own_(shares) {}
  // Copies the shares, those that are lent too. What was moved from is empty.
  ShareColumn(const ShareColumn& other) : own_(other.begin(), other.end()) {}
  ShareColumn(ShareColumn&& other) noexcept = default;
  ShareColumn& operator=(const ShareColumn& other) { return *this = ShareColumn(other); }
  ShareColumn& operator=(ShareColumn&& other) noexcept = default;
  ~ShareColumn() = default;

  operator std::span<const LeafShare>() const { return lender_ ? lent_ : own_; }
  std::size_t size() const { return lender_ ? lent_.size() : own_.size(); }
  const LeafShare* begin() const { return lender_ ? lent_.data() : own_.data(); }
  const LeafShare* end() const { return begin() + size(); }
  const LeafShare& operator[](std::size_t share) const { return begin()[share]; }
  // Returns the number of shares that there is memory for, without what is lent.
  std::size_t capacity() const { return own_.capacity(); }

  // Returns the shares in memory of their own, to change them; copies those that are lent.
  std::vector<LeafShare>& Own() {
    if (lender_) Return(lent_);
    return own_;
  }

  // Takes shares as they lie in memory that `lender`, which is not null, keeps as they are.
  void Borrow(std::span<const LeafShare> shares, std::shared_ptr<const void> lender) {
    own_.clear();
    lent_ = shares;
    lender_ = std::move(lender);
  }

  // Removes all shares; keeps the memory, and gives back what is lent.
  void Clear() {
    own_.clear();
    lender_ = nullptr;
  }

  bool operator==(const ShareColumn& other) const;

 private:
  void Return(std::span<const LeafShare> shares);

  std::vector<LeafShare> own_;
  std::span<const LeafShare> lent_;     // instead of these where there is a lender
  std::shared_ptr<const void> lender_;  // of the memory
};

}  // namespace espalier
