// Sound requests of the methods that answer questions and change nothing.
#pragma once

#include <string>

namespace espalier::attack {

constexpr const char* kWhatIf = "/espalier.v1.Questions/WhatIf";
constexpr const char* kFindVictims = "/espalier.v1.Questions/FindVictims";
constexpr const char* kAtlas = "/espalier.v1.Questions/Atlas";
constexpr const char* kCountGangs = "/espalier.v1.Questions/CountGangs";
constexpr const char* kExplain = "/espalier.v1.Questions/Explain";
constexpr const char* kValidate = "/espalier.v1.Questions/Validate";
constexpr const char* kDrain = "/espalier.v1.Questions/Drain";
constexpr const char* kDispatch = "/espalier.v1.Dispatching/Dispatch";
constexpr const char* kPlaceObjects = "/espalier.v1.Workloads/PlaceObjects";
constexpr const char* kPlaceNested = "/espalier.v1.Workloads/PlaceNested";
constexpr const char* kServerStatus = "/espalier.v1.Server/Status";

// Methods with one request; some answer with a stream.
constexpr const char* kQuestions[] = {kWhatIf,       kFindVictims, kAtlas,       kCountGangs,
                                      kExplain,      kValidate,    kDrain,       kDispatch,
                                      kPlaceObjects, kPlaceNested, kServerStatus};

// Returns a sound request of one of kQuestions on a small Cluster.
std::string SoundQuestion(const std::string& method);

}  // namespace espalier::attack
