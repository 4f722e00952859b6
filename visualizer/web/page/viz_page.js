// The page of `ridge viz --web`: one canvas, and a sentence for those who cannot see it.
import { openVisualizer } from './viz.js';

const says = document.getElementById('says');
openVisualizer(document.getElementById('viz'), `api/viz${location.search}`, {
  say: (sentence, state) => { says.textContent = sentence; says.dataset.state = state; },
});
document.getElementById('viz').focus();
