// Runs in the browser, beside the decks, which asks for reduced motion: shows each slide to axe-core, and presses keys.
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
const SHORTEST = 30; // letters of an alternative text that says something

const sleep = ms => new Promise(done => setTimeout(done, ms));

async function opened(deck, theme) {
  const frame = document.createElement('iframe');
  frame.style.cssText = 'width:1440px;height:810px;border:0;position:absolute;left:0;top:0';
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = `/${deck}/index.html?${theme}`; });
  const view = frame.contentWindow;
  for (let i = 0; i < 300 && !view.Reveal?.isReady(); i += 1) await sleep(10);
  if (!view.Reveal?.isReady()) throw new Error(`${deck}: reveal.js does not start`);
  await view.document.fonts.ready;
  return frame;
}

async function audit(view, say) {
  const { violations } = await view.axe.run(view.document, { runOnly: TAGS, resultTypes: ['violations'] });
  for (const { id, nodes } of violations) {
    for (const node of nodes.slice(0, 3)) say(`${id}: ${node.html.slice(0, 120)}: ${[...node.any, ...node.all, ...node.none].map(check => check.message).join('; ').slice(0, 160)}`);
  }
}

function headings(document, section, say) {
  const all = section.querySelectorAll('h1, h2, h3, h4, h5, h6');
  if (all.length !== 1) say(`${all.length} headings on a slide: wanted 1`);
  const level = all[0]?.getAttribute('aria-level') ?? all[0]?.tagName[1];
  if (level !== (section === document.querySelector('.slides > section') ? '1' : '2')) say(`the heading has level ${level}`);
}

// Presses a key as a reader would, in the deck's document.
const CODES = { ArrowRight: 39, ArrowLeft: 37, Home: 36, End: 35, ' ': 32 };
const press = (view, key) => view.document.dispatchEvent(new view.KeyboardEvent('keydown', { key, keyCode: CODES[key], bubbles: true, cancelable: true }));

function keyboard(view, count, say) {
  const at = () => view.Reveal.getIndices().h;
  const expect = (key, slide) => { press(view, key); if (at() !== slide) say(`key '${key}' leads to slide ${at() + 1}: wanted ${slide + 1}`); };
  view.Reveal.slide(0);
  for (let i = 1; i < count; i += 1) expect(i % 2 ? 'ArrowRight' : ' ', i);
  expect('ArrowLeft', count - 2);
  expect('Home', 0);
  expect('End', count - 1);
  expect('Home', 0);
}

// With reduced motion nothing moves, and no change of slide takes time.
function motion(view, say) {
  const running = view.document.getAnimations();
  if (running.length) say(`something moves: ${running.map(a => a.animationName ?? a.transitionProperty).slice(0, 3).join(', ')}`);
  for (const element of view.document.querySelectorAll('.reveal, .slides, .slides > section, .progress span, .backgrounds, .slide-background')) {
    const style = view.getComputedStyle(element);
    const longest = Math.max(...`${style.transitionDuration}, ${style.animationDuration}`.split(',').map(parseFloat));
    if (longest > 0) { say(`${element.className} changes within ${longest} s`); break; }
  }
}

(async () => {
  const problems = [];
  let audits = 0;
  try {
    for (const deck of await (await fetch('/-plan.json')).json()) for (const theme of ['dark', 'light']) {
      const frame = await opened(deck, theme), view = frame.contentWindow, document = view.document;
      const script = document.createElement('script');
      await new Promise(done => { script.onload = done; script.src = '/-axe.js'; document.head.append(script); });
      const sections = [...document.querySelectorAll('.slides > section')];
      for (const [i, section] of sections.entries()) {
        const say = what => problems.push(`${deck}, slide ${i + 1}, ${theme}: ${what}`);
        view.Reveal.slide(i);
        await audit(view, say);
        audits += 1;
        if (theme === 'light') continue;
        headings(document, section, say);
        motion(view, say);
        for (const image of section.querySelectorAll('img')) if (image.alt.trim().length < SHORTEST) say(`the alternative text '${image.alt}' says next to nothing`);
      }
      if (theme === 'dark') {
        const say = what => problems.push(`${deck}: ${what}`);
        if (document.documentElement.lang !== 'en') say(`the language is '${document.documentElement.lang}'`);
        keyboard(view, sections.length, say);
      }
      frame.remove();
    }
  } catch (error) {
    problems.push(`${error.stack}`);
  }
  await fetch('/-result', { method: 'POST', body: JSON.stringify({ problems, audits }) });
})();
