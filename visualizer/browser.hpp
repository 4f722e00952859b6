// The program in a page: `ridge-viz --web FILE...` speaks with it over stdin and stdout.
#pragma once
#include <functional>
#include <memory>

#include "app.hpp"

namespace ridge::viz {

// `make` opens the files of the command line; it is called again when one of them changed. Returns the exit code.
int show_in_browser(const std::function<std::unique_ptr<App>()>& make);

}  // namespace ridge::viz
