-- Decks name a lab's figures where they lie in the source; beside the built decks they lie in a copy of that folder.
function Image(image)
  image.src = image.src:gsub("^%.%./%.%./labs/", "../labs/")
  return image
end
