#include "service/wire/decoder.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "host/model/excerpt.hpp"

namespace espalier {

std::string FieldPath::ToString() const {
  std::string text = parent_ ? parent_->ToString() : std::string();
  if (!text.empty()) text += '.';
  text += field_;
  if (index_ >= 0) text += fmt::format("[{}]", index_);
  return text;
}

const std::string& Decoder::String(std::uint32_t reference, const FieldPath& path) {
  static const std::string kEmpty;
  const std::string* text = Row(strings_, reference, path);
  if (!text) return kEmpty;
  Charge(static_cast<std::int64_t>(sizeof(std::string) + text->size()), path);
  return ok() ? *text : kEmpty;
}

const Decoder::MapKeys* Decoder::Keys(std::span<const std::uint32_t> references,
                                      const FieldPath& path) {
  for (const MapKeys& known : known_keys_) {
    if (!std::ranges::equal(known.references, references)) continue;
    Charge(known.bytes, path);
    return ok() ? &known : nullptr;
  }
  std::vector<std::pair<std::string_view, int>> sorted;
  sorted.reserve(references.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < references.size() && ok(); ++i) {
    constexpr std::int64_t kBytesOfReference = sizeof(std::uint32_t) + sizeof(int);
    Charge(kBytesOfReference, path);
    const std::string& key = String(references[i], path);
    sorted.emplace_back(key, static_cast<int>(i));
    bytes += kBytesOfReference + static_cast<std::int64_t>(sizeof(std::string) + key.size());
  }
  std::ranges::sort(sorted);
  MapKeys made{{references.begin(), references.end()}, nullptr, {}, bytes};
  std::vector<std::string> keys;
  keys.reserve(sorted.size());
  for (const auto& [key, position] : sorted) {
    if (!keys.empty() && key == keys.back()) Fail(path, "has the key \"{}\" twice", Excerpt(key));
    keys.emplace_back(key);
    made.order.push_back(position);
  }
  if (!ok()) return nullptr;
  made.keys = std::make_shared<std::vector<std::string>>(std::move(keys));
  MapKeys& kept = known_keys_[keys_made_++ % kKnownKeys];
  kept = std::move(made);
  return &kept;
}

void Decoder::CheckColumn(int size, std::int64_t expected, bool may_be_empty,
                          const FieldPath& path) {
  if (size == expected || (may_be_empty && size == 0)) return;
  Fail(path, "has {} entries; {}{} expected", size, expected, may_be_empty ? " or none" : "");
}

void Decoder::Charge(std::int64_t bytes, const FieldPath& path) {
  constexpr std::int64_t kBytesBetweenPauses = 32 << 10;
  const bool goes_on = budget_.Charge(bytes);
  // However few bytes, there was something to do.
  charged_since_pause_ += std::max<std::int64_t>(bytes, kBytesBetweenPauses / 256);
  if (goes_on && charged_since_pause_ < kBytesBetweenPauses) return;
  charged_since_pause_ = 0;
  if (goes_on && budget_.MayContinue()) return;
  if (failed_) return;
  Keep(path, budget_.Check().error().message);
  error_.error_class = budget_.Check().error().error_class;
}

void Decoder::Keep(const FieldPath& path, const std::string& problem) {
  failed_ = true;
  error_ = Error{ErrorClass::kBadInput, path.ToString() + ": " + problem};
}

}  // namespace espalier
