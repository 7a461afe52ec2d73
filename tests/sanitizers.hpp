// Defines ESPALIER_SANITIZED where the address or the thread sanitizer is at work, which takes
// time, and more address space than any limit of a test leaves.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ESPALIER_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ESPALIER_SANITIZED
#endif
#endif
