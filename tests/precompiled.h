// What most tests include, compiled once.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <attune.h>
#include <catch2/catch.hpp>
#include <fmt/format.h>
