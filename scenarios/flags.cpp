#include "scenarios/flags.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <memory>

#include "runtime/errors.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {
namespace {

// CLI11's help with our line of use.
class HelpText : public CLI::Formatter {
 public:
  explicit HelpText(std::string use) : use_(std::move(use)) {
    column_width(28);
    label("Positionals", "What");
    label("TEXT", "");
  }

  std::string make_usage(const CLI::App*, std::string) const override { return use_ + "\n"; }

 private:
  std::string use_;
};

}  // namespace

Flags::Flags(const std::string& verb, const std::string& use, const std::string& meaning,
             const std::string& footer)
    : verb_(verb), app_(meaning, "ringside " + verb) {
  app_.footer(footer);
  app_.set_help_flag("-h,--help", "this help");
  app_.get_option("--help")->group("Flags");
  app_.formatter(std::make_shared<HelpText>("Use: " + use));
  app_.allow_extras();
}

void Flags::flag(const std::string& names, bool& into, const std::string& meaning) {
  app_.add_flag(names, into, meaning)
      ->group("Flags")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Flags::value(const std::string& names, const std::string& what,
                  std::optional<std::string>& into, const std::string& meaning) {
  app_.add_option(names, into, meaning)
      ->option_text(what)
      ->group("Flags")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Flags::values(const std::string& names, const std::string& what,
                   std::vector<std::string>& into, const std::string& meaning) {
  app_.add_option(names, into, meaning)->option_text(what)->group("Flags")->allow_extra_args(false);
}

void Flags::word(const std::string& what, std::optional<std::string>& into,
                 const std::string& meaning) {
  app_.add_option(what, into, meaning)->option_text("");
}

std::string Flags::help() const {
  std::string text = app_.help();
  for (auto gap = text.find("\n\n\n"); gap != std::string::npos; gap = text.find("\n\n\n")) {
    text.erase(gap, 1);
  }
  return text.substr(0, text.find_last_not_of('\n') + 1) + "\n";
}

bool Flags::parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app_.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--set: 1 required TEXT missing"
    throw BadUse(text.substr(0, text.find(':')) + ": a value is missing (`ringside " + verb_ +
                 " --help` shows which)");
  } catch (const CLI::ParseError& error) {
    throw BadUse(std::string(error.what()) + " (`ringside " + verb_ + " --help` shows all flags)");
  }
  if (const auto extra = app_.remaining(); !extra.empty()) {
    throw BadUse(complaint(extra));
  }
  refuse_flags_as_values();
  return true;
}

// "--out --json" has forgotten the folder.
void Flags::refuse_flags_as_values() const {
  for (const auto* option : app_.get_options()) {
    for (const auto& value : option->results()) {
      if (option->get_items_expected_max() > 0 && value.starts_with("--")) {
        throw BadUse(fmt::format("{}: a value is missing: {} is a flag (`ringside {} --help`)",
                                 option->get_name(), value, verb_));
      }
    }
  }
}

std::string Flags::complaint(const std::vector<std::string>& extra) const {
  const auto hint = " (`ringside " + verb_ + " --help` shows what it takes)";
  const auto flag = std::find_if(extra.begin(), extra.end(),
                                 [](const auto& word) { return word.starts_with("-"); });
  if (flag == extra.end()) {
    return verb_ + ": one word too many: " + extra.front() + hint;
  }
  std::vector<std::string> names;
  for (const auto* option : app_.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const auto name = flag->substr(0, flag->find('='));
  return verb_ + ": no such flag " + name + did_you_mean(name, names) + hint;
}

}  // namespace ringside
