#include "service/cli/options/tls_options.hpp"

namespace espalier {

void AddTlsOptions(CLI::App& command, CLI::Option* connect, ClientTls& tls) {
  CLI::Option* ca =
      command
          .add_option("--tls-ca", tls.ca,
                      "With --connect to HOST:PORT: encrypt, and trust a server whose certificate\n"
                      "is of the authorities in this PEM file")
          ->needs(connect);
  CLI::Option* certificate =
      command
          .add_option("--tls-cert", tls.certificate,
                      "A PEM file with the certificate to show to the server, where it asks for\n"
                      "one; with --tls-key")
          ->needs(ca);
  CLI::Option* key =
      command.add_option("--tls-key", tls.key, "A PEM file with the key of --tls-cert")
          ->needs(certificate);
  certificate->needs(key);
  command
      .add_option("--tls-server-name", tls.server_name,
                  "The name that the server's certificate has, where that is not the host of\n"
                  "--connect")
      ->needs(ca);
}

}  // namespace espalier
