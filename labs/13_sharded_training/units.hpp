// The units of a GPT that is sharded unit by unit, for entry.cu and check.cpp: where each element lies in the model's flat buffer.
#pragma once
#include <cstddef>
#include <vector>

#include "nn/layout.hpp"

namespace units {

struct Units {
  nn::ParameterLayout layout;
  explicit Units(const nn::ModelConfig& model) : layout(nn::parameter_layout(model)) {}

  int blocks() const { return static_cast<int>(layout.blocks.size()); }
  std::size_t elements() const { return layout.elements; }
  std::size_t size(int unit) const {
    const nn::Range part = unit == 0 ? layout.embeddings : layout.blocks[static_cast<std::size_t>(unit - 1)];
    return part.end - part.begin + (unit == 0 ? layout.head.end : 0);
  }
  std::size_t begin(int unit) const { return unit == 0 ? 0 : size(0) + static_cast<std::size_t>(unit - 1) * size(1); }
  int unit_of(std::size_t i) const { return i < size(0) ? 0 : 1 + static_cast<int>((i - size(0)) / size(1)); }

  // Where element i of all units lies in the buffer of the layout. Unit 0: the final layer norm, then the embeddings.
  std::size_t place(std::size_t i) const {
    const int unit = unit_of(i);
    if (unit > 0) return layout.blocks[static_cast<std::size_t>(unit - 1)].begin + i - begin(unit);
    return i < layout.head.end ? i : layout.embeddings.begin + i - layout.head.end;
  }
  // Element j of rank r's own buffer, as an element of all units.
  std::size_t of_own(std::size_t j, std::size_t ranks, std::size_t rank) const {
    const int unit = unit_of(j * ranks);
    return begin(unit) + rank * size(unit) / ranks + j - begin(unit) / ranks;
  }
  // The rank that owns element i of all units, and where in its own buffer.
  struct Owner {
    std::size_t rank, place;
  };
  Owner owner(std::size_t i, std::size_t ranks) const {
    const int unit = unit_of(i);
    const std::size_t part = size(unit) / ranks, at = i - begin(unit);
    return {at / part, begin(unit) / ranks + at % part};
  }
};

}  // namespace units
