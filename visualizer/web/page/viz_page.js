// The page of `ridge viz --web`: one canvas, and a sentence for those who cannot see it.
import { openVisualizer } from './viz.js';

const says = document.getElementById('says');
// Behind `ridge serve`, the server proves who it is before the page connects again; a stand-in of a test does not.
const proof = await import('./proof.js').catch(() => null);
const question = proof && await fetch('api/proof', { cache: 'no-store' }).then(answer => answer.json()).catch(() => null);
proof?.remember(question);
let first = true;
async function known() {
  if (!first) { proof?.streamEnded(false); await proof?.proved(); }
  first = false;
}
openVisualizer(document.getElementById('viz'), `api/viz${location.search}`, {
  known, say: (sentence, state) => { says.textContent = sentence; says.dataset.state = state; },
});
document.getElementById('viz').focus();
