#include "tests/chaos/counts.hpp"

#include <fmt/format.h>

namespace espalier::chaos {
namespace {

struct Named {
  const char* name;
  std::int64_t Counts::*value;
};
constexpr Named kAll[] = {
    {"kills", &Counts::kills},
    {"stops", &Counts::stops},
    {"full disks", &Counts::full_disks},
    {"certificates", &Counts::certificates},
    {"half-open", &Counts::half_open},
    {"vanished", &Counts::vanished},
    {"calls", &Counts::calls},
    {"loads", &Counts::loads},
    {"updates", &Counts::updates},
    {"commits", &Counts::commits},
    {"holds", &Counts::holds},
    {"confirms", &Counts::confirms},
    {"releases", &Counts::releases},
    {"ended", &Counts::ended},
    {"remade", &Counts::remade},
    {"checks", &Counts::checks},
    {"wrong", &Counts::wrong},
    {"double-booked", &Counts::double_booked},
    {"lost", &Counts::lost},
};

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  for (const Named& named : kAll) this->*named.value += other.*named.value;
  return *this;
}

std::string Counts::Text() const {
  std::string text;
  for (const Named& named : kAll) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", this->*named.value, named.name);
  }
  return text;
}

}  // namespace espalier::chaos
