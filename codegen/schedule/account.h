// What a region takes by the model, and of what, in thousandths of a cycle of one core.
#pragma once
#include "passes/region.h"
#include "schedule/tiles.h"

namespace attune {

struct Account {
  // Parts of the time; they add up to it.
  long products = 0;  // multiply-adds in their slots: pairs that are removed and lanes that hold nothing among them
  long loads = 0;     // what loads from L1 take beyond those slots
  long l2 = 0;        // and what traffic from L2 adds to them,
  long memory = 0;    // and traffic from beyond
  long latency = 0;   // sums that wait for themselves
  long tiles = 0;     // entering and leaving tiles
  long weights = 0;   // exponentials and what else becomes of single elements
  long rows = 0;      // rows onto lanes, results scaled
  long total() const { return products + loads + l2 + memory + latency + tiles + weights + rows; }

  // What each resource is busy for meanwhile: they work at the same time.
  struct Busy {
    long fma = 0, loads = 0, l2 = 0, memory = 0;
  } busy;

  // Bytes that come to L1: from L2, and from beyond.
  struct Traffic {
    long l2 = 0, memory = 0;
  } traffic;

  Account& operator+=(const Account&);
};
Account operator*(long times, const Account&);

// Thousandths of a cycle for n at a rate in hundredths a cycle.
constexpr long time_of(long n, long rate) { return n * 100'000 / rate; }

// Slots of multiply-adds, in hundredths, that an element of an expression takes.
long slots_of(const Expression&, const Machine&);

// Tiles against a machine: each call adds what it takes.
class Clerk {
 public:
  explicit Clerk(const Machine& m) : m_(m) {}
  // `steps` steps of a tile, and what goes on beside them: the busiest of arithmetic, loads, either traffic and
  // the sums' own latency sets the pace.
  struct Beside {
    long slots = 0;           // of other arithmetic, in hundredths
    long l2 = 0, memory = 0;  // bytes from L2 and from beyond
    long asked = 0;           // of those from beyond, the ones that were asked for
    long split = 0;           // loads that lie on two lines, and so count twice
  };
  void steps(Tile, long steps, const Beside&);
  // So many tiles begin and end, which load and store their sums.
  void tiles(Tile, long count);
  // So many cycles with rows and results.
  void rows(long cycles);
  // So many bytes come from beyond L2 at a rate in hundredths of bytes a cycle, while other parts take `hidden`.
  void wait_for_memory(long bytes, long rate, long hidden);
  const Account& account() const { return a_; }

 private:
  const Machine& m_;
  Account a_;
};

}  // namespace attune
