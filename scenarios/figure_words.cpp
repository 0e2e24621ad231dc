#include "scenarios/figure_words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ringside {

namespace {

struct Words {
  std::string_view chinese;
  std::string_view english;
};

// Longer ones before those that they end in.
constexpr std::array words{
    Words{"600B 以上参数、2,048 块 TPU v3、4 天", "over 600B parameters, 2,048 TPU v3, 4 days"},
    Words{"16 路 PP、跨 8 节点的 64 路 EP", "PP 16, EP 64 over 8 nodes"},
    Words{"1T 参数、3,072 卡", "1T parameters, 3,072 GPUs"},
    Words{"从 42.1% 提到 54.2%", "from 42.1% to 54.2%"},
    Words{"前向 2 次、反向 2 次", "2 forward, 2 backward"},
    Words{"FFN 前后各一次", "one before the FFN, one after"},
    Words{"不到峰值 5%", "below 5% of peak"},
    Words{"气泡除以 v", "bubble over v"},
    Words{"每卡一样多", "the same on each"},
    Words{"10–30 分钟", "10–30 minutes"},
    Words{"16K 张 H100", "16K H100"},
    Words{"2,048 张 H800", "2,048 H800"},
    Words{"3Ψ(1.5 倍)", "3Ψ (1.5 times)"},
    Words{"0.6 量级", "about 0.6"},
    Words{"多 50%", "50% more"},
    Words{"放不下", "does not fit"},
    Words{"放不进", "does not fit"},
    Words{"一次", "one"},
    Words{"两份", "two copies"},
    Words{"表 2", "table 2"},
    Words{"约 1/3", "about 1/3"},
    Words{"约 1 : 1", "about 1 : 1"},
    Words{"约 2 倍", "about twice"},
    Words{"约 5 TFLOPS", "about 5 TFLOPS"},
    Words{" 字节/参数", " bytes/parameter"},
    Words{" 个 KV 头", " KV heads"},
    Words{" 个 token", " tokens"},
    Words{" 个节点", " nodes"},
    Words{" 台机", " machines"},
    Words{" 张卡", " cards"},
    Words{" 字节", " bytes"},
    Words{" 节点", " nodes"},
    Words{" 倍", " times"},
    Words{" 份", " copies"},
    Words{" 年", " years"},
    Words{" 层", " layers"},
    Words{" 块", " blocks"},
    Words{" 个", " experts"},
    Words{" 张", " GPUs"},
    Words{" 卡", " GPUs"},
};

}  // namespace

std::string in_english(const std::string& shown) {
  const auto* const said =
      std::ranges::find_if(words, [&](const Words& w) { return shown.ends_with(w.chinese); });
  return said == words.end()
             ? shown
             : shown.substr(0, shown.size() - said->chinese.size()) + std::string(said->english);
}

}  // namespace ringside
