#include "tests/attack/http2.hpp"

#include <algorithm>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace espalier::attack {
namespace {

constexpr int kData = 0;
constexpr int kHeaders = 1;
constexpr int kRstStream = 3;
constexpr int kSettings = 4;
constexpr int kCancel = 8;  // code of a reset
constexpr int kEndStream = 1;
constexpr int kEndHeaders = 4;

std::string BigEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// A header as HPACK writes one that nobody remembers; names and values below 127 bytes.
std::string Header(const std::string& name, const std::string& value) {
  const auto text = [](const std::string& content) {
    return static_cast<char>(content.size()) + content;
  };
  return std::string(1, '\0') + text(name) + text(value);
}

int ConnectTo(const std::string& socket_path) {
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy_n(socket_path.begin(), std::min(socket_path.size(), sizeof address.sun_path - 1),
              address.sun_path);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(connection);
    throw std::runtime_error("cannot connect to " + socket_path);
  }
  return connection;
}

}  // namespace

DeafConnection::DeafConnection(const std::string& socket_path)
    : DeafConnection(ConnectTo(socket_path)) {}

DeafConnection::DeafConnection(int socket) : socket_(socket) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  if (send(socket_, preface.data(), preface.size(), MSG_NOSIGNAL) < 0) {
    throw std::runtime_error("cannot send to a server");
  }
  SendFrame(kSettings, 0, 0, "");
}

DeafConnection::~DeafConnection() { close(socket_); }

void DeafConnection::StartCall(const std::string& method) {
  SendFrame(kHeaders, kEndHeaders, next_stream_,
            Header(":method", "POST") + Header(":scheme", "http") + Header(":path", method) +
                Header(":authority", "localhost") + Header("te", "trailers") +
                Header("content-type", "application/grpc"));
  next_stream_ += 2;
}

void DeafConnection::Ask(const std::string& method, const std::string& message) {
  const std::uint32_t stream = next_stream_;
  StartCall(method);
  SendFrame(kData, kEndStream, stream,
            std::string(1, '\0') + BigEndian(message.size(), 4) + message);
}

void DeafConnection::Reset() { SendFrame(kRstStream, 0, next_stream_ - 2, BigEndian(kCancel, 4)); }

void DeafConnection::WaitUntilClosed() {
  char bytes[4096];
  while (recv(socket_, bytes, sizeof bytes, 0) > 0) {
  }
}

void DeafConnection::SendFrame(int type, int flags, std::uint32_t stream,
                               const std::string& payload) {
  const std::string frame = BigEndian(payload.size(), 3) + static_cast<char>(type) +
                            static_cast<char>(flags) + BigEndian(stream, 4) + payload;
  // A server that has had enough may have closed the connection: that is its right.
  [[maybe_unused]] const auto sent = send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL);
}

}  // namespace espalier::attack
