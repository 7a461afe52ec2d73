// Certificates for tests, made when they are needed.
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace espalier {

// A key and its certificate as PEM.
class TestCertificate {
 public:
  struct Options {
    std::string common_name = "nobody";
    std::string alternative_names = {};  // as OpenSSL takes them: "DNS:a,URI:spiffe://b/c"
    std::chrono::seconds begins{-3600};  // from now
    std::chrono::seconds ends{3600};
    bool is_authority = false;
  };

  // Signed by `authority`, or by itself without one.
  explicit TestCertificate(const Options& options, const TestCertificate* authority = nullptr)
      : key_(::EVP_EC_gen("P-256"), ::EVP_PKEY_free), certificate_(::X509_new(), ::X509_free) {
    static long serial = 0;
    X509* certificate = certificate_.get();
    ::X509_set_version(certificate, 2);
    ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), ++serial);
    ::X509_gmtime_adj(::X509_getm_notBefore(certificate), options.begins.count());
    ::X509_gmtime_adj(::X509_getm_notAfter(certificate), options.ends.count());
    ::X509_NAME_add_entry_by_txt(
        ::X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
        reinterpret_cast<const unsigned char*>(options.common_name.c_str()), -1, -1, 0);
    const TestCertificate& signer = authority == nullptr ? *this : *authority;
    ::X509_set_issuer_name(certificate, ::X509_get_subject_name(signer.certificate_.get()));
    ::X509_set_pubkey(certificate, key_.get());
    if (options.is_authority) Add(NID_basic_constraints, "critical,CA:TRUE");
    if (!options.alternative_names.empty()) {
      Add(NID_subject_alt_name, options.alternative_names.c_str());
    }
    if (::X509_sign(certificate, signer.key_.get(), ::EVP_sha256()) == 0) {
      throw std::runtime_error("cannot sign a certificate");
    }
  }

  std::string Pem() const {
    return Text([this](BIO* bio) { ::PEM_write_bio_X509(bio, certificate_.get()); });
  }
  std::string KeyPem() const {
    return Text([this](BIO* bio) {
      ::PEM_write_bio_PrivateKey(bio, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }

 private:
  void Add(int kind, const char* value) {
    X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    if (extension == nullptr) throw std::runtime_error(value);
    ::X509_add_ext(certificate_.get(), extension, -1);
    ::X509_EXTENSION_free(extension);
  }

  template <class Write>
  static std::string Text(Write write) {
    const std::unique_ptr<BIO, decltype(&::BIO_free)> bio(::BIO_new(::BIO_s_mem()), ::BIO_free);
    write(bio.get());
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
  }

  std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&::X509_free)> certificate_;
};

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace espalier
