// Predictions on the page: what a student expects before a task runs for the first time, beside what was measured.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

// All predictions of the lab that are open, or that were answered.
nlohmann::json predictions_json(const Lab& lab);

// Keeps the typed answer of an open prediction; an empty one skips it. Returns why the answer cannot be read, or that
// the prediction is not open; empty where it was kept.
std::string keep_typed_prediction(const Lab& lab, const std::string& id, const std::string& typed);

}  // namespace ridge::serve
