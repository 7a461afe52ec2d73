// Tests what is wrong with names and numbers, in the words of Kubernetes and Go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/model/go_texts.hpp"
#include "host/model/name_errors.hpp"

namespace espalier::names_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(NameErrors, OfDnsSubdomains) {
  for (const char* good : {"a", "a.b-c.0", "0"}) EXPECT_THAT(DnsSubdomainErrors(good), IsEmpty());
  for (const char* bad : {"", "A", "a_b", "-a", "a.", "a..b"}) {
    EXPECT_THAT(DnsSubdomainErrors(bad), ElementsAre(StartsWith("a lowercase RFC 1123 subdomain")));
  }
  EXPECT_THAT(DnsSubdomainErrors(std::string(254, 'a')),
              ElementsAre("must be no more than 253 bytes"));
  EXPECT_THAT(DnsSubdomainErrors(std::string(253, 'a')), IsEmpty());
}

TEST(NameErrors, OfLabelKeys) {
  for (const char* good : {"a", "A.b_c-D", "example.com/rack"}) {
    EXPECT_THAT(LabelKeyErrors(good), IsEmpty());
  }
  EXPECT_THAT(LabelKeyErrors(""),
              ElementsAre("name part must be non-empty", StartsWith("name part must consist of")));
  EXPECT_THAT(LabelKeyErrors("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(LabelKeyErrors("A/a"), ElementsAre(StartsWith("prefix part a lowercase RFC 1123")));
  EXPECT_THAT(LabelKeyErrors("a/b/c"),
              ElementsAre(EndsWith("and '/' (e.g. 'example.com/MyName')")));
  EXPECT_THAT(LabelKeyErrors(std::string(64, 'a')),
              ElementsAre("name part must be no more than 63 bytes"));
}

TEST(NameErrors, OfLabelValues) {
  for (const char* good : {"", "a", "A.b_c-D"}) EXPECT_THAT(LabelValueErrors(good), IsEmpty());
  EXPECT_THAT(LabelValueErrors("a b"), ElementsAre(StartsWith("a valid label must be an empty")));
  EXPECT_THAT(LabelValueErrors(std::string(64, 'a')), ElementsAre("must be no more than 63 bytes"));
}

TEST(NameErrors, OfDomainPaths) {
  EXPECT_THAT(DomainPathErrors("acme.io/foo/bar"), IsEmpty());
  for (const char* bad : {"", "foo", "/foo", "acme.io/"}) {
    EXPECT_THAT(DomainPathErrors(bad), ElementsAre(HasSubstr("must be a domain-prefixed path")));
  }
  EXPECT_THAT(DomainPathErrors("A/#"), ElementsAre(StartsWith("a lowercase RFC 1123 subdomain"),
                                                   StartsWith("Invalid path")));
}

TEST(GoTexts, Integers) {
  EXPECT_EQ(ParseGoInt("Atoi", "-5").value(), -5);
  EXPECT_EQ(ParseGoInt("Atoi", "+5").value(), 5);
  for (const std::string bad : {"", "+", "1h", " 1", "0x1", "--1"}) {
    EXPECT_EQ(ParseGoInt("Atoi", bad).error().message,
              "strconv.Atoi: parsing \"" + bad + "\": invalid syntax");
  }
  EXPECT_EQ(ParseGoInt("ParseInt", "9223372036854775808").error().message,
            "strconv.ParseInt: parsing \"9223372036854775808\": value out of range");
  EXPECT_EQ(ParseGoInt("ParseInt", "128", -128, 127).error().message,
            "strconv.ParseInt: parsing \"128\": value out of range");
}

TEST(GoTexts, BooleansAndQuotes) {
  EXPECT_TRUE(ParseGoBool("T").value());
  EXPECT_FALSE(ParseGoBool("0").value());
  EXPECT_EQ(ParseGoBool("a\"\n\x01").error().message,
            R"(strconv.ParseBool: parsing "a\"\n\x01": invalid syntax)");
}

}  // namespace
}  // namespace espalier::names_test
