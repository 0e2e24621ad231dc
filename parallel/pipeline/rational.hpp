// Exact fractions: costs and durations of schedules are compared with formulas to the last digit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

// In lowest terms, the denominator positive. Operations throw BadUse where 64 bits do not do.
class Rational {
 public:
  constexpr Rational(std::int64_t whole = 0) : numerator_(whole) {}

  Rational(std::int64_t numerator, std::int64_t denominator);

  std::int64_t numerator() const { return numerator_; }

  std::int64_t denominator() const { return denominator_; }

  double value() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }

  // "15/2", "3"
  std::string text() const;

  bool operator==(const Rational&) const = default;

 private:
  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

Rational operator+(const Rational& a, const Rational& b);
Rational operator-(const Rational& a, const Rational& b);
Rational operator*(const Rational& a, const Rational& b);
// Throws BadUse when b is 0.
Rational operator/(const Rational& a, const Rational& b);
bool operator<(const Rational& a, const Rational& b);

// "2", "3/2" or "0.75", not negative. Throws BadUse that says so.
Rational parse_rational(std::string_view text);

}  // namespace ringside
