// Lists of named objects, looked up by name.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

namespace espalier {

// Returns the first object of each name. The objects must stay where they are.
template <class Object>
std::unordered_map<std::string_view, const Object*> ByName(const std::vector<Object>& objects) {
  std::unordered_map<std::string_view, const Object*> by_name;
  by_name.reserve(objects.size());
  for (const Object& object : objects) by_name.emplace(object.name, &object);
  return by_name;
}

// Returns the object of this name, or null.
template <class Object>
const Object* FindOrNull(const std::unordered_map<std::string_view, const Object*>& by_name,
                         std::string_view name) {
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

}  // namespace espalier
