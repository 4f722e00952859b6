// The style of pages that stand alone: light and dark, from a telephone to a wide screen, and on paper.
#pragma once

namespace ridge::loop {

extern const char* const kPageStyle;

}  // namespace ridge::loop
