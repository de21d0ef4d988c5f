// What most of the compiler includes, compiled once. Files include what they use all the same:
// the tests build the compiler without it too.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
