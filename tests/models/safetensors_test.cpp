// Safetensors files, against files written by hand from the published description of the format.
#include "models/safetensors.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "runtime/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

using namespace std::string_literals;

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file whose header is `header`.
void write(const std::filesystem::path& path, const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i) & 0xffU);
  }
  std::ofstream(path, std::ios::binary) << length << header << data;
}

template <class T>
HostTensor tensor(std::vector<std::size_t> shape, const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {dtype_of<T>(), std::move(shape), {bytes.begin(), bytes.end()}};
}

// What loading this file says; empty: it was loaded.
std::string refusal(const std::string& header, const std::string& data) {
  const TemporaryFolder folder;
  write(folder / "x.safetensors", header, data);
  try {
    load_safetensors(folder / "x.safetensors");
  } catch (const BadUse& refused) {
    EXPECT_NE(std::string(refused.what()).find("x.safetensors"), std::string::npos);
    return refused.what();
  }
  return "";
}

void expect_refused(const std::string& header, const std::string& data, const std::string& why) {
  const std::string said = refusal(header, data);
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

// 1 and -2 in bf16 (the upper halves of 0x3f800000 and 0xc0000000), 7 as i64.
const std::string golden_header =
    R"({"__metadata__":{"step":"3"},"n":{"data_offsets":[0,8],"dtype":"I64","shape":[]},)"
    R"("w":{"data_offsets":[8,12],"dtype":"BF16","shape":[1,2]}} )";
const std::string golden_data = "\x07\0\0\0\0\0\0\0\x80\x3f\x00\xc0"s;

TEST(Safetensors, AreWrittenByteForByteAsTheFormatSays) {
  const TemporaryFolder folder;
  write(folder / "by_hand", golden_header + std::string(5, ' '), golden_data);
  save_safetensors(folder / "ours", {{{"step", "3"}},
                                     {{"w", tensor<Bf16>({1, 2}, {Bf16(1.F), Bf16(-2.F)})},
                                      {"n", tensor<std::int64_t>({}, {7})}}});
  EXPECT_EQ(content(folder / "ours").size() % 8, 4U) << "the header fills whole words";
  EXPECT_EQ(content(folder / "ours"), content(folder / "by_hand"));
}

TEST(Safetensors, AreReadAsTheFormatSays) {
  const TemporaryFolder folder;
  write(folder / "x", golden_header, golden_data);
  const auto file = load_safetensors(folder / "x");
  EXPECT_EQ(file.metadata.at("step"), "3");
  EXPECT_EQ(file.tensors.at("n"), tensor<std::int64_t>({}, {7}));
  EXPECT_EQ(file.tensors.at("w"), tensor<Bf16>({1, 2}, {Bf16(1.F), Bf16(-2.F)}));
  EXPECT_EQ(file.tensors.size(), 2U);
}

TEST(Safetensors, KeepEveryTypeAndShape) {
  const TemporaryFolder folder;
  const NamedTensors all{{"u8", tensor<std::uint8_t>({3}, {1, 2, 255})},
                         {"f16", tensor<F16>({1}, {F16(0.5F)})},
                         {"bf16", tensor<Bf16>({1}, {Bf16(0.5F)})},
                         {"i32", tensor<std::int32_t>({2, 1}, {-1, 1 << 30})},
                         {"i64", tensor<std::int64_t>({}, {-(1LL << 40)})},
                         {"f32", tensor<float>({2}, {-0.F, 1e-45F})},
                         {"f64", tensor<double>({1}, {0.1})},
                         {"none", tensor<float>({0, 5}, {})}};
  save_safetensors(folder / "x", {{}, all});
  EXPECT_EQ(load_safetensors(folder / "x").tensors, all);
  save_safetensors(folder / "x", {{}, {}});
  EXPECT_TRUE(load_safetensors(folder / "x").tensors.empty()) << "the old file is replaced";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Safetensors, AFileThatIsCutAnywhereIsRefused) {
  const TemporaryFolder folder;
  write(folder / "x", golden_header, golden_data);
  const std::string whole = content(folder / "x");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder / "cut", std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW(load_safetensors(folder / "cut"), BadUse) << size;
  }
  EXPECT_THROW(load_safetensors(folder / "absent"), BadUse);
  EXPECT_THROW(load_safetensors(folder.path()), BadUse);
}

TEST(Safetensors, WhatIsNotAsTheFormatSaysIsRefused) {
  const std::string data(16, 'x');
  const auto a = [](const std::string& dtype, const std::string& shape, const std::string& at) {
    return R"("a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + at + "}";
  };
  const std::string usable = a("F32", "[2,2]", "[0,16]");
  EXPECT_EQ(refusal("{" + usable + "}", data), "") << "the control: this one is right";
  expect_refused("{" + a("F32", "[2,1]", "[0,16]") + "}", data, "[2, 1] in f32, which takes 8");
  expect_refused("{" + a("F32", "[2,3]", "[0,24]") + "}", data, "ends at byte 24");
  expect_refused("{" + a("F32", "[2]", "[16,8]") + "}", data, "[16, 8]");
  expect_refused("{" + a("F32", "[2]", "[0,8]") + "}", data, "end at byte 8");
  expect_refused("{" + a("F32", "[2]", "[8,16]") + "}", data, "there is a gap");
  expect_refused("{" + a("F7", "[2]", "[0,16]") + "}", data, "\"F7\"");
  expect_refused("{" + a("F32", "[-4]", "[0,16]") + "}", data, "whole numbers");
  expect_refused("{" + a("F32", "[4294967296,4294967296,16]", "[0,16]") + "}", data, "2^64");
  expect_refused("{" + usable + "," + usable + "}", data, "twice");
  expect_refused("{" + a("F32", "[3]", "[0,12]") +
                     R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                 data, "tensor \"b\": begins at byte 8");
  expect_refused(R"({"a":{"dtype":"F32","shape":[4]}})", data, "data_offsets");
  expect_refused(R"({"a":[1]})", data, "tensor \"a\"");
  expect_refused("[1]", "", "no JSON object");
  expect_refused("{", "", "no JSON");
  expect_refused(R"({"__metadata__":{"step":3}})", "", "\"step\" 3");
}

TEST(Safetensors, WhatCannotBeStoredIsRefused) {
  const TemporaryFolder folder;
  HostTensor odd = tensor<float>({2}, {1, 2});
  odd.shape = {3};
  EXPECT_THROW(save_safetensors(folder / "x", {{}, {{"odd", odd}}}), BadUse);
  EXPECT_THROW(save_safetensors(folder / "x", {{}, {{"s", {DType::symbol, {0}, {}}}}}), BadUse);
  EXPECT_THROW(save_safetensors(folder / "absent/x", {}), BadUse);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ringside
