// A connection that speaks as little HTTP/2 as it takes to ask, and never reads.
#pragma once

#include <cstdint>
#include <string>

namespace espalier::attack {

class DeafConnection {
 public:
  // Connects to a Unix socket. Throws where nobody listens.
  explicit DeafConnection(const std::string& socket_path);
  // Takes over a socket that is connected.
  explicit DeafConnection(int socket);
  ~DeafConnection();
  DeafConnection(const DeafConnection&) = delete;
  DeafConnection& operator=(const DeafConnection&) = delete;

  // Starts a call of `method`: its headers, and nothing of what it asks.
  void StartCall(const std::string& method);
  // Starts a call and asks for all that `message` asks for; at most 16,000 bytes.
  void Ask(const std::string& method, const std::string& message);
  // Takes the call back that was started last.
  void Reset();
  // Waits until the other side has closed the connection.
  void WaitUntilClosed();

 private:
  void SendFrame(int type, int flags, std::uint32_t stream, const std::string& payload);

  int socket_ = -1;
  std::uint32_t next_stream_ = 1;
};

}  // namespace espalier::attack
