// Choices that records, manifests and the command line spell as words. Inside the program they are enumerators.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "checks/check.hpp"

namespace ridge {

enum class Status { passed, failed, skipped };  // of a task
enum class Outcome { none, passed, failed, skipped, build_failed, built };
enum class Standing { practice, official };
enum class DeviceKind { emulated, gpu };

// The words of an enumeration, in the order of its enumerators.
template <class E>
struct Words;
template <>
struct Words<lab::Backend> {
  static constexpr const char* all[] = {"cpu", "cuda"};
};
template <>
struct Words<lab::Mode> {
  static constexpr const char* all[] = {"check", "grade"};
};
template <>
struct Words<Status> {
  static constexpr const char* all[] = {"passed", "failed", "skipped"};
};
template <>
struct Words<Outcome> {
  static constexpr const char* all[] = {"", "passed", "failed", "skipped", "build-failed", "built"};
};
template <>
struct Words<Standing> {
  static constexpr const char* all[] = {"practice", "official"};
};
template <>
struct Words<DeviceKind> {
  static constexpr const char* all[] = {"emulated", "gpu"};
};

template <class E>
concept Named = requires {
  Words<E>::all;
};

template <Named E>
constexpr const char* name_of(E e) {
  return Words<E>::all[static_cast<std::size_t>(e)];
}

template <Named E>
constexpr std::optional<E> parse(std::string_view word) {
  std::size_t i = 0;
  for (std::string_view known : Words<E>::all) {
    if (known == word) return static_cast<E>(i);
    ++i;
  }
  return std::nullopt;
}

}  // namespace ridge

template <ridge::Named E>
struct fmt::formatter<E> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(E e, Context& context) const {
    return fmt::formatter<std::string_view>::format(ridge::name_of(e), context);
  }
};

template <ridge::Named E>
struct nlohmann::adl_serializer<E> {
  template <class Json>
  static void to_json(Json& j, E e) {
    j = ridge::name_of(e);
  }
};
