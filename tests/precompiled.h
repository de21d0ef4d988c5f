// What most tests include, compiled once.
#pragma once
#include <attune.h>
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>
