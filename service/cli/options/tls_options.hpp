// Options of commands that connect to a server over TLS.
#pragma once

#include <CLI/CLI.hpp>

#include "service/client/client_options.hpp"

namespace espalier {

// Declares --tls-ca, --tls-cert, --tls-key and --tls-server-name, each of which needs `connect`;
// `tls` must outlive the parse.
void AddTlsOptions(CLI::App& command, CLI::Option* connect, ClientTls& tls);

}  // namespace espalier
