// What most of the compiler includes, compiled once. Files include what they use all the same: the
// preset of Clang builds without it.
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
