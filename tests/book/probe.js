// Runs in the browser, beside the book: shows each page at each width in light and dark, and reports its faults.
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

const settled = () => new Promise(done => setTimeout(done, 60));

async function shown(page, theme, width) {
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:900px;border:0;position:absolute;left:0;top:0`;
  document.body.append(frame);
  await new Promise(done => { frame.onload = done; frame.src = `/${page}?theme=${theme}`; });
  await frame.contentDocument.fonts.ready;
  await settled();
  return frame;
}

// An element that leaves the page's width, unless a box around it scrolls or hides it.
function widest(view, width) {
  const clipped = element => {
    for (let parent = element.parentElement; parent && parent !== view.document.body; parent = parent.parentElement) {
      if (view.getComputedStyle(parent).overflowX !== 'visible') return true;
    }
    return false;
  };
  return [...view.document.body.querySelectorAll('*')].find(element => element.getBoundingClientRect().right > width + 1 && !clipped(element));
}

async function audit(frame, say) {
  const script = frame.contentDocument.createElement('script');
  await new Promise(done => { script.onload = done; script.src = '/-axe.js'; frame.contentDocument.head.append(script); });
  const { violations } = await frame.contentWindow.axe.run(frame.contentDocument, { runOnly: TAGS, resultTypes: ['violations'] });
  for (const { id, nodes } of violations) {
    for (const node of nodes.slice(0, 3)) say(`${id}: ${node.html.slice(0, 120)}: ${[...node.any, ...node.all].map(check => check.message).join('; ').slice(0, 160)}`);
  }
}

(async () => {
  const { pages, widths } = await (await fetch('/-plan.json')).json();
  const problems = [];
  let views = 0, audits = 0;
  try {
    for (const page of pages) for (const width of widths) {
      const themes = width === widths.at(-1) ? ['light', 'dark'] : ['light'];
      for (const theme of themes) {
        const say = what => problems.push(`${page} at ${width}, ${theme}: ${what}`);
        const frame = await shown(page, theme, width);
        const view = frame.contentWindow, document = frame.contentDocument;
        views += 1;
        if (document.body.dataset.theme !== theme) say(`the theme is ${document.body.dataset.theme}`);
        const wide = document.documentElement.scrollWidth;
        if (wide > width) say(`the page is ${wide} wide: ${(widest(view, width)?.outerHTML ?? 'nothing sticks out').slice(0, 160)}`);
        for (const image of document.querySelectorAll('article img')) {
          if (!image.hasAttribute('alt') || !image.alt.trim()) say(`${image.getAttribute('src')} has no alternative text`);
          image.loading = 'eager';
          await image.decode().catch(() => say(`the figure ${image.getAttribute('src')} is missing or broken`));
        }
        if (width === widths.at(-1)) { await audit(frame, say); audits += 1; }
        frame.remove();
      }
    }
  } catch (error) {
    problems.push(`${error.stack}`);
  }
  await fetch('/-result', { method: 'POST', body: JSON.stringify({ problems, views, audits }) });
})();
