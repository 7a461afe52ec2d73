#include "host/engine/counts_storage.hpp"

#include <cstddef>

namespace espalier {

void CountsStorage::Resize(std::int32_t domains, bool with_slices, bool with_leader) {
  const auto size = static_cast<std::size_t>(domains + kReadAhead);
  with_slices_ = with_slices;
  with_leader_ = with_leader;
  const auto grow = [size](auto& items) {
    if (items.size() < size) items.resize(size);
  };
  grow(pods_);
  if (with_slices) grow(slices_);
  if (!with_leader) return;
  grow(pods_with_leader_);
  if (with_slices) grow(slices_with_leader_);
  grow(leaders_);
}

CountsView CountsStorage::View() {
  CountsView view;
  view.pods = pods_.data();
  view.slices = with_slices_ ? slices_.data() : view.pods;
  view.pods_with_leader = with_leader_ ? pods_with_leader_.data() : view.pods;
  view.slices_with_leader =
      with_leader_ ? (with_slices_ ? slices_with_leader_.data() : view.pods_with_leader)
                   : view.slices;
  view.leaders = with_leader_ ? leaders_.data() : nullptr;
  return view;
}

}  // namespace espalier
