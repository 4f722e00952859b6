// Whose unsaved texts a page may take up again. Browsers keep them by origin, and servers of several people, or of
// several work folders, may have one origin after each other: each work folder has a random name of its own.
#pragma once
#include <string>

namespace ridge::serve {

// Of work/.ridge/drafts, which is made where it is missing; another one for each server where it cannot be kept.
std::string drafts_owner();

}  // namespace ridge::serve
