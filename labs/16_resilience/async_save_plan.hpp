// What entry.cu plays in `async_save`, and check/ judges.
#pragma once

// Notes to the judge: the training begins (the address of `staging`); it has ended (what train_and_save returned).
constexpr long long kStaging = 1, kTrained = 2;
