// Comparisons and inputs of the generated op tests. Prints what differs; a digest of all results.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

class Report {
 public:
  explicit Report(unsigned long seed) : state_(seed) {}

  unsigned next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return (unsigned)(state_ >> 32);
  }
  float real(double low, double high) { return (float)(low + (high - low) * next() / 4294967296.0); }
  int integer() { return (int)next() >> next() % 31; }

  // Numbers of all sizes, zeros, infinities, NaN; subnormals when wanted.
  float value(bool subnormals) {
    static const float edges[] = {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 3.4028235e38f, -3.4028235e38f, 1.17549435e-38f};
    unsigned kind = next() % 8;
    if (kind == 0) return edges[next() % (sizeof edges / sizeof *edges)];
    if (kind == 1) {
      float any = real_of(next());
      return subnormals || std::isnan(any) || std::fabs(any) >= 1.17549435e-38f ? any : 1.0f;
    }
    return real(-4, 4);
  }

  static unsigned bits(float x) {
    unsigned b;
    std::memcpy(&b, &x, 4);
    return b;
  }
  static float real_of(unsigned b) {
    float x;
    std::memcpy(&x, &b, 4);
    return x;
  }
  // Keeps the compiler from fusing what it is given with what follows.
  static float kept(float x) {
    volatile float y = x;
    return y;
  }

  void same(const char* op, float got, float want) { same_of(op, got, want, want); }
  void same_of(const char* op, float got, float want, float or_this) {
    auto equal = [](float a, float b) { return std::isnan(a) ? std::isnan(b) : bits(a) == bits(b); };
    if (!equal(got, want) && !equal(got, or_this)) fail(op, got, want, NAN);
  }
  void same_at(const char* op, float got, float want, float x) {
    if (bits(got) != bits(want)) fail(op, got, want, x);
  }
  void same(const char* op, bool got, bool want) {
    if (got != want) fail(op, got, want, NAN);
  }
  void same_at(const char* op, bool got, bool want, float x) {
    if (got != want) fail(op, got, want, x);
  }
  void same(const char* op, int got, int want) {
    if (got != want) fail(op, got, want, NAN);
  }
  void same(const char* op, long got, long want) {
    if (got != want) fail(op, (double)got, (double)want, NAN);
  }
  void near(const char* op, float got, double want, double bound, float x = NAN) {
    if (!(std::fabs(got - want) <= bound)) fail(op, got, want, x);
  }

  void digest(float x) { digest_ = (digest_ ^ (std::isnan(x) ? 0x7fc00000u : bits(x))) * 1099511628211ul; }

  // One past the last float of a page that is followed by one that cannot be touched.
  float* end_of_page() {
    static char* pages = nullptr;
    long size = sysconf(_SC_PAGESIZE);
    if (!pages) {
      pages = (char*)mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      mprotect(pages + size, size, PROT_NONE);
    }
    return (float*)(pages + size);
  }

  int finish() const {
    for (auto& [op, count] : failures_) std::printf("%s: %d failures\n", op.c_str(), count);
    std::printf("digest %016lx\n", digest_);
    return failures_.empty() ? 0 : 1;
  }

 private:
  void fail(const char* op, double got, double want, double x) {
    if (failures_[op]++ < 3) std::printf("%s: got %.9g, want %.9g (x = %.9g)\n", op, got, want, x);
  }

  unsigned long state_;
  unsigned long digest_ = 14695981039346656037ul;
  std::map<std::string, int> failures_;
};
