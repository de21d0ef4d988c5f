constexpr long tokens = 3;
