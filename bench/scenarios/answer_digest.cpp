#include "bench/scenarios/answer_digest.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace espalier {

struct Sha256::Context {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  EVP_DigestInit_ex(context_->context, EVP_sha256(), nullptr);
}
Sha256::~Sha256() = default;

void Sha256::Add(std::string_view bytes) {
  EVP_DigestUpdate(context_->context, bytes.data(), bytes.size());
}

void Sha256::Add(std::int64_t number) {
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * i));
  }
  EVP_DigestUpdate(context_->context, bytes.data(), bytes.size());
}

std::string Sha256::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_->context, digest.data(), &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string DigestOf(const GangAnswers& answers, std::size_t gangs) {
  Sha256 sha;
  auto failure = answers.failures.begin();
  for (std::size_t gang = 0; gang < gangs; ++gang) {
    sha.Add(static_cast<std::int64_t>(answers.status[gang]));
    sha.Add(answers.level[gang]);
    for (const LeafShare& share : answers.SharesOf(gang)) {
      sha.Add(share.leaf.value);
      sha.Add(share.leaders);
      sha.Add(share.pods);
    }
    if (answers.status[gang] == PlacementStatus::kPlaced) continue;
    sha.Add(failure->fit);
    sha.Add(failure->total);
    for (const Count fit : failure->layer_fits) sha.Add(fit);
    for (const std::int64_t leaves : failure->limited_by) sha.Add(leaves);
    sha.Add(failure->outside_domain);
    ++failure;
  }
  return sha.Hex();
}

}  // namespace espalier
