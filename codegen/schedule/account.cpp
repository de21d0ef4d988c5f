#include "schedule/account.h"

#include <algorithm>

namespace attune {

// What each row adds to a tile's beginning and end, in hundredths of a cycle: measured on one machine, score tiles
// of 12 x 2 against 6 x 4.
static constexpr long row_of_tile = 300;

Account& Account::operator+=(const Account& a) {
  products += a.products;
  loads += a.loads;
  l2 += a.l2;
  memory += a.memory;
  latency += a.latency;
  tiles += a.tiles;
  weights += a.weights;
  rows += a.rows;
  busy.fma += a.busy.fma;
  busy.loads += a.busy.loads;
  busy.l2 += a.busy.l2;
  busy.memory += a.busy.memory;
  traffic.l2 += a.traffic.l2;
  traffic.memory += a.traffic.memory;
  return *this;
}

Account operator*(long n, const Account& a) {
  return {n * a.products, n * a.loads, n * a.l2, n * a.memory, n * a.latency, n * a.tiles, n * a.weights, n * a.rows, {n * a.busy.fma, n * a.busy.loads, n * a.busy.l2, n * a.busy.memory}, {n * a.traffic.l2, n * a.traffic.memory}};
}

long slots_of(const Expression& e, const Machine& m) {
  long slots = 0;
  for (const Term& t : e.terms) switch (t.fn) {
      case Fn::constant:
      case Fn::coordinate:
      case Fn::acc:
      case Fn::peak:
      case Fn::old_peak:
      case Fn::total:
        break;
      case Fn::exp:
      case Fn::log:
        slots += m.exponential;
        break;
      case Fn::tanh:
        slots += 2 * m.exponential;
        break;  // an exponential and a quotient
      default:
        slots += 100;
    }
  return slots;
}

void Clerk::steps(Tile t, long steps, const Beside& beside) {
  const long products = time_of(steps * t.rows * t.vectors, m_.fma), weights = time_of(beside.slots / 100, m_.fma);
  const long loads = time_of(steps * vector_loads(t) + beside.split, m_.loads) + time_of(steps * t.rows, m_.broadcasts);
  const long near = time_of(beside.l2, m_.l2_rate), far = time_of(beside.memory - beside.asked, m_.memory_rate) + time_of(beside.asked, m_.asked_rate);
  long time = products;
  const auto wait = [&](long& part, long until) {
    part += std::max(0L, until - time);
    time = std::max(time, until);
  };
  // What goes on beside the rest also gets in its way: by an eighth of the time where it takes as long, and the
  // less the shorter it is.
  const auto share = [&](long& part, long other) {
    const long most = std::max(time, other), least = std::min(time, other);
    wait(part, most + (most ? least * (1000 * least / most) / 8000 : 0));
  };
  share(a_.loads, loads);
  share(a_.l2, near);
  share(a_.memory, far);
  share(a_.latency, steps * m_.fma_latency * 10);
  a_.products += products;
  a_.weights += weights;
  a_.busy.fma += products + weights;
  a_.busy.loads += loads;
  a_.busy.l2 += near;
  a_.busy.memory += far;
  a_.traffic.l2 += beside.l2;
  a_.traffic.memory += beside.memory;
}

void Clerk::tiles(Tile t, long count) {
  const long sums = time_of(count * t.rows * t.vectors, m_.loads);
  a_.tiles += count * (m_.tile_cycles + row_of_tile * t.rows) * 10 + sums;
  a_.busy.loads += sums;
}

void Clerk::rows(long cycles) { a_.rows += cycles * 1000; }

void Clerk::wait_for_memory(long bytes, long rate, long hidden) {
  const long time = time_of(bytes, rate);
  a_.memory += std::max(0L, time - hidden);
  a_.busy.memory += time;
  a_.traffic.memory += bytes;
}

}  // namespace attune
