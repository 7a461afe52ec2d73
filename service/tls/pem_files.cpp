#include "service/tls/pem_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

using Time = std::chrono::system_clock::time_point;

template <auto free>
struct Free {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Context = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;

tl::unexpected<Error> Wrong(const std::string& path, const std::string& problem) {
  return tl::unexpected<Error>(
      Error{ErrorClass::kUnavailable, fmt::format("{}: {}", Excerpt(path), problem)});
}

std::string WhyOfOpenSsl() {
  const unsigned long error = ::ERR_peek_last_error();
  const char* reason = error == 0 ? nullptr : ::ERR_reason_error_string(error);
  ::ERR_clear_error();
  return reason == nullptr ? "OpenSSL does not say why" : reason;
}

Result<std::string> ReadText(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Wrong(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return Wrong(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

Bio Open(const std::string& text) {
  return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int NoPassword(char*, int, int, void*) { return -1; }

Result<std::vector<Certificate>> ReadCertificates(const std::string& path,
                                                  const std::string& text) {
  const Bio bio = Open(text);
  std::vector<Certificate> certificates;
  ::ERR_clear_error();
  while (X509* each = ::PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr)) {
    certificates.emplace_back(each);
  }
  // The end of the text is an error of its own.
  const bool ended = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (!ended) return Wrong(path, fmt::format("is no PEM certificate: {}", WhyOfOpenSsl()));
  ::ERR_clear_error();
  if (certificates.empty()) {
    return Wrong(path, "holds no certificate; want PEM, with BEGIN CERTIFICATE");
  }
  return certificates;
}

Time ToTime(const ASN1_TIME* time) {
  std::tm parts = {};
  if (time == nullptr || ::ASN1_TIME_to_tm(time, &parts) != 1) return Time();
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

std::string TimeText(Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[32] = {};
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Returns why a certificate is not valid at a time; empty: it is.
std::string WhyNotValid(const X509& certificate, Time now) {
  const Time begin = ToTime(::X509_get0_notBefore(&certificate));
  const Time end = ToTime(::X509_get0_notAfter(&certificate));
  if (now < begin) {
    return fmt::format("the certificate is not valid before {}, and it is {} here", TimeText(begin),
                       TimeText(now));
  }
  if (now >= end) return fmt::format("the certificate expired at {}", TimeText(end));
  return {};
}

}  // namespace

Result<PemIdentity> ReadIdentity(const std::string& certificate_path, const std::string& key_path,
                                 Time now) {
  auto text = ReadText(certificate_path);
  if (!text) return tl::unexpected(text.error());
  auto key_text = ReadText(key_path);
  if (!key_text) return tl::unexpected(key_text.error());
  const auto certificates = ReadCertificates(certificate_path, *text);
  if (!certificates) return tl::unexpected(certificates.error());
  X509& own = *certificates->front();
  const Bio bio = Open(*key_text);
  const Key key(::PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  if (!key) {
    return Wrong(key_path, fmt::format("holds no private key that can be read ({}); want PEM, with "
                                       "BEGIN PRIVATE KEY and without a password",
                                       WhyOfOpenSsl()));
  }
  if (::X509_check_private_key(&own, key.get()) != 1) {
    ::ERR_clear_error();
    return Wrong(key_path, fmt::format("is the key of another certificate than that of {}",
                                       Excerpt(certificate_path)));
  }
  if (const std::string why = WhyNotValid(own, now); !why.empty()) {
    return Wrong(certificate_path, why);
  }
  const Context context(::SSL_CTX_new(::TLS_method()));
  if (::SSL_CTX_use_certificate(context.get(), &own) != 1 ||
      ::SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return Wrong(certificate_path, fmt::format("cannot be used: {}", WhyOfOpenSsl()));
  }
  return PemIdentity{*std::move(text), *std::move(key_text), ToTime(::X509_get0_notAfter(&own))};
}

Result<PemAuthorities> ReadAuthorities(const std::string& path, Time now) {
  auto text = ReadText(path);
  if (!text) return tl::unexpected(text.error());
  const auto certificates = ReadCertificates(path, *text);
  if (!certificates) return tl::unexpected(certificates.error());
  std::string why;
  bool any_valid = false;
  Time expires;
  for (const Certificate& each : *certificates) {
    const std::string why_not = WhyNotValid(*each, now);
    if (why_not.empty()) any_valid = true;
    if (why.empty()) why = why_not;
    expires = std::max(expires, ToTime(::X509_get0_notAfter(each.get())));
  }
  if (!any_valid) return Wrong(path, why);
  return PemAuthorities{*std::move(text), expires};
}

}  // namespace espalier
