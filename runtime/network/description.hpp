// Descriptions in TOML: a model, a GPU, a fabric. Each is a file, or one of those that Ridge has, by name.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "layout.hpp"
#include "links/fabric.hpp"
#include "transformer.hpp"

namespace ridge::network {

// A file that is missing or wrong: the message names the file, the line and what to write there.
class DescriptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// `folder` holds models/, gpus/ and fabrics/; `name` is a file there without ".toml", or a path that ends in it.
Transformer load_transformer(const std::string& folder, const std::string& name);
Gpu load_gpu(const std::string& folder, const std::string& name);
Fabric load_fabric(const std::string& folder, const std::string& name);
// The names in a part of the folder, in order.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace ridge::network
