// A student's predictions beside what was measured, from the lab's manifest and the journal.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"
#include "learn/attempts/journal.hpp"

namespace ridge::loop {

struct Predicted {
  Prediction prediction;
  bool asked = false;              // answered or skipped
  std::string answer;              // as text; empty: skipped, or not asked
  std::optional<double> value;     // the answer as a number; of choices, the number of the choice from 1
  std::optional<double> measured;  // the same of what was measured, or of the fixed answer once a check has run
  std::string time;                // when it was answered

  bool compared() const { return value && measured; }
  bool is_choice() const { return !prediction.choices.empty(); }
  std::optional<double> ratio() const;  // predicted over measured; none for choices, and where one is 0
  bool near() const;                    // within a factor of two; of a choice: right
};

// All of the lab, in the manifest's order.
std::vector<Predicted> predictions_of(const Lab& lab);

// Those to ask before `task` (empty: all) runs on `backend`: of tasks that have not run yet, and not asked before.
std::vector<Prediction> to_ask(const Lab& lab, const std::string& task, lab::Backend backend);

void keep_prediction(const Lab& lab, const Prediction& prediction, const std::string& answer,
                     std::optional<double> value);

// Notes in the journal what the result tells of predictions that wait for it, and returns these.
std::vector<Predicted> compare_predictions(const Lab& lab, const Result& result);

// "4 predicted, 8 x the ideal measured: ratio 0.5".
std::string comparison(const Predicted& predicted);
// The lines that an attempt prints: one per prediction, with the reason below.
std::string comparisons_text(const std::vector<Predicted>& all);

struct Calibration {
  int compared = 0, near = 0, waiting = 0, skipped = 0;
  std::optional<double> median_ratio;  // of numbers
};
Calibration calibration(const std::vector<Predicted>& all);
// "5 of 7 predictions right or within a factor of 2, median ratio 0.8"; empty where none was compared.
std::string calibration_text(const Calibration& c);

}  // namespace ridge::loop
