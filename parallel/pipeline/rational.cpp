#include "parallel/pipeline/rational.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

[[noreturn]] void too_large(std::int64_t a, std::int64_t b) {
  throw BadUse("fractions of a schedule's times do not fit in 64 bits (" + std::to_string(a) +
               " and " + std::to_string(b) + "): take costs with fewer digits");
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    too_large(a, b);
  }
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    too_large(a, b);
  }
  return result;
}

bool read_digits(std::string_view text, std::int64_t& into) {
  const bool digits =
      !text.empty() && std::ranges::all_of(text, [](char c) { return '0' <= c && c <= '9'; });
  return digits && std::from_chars(text.data(), text.data() + text.size(), into).ec == std::errc();
}

}  // namespace

Rational::Rational(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0) {
    throw BadUse("a fraction with denominator 0: " + std::to_string(numerator) + "/0");
  }
  const std::int64_t divisor = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
  numerator_ = numerator / divisor;
  denominator_ = denominator / divisor;
}

std::string Rational::text() const {
  return std::to_string(numerator_) +
         (denominator_ == 1 ? std::string() : "/" + std::to_string(denominator_));
}

Rational operator+(const Rational& a, const Rational& b) {
  return {sum(product(a.numerator(), b.denominator()), product(b.numerator(), a.denominator())),
          product(a.denominator(), b.denominator())};
}

Rational operator-(const Rational& a, const Rational& b) {
  return a + Rational(-1) * b;
}

Rational operator*(const Rational& a, const Rational& b) {
  return {product(a.numerator(), b.numerator()), product(a.denominator(), b.denominator())};
}

Rational operator/(const Rational& a, const Rational& b) {
  return a * Rational(b.denominator(), b.numerator());
}

bool operator<(const Rational& a, const Rational& b) {
  return product(a.numerator(), b.denominator()) < product(b.numerator(), a.denominator());
}

Rational parse_rational(std::string_view text) {
  const std::size_t cut = text.find_first_of("/.");
  std::int64_t front = 0;
  std::int64_t back = 0;
  if (!read_digits(text.substr(0, cut), front) ||
      (cut != text.npos && !read_digits(text.substr(cut + 1), back))) {
    throw BadUse("must be a number that is not negative, as 2, 3/2 or 0.75");
  }
  if (cut == text.npos) {
    return front;
  }
  if (text[cut] == '/') {
    return {front, back};
  }
  std::int64_t scale = 1;
  for (std::size_t i = cut + 1; i < text.size(); ++i) {
    scale = product(scale, 10);
  }
  return Rational(front) + Rational(back, scale);
}

}  // namespace ringside
